"""Processes in Python, C and Java vote through one service; the votes of one that is killed are gone soon after."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from support.c_driver import compiled_driver
from support.checkout import ROOT
from support.compiled import CLIENTS, run_tool, tool
from support.service_process import environment
from support.told_service import told_service

import htppower.client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

# The benchmark measures a few ms; here other tests may have all cores for a while.
GONE_WITHIN_S = 2
IN_PYTHON = """
import sys, htppower.client
lease = htppower.client.connect("in Python").hold("balanced", reason="test")
with lease.inference():
    sys.stdin.read()
"""
IN_JAVA = """
class Holder {
    public static void main(String[] arguments) throws Exception {
        new Votes("in Java", "burst", "test").begin();
        System.in.read();
    }
}
"""
IN_C = b"hold 0 high_performance test\nbegin 0\n"


@contextlib.contextmanager
def started(place: Path, *command: str, lines: bytes) -> Iterator[subprocess.Popen[bytes]]:
    """Run a client of the service with some lines at its stdin, which stays open; kill it in the end."""
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(place), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdin is not None
            process.stdin.write(lines)
            process.stdin.flush()
            yield process
        finally:
            process.kill()


def sums(watcher: htppower.client.Client) -> tuple[int, int]:
    """Return how many leases there are, and how many of them are raised."""
    # The service counts at most ten times a second.
    time.sleep(0.2)
    status = watcher.status()
    assert status is not None
    return status["all"]["leases"], status["all"]["raised"]


def test_a_killed_client_leaves_no_vote(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """Each host raises the clock above that of the host before; killed, it takes back its own votes alone."""
    java = tool("java")
    driver = compiled_driver(tmp_path_factory)
    (tmp_path / "Holder.java").write_text(IN_JAVA, encoding="utf-8")
    run_tool("javac", "-d", tmp_path, tmp_path / "Holder.java", CLIENTS / "Host.java")
    place = tmp_path / "socket"
    commands = [
        ((sys.executable, "-c", IN_PYTHON), b""),
        ((str(driver), ""), IN_C),
        ((java, "-cp", str(tmp_path), "Holder"), b""),
    ]
    with (
        told_service(place) as service,
        htppower.client.connect("watcher", path=str(place)) as watcher,
        contextlib.ExitStack() as all_hosts,
    ):
        hosts, clocks = [], [service.clock]
        for command, lines in commands:
            begun_ns = time.monotonic_ns()
            hosts.append(all_hosts.enter_context(started(place, *command, lines=lines)))
            service.changed(clocks[-1], begun_ns)
            clocks.append(service.clock)
        assert clocks == sorted(set(clocks))
        assert sums(watcher) == (3, 3)
        for left in (2, 1):
            killed_ns = time.monotonic_ns()
            hosts[left].kill()
            gone_s = (service.changed(clocks[left + 1], killed_ns) - killed_ns) / 1e9
            assert gone_s < GONE_WITHIN_S
            assert service.clock == clocks[left]
            assert hosts[left].wait(60) == -signal.SIGKILL
            assert sums(watcher) == (left, left)
