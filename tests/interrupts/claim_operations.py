"""Operations of holds, caps and profiles."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

from interrupts.operations import Action, in_window, infer, operation

if TYPE_CHECKING:
    from interrupts.world import World


@operation("a hold and its release, while votes are up")
def _hold(world: World) -> Action:
    session = world.in_use("balanced")

    def act() -> None:
        session.hold("burst", reason="a test").release()

    return act


@operation("with a hold")
def _with_hold(world: World) -> Action:
    session = in_window(world, "balanced")

    def act() -> None:
        with session.hold("burst", reason="a test"):
            infer(session)

    return act


@operation("a hold with a timeout, which is over")
def _hold_timeout(world: World) -> Action:
    session = in_window(world)

    def act() -> None:
        hold = session.hold("balanced", reason="a test", timeout_us=1000)
        world.time.advance_us(1000)
        hold.release()

    return act


class _Owner:
    """What a hold belongs to."""


@operation("a hold that ends with its owner")
def _hold_owner(world: World) -> Action:
    session = in_window(world)

    def act() -> None:
        owner = _Owner()
        session.hold("balanced", reason="a test", owner=owner)
        del owner
        gc.collect()
        world.time.advance_us(1)

    return act


@operation("a hold whose handle is dropped")
def _hold_dropped(world: World) -> Action:
    session = world.in_use()

    def act() -> None:
        session.hold("balanced", reason="a test")
        gc.collect()
        world.time.advance_us(1)

    return act


@operation("a cap and its end, over one session in use and one in its window")
def _cap(world: World) -> Action:
    world.in_use()
    in_window(world, "sustained_high_performance")
    return lambda: world.controller.cap("balanced", reason="a test").lift()


@operation("with a cap")
def _with_cap(world: World) -> Action:
    session = world.session()

    def act() -> None:
        with world.controller.cap("balanced", reason="a test"):
            infer(session)

    return act


@operation("another profile, while votes are up")
def _use(world: World) -> Action:
    session = in_window(world)

    def act() -> None:
        session.use("high_performance")
        session.use("burst")

    return act


@operation("a profile without votes, and back")
def _use_none(world: World) -> Action:
    session = in_window(world)

    def act() -> None:
        session.use("system_settings")
        session.use("burst")

    return act
