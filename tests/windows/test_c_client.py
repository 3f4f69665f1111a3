"""``htppower.h`` on Windows: through the named pipe of a service, with the programs that ``run.py`` has compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from multiprocessing.connection import Listener
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.c_driver import driven
from support.service_process import environment, served, sums
from support.standin import COMPILED

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="only Windows has named pipes")
# What Wine on a loaded machine adds to a timeout, in seconds.
SLACK_S = 5.0


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Return the name of a pipe."""
    return rf"\\.\pipe\htppower-{tmp_path.name}-{os.getpid()}"


def program(name: str) -> Path:
    """Return a compiled program; skip the test without it."""
    folder = os.environ.get(COMPILED)
    if folder is None:
        pytest.skip(f"{COMPILED} names no folder with compiled programs")
    return Path(folder) / name


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until it holds."""
    until_s = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until_s
        time.sleep(0.1)


def test_an_example_host_gets_votes(place: str) -> None:
    """Each of its inferences has votes."""
    with served(place):
        done = subprocess.run(
            [str(program("host.exe")), "50"], env=environment(place), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "50 inferences, 50 with votes\n", "")
        wait_for(lambda: sums(place)["leases"] == 0)


def test_an_example_host_runs_without_a_service(place: str) -> None:
    """It complains once, and its inferences run."""
    done = subprocess.run(
        [str(program("host.exe")), "50"], env=environment(place), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "50 inferences, 0 with votes\n")
    # 2: there is no such file.
    reason = "can't be reached: Windows error 2; tried again later"
    assert done.stderr == f"htppower: no votes: the service at {place} {reason}\n"


def test_leases_inferences_and_windows(place: str) -> None:
    """Inferences begin and end at the service; a window ends by itself; a refusal says why."""
    with served(place), driven(program("driver.exe"), place) as client:
        assert client.does("hold 0 burst preview") == 0
        assert [client.does("begin 0"), client.does("begin 0")] == [1, 1]
        wait_for(lambda: sums(place)["in_flight"] == 1)
        client.does("end 0")
        client.does("end 0")
        wait_for(lambda: sums(place)["in_flight"] == 0)
        client.does("hold 1 burst preview 300000")
        assert client.does("begin 1") == 1
        wait_for(lambda: sums(place)["in_flight"] == 0)
        result, error = client.say("hold 2 brust preview")
        assert result == -1
        assert "burst" in error
        assert client.does("use 0 balanced") == 0
        assert client.end() == []


def test_a_client_connects_again(place: str) -> None:
    """Without a service an inference has no votes; with the next service it has votes again."""
    with driven(program("driver.exe"), place) as client:
        with served(place):
            client.does("hold 0 burst preview")
            wait_for(lambda: client.does("begin 0") == 1)
        client.does("end 0")
        assert client.does("begin 0") == 0
        with served(place):
            wait_for(lambda: client.does("begin 0") == 1)
        said = client.end()
    assert "can't be reached" in said[0]
    assert "is reached again" in said[-1]


def test_a_service_that_hangs_costs_the_timeout(place: str) -> None:
    """The host waits no longer, and goes on without votes."""
    with Listener(place, "AF_PIPE"), driven(program("driver.exe"), place, 300) as client:
        client.does("hold 0 burst preview")
        assert client.does("begin 0") == 0
        assert client.does("connected") == 0
        assert client.longest_s < SLACK_S
        (said,) = client.end()
    assert "no answer within the timeout" in said
