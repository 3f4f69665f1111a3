"""Power config ids of which the library gives the number again, since a restart of the DSP has made it forget all."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest
from bench import MAX_CORNER, Bench
from hanging import WAIT_S, HangingHtp, until

from htppower import Session, State, VoteController
from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.votes.native import NativeConfig

SECOND_US = 1_000_000
MOMENT_S = 0.0001
CORE_TARGETS = {"burst": MAX_CORNER, "high_performance": 128}


def restart(bench: Bench, next_id: int) -> None:
    """Restart the DSP: all ids are forgotten, and the next one has this number."""
    bench.simulated.restart_subsystem(forget_ids=True)
    bench.simulated._next_id = next_id


@pytest.mark.parametrize("raised", [False, True])
def test_no_two_sessions_share_an_id(raised: bool) -> None:
    """A number that another session had is used by neither, and destroyed: calls of both may reach it."""
    bench = Bench.make()
    first, second = bench.controller.session("burst"), bench.controller.session("balanced")
    if raised:
        bench.infer(second)
    restart(bench, next_id=2)
    with first.inference():
        assert first.power_config_ids == {0: 3}
        bench.infer(second)
        assert second.power_config_ids == {0: 4}
        bench.time.advance_us(SECOND_US)
        assert set(bench.simulated.power_config_ids) == {3, 4}
        assert bench.effective().core_target == MAX_CORNER
        second.close()
        assert bench.simulated.power_config_ids == (3,)
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_a_session_whose_number_is_given_again_has_no_id_until_it_votes() -> None:
    """It has none, as its status says, and is closed without a call."""
    bench = Bench.make()
    first, second = bench.controller.session("burst"), bench.controller.session("balanced")
    restart(bench, next_id=2)
    with first.inference():
        assert [list(each.votes) for each in bench.controller.status().sessions] == [[3], []]
        second.close()
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_an_orphan_of_another_controller_is_given_up_where_its_number_is_given_again() -> None:
    """The back-off of the other makes no call on it."""
    bench = Bench.make()
    other = VoteController(bench.recorder, time=bench.time, handle_sigterm=False, heartbeat_us=0)
    session, closed = bench.controller.session("burst"), other.session("balanced")
    bench.simulated.fail_next(FAILED, function="destroyPowerConfigId", times=2)
    closed.close()
    assert other.status().orphans == (2,)
    bench.simulated.clear_faults()
    restart(bench, next_id=2)
    with session.inference():
        assert session.power_config_ids == {0: 3}
        bench.time.advance_us(10 * SECOND_US)
        assert other.status().orphans == bench.controller.status().orphans == ()
        assert bench.effective().core_target == MAX_CORNER
    for controller in (other, bench.controller):
        controller.close()
    bench.recorder.assert_nothing_left()


class LowestFree(SimulatedHtp):
    """Gives the lowest free id, as a library may; told to, one create returns late, after a call on that id."""

    def __init__(self) -> None:
        super().__init__(arch=75)
        self.late = 0
        self.given, self.crossed = threading.Event(), threading.Event()

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create."""
        with self._lock:
            self._next_id = next(each for each in range(1, 1000) if each not in self._clients)
            answer = super().native_create(device_id, core_id)
        if answer[1] == self.late and not self.given.is_set():
            self.given.set()
            self.crossed.wait(WAIT_S)
        return answer

    def native_set(self, power_config_id: int, configs: Sequence[NativeConfig] | None) -> int:
        """Set, on the late id once it is given."""
        crosses = power_config_id == self.late and not self.crossed.is_set()
        if crosses:
            self.given.wait(WAIT_S)
        code = super().native_set(power_config_id, configs)
        if crosses:
            self.crossed.set()
        return code


def test_votes_that_have_reached_anothers_id_are_cast_again() -> None:
    """The votes of one reach the number that is just given to the other: each has its own in the end, and no more."""
    htp = LowestFree()
    with VoteController(htp, handle_sigterm=False, heartbeat_us=0) as controller:
        crossing, other = controller.session("burst"), controller.session("low_balanced")
        with crossing.inference(), other.inference():
            htp.restart_subsystem(forget_ids=True)
            htp.late = 1
            other.use("balanced")
            until(lambda: htp.crossed.is_set() and len(htp.power_config_ids) == 2)
            until(lambda: crossing.power_config_ids and other.power_config_ids)
            until(lambda: {*crossing.power_config_ids.values(), *other.power_config_ids.values()} == set(htp._clients))
            assert (crossing.state, other.state) == (State.RAISED, State.RAISED)
            assert htp.effective().core_target == MAX_CORNER


@pytest.mark.parametrize("function", ["setPowerConfig", "destroyPowerConfigId"])
def test_a_call_that_reaches_anothers_id_late_is_made_up_for(function: str) -> None:
    """It hangs on its way, and arrives when the number is another session's: that one has its votes in the end."""
    htp = HangingHtp()
    with VoteController(htp, handle_sigterm=False, heartbeat_us=0) as controller:
        keep, old = controller.session("burst"), controller.session("balanced")
        hang = htp.hang_next(function, 2)
        running = [old.inference(), keep.inference()]
        late = threading.Thread(target=running[0].__enter__ if function == "setPowerConfig" else old.close)
        late.start()
        assert hang.begun.wait(WAIT_S)
        htp.restart_subsystem(forget_ids=True)
        htp._next_id = 2
        controller.link_lost(SYSTEM_COMMUNICATION)
        # It may wait for settings of the process, which the late call carries.
        beginning = threading.Thread(target=running[1].__enter__)
        beginning.start()
        until(lambda: any(client.core[1] == MAX_CORNER for client in htp._clients.values()))
        hang.let_go.set()
        for thread in (late, beginning):
            thread.join(WAIT_S)
        until(lambda: 2 not in htp.power_config_ids)
        assert set(keep.power_config_ids.values()) <= set(htp.power_config_ids)
        assert (keep.state, htp.effective().core_target) == (State.RAISED, MAX_CORNER)


class LowestFreeHanging(HangingHtp):
    """Gives the lowest free id."""

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create."""
        with self._lock:
            self._next_id = next(each for each in range(1, 1000) if each not in self._clients)
            return super().native_create(device_id, core_id)


@pytest.mark.parametrize("heartbeat", [False, True])
def test_a_call_that_reaches_a_third_owners_id_leaves_no_vote_there(heartbeat: bool) -> None:
    """It is under way for so long that the number was destroyed, and given once more: that id is not used again."""
    htp = LowestFreeHanging()
    with VoteController(htp, handle_sigterm=False, heartbeat_us=20_000 if heartbeat else 0) as controller:
        old = controller.session("burst")
        inference = old.inference()
        late = threading.Thread(target=inference.__enter__)
        if heartbeat:
            late.start()
            late.join(WAIT_S)
        hang = htp.hang_next("setPowerConfig", 1)
        if not heartbeat:
            late.start()
        assert hang.begun.wait(WAIT_S)
        htp.restart_subsystem(forget_ids=True)
        controller.link_lost(SYSTEM_COMMUNICATION)
        other = controller.session("balanced")
        assert other.power_config_ids == {0: 2}
        # As the back-off does, some seconds later.
        for _ in range(2):
            controller._closer._remains.destroy_orphans()
        assert htp.power_config_ids == (2,)
        third = controller.session("balanced")
        assert third.power_config_ids == {0: 1}
        hang.let_go.set()
        late.join(WAIT_S)
        until(lambda: not third.power_config_ids and old.state is State.RAISED)
        controller._closer._remains.destroy_orphans()
        assert {*old.power_config_ids.values(), 2} == set(htp.power_config_ids)
        inference.__exit__(None, None, None)


class SlowLowestFree(LowestFreeHanging):
    """Each call takes a moment on its way back, in which others make theirs."""

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create."""
        answer = super().native_create(device_id, core_id)
        time.sleep(MOMENT_S)
        return answer

    def native_set(self, power_config_id: int, configs: Sequence[NativeConfig] | None) -> int:
        """Set."""
        time.sleep(MOMENT_S)
        return super().native_set(power_config_id, configs)


def have_their_own_votes(htp: SimulatedHtp, controller: VoteController, sessions: Sequence[Session]) -> bool:
    """Return whether each session is raised on an id of its own, and nothing else is left."""
    if controller.status().orphans or any(session.state is not State.RAISED for session in sessions):
        return False
    votes = {session.power_config_ids.get(0): CORE_TARGETS[session.profile.name] for session in sessions}
    return len(votes) == len(sessions) and votes == {
        power_config_id: client.core[1] for power_config_id, client in tuple(htp._clients.items())
    }


def test_sessions_that_are_voted_again_at_one_time_have_their_own_votes() -> None:
    """On ids of their own, whatever numbers they are given: they meet by chance, so that several restarts are tried."""
    htp = SlowLowestFree()
    with VoteController(htp, handle_sigterm=False, heartbeat_us=0) as controller:
        sessions = [controller.session("burst") for _ in range(6)]
        running = [session.inference() for session in sessions]
        for inference in running:
            inference.__enter__()
        for number in range(4):
            htp.restart_subsystem(forget_ids=True)
            changed = sessions[number % 6]
            # Its call is told of the restart.
            changed.use("burst" if changed.profile.name == "high_performance" else "high_performance")
            until(lambda: have_their_own_votes(htp, controller, sessions))
        for inference in running:
            inference.__exit__(None, None, None)
