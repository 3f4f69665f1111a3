"""Which controllers share a backend, and with that the settings of the process and the line of its calls."""

from __future__ import annotations

import gc
import logging
import os
import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from bench import Bench
from hanging import HangingHtp
from second_controller import polling_us, second_on

from htppower import State, VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.backend_list import SHARED_BACKENDS
from htppower.control.core import ledger, process_settings
from htppower.testing import VirtualTime
from htppower.votes import vote_set
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Session
    from htppower.backends import Description

SECOND_US = 1_000_000


class Library(SimulatedHtp):
    """A simulated HTP that says the path of a library."""

    path = ""

    def describe(self) -> Description:
        """Say it."""
        return attrs.evolve(super().describe(), path=self.path)


class OneCall(HangingHtp):
    """A backend that takes one call at a time, and may hang in it."""

    def describe(self) -> Description:
        """Say so."""
        return attrs.evolve(super().describe(), one_call_at_a_time=True)


def test_a_profile_that_is_loaded_twice_is_looked_up_as_one(
    bench: Bench, other: VoteController, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of votes is found by the same object: no raise and no lowering compares votes one by one."""
    # What other tests have had remembered may be equal, and another object.
    for module in (vote_set, ledger, process_settings):
        for remembers in vars(module).values():
            if hasattr(remembers, "cache_clear"):
                remembers.cache_clear()
    sessions = [controller.session(load_profile("balanced")) for controller in (bench.controller, other)]
    _infer_twice(sessions)
    compared: list[VoteSet] = []
    equal = VoteSet.__eq__

    def compare(votes: VoteSet, with_these: object) -> bool:
        compared.append(votes)
        return equal(votes, with_these)

    monkeypatch.setattr(VoteSet, "__eq__", compare)
    _infer_twice(sessions)
    assert not compared


def _infer_twice(sessions: list[Session]) -> None:
    for session in sessions * 2:
        with session.inference():
            assert session.state is State.RAISED


def test_the_second_is_warned_of_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """One WARNING names both controllers, and what the sessions of the first are for; a third one logs none."""
    caplog.set_level(logging.WARNING, "htppower")
    bench.controller.session("burst", owner="camera")
    bench.controller.session("burst")
    assert caplog.messages == []
    with second_on(bench), second_on(bench) as third:
        (message,) = caplog.messages
        assert "controller 2 is made while controller 1 (camera) is open on the same backend, simulated HTP" in message
        assert (third.status().number, third.status().sharing) == (3, 2)
        assert bench.controller.status().sharing == 2
    assert bench.controller.status().sharing == 0
    with second_on(bench):
        assert len(caplog.messages) == 1


def test_controllers_on_simulations_of_their_own_share_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """What one asks of its process is nothing to the other's, and nobody is warned."""
    first, second = Bench.make(), Bench.make()
    with first.controller, second.controller:
        mine, theirs = first.controller.session("burst"), second.controller.session("burst")
        with mine.inference(), theirs.inference():
            mine.use("balanced")
            assert (polling_us(first), polling_us(second)) == (0, 9999)
        assert [bench.controller.status().number for bench in (first, second)] == [1, 1]
        assert [bench.controller.status().sharing for bench in (first, second)] == [0, 0]
    assert caplog.messages == []


def test_recorders_of_one_backend_are_that_backend() -> None:
    """Two recorders on one simulated HTP, and the HTP itself, are one backend."""
    simulated, time = SimulatedHtp(arch=75), VirtualTime()
    inner = RecordingBackend(RecordingBackend(simulated))
    controllers = [VoteController(each, time=time) for each in (inner, RecordingBackend(simulated), simulated)]
    assert [controller.status().sharing for controller in controllers] == [2, 2, 2]
    for controller in controllers:
        controller.close()


def test_one_file_of_a_library_is_one_backend(tmp_path: Path) -> None:
    """The vendor's library is one by its path, whichever link leads there; another file, or no path, is another."""
    library, link = tmp_path / "libQnnHtp.so", tmp_path / "link.so"
    library.touch()
    link.symlink_to(library)
    time = VirtualTime()
    controllers = []
    for path in (str(library), str(link), str(tmp_path / "other.so"), "", "libQnnHtp.so", "libQnnHtp.so"):
        backend = Library(arch=75)
        backend.path = path
        controllers.append(VoteController(backend, time=time))
    assert [controller.status().sharing for controller in controllers] == [1, 1, 0, 0, 1, 1]
    for controller in controllers:
        controller.close()


def test_times_of_their_own(bench: Bench) -> None:
    """Controllers may have a time each: what one lowers by its own, and casts again by its own, suits the other."""
    time = VirtualTime(now_us=5_000_000)
    other = VoteController(bench.recorder, time=time, handle_sigterm=False, heartbeat_us=0)
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    with mine.inference(), theirs.inference():
        bench.simulated.restart_subsystem()
        mine.use("sustained_high_performance")
        bench.time.advance_us(1)
        assert theirs.state is State.UNKNOWN or polling_us(bench) == 9999
        time.advance_us(1)
        assert theirs.state is State.RAISED
    bench.time.advance_us(SECOND_US)
    assert (mine.state, theirs.state, polling_us(bench)) == (State.LOWERED, State.RAISED, 9999)
    time.advance_us(SECOND_US)
    assert (theirs.state, polling_us(bench)) == (State.LOWERED, 0)
    other.close()


def test_one_that_was_collected_shares_no_more(bench: Bench) -> None:
    """A controller whose making fails, or that is dropped once it is closed, is none that others share with."""
    second_on(bench).close()
    with pytest.raises(ValueError, match="on_error"):
        second_on(bench, on_error="ignore")
    second = second_on(bench)
    settings = second._settings
    assert bench.controller.status().sharing == 1
    # As where an exception passes before the end of the process is bound to it.
    bench_settings = bench.controller._settings
    (found,) = bench_settings.others
    assert found is settings
    second._process_exit.end()
    del second, settings, found
    gc.collect()
    assert bench.controller.status().sharing == 0
    with bench.controller.session("burst").inference():
        assert polling_us(bench) == 9999


def test_the_next_controller_after_the_last_knows_nothing(bench: Bench) -> None:
    """One that is made when the others are closed sends everything, as on a new process."""
    with bench.controller.session("burst").inference():
        pass
    bench.controller.close()
    with second_on(bench) as other:
        bench.simulated.close()
        with other.session("burst").inference():
            assert (polling_us(bench), bench.effective().rpc_control_latency_us) == (9999, 100)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
# Threads of tests before may not have ended yet, of which Pythons from 3.12 on warn.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_shares_nothing_with_the_parents(bench: Bench, other: VoteController) -> None:
    """A controller that is made in a forked child is the first there, whoever held which lock at the fork."""
    theirs = other.session("burst")
    with theirs.inference(), bench.controller._settings._lock, SHARED_BACKENDS._lock:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            told = b"failed"
            try:
                thread = threading.Thread(target=lambda: answers.append(_in_child(bench)))
                answers: list[str] = []
                thread.start()
                thread.join(10)
                told = answers[0].encode() if answers else b"hangs"
            finally:
                os.write(write, told)
                os._exit(0)
        os.close(write)
        with os.fdopen(read) as pipe:
            told_us = pipe.read()
        os.waitpid(child, 0)
    assert told_us == "0 1 0 9999"


def _in_child(bench: Bench) -> str:
    before = bench.controller.status()
    with second_on(bench) as made, made.session("burst").inference():
        status = made.status()
        return f"{before.sharing} {status.number} {status.sharing} {polling_us(bench)}"


def test_a_backend_that_takes_one_call_at_a_time_gets_one_at_a_time() -> None:
    """The calls of two controllers on it are in one line."""
    htp = OneCall()
    first, second = (VoteController(htp, time=VirtualTime(), heartbeat_us=0) for _ in range(2))
    mine, theirs = first.session("power_saver"), second.session("system_settings")
    hang = htp.hang_next("setPowerConfig", mine.power_config_ids[0])
    raising = threading.Thread(target=_infer_twice, args=([mine],))
    raising.start()
    assert hang.begun.wait(30)
    opened: list[Session] = []
    opening = threading.Thread(target=lambda: opened.append(second.session("power_saver")))
    opening.start()
    opening.join(0.1)
    assert opened == []
    hang.let_go.set()
    raising.join(30)
    opening.join(30)
    assert len(opened) == 1
    assert theirs.power_config_ids == {}
    second.close()
    first.close()
