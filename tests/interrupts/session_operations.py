"""Operations of sessions and their phases."""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING

from interrupts.operations import SECOND_US, Action, in_window, infer, operation

if TYPE_CHECKING:
    from interrupts.world import World


@operation("open a session")
def _open(world: World) -> Action:
    return lambda: world.sessions.append(world.controller.session("burst"))


@operation("open a session on two cores beside one in use, under a cap")
def _open_two(world: World) -> Action:
    world.in_use()
    world.caps.append(world.controller.cap("balanced", reason="a test"))
    return lambda: world.sessions.append(world.controller.session("burst", core_ids=(0, 1), owner="me"))


@operation("open a session just after a restart of the DSP")
def _open_restarted(world: World) -> Action:
    world.in_use()
    world.htp.restart_subsystem()
    return lambda: world.sessions.append(world.controller.session("burst"))


@operation("with a session")
def _with_session(world: World) -> Action:
    def act() -> None:
        with world.controller.session("burst") as session:
            infer(session)

    return act


@operation("close a session in its window")
def _close_session(world: World) -> Action:
    session = in_window(world)
    return session.close


@operation("close a session with a timeout, beside one in use")
def _close_session_timeout(world: World) -> Action:
    session = in_window(world, core_ids=(0, 1))
    world.in_use()
    session.hold("balanced", reason="a test", timeout_us=SECOND_US)
    return functools.partial(session.close, timeout_s=5.0)


@operation("close a session, while its calls fail")
def _close_failing(world: World) -> Action:
    session = in_window(world)
    world.htp.fail_next(13006, times=2)
    world.htp.fail_next(13006, "destroyPowerConfigId")
    return session.close


@operation("a raise and a lowering")
def _isolated(world: World) -> Action:
    session = world.session("high_performance")
    return functools.partial(infer, session)


@operation("a raise, with a sustain after it")
def _sustained(world: World) -> Action:
    session = world.session("burst")
    return functools.partial(infer, session)


@operation("a raise and a lowering, one call at a time", one_call_at_a_time=True)
def _one_call(world: World) -> Action:
    world.in_use("balanced")
    session = world.session("high_performance")
    return functools.partial(infer, session)


@operation("an inference in its window")
def _window(world: World) -> Action:
    session = in_window(world)
    return functools.partial(infer, session)


@operation("an inference kept by name, in its window")
def _window_named(world: World) -> Action:
    session = in_window(world)

    def act() -> None:
        inference = session.inference()
        for _ in range(2):
            with inference:
                pass

    return act


@operation("inferences that overlap")
def _overlap(world: World) -> Action:
    session = world.in_use("high_performance")

    def act() -> None:
        with session.inference(), session.inference():
            pass

    return act


@operation("an inference on two cores, of which one fails")
def _two_cores(world: World) -> Action:
    session = world.session("high_performance", core_ids=(0, 1))
    world.htp.fail_next(13006, nth=2)
    return functools.partial(infer, session)


@operation("INIT")
def _init(world: World) -> Action:
    session = world.session()

    def act() -> None:
        with session.init():
            pass

    return act


@operation("DE-INIT, beside a session in use")
def _deinit(world: World) -> Action:
    session = in_window(world)
    world.in_use()

    def act() -> None:
        with session.deinit():
            pass

    return act


@operation("INIT with an inference in it")
def _init_inference(world: World) -> Action:
    session = world.session("high_performance")

    def act() -> None:
        with session.init(), session.inference():
            pass

    return act


@operation("a phase that fails")
def _failing_phase(world: World) -> Action:
    session = world.session("high_performance")

    def act() -> None:
        with contextlib.suppress(LookupError), session.inference():
            raise LookupError

    return act
