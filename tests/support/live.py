"""The command as a process on the stand-in library."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.standin import Standin

HTPPOWER = [sys.executable, "-m", "htppower"]
# Simulates a system without ``sigtimedwait``, so that handlers note the signals.
NOTED = [sys.executable, "-c", "import signal; del signal.sigtimedwait; from htppower.__main__ import run; run()"]
EITHER = pytest.mark.parametrize(
    "htppower", [HTPPOWER, pytest.param(NOTED, marks=pytest.mark.needs("signals"))], ids=["blocked", "noted"]
)
# Far longer than needed, even on a busy machine.
LONGEST_S = 240


def command(standin: Standin, *arguments: str, htppower: list[str] = HTPPOWER) -> subprocess.Popen[str]:
    """Start the command on the stand-in."""
    environment = {**os.environ, **standin.environment, "HTPPOWER_QNN_LIBRARY": str(standin.path)}
    return subprocess.Popen(
        [*htppower, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Return exit code, output and errors."""
    output, errors = process.communicate(timeout=LONGEST_S)
    assert "Traceback" not in errors
    return process.returncode, output, errors


def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    give_up_s = time.monotonic() + LONGEST_S
    while not condition():
        assert time.monotonic() < give_up_s
        time.sleep(0.01)


def raised(standin: Standin) -> bool:
    """Whether the profile is up."""
    return bool(standin.sets) and standin.sets[-1].core_target == 160
