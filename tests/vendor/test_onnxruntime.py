"""A real host on the vendor's library: ONNX Runtime's QNN provider and the controller in one process."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.checkout import ROOT, TESTS

pytest.importorskip("onnx")

EXAMPLE = ROOT / "docs" / "examples" / "onnxruntime_npu.py"
# The delay between two inferences if the machine is busy for the whole sustain time.
_LATE = (
    "  burst     lower    RAISED -> LOWERED: sustain expired\n  burst     raise    LOWERED -> RAISED: inference began\n"
)


def run(*command: str) -> str:
    """Run a separate process, since the library keeps state for the life of a process; return its output."""
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("vendors_library")
@pytest.mark.parametrize(
    "how",
    [
        "onnxruntime_first",
        "controller_first",
        "votes_of_both",
        "again_and_again",
        "logged",
        "loaded_copy",
        "nothing_is_closed",
    ],
)
def test_neither_breaks_the_other(how: str) -> None:
    """In either order of making and freeing, from four threads and with profile changes, both work."""
    assert "ok" in run(str(TESTS / "support" / "processes" / "npu_host.py"), how).splitlines()


@pytest.mark.usefixtures("vendors_library")
def test_the_example_of_the_docs() -> None:
    """The main example runs unchanged, and prints the output on the page."""
    output = run(str(EXAMPLE))
    lines = [line for line in output.splitlines() if "LIBNATIVE" not in line]
    assert lines[0] == "101 inferences from 4 threads, all the same"
    page = (EXAMPLE.parents[1] / "onnxruntime.md").read_text(encoding="utf-8")
    assert "```text\n" + "\n".join(lines).replace(_LATE, "") + "\n```" in page
