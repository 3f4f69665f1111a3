"""Real signals at random moments, in a process of their own."""

from __future__ import annotations

import subprocess
import sys

from support.checkout import TESTS

FOLDER = TESTS / "interrupts"


def test_real_signals_leave_nothing_behind() -> None:
    """After SIGINTs at random moments and with busy threads, counts are right, the line is free, and nothing is up."""
    # The limit is far above the usual time, also on a busy machine.
    done = subprocess.run(
        [sys.executable, "real_signals.py", "--seconds", "1.5"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=FOLDER,
    )
    assert done.returncode == 0, done.stdout + done.stderr
