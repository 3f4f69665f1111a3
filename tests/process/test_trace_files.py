"""The trace files of a process that died are complete."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

# Writes traces while sessions come and go, and prints when it has begun; it never ends by itself.
ENDLESS = """
import itertools, os, sys
from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.subscribers.chrome_trace import ChromeTrace
from htppower.testing import VirtualTime

controller = VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False)
trace = ChromeTrace(sys.argv[1], max_bytes=20_000)
controller.subscribe(trace)
for number in itertools.count():
    with controller.session("high_performance", owner="x" * (number % 50)) as session, session.inference():
        if number == 20:
            print("begun", flush=True)
            if sys.argv[2] == "exit":
                os._exit(3)
"""


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_the_files_of_a_process_that_died_are_whole(tmp_path: Path, how: str) -> None:
    """A process that ends at once, or is killed during a write and a rotation, leaves readable files."""
    command = [sys.executable, "-c", ENDLESS, str(tmp_path / "trace.json"), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        if how == "kill":
            process.kill()
        code = process.wait(30)
    assert code == (3 if how == "exit" else -signal.SIGKILL if sys.platform != "win32" else 1)
    files = list(tmp_path.glob("trace*.json"))
    assert files
    for file in files:
        assert json.loads(file.read_text(encoding="ascii"))
