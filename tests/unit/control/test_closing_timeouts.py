"""Closing with a timeout: a session that waits for a hanging call is closed when the call returns."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from prometheus_client import CollectorRegistry, generate_latest
from support.hanging import WAIT_S, HangingHtp, until
from support.inside import is_ended

from htppower import CloseTimedOut, HtpPowerError, SessionClosed, State, VoteController, VoteRejected
from htppower.subscribers.prometheus import PrometheusMetrics
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.hanging import Hang

    from htppower import Session

# A hanging call lasts until the test ends it, so a short timeout is enough.
SHORT_S = 0.05


@attrs.define
class Host:
    """A controller in real time, on a backend whose calls can hang, and threads that infer."""

    backend: HangingHtp
    controller: VoteController
    threads: list[threading.Thread] = attrs.field(factory=list)

    def hanging_raise(self, session: Session) -> Hang:
        """Begin an inference on another thread; its raise hangs."""
        (power_config_id,) = session.power_config_ids.values()
        hang = self.backend.hang_next("setPowerConfig", power_config_id)
        self.infer(session)
        assert hang.begun.wait(WAIT_S)
        return hang

    def infer(self, session: Session) -> None:
        """Run an inference on another thread; the session may be closed before its votes are in force."""

        def run() -> None:
            with contextlib.suppress(SessionClosed), session.inference():
                pass

        self.threads.append(threading.Thread(target=run))
        self.threads[-1].start()


@contextlib.contextmanager
def hosting(**options: Any) -> Iterator[Host]:
    """Yield a host; let every call go, close the host, and assert that nothing is left."""
    backend = HangingHtp()
    made = Host(backend, VoteController(backend, handle_sigterm=False, **options))
    yield made
    backend.let_go()
    for thread in made.threads:
        thread.join(WAIT_S)
    made.controller.close(timeout_s=WAIT_S)
    # A thread whose close was given up may still be in its last call.
    until(lambda: backend.power_config_ids == ())
    assert backend.effective().rpc_polling_time_us == 0


@pytest.fixture
def host(request: pytest.FixtureRequest) -> Iterator[Host]:
    """Yield a host with the options that a test asks for."""
    with hosting(**getattr(request, "param", {})) as made:
        yield made


def give_up(closed: Session | VoteController, timeout_s: float = SHORT_S) -> CloseTimedOut:
    """Return the error of a close that times out."""
    with pytest.raises(CloseTimedOut) as caught:
        closed.close(timeout_s=timeout_s)
    return caught.value


@pytest.mark.parametrize("host", [{"on_error": "continue"}, {"on_error": "raise"}], indirect=True)
def test_a_session_whose_call_hangs_is_given_up(host: Host) -> None:
    """With any ``on_error``, the error names the session, the hanging call and its begin."""
    session = host.controller.session("balanced")
    (power_config_id,) = session.power_config_ids.values()
    host.hanging_raise(session)
    error = give_up(session)
    (call,) = error.calls
    assert error.sessions == (call.session,) == (session.number,)
    assert (call.function, call.power_config_id) == ("setPowerConfig", power_config_id)
    assert call.since_us + call.lasted_us <= host.controller.status().time_us
    # A wait may end a tick of its clock early.
    assert call.lasted_us >= SHORT_S * 900_000
    assert isinstance(error, HtpPowerError)
    assert isinstance(error, TimeoutError)
    message = f"not closed within 0.05 s: session 1; setPowerConfig on power config id {power_config_id} for session 1"
    assert str(error).startswith(message)


def test_it_is_closed_when_its_call_returns(host: Host) -> None:
    """The session is closed when its call returns, without another ``close``."""
    session = host.controller.session("burst")
    hang = host.hanging_raise(session)
    give_up(session)
    hang.let_go.set()
    until(lambda: session.state is State.DESTROYED)
    assert host.backend.power_config_ids == ()


def test_it_is_closed_also_where_its_call_fails_at_last(host: Host) -> None:
    """After a call that hangs and then fails, the ids of the session are destroyed, too."""
    session = host.controller.session("burst")
    hang = host.hanging_raise(session)
    give_up(session)
    host.backend.fail_next(FAILED)
    hang.let_go.set()
    until(lambda: session.state is State.DESTROYED)
    assert host.backend.power_config_ids == ()


def test_what_waits_behind_a_call_that_hangs_is_closed_when_that_returns(host: Host) -> None:
    """The error names all sessions and the one hanging call; all sessions are closed when this call returns."""
    sessions = [host.controller.session("burst") for _ in range(5)]
    hang = host.hanging_raise(sessions[3])
    error = give_up(host.controller)
    assert (error.sessions, [call.session for call in error.calls]) == ((1, 2, 3, 4, 5), [4])
    hang.let_go.set()
    until(lambda: all(session.state is State.DESTROYED for session in sessions))
    assert host.backend.power_config_ids == ()


def test_closing_again_goes_on_with_what_is_left(host: Host) -> None:
    """A second close closes the sessions that are left, once the call has returned."""
    hang = host.hanging_raise(host.controller.session("burst"))
    give_up(host.controller)
    hang.let_go.set()
    host.controller.close(timeout_s=WAIT_S)
    assert is_ended(host.controller)


def test_closing_again_and_again_uses_up_no_threads(host: Host) -> None:
    """Repeated closes leave no threads that wait for the call."""
    before = set(threading.enumerate())
    host.hanging_raise(host.controller.session("burst"))
    for _ in range(8):
        give_up(host.controller)
    made = set(threading.enumerate()) - before
    assert sum(thread.name == "htppower-votes" for thread in made) <= 1


def test_a_call_that_begins_to_hang_in_closing_is_given_up(host: Host) -> None:
    """The hanging call may be the one that closes the session."""
    session = host.controller.session("burst")
    (power_config_id,) = session.power_config_ids.values()
    hang = host.backend.hang_next("destroyPowerConfigId", power_config_id)
    error = give_up(session)
    assert hang.begun.wait(WAIT_S)
    assert error.sessions == (1,)
    hang.let_go.set()
    until(lambda: session.state is State.DESTROYED)


def test_a_session_that_waits_for_the_call_of_another_names_that(host: Host) -> None:
    """The error names the call of the other session."""
    casting, waiting = (host.controller.session("burst") for _ in range(2))
    host.hanging_raise(casting)
    host.infer(waiting)
    error = give_up(waiting)
    assert (error.sessions, [call.session for call in error.calls]) == ((2,), [1])


def test_what_a_controller_does_after_its_sessions_is_given_up_too(host: Host) -> None:
    """A call after the sessions are closed, such as the destroy of an orphan, is given up after the timeout, too."""
    session = host.controller.session("burst")
    (power_config_id,) = session.power_config_ids.values()
    host.backend.fail_next(FAILED, "destroyPowerConfigId")
    session.close()
    hang = host.backend.hang_next("destroyPowerConfigId", power_config_id)
    error = give_up(host.controller)
    assert hang.begun.wait(WAIT_S)
    assert error.sessions == ()
    hang.let_go.set()
    host.controller.close()
    assert is_ended(host.controller)


def test_the_first_failure_of_the_others_is_the_cause() -> None:
    """If another session hangs, the first failure is the cause of the error."""
    with hosting(on_error="raise") as host:
        failing, hanging = (host.controller.session("balanced") for _ in range(2))
        host.backend.fail_next(FAILED, "destroyPowerConfigId")
        host.backend.hang_next("destroyPowerConfigId", hanging.power_config_ids[0])
        error = give_up(host.controller, 0.3)
        assert (error.sessions, failing.state) == ((2,), State.DESTROYED)
        assert isinstance(error.__cause__, VoteRejected)


def test_within_the_time_closing_ends_as_without(host: Host) -> None:
    """Without a hanging call no error is raised, and closing twice has no effect."""
    session = host.controller.session("burst")
    with session.inference():
        pass
    session.close(timeout_s=WAIT_S)
    session.close(timeout_s=0)
    host.controller.close(timeout_s=WAIT_S)
    host.controller.close(timeout_s=0)
    assert host.backend.power_config_ids == ()


@pytest.mark.parametrize("timeout_s", [-1, float("nan"), float("inf")])
def test_a_timeout_that_can_not_be_meant_is_refused(host: Host, timeout_s: float) -> None:
    """The timeout is refused before anything is closed."""
    session = host.controller.session("burst")
    for closed in (session, host.controller):
        with pytest.raises(ValueError, match="timeout_s is"):
            closed.close(timeout_s=timeout_s)
    assert session.state is State.UNVOTED
    host.controller.session("balanced")


def test_a_message_names_ten_sessions(host: Host) -> None:
    """A host may have thousands of sessions, so the message names ten."""
    assert "sessions 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more" in str(CloseTimedOut(1.5, range(1, 13), ()))
    assert str(CloseTimedOut(1.5, (), ())) == "not closed within 1.5 s"


def test_while_a_call_hangs_nothing_waits_that_makes_none(host: Host) -> None:
    """During a hanging call, inferences inside their window, status, events and metrics work."""
    before = host.controller.session("burst")
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(host.controller, registry)
    with before.inference():
        hanging = host.controller.session("burst")
        told: list[object] = []
        unsubscribe = host.controller.subscribe(told.append)
        hang = host.hanging_raise(hanging)
        with before.inference():
            states = {each.number: (each.state, each.in_flight) for each in host.controller.status().sessions}
        assert states == {1: (State.RAISED, 2), 2: (State.UNVOTED, 1)}
        assert host.controller.flush_events(WAIT_S)
        assert b"htppower" in generate_latest(registry)
        unsubscribe()
        hang.let_go.set()
        until(lambda: hanging.state is State.RAISED)
    metrics.close()
