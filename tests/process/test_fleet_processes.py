"""A fleet is read in several processes, without a port, even if some of them die."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.fleets import write_fleet

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.fleet.files import trace_files
from htppower.tools.tuning.fleet.fleet import read_fleet
from htppower.tools.tuning.fleet.processes import in_processes
from htppower.tools.tuning.fleet.records import Question

if TYPE_CHECKING:
    from htppower.tools.tuning.fleet.fleet import Fleet
    from htppower.tools.tuning.fleet.records import TraceFile

_FILES = 12
_QUESTION = Question(100_000, (Adaptive(100_000),))
_DEADLINE_S = 60
_LISTENS = "0A"
_ACCEPTS = 0x10000
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="it looks into /proc")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[TraceFile, ...]:
    """Return several traces for each worker, and a file that is not a trace."""
    folder = tmp_path_factory.mktemp("fleet")
    write_fleet(folder, _FILES, 4_000)
    (folder / "notes.txt").write_text("no trace", encoding="utf-8")
    return trace_files(folder)


@pytest.fixture(scope="module")
def alone(files: tuple[TraceFile, ...]) -> Fleet:
    """Return the result of one process."""
    return read_fleet(files, _QUESTION)


def children_of(parent: int) -> list[int]:
    """Return the children of a process, and their children."""
    found = []
    for each in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, of = (each / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:2]
            if int(of) == parent and state != "Z":
                found += [int(each.name), *children_of(int(each.name))]
    return found


def listening(process: int) -> set[str]:
    """Return the listening sockets of a process."""
    waiting = set()
    for kind in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            rows = Path(f"/proc/net/{kind}").read_text(encoding="utf-8").splitlines()[1:]
            waiting |= {row.split()[9] for row in rows if row.split()[3] == _LISTENS}
    rows = Path("/proc/net/unix").read_text(encoding="utf-8").splitlines()[1:]
    waiting |= {row.split()[6] for row in rows if int(row.split()[3], 16) & _ACCEPTS}
    held = set()
    for each in Path(f"/proc/{process}/fd").glob("*"):
        with contextlib.suppress(OSError):
            held.add(str(each.readlink()).removeprefix("socket:[").removesuffix("]"))
    return held & waiting


@needs_proc
def test_no_process_can_be_connected_to(files: tuple[TraceFile, ...], alone: Fleet) -> None:
    """The result equals one process's; no process of the fleet ever listens on a socket."""
    before, seen = listening(os.getpid()), set()

    def look(_: int) -> None:
        workers = children_of(os.getpid())
        seen.update(workers)
        assert not any(map(listening, workers))
        assert listening(os.getpid()) == before

    assert read_fleet(files, _QUESTION, read=in_processes(2), progress=look) == alone
    assert len(seen) >= 2
    assert multiprocessing.active_children() == []


@needs_proc
def test_workers_that_are_killed_cost_no_file(files: tuple[TraceFile, ...], alone: Fleet) -> None:
    """Other workers read their files; the result equals one process's."""
    killed: list[int] = []

    def kill(_: int) -> None:
        for each in multiprocessing.active_children():
            if len(killed) < 2 and each.pid is not None:
                killed.append(each.pid)
                os.kill(each.pid, signal.SIGKILL)

    assert read_fleet(files, _QUESTION, read=in_processes(2), progress=kill) == alone
    assert len(killed) == 2


def test_a_file_that_takes_too_long_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    """Its worker is ended, and another worker continues."""
    write_fleet(tmp_path, 4, 20)
    slow = tmp_path / "slow.csv"
    slow.write_text("begin_us\n" + "1\n" * 3_000_000, encoding="utf-8")
    fleet = read_fleet(trace_files(tmp_path), _QUESTION, read=in_processes(1, 0.5))
    assert len(fleet.answers) == 4
    assert [each.why for each in fleet.unread] == [
        f"{slow}: takes longer than 0.5 s; --file-timeout gives each file more time"
    ]


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_signal_ends_all_without_a_word(tmp_path: Path, number: signal.Signals) -> None:
    """No process is left, and Python reports no leak; only Ctrl-C prints a message."""
    (tmp_path / "slow.csv").write_text("begin_us\n" + "1\n" * 9_000_000, encoding="utf-8")
    (tmp_path / "slow2.csv").write_text("begin_us\n" + "1\n" * 9_000_000, encoding="utf-8")
    command = [sys.executable, "-m", "htppower", "tune", "--fleet", str(tmp_path), "--jobs", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        deadline_s = time.monotonic() + _DEADLINE_S
        workers: list[int] = []
        while len(workers) < 3 and time.monotonic() < deadline_s:  # two, and their resource tracker
            time.sleep(0.02)
            workers = children_of(process.pid)
        process.send_signal(number)
        said = process.communicate(timeout=_DEADLINE_S)[1]
    while any(Path(f"/proc/{each}").exists() for each in workers) and time.monotonic() < deadline_s:
        time.sleep(0.02)
    assert not any(Path(f"/proc/{each}").exists() for each in workers)
    assert said == (b"htppower: interrupted\n" if number == signal.SIGINT else b"")
