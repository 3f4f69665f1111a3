"""The examples in the documentation run, with the documented results."""

from __future__ import annotations

import gc
import re
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.checkout import ROOT

from htppower import VoteController

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCS = ROOT / "docs"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the root of the checkout, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )


def python_blocks(name: str) -> list[str]:
    """Return the Python blocks of a page, each after as many empty lines as stand before it."""
    text = (DOCS / name).read_text(encoding="utf-8")
    return [
        "\n" * text.count("\n", 0, block.start(1)) + block.group(1)
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    ]


@pytest.fixture
def _own_sigterm() -> Iterator[None]:
    """Restore the process's handler of SIGTERM."""
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize(
    "page",
    [
        "adaptive_sustain.md",
        "asyncio.md",
        "embedding.md",
        "hints.md",
        "holds.md",
        "index.md",
        "metrics.md",
        "modes.md",
        "onnxruntime.md",
        "status.md",
        "testing.md",
        "threads.md",
    ],
)
@pytest.mark.usefixtures("_own_sigterm")
def test_the_python_of_a_page_runs(page: str) -> None:
    """The Python blocks of a page run in order, unchanged."""
    blocks = python_blocks(page)
    assert blocks
    namespace: dict[str, Any] = {"__name__": page.removesuffix(".md")}
    try:
        for block in blocks:
            exec(compile(block, str(DOCS / page), "exec"), namespace)  # noqa: S102 - the pages are ours
    finally:
        # A controller that stays open would keep the signals of the process for later tests.
        for each in [each for each in namespace.values() if isinstance(each, VoteController)]:
            each.close()
        namespace.clear()
        gc.collect()


def test_the_tests_of_the_fastapi_application_pass() -> None:
    """With warnings as errors, the thread gives no warning about SIGTERM."""
    pytest.importorskip("httpx2")
    tests = DOCS / "examples" / "tests" / "test_fastapi_app.py"
    paths = f"pythonpath={tests.parents[1]}"
    done = run("-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-o", paths, str(tests))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    """``systemd-analyze verify`` accepts the unit; an existing program replaces its program."""
    text = (DOCS / "examples" / "htppower-camera.service").read_text(encoding="utf-8")
    assert "ExecStart=/usr/local/bin/htppower profile burst -- /" in text
    unit = tmp_path / "htppower-camera.service"
    unit.write_text(text.replace("/usr/local/bin/htppower", sys.executable), encoding="utf-8")
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_host_makes_one_raise_and_one_lowering() -> None:
    """200 inferences from 4 threads under burst cost one raise and one lowering, as the page prints."""
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    done = run(str(DOCS / "examples" / "onnxruntime_host.py"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "200 inferences from 4 threads: 1 raise, 1 lowering" in done.stdout
    assert f"```text\n{done.stdout}```" in (DOCS / "embedding.md").read_text(encoding="utf-8")
