"""Ctrl-C at every call of the core in an operation: it is passed on, and what must come down comes down."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from bench import MAX_CORNER, SVS, Bench, options
from interrupting import interrupt_at
from second_controller import second_on

from htppower import State
from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL, TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session

SECOND_US = 1_000_000
# Prime, so that it goes along with no loop.
STEP = 7
NOM_PLUS = 112
EVERYTHING = {"DCVS_V3", "HMX_V2", "RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"}


def at_every_call(
    run: Callable[[Bench, Callable[[Callable[[], object]], None]], None], step: int = 1, cores: int = 1
) -> None:
    """Run a test with a new bench for every place at which an action of it is interrupted.

    Args:
        run: the test.
        step: 2 for every other place, and so on: for what takes long.
        cores: how many there are.
    """
    for nth in itertools.count(0, step):
        bench = Bench.make(SimulatedHtp(arch=75, cores=cores))
        came: list[bool] = []

        def interrupted(action: Callable[[], object], nth: int = nth, came: list[bool] = came) -> None:
            came.append(interrupt_at(nth, action))

        run(bench, interrupted)
        bench.controller.close()
        assert bench.simulated.power_config_ids == ()
        assert bench.time.alarms == 0
        if came == [False]:
            assert nth > 10
            return


@pytest.mark.parametrize(
    ("phase", "profile"),
    [("init", "balanced"), ("deinit", "balanced"), ("inference", "balanced"), ("inference", "burst")],
)
def test_in_a_phase(phase: str, profile: str) -> None:
    """At its begin or its end: the votes come down, without another phase."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        session = bench.controller.session(profile)

        def infer() -> None:
            with getattr(session, phase)():
                pass

        interrupted(infer)
        bench.time.advance_us(2 * SECOND_US)
        assert session.state in (State.LOWERED, State.UNVOTED)
        assert session.in_flight == 0
        assert bench.effective().core_target <= SVS

    at_every_call(run)


def test_in_init_what_was_sent_before_its_end_is_sent_again() -> None:
    """As after every INIT: votes cast before the graph's context may be lost."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        session = bench.controller.session("burst")
        begun: list[bool] = []

        def init() -> None:
            with session.init():
                begun.append(True)
                bench.recorder.clear()

        with session.inference():
            interrupted(init)
            bench.time.advance_us(2 * SECOND_US)
            with session.inference():
                assert session.state is State.RAISED
            if begun:
                assert {option for call in bench.sets for option in options(call)} == EVERYTHING

    at_every_call(run)


@pytest.mark.parametrize("code", [SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL])
def test_while_a_host_tells_of_a_lost_link(code: int) -> None:
    """Every controller on the backend votes again, or none where it came before anything was told."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        controllers = bench.controller, second_on(bench)
        sessions = [controller.session("burst") for controller in controllers]
        with sessions[0].inference(), sessions[1].inference():
            bench.recorder.clear()
            interrupted(lambda: bench.controller.link_lost(code))
            bench.time.advance_us(2 * SECOND_US)
            assert [session.state for session in sessions] == [State.RAISED] * 2
            voted = {call.power_config_id for call in bench.sets}
            assert len(voted) == (2 if bench.controller._registry.epoch else 0)
            assert not bench.controller._registry.doubtful
        controllers[1].close()

    at_every_call(run)


def test_while_a_session_is_closed() -> None:
    """It is closed soon, by another thread, or as it was: up for its inference, and down after it.

    Nothing is left to put right, and nobody is told of a session that is gone.
    """

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        session = bench.controller.session("burst")
        bench.infer(session)
        interrupted(session.close)
        bench.time.advance_us(2 * SECOND_US)
        assert session.state in (State.LOWERED, State.DESTROYED)
        known = [each.state for each in bench.controller.status().sessions]
        assert known == [each for each in (session.state,) if each is not State.DESTROYED]
        assert not bench.controller._recovery.settings_follow

    at_every_call(run)


def test_while_a_session_is_closed_of_which_settings_are_left() -> None:
    """What it could not give back is given back by the back-off, whatever was interrupted after that."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        session = bench.controller.session("burst")
        bench.infer(session)
        bench.simulated.fail_next(TRANSPORT, times=2)
        interrupted(session.close)
        bench.simulated.clear_faults()
        bench.time.advance_us(20 * SECOND_US)
        assert bench.effective().rpc_polling_time_us == 0

    at_every_call(run, STEP)


@pytest.mark.parametrize("closes", [False, True])
def test_while_a_session_gives_its_ids_back(closes: bool) -> None:
    """Its ids are destroyed soon, and before a close that comes next returns."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        session = bench.controller.session("burst", core_ids=(0, 1))
        bench.infer(session)
        interrupted(lambda: session.use("system_settings"))
        if closes:
            session.close()
        bench.time.advance_us(1)
        if closes or session.own_profile.name == "system_settings":
            assert bench.simulated.power_config_ids == ()

    at_every_call(run, 3, cores=2)


@pytest.mark.parametrize("act", ["use", "hold", "release", "cap", "lift"])
def test_while_the_profile_changes(act: str) -> None:
    """The session uses what its own profile, its holds and the caps come to, soon after."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        session = bench.controller.session("burst")
        hold = session.hold("balanced", reason="a test") if act == "release" else None
        cap = bench.controller.cap("balanced", reason="a test") if act == "lift" else None
        with session.inference():
            actions: dict[str, Callable[[], object]] = {
                "use": lambda: session.use("balanced"),
                "hold": lambda: session.hold("balanced", reason="a test", timeout_us=10**9),
                "cap": lambda: bench.controller.cap("balanced", reason="a test"),
                "release": lambda: hold.release() if hold else None,
                "lift": lambda: cap.lift() if cap else None,
            }
            interrupted(actions[act])
            bench.time.advance_us(2 * SECOND_US)
            assert (session.state, session.profile) == (State.RAISED, _should_use(bench, session))
            assert bench.effective().core_target == (MAX_CORNER if session.profile.name == "burst" else NOM_PLUS)
        bench.time.advance_us(SECOND_US)
        assert session.state is State.LOWERED

    at_every_call(run, STEP)


def _should_use(bench: Bench, session: Session) -> object:
    status = bench.controller.status()
    claims = [*status.sessions[0].holds, *status.caps]
    return claims[0].profile if claims else session.own_profile


def test_when_a_call_tells_of_a_restart() -> None:
    """Another session that is up is voted again soon, although nobody could be told."""

    def run(bench: Bench, interrupted: Callable[[Callable[[], object]], None]) -> None:
        up, other = bench.controller.session("burst"), bench.controller.session("balanced")
        with up.inference():
            bench.simulated.restart_subsystem()

            def infer() -> None:
                with other.inference():
                    pass

            interrupted(infer)
            told = not bench.simulated._restarted
            bench.time.advance_us(2 * SECOND_US)
            assert (bench.effective().core_target == MAX_CORNER) is told

    at_every_call(run, STEP)
