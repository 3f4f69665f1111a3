"""Real signals at random moments, in a process of their own."""

from __future__ import annotations

import subprocess
import sys

from checkout import TESTS

FOLDER = TESTS / "interrupts"


def test_real_signals_leave_nothing_behind() -> None:
    """SIGINT at random moments beside busy threads: no count is wrong, the line is free, and nothing stays up."""
    # The limit is far more than it takes on a busy machine, too.
    done = subprocess.run(
        [sys.executable, "real_signals.py", "--seconds", "1.5"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        cwd=FOLDER,
    )
    assert done.returncode == 0, done.stdout + done.stderr
