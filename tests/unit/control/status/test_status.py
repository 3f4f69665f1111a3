"""``controller.status()``: every session, every core, and the settings of the process."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench
from support.hanging import WAIT_S, HangingHtp, join, started, until

import htppower
from htppower import SessionClosed, State, VoteController
from htppower.backends import SimulatedHtp
from htppower.events import Cause
from htppower.testing import VirtualTime
from htppower.votes.corners import VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from htppower.control.status.controller_status import SessionStatus


def only(bench: Bench) -> SessionStatus:
    """Return the status of the one session."""
    (session,) = bench.controller.status().sessions
    return session


def test_a_session_that_was_only_opened(bench: Bench) -> None:
    """The status of a new session has its owner, ids and cores, and shows no call, phase or failure yet."""
    bench.time.advance_us(10)
    session = bench.controller.session("burst", owner="camera")
    bench.time.advance_us(5)
    status = only(bench)
    assert (status.number, status.owner, status.profile, status.own_profile) == (1, "camera", "burst", "burst")
    assert (status.state, status.since_us, status.cause, status.in_flight) == (State.UNVOTED, 10, None, 0)
    assert (status.device_id, status.core_ids, status.power_config_ids) == (0, (0,), (1,))
    assert (status.holds, status.decided_by, status.sustained_until_us) == ((), None, None)
    assert (status.degradations, status.error, status.last_error) == ((), None, None)
    assert status.last_call is not None
    assert (status.last_call.function, status.last_call.power_config_id) == ("createPowerConfigId", 1)
    assert (status.calls_sent, status.calls_saved, status.time_in_state_us) == (1, 0, {State.UNVOTED: 5})
    assert not status.votes[1]
    assert session.state is State.UNVOTED


def test_since_when_and_why_a_session_is_up(bench: Bench) -> None:
    """State, since, cause, in flight and deadline are right during an inference and its sustain window."""
    session = bench.controller.session("burst")
    bench.time.advance_us(1_000)
    with session.inference(), session.inference():
        up = only(bench)
    bench.time.advance_us(20)
    sustained = only(bench)
    bench.time.advance_us(BURST_SUSTAIN_US)
    down = only(bench)
    assert (up.state, up.since_us, up.cause) == (State.RAISED, 1_000, Cause.INFERENCE_BEGAN)
    assert (up.in_flight, up.sustained_until_us) == (2, None)
    assert (sustained.state, sustained.in_flight) == (State.RAISED, 0)
    assert sustained.sustained_until_us == 1_000 + BURST_SUSTAIN_US
    assert (down.state, down.since_us, down.cause) == (State.LOWERED, 1_000 + BURST_SUSTAIN_US, Cause.SUSTAIN_EXPIRED)
    assert down.sustained_until_us is None


def test_the_times_in_each_state_add_up(bench: Bench) -> None:
    """The time in each state is the sum of its stays, and all times together are the life of the session."""
    session = bench.controller.session("high_performance")
    for _ in range(3):
        bench.time.advance_us(7)
        bench.infer(session, 100)
    bench.time.advance_us(50)
    assert only(bench).time_in_state_us == {State.UNVOTED: 7, State.RAISED: 300, State.LOWERED: 64}


@pytest.mark.parametrize("core_ids", [(0,), (0, 1)])
def test_calls_sent_and_saved(core_ids: tuple[int, ...]) -> None:
    """An inference that finds its votes up saves a raise and a lowering on each core, at once."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2))
    session = bench.controller.session("burst", core_ids=core_ids)
    for _ in range(4):
        bench.infer(session)
    up = only(bench)
    bench.time.advance_us(BURST_SUSTAIN_US)
    down = only(bench)
    assert up.calls_saved == down.calls_saved == 2 * 3 * len(core_ids)
    # There is one more call in each direction: for the settings of the process.
    assert (up.calls_sent, down.calls_sent) == (2 * len(core_ids) + 1, 3 * len(core_ids) + 2)
    assert down.calls_sent == len(bench.recorder.calls)
    bench.controller.close()


def test_the_last_error_outlives_its_cure(bench: Bench) -> None:
    """``error`` has the failed call until a call succeeds; ``last_error`` keeps it."""
    session = bench.controller.session("burst")
    bench.time.advance_us(3)
    bench.simulated.fail_next(1007)
    with session.inference():
        pass
    bench.time.advance_us(10_000)
    status = only(bench)
    assert status.error is None
    assert status.last_error is not None
    assert (status.last_error.time_us, status.last_error.error.code) == (3, 1007)
    assert status.last_call is not None
    assert status.last_call.code == 0


def test_which_hold_or_cap_decides(bench: Bench) -> None:
    """The status has the profile in use, the hold or cap that decides it, and the session's own profile."""
    session = bench.controller.session("balanced")
    bench.time.advance_us(9)
    with session.hold("burst", reason="camera preview", timeout_us=100):
        held = only(bench)
        with bench.controller.cap("low_balanced", reason="hot"):
            capped = only(bench)
            (cap,) = bench.controller.status().caps
    assert (held.profile, held.own_profile) == ("burst", "balanced")
    assert held.decided_by is not None
    assert held.holds == (held.decided_by,)
    assert (held.decided_by.reason, held.decided_by.since_us, held.decided_by.until_us) == ("camera preview", 9, 109)
    assert (capped.profile, capped.decided_by, cap.reason) == ("low_balanced", cap, "hot")
    assert (only(bench).profile, only(bench).decided_by) == ("balanced", None)


def test_which_session_decides_a_core(bench: Bench) -> None:
    """The session with the higher target decides a core; after its lowering the other one decides."""
    high = bench.controller.session("burst")
    low = bench.controller.session("high_power_saver")
    with low.inference():
        with high.inference():
            (both,) = bench.controller.status().cores
        bench.time.advance_us(BURST_SUSTAIN_US)
        (one,) = bench.controller.status().cores
        assert one.effective == bench.effective()
    assert (both.effective.core_target, both.decided_by["core"], both.decided_by["bus"]) == (MAX_CORNER, (1,), (1,))
    assert (both.decided_by["hmx"], both.decided_by["sleep_latency_us"]) == ((1,), (1,))
    assert (one.effective.core_target, one.decided_by["core"]) == (VoltageCorner.SVS_PLUS, (2,))
    assert both.unknown == one.unknown == ()


def test_sessions_that_decide_together(bench: Bench) -> None:
    """Two sessions with the same target both decide."""
    first, second = (bench.controller.session("burst") for _ in range(2))
    with first.inference(), second.inference():
        (core,) = bench.controller.status().cores
    assert core.decided_by["core"] == (1, 2)


def test_a_session_whose_votes_are_not_known_decides_nothing(bench: Bench) -> None:
    """A core lists a session with unknown votes as unknown, and its votes in force leave this session out."""
    lost, kept = bench.controller.session("burst"), bench.controller.session("power_saver")
    with kept.inference():
        bench.simulated.fail_next(1009)
        with lost.inference():
            (core,) = bench.controller.status().cores
            assert (core.unknown, core.decided_by["core"], core.effective.core_target) == ((1,), (2,), SVS)


def test_the_holders_of_process_wide_settings(bench: Bench) -> None:
    """The holders of a setting are the sessions that wish for its value in force; without a wish it has none."""
    first, second = (bench.controller.session("burst") for _ in range(2))
    with first.inference(), second.inference():
        settings = {setting.name: setting for setting in bench.controller.status().settings}
    polling = settings["rpc_polling_time_us"]
    assert (polling.value, polling.holders) == (9999, (1, 2))
    assert settings["adaptive_polling_time_us"].value is None
    bench.time.advance_us(BURST_SUSTAIN_US)
    (polling,) = (each for each in bench.controller.status().settings if each.name == "rpc_polling_time_us")
    assert (polling.value, polling.holders) == (0, ())


def test_an_id_that_could_not_be_destroyed_is_told(bench: Bench) -> None:
    """The session is closed and gone from the status; its ID is among the orphans."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(1009, function="destroyPowerConfigId")
    session.close()
    status = bench.controller.status()
    assert (status.sessions, status.cores, status.orphans) == ((), (), (1,))


def test_a_status_calls_little_for_each_session(bench: Bench) -> None:
    """A host may have thousands of sessions, so each costs a status only two Python calls, sustained or not."""
    package = str(Path(htppower.__file__).parent)
    calls: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        # A lock is a function in C, except in tests that check the order of locks.
        if event == "call" and frame.f_code.co_filename.startswith(package):
            calls.append(frame.f_code.co_name)

    counted, sessions = [], []
    # The first status of a process fills caches, so it is not counted.
    for opened in (1, 20, 20):
        for _ in range(opened):
            sessions.append(bench.controller.session("burst"))
            bench.infer(sessions[-1])
        calls.clear()
        # Otherwise the collector would free objects of other tests here, and run functions of ours.
        gc.disable()
        sys.setprofile(note)
        try:
            status = bench.controller.status()
        finally:
            sys.setprofile(None)
            gc.enable()
        counted.append(len(calls))
    assert len(status.sessions) == 41
    assert all(session.sustained_until_us is not None for session in status.sessions)
    assert counted[2] - counted[1] == 2 * 20


def test_a_status_amid_a_transition_counts_no_stay_and_no_saved_call_twice(bench: Bench) -> None:
    """A status taken between a state's change and its recording counts each stay and each saved call once."""
    session = bench.controller.session("burst")
    taken: list[SessionStatus] = []

    def look(frame: FrameType, event: str, _argument: object) -> Any:
        if event == "line":
            sys.settrace(None)
            taken.append(only(bench))
            sys.settrace(look)
        place = Path(frame.f_code.co_filename).stem, frame.f_code.co_name
        return look if place in noting else None

    machine, record = "state_machine", "session_record"
    noting = {*zip([machine] * 3, ("make", "_moved", "tell_saves"), strict=True), (record, "moved"), (record, "saved")}
    bench.time.advance_us(5_000_000)
    before = sys.gettrace()
    for _ in range(2):
        sys.settrace(look)
        with session.inference(), session.inference(), session.inference():
            pass
        bench.time.advance_us(BURST_SUSTAIN_US)
        sys.settrace(before)
    assert {sum(each.time_in_state_us.values()) for each in taken} == {5_000_000, 5_300_000, 5_600_000}
    raised = [each.time_in_state_us.get(State.RAISED, 0) for each in taken]
    assert (raised, set(raised)) == (sorted(raised), {0, 300_000, 600_000})
    saved = [each.calls_saved for each in taken]
    assert (saved, saved[-1]) == (sorted(saved), 8)
    assert all(5_600_000 - each.since_us <= 600_000 for each in taken if each.state is State.RAISED)


class Interjected(VirtualTime):
    """A clock that runs an action right after it was read."""

    then: Callable[[], object] | None = None

    @property
    def now_us(self) -> int:
        """Return the time, in microseconds."""
        read_us, then = self._now_us, self.then
        if then is not None:
            self.then = None
            then()
        return read_us


def test_a_stay_that_begins_after_the_time_of_a_status_has_lasted_for_nothing() -> None:
    """If another thread changes a state after the status has read its clock, the new stay has lasted 0 us."""
    time = Interjected()
    with VoteController("simulated", time=time, handle_sigterm=False) as controller:
        session = controller.session("burst")
        time.advance_us(990)

        def infer_later() -> None:
            time.advance_us(10)
            session.begin()

        time.then = infer_later
        (status,) = controller.status().sessions
    assert (status.state, status.since_us) == (State.RAISED, 990)
    assert status.time_in_state_us == {State.UNVOTED: 1_000, State.RAISED: 0}


def test_a_call_that_hangs_is_shown_with_whom_it_keeps() -> None:
    """The status shows the call, its id, its session and its begin, and the session whose close waits for it."""
    backend = HangingHtp()
    with VoteController(backend, handle_sigterm=False) as controller:
        session = controller.session("balanced")
        (power_config_id,) = session.power_config_ids.values()
        assert controller.status().calls_under_way == ()
        hang = backend.hang_next("setPowerConfig", power_config_id)

        def infer() -> None:
            with pytest.raises(SessionClosed):
                session.begin()

        threads = started(infer)
        assert hang.begun.wait(WAIT_S)
        status = controller.status()
        (call,), (seen,) = status.calls_under_way, status.sessions
        assert (call.session, call.function, call.power_config_id) == (1, "setPowerConfig", power_config_id)
        assert (call.lasted_us >= 0, call.since_us <= status.time_us) == (True, True)
        assert (seen.in_flight, seen.closing) == (1, False)
        threads += started(session.close)
        until(lambda: controller.status().sessions[0].closing)
        hang.let_go.set()
        join(*threads)
        assert (controller.status().calls_under_way, controller.status().sessions) == ((), ())


def test_votes_that_are_not_known_come_down_when_the_timer_says(bench: Bench) -> None:
    """Votes of a raise that failed in part are lowered at the deadline, and the status shows this time."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(13006, applied=1)
    bench.infer(session)
    status = only(bench)
    assert (status.state, status.sustained_until_us) == (State.UNKNOWN, bench.time.now_us + BURST_SUSTAIN_US)
