"""Interrupts at any instruction of the main thread: a sample of the operations and places of ``tests/interrupts``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "interrupts"
# Far more than a test needs, even on a busy machine.
LONGEST_S = 600


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=LONGEST_S, cwd=FOLDER
    )


def test_a_sample_of_interrupts_leaves_nothing_behind() -> None:
    """The interrupt is raised, no vote stays up, and the next operations work."""
    done = _run("run.py", "--samples", "10", "--seed", "3")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_tool_sees_what_an_interrupt_leaves() -> None:
    """If an interrupted begin keeps its token, the tool reports it."""
    broken = (
        "import sys, runpy; sys.path[:0] = ['..'];"
        "from htppower.control.gate.gate import Gate; Gate.drop = lambda gate, token: vars(sys).setdefault('kept', [])"
        ".append(token); sys.argv = ['run.py', '--samples', '60', 'a raise and'];"
        "runpy.run_path('run.py', run_name='__main__')"
    )
    done = _run("-c", broken)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "BROKEN" in done.stdout
