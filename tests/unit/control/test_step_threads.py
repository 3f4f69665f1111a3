"""Threads that run steps: the main thread hands its steps to the worker, so Ctrl-C ends only its wait."""

from __future__ import annotations

import asyncio
import signal
import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from support.hanging import WAIT_S, HangingHtp, on_a_thread, until

from htppower import Session, State, VoteController

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.votes.vote_set import VoteSet

WORKER = "htppower-votes"


class Htp(HangingHtp):
    """Records the thread of each vote."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: list[str] = []

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Record, and set."""
        self.threads.append(threading.current_thread().name)
        super().set_power_config(power_config_id, votes)


@attrs.define
class Host:
    """A controller in real time."""

    htp: Htp = attrs.field(factory=Htp)
    controller: VoteController = attrs.field(init=False)

    @controller.default
    def _(self) -> VoteController:
        return VoteController(self.htp, handle_sigterm=False, heartbeat_us=0)

    def interrupt(self, function: str, power_config_id: int | None, action: Callable[[], object]) -> None:
        """Run an action in the main thread; its next call hangs until Ctrl-C has come."""
        hang, raised = self.htp.hang_next(function, power_config_id), threading.Event()

        def handler(*_: object) -> None:
            if not raised.is_set():
                raised.set()
                raise KeyboardInterrupt

        def interrupt() -> None:
            assert hang.begun.wait(WAIT_S)
            # A signal right before the main thread begins to wait does not wake it.
            while not raised.wait(0.01):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        other = threading.Thread(target=interrupt)
        before = signal.signal(signal.SIGINT, handler)
        try:
            other.start()
            with pytest.raises(KeyboardInterrupt):
                action()
        finally:
            other.join(WAIT_S)
            signal.signal(signal.SIGINT, before)
        assert not hang.ended.is_set()
        hang.let_go.set()


@pytest.fixture
def host() -> Iterator[Host]:
    """Yield a host; close its controller, and assert that nothing is left."""
    made = Host()
    yield made
    made.controller.close()
    assert (made.htp.power_config_ids, made.htp.effective().rpc_polling_time_us) == ((), 0)


needs_signals = pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals between threads")


def infer(session: Session) -> None:
    """Run an inference."""
    with session.inference():
        assert session.state is State.RAISED


def test_the_main_thread_and_coroutines_hand_their_steps_to_the_worker(host: Host) -> None:
    """One worker makes all calls of the main thread and of coroutines."""
    session = host.controller.session("balanced")

    async def infer_in_a_coroutine() -> None:
        async with session.ainference():
            assert session.state is State.RAISED

    infer(session)
    asyncio.run(infer_in_a_coroutine())
    assert set(host.htp.threads) == {WORKER}


def test_another_thread_runs_its_own_steps(host: Host) -> None:
    """Another thread makes its calls itself, since handing them over would cost time."""
    session = host.controller.session("balanced")
    names: list[str] = []

    def infer_here() -> None:
        names.append(threading.current_thread().name)
        infer(session)

    on_a_thread(infer_here)()
    assert set(host.htp.threads) == set(names)


def test_alarms_lower_on_the_worker(host: Host) -> None:
    """Alarms lower the votes on the worker, without a thread of the host."""
    session = host.controller.session("burst")
    on_a_thread(lambda: infer(session))()
    until(lambda: session.state is State.LOWERED)
    assert host.htp.threads[-1] == WORKER


@needs_signals
def test_a_raise_that_ctrl_c_interrupts_is_finished_and_lowered(host: Host) -> None:
    """After a raise that Ctrl-C interrupts, the inference has not begun, and its votes are lowered."""
    session = host.controller.session("balanced")
    host.interrupt("setPowerConfig", session.power_config_ids[0], lambda: infer(session))
    until(lambda: session.state is State.LOWERED)
    assert session.in_flight == 0
    infer(session)


@needs_signals
def test_a_cap_whose_lifting_ctrl_c_interrupts_is_lifted_for_every_session(host: Host) -> None:
    """Ctrl-C interrupts the lifting during another session's call; later all sessions have their own profiles."""
    session, other = (host.controller.session("burst") for _ in range(2))
    cap = host.controller.cap("power_saver", reason="heat")
    (other_id,) = other.power_config_ids.values()
    busy = threading.Thread(target=infer, args=(other,))

    def lift() -> None:
        busy.start()
        assert host.htp.hang_next("setPowerConfig", other_id).begun.wait(WAIT_S)
        cap.lift()

    with session.inference():
        host.interrupt("setPowerConfig", other_id, lift)
        until(lambda: session.profile.name == "burst")
    busy.join(WAIT_S)
    assert host.controller.caps == ()


@needs_signals
def test_a_session_whose_opening_ctrl_c_interrupts_is_closed(host: Host) -> None:
    """The host has no reference to a session whose opening was interrupted, so the session is closed."""
    host.interrupt("createPowerConfigId", None, lambda: host.controller.session("burst"))
    until(lambda: host.htp.power_config_ids == () and not host.controller.status().sessions)


@needs_signals
@pytest.mark.parametrize("closed", ["session", "controller"])
def test_a_close_that_ctrl_c_interrupts_is_finished(host: Host, closed: str) -> None:
    """After an interrupted close every session is closed, including those after the one whose call hangs."""
    sessions = [host.controller.session("balanced") for _ in range(3)]
    close = sessions[0].close if closed == "session" else host.controller.close
    host.interrupt("destroyPowerConfigId", sessions[0].power_config_ids[0], close)
    until(lambda: sessions[0].state is State.DESTROYED)
    if closed == "controller":
        until(lambda: host.htp.power_config_ids == ())
        assert [session.state for session in sessions] == [State.DESTROYED] * 3
