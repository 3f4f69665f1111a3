"""Ctrl-C in real processes: while the command is imported, and at random moments of a controller."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.checkout import TESTS

# The signal comes when a module is looked up, between two imports.
INTERRUPTED_AT = """
import os, signal, sys

from htppower.__main__ import run

wanted = sys.argv.pop(1)

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder)
sys.argv.append("list")
run()
"""
FOLDER = TESTS / "interrupts"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to oneself")
@pytest.mark.parametrize("module", ["click", "htppower.tools.cli.main", "attrs", "htppower.tools.cli.list"])
def test_an_interrupt_of_the_imports_is_a_line_and_130(module: str) -> None:
    """At any import, of a library, the command line or a command, no traceback is printed."""
    command = [sys.executable, "-c", INTERRUPTED_AT, module]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "htppower: interrupted\n")


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
