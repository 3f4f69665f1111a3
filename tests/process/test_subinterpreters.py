"""A controller works in a subinterpreter, without SIGTERM handling, and ends without a traceback."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.checkout import TESTS

if TYPE_CHECKING:
    from pathlib import Path

GUEST_HOST = TESTS / "support" / "processes" / "subinterpreters.py"

pytestmark = pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in ("_interpreters", "_xxsubinterpreters")),
    reason="this Python has no subinterpreters",
)


def _run(kind: str, end: str, folder: Path) -> list[str]:
    """Return the output of a subinterpreter that records its inference; there must be no error and no warning."""
    file = folder / "trace.json"
    ran = subprocess.run(
        [sys.executable, str(GUEST_HOST), kind, end, str(file)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, ""), ran
    assert file.read_text(encoding="ascii").count('"name":"inference"') == 1
    return ran.stdout.splitlines()


def test_a_controller_works_in_a_subinterpreter(tmp_path: Path) -> None:
    """With the main interpreter's lock it has threads: votes are raised, sustained, and down when closed."""
    assert _run("shared", "close", tmp_path) == ["RAISED", "RAISED", "DESTROYED"]


@pytest.mark.skipif(sys.version_info[:2] == (3, 12), reason="zoneinfo of CPython 3.12 can't be imported in one")
@pytest.mark.parametrize("end", ["close", "end"])
def test_a_controller_works_without_daemon_threads(tmp_path: Path, end: str) -> None:
    """An isolated subinterpreter has no timer, so votes are lowered at once; its end closes the controller quietly."""
    after = ["DESTROYED"] if end == "close" else []
    assert _run("isolated", end, tmp_path) == ["RAISED", "LOWERED", *after]
