"""Threads of the controller that an exception from outside ends, as ``PyThreadState_SetAsyncExc`` may: others go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "interrupts" / "ended_threads.py"


def test_votes_come_down_although_every_thread_of_the_controller_ends() -> None:
    """All are ended once in each round, at a random moment: each session is lowered, and closing ends in time."""
    done = subprocess.run(
        [sys.executable, str(PROGRAM), "--rounds", "4"], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all came down" in done.stdout
