"""SIGTERM at the end of the process: running clean-up is completed, and the process dies of the signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from support.live import LONGEST_S
from support.standin import functions

if TYPE_CHECKING:
    from pathlib import Path

    from support.standin import Standin

_HOST = """
import sys
import htppower
controller = htppower.VoteController()
controller.serve_status(sys.argv[1])
session = controller.session("burst")
with session.inference():
    pass
print("ending", flush=True)
"""
# Python 3.12 refuses to start threads once the interpreter has begun to exit.
_WITHOUT_THREADS = """
import _thread
def refuse(*_): raise RuntimeError("can't create new thread at interpreter shutdown")
_thread.start_new_thread = refuse
"""


@pytest.mark.needs("signals")
@pytest.mark.parametrize(
    ("slow", "more"), [("setPowerConfig 3 3", ""), ("deviceFree 1 1", ""), ("deviceFree 1 1", _WITHOUT_THREADS)]
)
def test_sigterm_while_the_main_thread_ends(standin: Standin, tmp_path: Path, slow: str, more: str) -> None:
    """Votes are lowered, the device is freed, the status is closed, and the exit code is the signal's."""
    standin.script(f"{slow} 0 1500000")
    status = tmp_path / "status.json"
    process = subprocess.Popen(
        [sys.executable, "-c", _HOST + more, str(status)],
        env={**os.environ, **standin.environment, "HTPPOWER_QNN_LIBRARY": str(standin.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert "ending\n" in process.stdout  # read up to that line
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=LONGEST_S)
    assert (process.returncode, errors) == (-signal.SIGTERM, "")
    standin.assert_nothing_left()
    assert [line.core_target for line in standin.sets][-2:] == [64, None], "clocks, then polling"
    assert functions(standin.trace)[-3:] == ["deviceFree", "backendFree", "logFree"]
    assert json.loads(status.read_text(encoding="utf-8"))["closed"] is True
