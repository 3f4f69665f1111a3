"""A status file on a disk that hangs, and in a process that forks."""

from __future__ import annotations

import json
import multiprocessing
import threading
from typing import TYPE_CHECKING

import attrs
import pytest

if TYPE_CHECKING:
    from support.bench import Bench

    from htppower.control.status.status_file import StatusFile
    from htppower.events import Event
from pathlib import Path

from htppower import VoteController, load_profile
from htppower.events import Cause, Transition


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of the status file."""
    return tmp_path / "status.json"


def closed(path: Path) -> bool:
    """Return whether the status is closed."""
    return json.loads(path.read_text(encoding="ascii"))["closed"] is True


class StuckDisk:
    """A disk whose next write hangs until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reached, self.free = threading.Event(), threading.Event()
        replace = Path.replace

        def hang(old: Path, new: Path) -> None:
            self.reached.set()
            assert self.free.wait(30)
            replace(old, new)

        monkeypatch.setattr(Path, "replace", hang)


def test_a_disk_that_hangs_delays_no_vote(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In real time, votes are raised and lowered while a file is being written."""
    monkeypatch.setattr("htppower.control.status.status_file.PERIOD_US", 1_000)
    profile = load_profile("burst")
    assert profile.relax is not None
    soon = attrs.evolve(profile, relax=attrs.evolve(profile.relax, after_inference_us=20_000))
    lowered = threading.Event()

    def note(event: Event) -> None:
        if isinstance(event, Transition) and event.cause is Cause.SUSTAIN_EXPIRED:
            lowered.set()

    with VoteController("simulated", handle_sigterm=False) as controller:
        session = controller.session(soon)
        controller.subscribe(note, (Transition,))
        controller.serve_status(path)
        disk = StuckDisk(monkeypatch)
        with session.inference():
            assert disk.reached.wait(30)
        assert lowered.wait(30)
        disk.free.set()
    assert closed(path)


def _end_in_child(controller: VoteController, served: StatusFile) -> None:
    served.close()
    controller.close()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_writes_nothing(bench: Bench, path: Path) -> None:
    """A child that closes the inherited controller does not change the parent's file."""
    served = bench.controller.serve_status(path)
    inode = path.stat().st_ino
    child = multiprocessing.get_context("fork").Process(target=_end_in_child, args=(bench.controller, served))
    child.start()
    child.join(30)
    assert (child.exitcode, path.stat().st_ino, closed(path)) == (0, inode, False)
