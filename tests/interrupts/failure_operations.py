"""Operations beside restarts of the DSP, calls that fail or hang, and alarms."""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import TYPE_CHECKING

from interrupts.operations import SECOND_US, Action, in_window, infer, operation

from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from interrupts.world import World


BURST_SUSTAIN_US = 300_000


@operation("a restart that the host tells of", begun_after=frozenset({"link_lost", "run_watched"}))
def _link_lost(world: World) -> Action:
    world.in_use()
    session = in_window(world)
    world.htp.restart_subsystem(forget_ids=True)
    with contextlib.suppress(Exception):
        world.htp.native_set(0, None)
    return functools.partial(session.link_lost, SYSTEM_COMMUNICATION)


@operation("a DSP that is dead, and comes back")
def _link_dead(world: World) -> Action:
    world.in_use()
    session = in_window(world)
    world.htp.restart_subsystem(fatal=True)

    def act() -> None:
        world.controller.link_lost(SYSTEM_COMMUNICATION_FATAL)
        infer(session)
        world.htp.restart_subsystem()
        world.controller.link_lost(SYSTEM_COMMUNICATION)
        world.time.advance_us(2 * SECOND_US)

    world.heals = world.htp.restart_subsystem
    return act


@operation("a raise that is told of a restart, beside one in use")
def _restart_in_raise(world: World) -> Action:
    world.in_use()
    session = world.session()
    world.htp.restart_subsystem(forget_ids=True)
    return functools.partial(infer, session)


@operation("a raise on a DSP that dies, and the retry")
def _dead_in_raise(world: World) -> Action:
    session = world.session()
    world.htp.restart_subsystem(fatal=True)

    def act() -> None:
        with session.inference():
            world.htp.restart_subsystem()
            world.time.advance_us(2 * SECOND_US)

    world.heals = world.htp.restart_subsystem
    return act


@operation("a raise that fails, and the retry")
def _fails(world: World) -> Action:
    session = world.session()
    world.htp.fail_next(13006, times=2)

    def act() -> None:
        with session.inference():
            world.time.advance_us(SECOND_US)

    return act


@operation("an id that can't be destroyed at first, beside one in use")
def _not_destroyed(world: World) -> Action:
    world.in_use()
    session = in_window(world)
    world.htp.fail_next(13006, function="destroyPowerConfigId")

    def act() -> None:
        session.use("system_settings")
        world.time.advance_us(2 * SECOND_US)

    return act


@operation("the alarm that ends a sustain")
def _alarm(world: World) -> Action:
    in_window(world)
    return functools.partial(world.time.advance_us, BURST_SUSTAIN_US)


@operation("the heartbeat")
def _heartbeat(world: World) -> Action:
    world.in_use()
    return functools.partial(world.time.advance_us, 11 * SECOND_US)


@operation("the heartbeat that is told of a restart")
def _heartbeat_restart(world: World) -> Action:
    world.in_use()
    world.htp.restart_subsystem()
    return functools.partial(world.time.advance_us, 11 * SECOND_US)


def _beside(world: World) -> None:
    """Park another session's raise in its native call, on a thread of its own, until the controller is closed."""
    session = world.session("low_balanced", core_ids=(1,))
    # So that its raise carries no setting of the process, for which others would wait.
    infer(session)
    thread = threading.Thread(target=infer, args=(session,), daemon=True)
    world.htp.parks = thread
    thread.start()
    world.htp.parked.wait()
    world.beside[session.number] = thread


@operation("a raise beside another's call that hangs")
def _raise_beside(world: World) -> Action:
    session = world.session("high_performance")
    _beside(world)
    return functools.partial(infer, session)


@operation("closing with a timeout beside a call that hangs")
def _close_beside(world: World) -> Action:
    session = in_window(world)
    _beside(world)
    return functools.partial(session.close, timeout_s=0.0)


@operation("a restart that is told of beside a call that hangs", begun_after=frozenset({"link_lost", "run_watched"}))
def _restart_beside(world: World) -> Action:
    session = world.in_use()
    _beside(world)
    return functools.partial(session.link_lost, SYSTEM_COMMUNICATION)
