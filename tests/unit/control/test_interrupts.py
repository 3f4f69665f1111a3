"""What is no VoteRejected and passes through a native call: Ctrl-C, and backends that break the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import signal
from typing import TYPE_CHECKING

import pytest
from bench import BURST_SUSTAIN_US, DISABLE, MAX_CORNER
from interrupting import interrupted_once
from rig import Rig

from htppower import State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.core.gate import Gate
from htppower.control.core.session_record import SessionRecord
from htppower.testing import VirtualTime
from htppower.votes.native_codes import TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.votes.vote_set import VoteSet

SECOND_US = 1_000_000


@pytest.mark.parametrize("after", [False, True])
def test_ctrl_c_in_a_raise_is_passed_on_and_the_votes_come_down(after: bool) -> None:
    """KeyboardInterrupt in the raising call, made or not: the inference has not begun, and the votes are lowered."""
    rig = Rig()
    session = rig.controller.session("burst")
    rig.backend.next_raises(KeyboardInterrupt(), after=after)
    with pytest.raises(KeyboardInterrupt), session.inference():
        pytest.fail("the inference began")
    assert session.in_flight == 0
    rig.time.advance_us(2 * SECOND_US)
    assert rig.core_target != MAX_CORNER
    assert session.state is State.LOWERED
    rig.controller.close()


@pytest.mark.parametrize("after", [False, True])
def test_ctrl_c_in_a_lowering_is_passed_on_and_tried_again(after: bool) -> None:
    """KeyboardInterrupt in the lowering call: the session is lowered soon after, on another thread."""
    rig = Rig()
    session = rig.controller.session("balanced")
    with pytest.raises(KeyboardInterrupt), session.inference():
        rig.backend.next_raises(KeyboardInterrupt(), after=after)
    assert session.in_flight == 0
    rig.time.advance_us(SECOND_US)
    assert session.state is State.LOWERED
    assert rig.time.alarms == 0
    rig.controller.close()


def test_an_exception_that_was_raised_before_is_passed_on_by_the_end_of_an_inference() -> None:
    """A handler may keep one and raise it again: its traceback names functions that run still."""
    rig = Rig()
    session = rig.controller.session("balanced")
    kept = KeyboardInterrupt()
    with contextlib.suppress(KeyboardInterrupt):
        raise kept
    with pytest.raises(KeyboardInterrupt) as caught, session.inference():
        rig.backend.next_raises(kept)
    assert caught.value is kept
    rig.time.advance_us(SECOND_US)
    assert session.state is State.LOWERED
    rig.controller.close()


def test_ctrl_c_where_the_inference_of_a_coroutine_does_not_begin_leaves_none_in_flight(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Once in its raise and once as its token is taken back: it is not counted once the exceptions are dropped."""
    rig = Rig()
    session = rig.controller.session("burst")
    rig.backend.next_raises(KeyboardInterrupt())

    async def infer() -> None:
        async with session.ainference():
            pytest.fail("the inference began")

    with monkeypatch.context() as patched:
        patched.setattr(Gate, "drop", interrupted_once(patched))
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(infer())
    rig.time.advance_us(2 * SECOND_US)
    assert session.in_flight == 0
    rig.controller.close()


@pytest.mark.parametrize("verb", ["set", "destroy"])
def test_ctrl_c_in_close_is_raised_when_every_session_was_tried(verb: str) -> None:
    """KeyboardInterrupt while the controller closes: every session is closed; closing again finishes what is left."""
    rig = Rig()
    sessions = [rig.controller.session("burst") for _ in range(3)]
    for session in sessions:
        with session.inference():
            pass
    rig.backend.next_raises(KeyboardInterrupt(), verb)
    with pytest.raises(KeyboardInterrupt):
        rig.controller.close()
    assert [session.state for session in sessions[1:]] == [State.DESTROYED] * 2
    rig.controller.close()
    assert sessions[0].state is State.DESTROYED
    assert rig.core_target == DISABLE
    rig.backend.assert_nothing_left()
    rig.time.advance_us(BURST_SUSTAIN_US)
    assert rig.time.alarms == 0


def test_ctrl_c_in_a_sessions_close_is_finished_by_the_back_off() -> None:
    """KeyboardInterrupt while a session is destroyed: it is destroyed by the back-off, without closing it again."""
    rig = Rig()
    session = rig.controller.session("burst")
    with session.inference():
        pass
    rig.backend.next_raises(KeyboardInterrupt(), "destroy")
    with pytest.raises(KeyboardInterrupt):
        session.close()
    rig.time.advance_us(10 * SECOND_US)
    assert session.state is State.DESTROYED
    assert rig.controller.status().sessions == ()
    assert rig.time.alarms == 0
    rig.backend.assert_nothing_left()
    rig.controller.close()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_ctrl_c_as_an_id_is_given_up_leaves_it_to_one(
    fails: bool, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The id is the session's, which may raise its votes on it, or an orphan, which the back-off destroys."""
    rig = Rig()
    session = rig.controller.session("burst")
    with session.inference():
        pass
    give_up = SessionRecord.give_up_id

    def interrupted(record: SessionRecord, core_id: int) -> None:
        patched.undo()
        if after:
            give_up(record, core_id)
        raise KeyboardInterrupt

    if fails:
        rig.simulated.fail_next(TRANSPORT, function="destroyPowerConfigId")
    with monkeypatch.context() as patched:
        patched.setattr(SessionRecord, "give_up_id", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.use("system_settings")
    session.use("burst")
    with session.inference():
        assert session.state is State.RAISED
        rig.time.advance_us(10 * SECOND_US)
        assert rig.core_target == MAX_CORNER
        assert rig.simulated.power_config_ids == tuple(session.power_config_ids.values())
    rig.controller.close()


def test_ctrl_c_in_a_phase_that_gives_an_id_back_leaves_it_to_the_back_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the phase has no more to ask for: its session uses a profile without votes meanwhile."""
    rig = Rig()
    session = rig.controller.session("burst")
    make_call, give_up = rig.backend.set_power_config, SessionRecord.give_up_id

    def used_meanwhile(power_config_id: int, votes: VoteSet) -> None:
        patched.undo()
        make_call(power_config_id, votes)
        patched.setattr(SessionRecord, "give_up_id", interrupted)
        rig.simulated.fail_next(TRANSPORT, function="destroyPowerConfigId")
        session.use("system_settings")

    def interrupted(record: SessionRecord, core_id: int) -> None:
        patched.undo()
        give_up(record, core_id)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rig.backend, "set_power_config", used_meanwhile)
        with pytest.raises(KeyboardInterrupt), session.inference():
            pytest.fail("the inference began")
    assert len(rig.simulated.power_config_ids) == 1
    rig.time.advance_us(SECOND_US)
    assert rig.simulated.power_config_ids == ()
    assert rig.time.alarms == 0
    rig.controller.close()


def test_a_backend_that_breaks_the_protocol_fails_no_inference() -> None:
    """An exception that is no VoteRejected counts as a failed call: the inference runs, and the votes come down."""
    rig = Rig()
    session = rig.controller.session("burst")
    rig.backend.next_raises(OSError("mine"), after=True)
    with session.inference():
        assert session.state is State.UNKNOWN
    error = rig.controller.status().sessions[0].error
    assert isinstance(error, VoteRejected)
    assert str(error.__cause__) == "OSError: mine"
    rig.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED
    rig.controller.close()
    rig.backend.assert_nothing_left()


@pytest.mark.parametrize("made", [[], {}, None, "7", 7.0])
def test_an_id_that_is_no_whole_number_is_none(made: object) -> None:
    """A backend that gives one has failed to create an id: the session is refused with that, and no other error."""
    rig = Rig()
    rig.backend.create_power_config_id = lambda *_core: made  # type: ignore[assignment,method-assign]
    with pytest.raises(VoteRejected, match="the backend raised TypeError"):
        rig.controller.session("burst")
    rig.controller.close()


def test_a_backend_in_c_that_breaks_the_protocol_fails_no_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Likewise where what fails is no function of Python, so that the error has passed none but the controller's."""
    rig = Rig()
    session = rig.controller.session("burst")
    with monkeypatch.context() as broken:
        broken.setattr(rig.backend, "set_power_config", divmod)
        with session.inference():
            assert session.state is State.UNKNOWN
    error = rig.controller.status().sessions[0].error
    assert isinstance(error, VoteRejected)
    assert str(error.__cause__).startswith("TypeError: unsupported operand")
    rig.controller.close()
    rig.backend.assert_nothing_left()


def too_late(number: int, frame: object) -> None:
    """Raise, as a time limit of the host."""
    raise TimeoutError("the host's own limit")


class TooLate:
    """A handler that is an object."""

    def __call__(self, number: int, frame: object) -> None:
        """Raise, as a time limit of the host."""
        raise TimeoutError("the host's own limit")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs a timer that sends a signal")
@pytest.mark.parametrize("handler", [too_late, TooLate(), TooLate().__call__, functools.partial(too_late)])
def test_a_time_limit_of_the_host_is_passed_on(handler: Callable[..., None]) -> None:
    """A signal handler that raises in the middle of a native call: no answer of the backend, and nothing stays up."""

    class Backend(SimulatedHtp):
        """Is interrupted by a signal in its next vote."""

        interrupted = False

        def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
            super().set_power_config(power_config_id, votes)
            if not self.interrupted:
                self.interrupted = True
                signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handler)
    time, backend = VirtualTime(), Backend(arch=75)
    try:
        with VoteController(backend, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
            session = controller.session("burst")
            with pytest.raises(TimeoutError, match="own limit"), session.inference():
                pytest.fail("the inference began")
            assert session.in_flight == 0
            time.advance_us(2 * SECOND_US)
            assert (session.state, session.error) == (State.LOWERED, None)
            assert backend.effective().core_target != MAX_CORNER
    finally:
        signal.signal(signal.SIGUSR1, before)
