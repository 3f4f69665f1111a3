"""The operations to interrupt: each public operation of the main thread, on a prepared controller."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
from interrupts.world import SECOND_US, loaded
from support.learning import relaxing

from htppower.control.gate import cpu_latency
from htppower.profiles.sustain import Adaptive
from htppower.votes.native_codes import SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    from interrupts.world import World

    from htppower import ModeSession, Session

Action: TypeAlias = "Callable[[], object]"


@attrs.frozen
class Operation:
    """An operation to interrupt.

    Attributes:
        prepare: prepares a controller; returns the action to interrupt.
        any_kind: whether any exception may come, or only one that asyncio passes on.
        may_be_lost: whether a part of it runs in a finalizer, where the interpreter drops exceptions.
        again: whether the host repeats the operation after an interrupt.
    """

    name: str
    prepare: Callable[[World], Action]
    any_kind: bool = True
    may_be_lost: bool = False
    again: bool = False


OPERATIONS: list[Operation] = []


def operation(name: str, **options: Any) -> Callable[[Callable[[World], Action]], Callable[[World], Action]]:
    """Register an operation."""

    def note(prepare: Callable[[World], Action]) -> Callable[[World], Action]:
        OPERATIONS.append(Operation(name, prepare, **options))
        return prepare

    return note


def infer(session: Session) -> None:
    """Run an inference on a session."""
    with session.inference():
        pass


# Each operation uses a session that is not raised and has no sustain time.


def _overlap(session: Session) -> None:
    with session.inference(), session.inference():
        pass


def _prepares(session: Session) -> None:
    with session.init(), session.inference():
        pass
    with session.deinit():
        pass


def _generates(session: Session) -> None:
    @session.votes
    def tokens() -> Iterator[int]:
        yield 1

    assert list(tokens()) == [1]


def _closes_stream(session: Session) -> None:
    with contextlib.closing(session.stream(iter(range(3)), idle_timeout_us=SECOND_US)) as stream:
        next(stream)


_LOWERED: dict[str, Callable[[Session], object]] = {
    "a raise and a lowering": infer,
    "inferences that overlap": _overlap,
    "INIT with an inference in it, and DE-INIT": _prepares,
    "a decorated function": lambda session: session.votes(lambda: None)(),
    "a decorated generator, to its end": _generates,
    "a stream that is closed": _closes_stream,
    "a ticket and its end": lambda session: session.begin(timeout_us=SECOND_US).end(),
}
for _name, _act in _LOWERED.items():
    operation(_name)(lambda world, act=_act: functools.partial(act, world.session("high_performance")))  # type: ignore[misc]


@operation("a stream that is dropped", may_be_lost=True)
def _drop_stream(world: World) -> Action:
    session = world.session("high_performance")
    return lambda: next(session.stream(iter(range(3))))


@operation("inferences of a sustain time that is learnt, and a hint")
def _learnt(world: World) -> Action:
    relax = relaxing(after_inference_us=Adaptive(break_even_us=100_000)).relax
    session = world.controller.session(attrs.evolve(loaded("burst"), relax=relax))
    world.sessions.append(session)
    infer(session)

    def act() -> None:
        infer(session)
        _overlap(session)
        session.expect(in_us=SECOND_US)

    return act


@operation("inferences with a limit of the CPUs, and another profile")
def _limited(world: World) -> Action:
    cpu_latency.PATH = world.cpus.name
    session = world.controller.session(attrs.evolve(loaded("high_performance"), cpu_latency_us=44))
    world.sessions.append(session)

    def act() -> None:
        infer(session)
        _overlap(session)
        session.use("high_performance")

    return act


@operation("an inference on two cores, just after a restart of the DSP")
def _restarted(world: World) -> Action:
    world.in_use()
    session = world.session("high_performance", core_ids=(0, 1))
    world.htp.restart_subsystem()
    return functools.partial(infer, session)


@operation("a restart that the host tells of", again=True)
def _link_lost(world: World) -> Action:
    world.in_use()
    world.htp.restart_subsystem()
    return functools.partial(world.controller.link_lost, SYSTEM_COMMUNICATION)


@operation("with a session")
def _with_session(world: World) -> Action:
    world.in_use()

    def act() -> None:
        with world.controller.session("burst", core_ids=(0, 1), owner="me") as session:
            infer(session)

    return act


@operation("close a session in its window")
def _close_session(world: World) -> Action:
    return world.in_window().close


@operation("close a controller with a timeout, with a session in use")
def _close(world: World) -> Action:
    world.in_use()
    world.in_window("balanced", core_ids=(0, 1))
    return functools.partial(world.controller.close, timeout_s=5.0)


@operation("a hold and its release, while votes are up, and one with a timeout")
def _hold(world: World) -> Action:
    session = world.in_use("balanced")

    def act() -> None:
        session.hold("burst", reason="a test").release()
        with session.hold("burst", reason="a test", timeout_us=SECOND_US):
            pass

    return act


@operation("a pace that changes the profile of a session in use")
def _pace(world: World) -> Action:
    session = world.in_use("balanced")

    def act() -> None:
        with session.pace(fps=1000, profiles=[loaded("low_balanced"), loaded("power_saver")]) as pace:
            for _ in range(2):
                with pace.inference():
                    pass

    return act


@operation("a cap and its end, over one session in use and one in its window")
def _cap(world: World) -> Action:
    world.in_use()
    world.in_window("sustained_high_performance")

    def act() -> None:
        with world.controller.cap("balanced", reason="a test"):
            pass

    return act


@operation("another profile, while votes are up, and one without votes")
def _use(world: World) -> Action:
    session = world.in_window()

    def act() -> None:
        for name in ("high_performance", "system_settings", "burst"):
            session.use(name)

    return act


def _modes(world: World) -> ModeSession:
    """Return a session with modes; before the end, check that the mode of its next inference counts."""
    session = world.session("high_performance")
    modes = session.modes({"high": loaded("high_performance"), "low": loaded("balanced")})

    def check() -> None:
        with modes.inference("low"):
            assert session.profile.name == "balanced"

    world.finally_.append(check)
    return modes


@operation("inferences in modes that overlap and change")
def _in_modes(world: World) -> Action:
    modes = _modes(world)

    def act() -> None:
        with modes.inference("low"), modes.inference("high") as inference:
            inference.use("low")
            inference.use("high")
            inference.end()
            inference.__enter__()

    return act


@operation("a stream that changes its mode")
def _mode_stream(world: World) -> Action:
    modes = _modes(world)

    def act() -> None:
        with contextlib.closing(modes.stream(iter(range(3)), "high", then="low", idle_timeout_us=SECOND_US)) as stream:
            next(stream)
            next(stream)

    return act


@operation("the status, and a subscriber")
def _status(world: World) -> Action:
    world.in_use()

    return lambda: (world.controller.subscribe(lambda _event: None)(), world.controller.status())


def _run(world: World, coroutine: Callable[[], Coroutine[Any, Any, object]]) -> Action:
    """Return a function that runs a coroutine as ``asyncio.run`` does: after an interrupt, open tasks are cancelled."""
    loop = asyncio.new_event_loop()

    def end() -> None:
        for task in asyncio.all_tasks(loop):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                loop.run_until_complete(task)
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    world.ends_loop = end
    return lambda: loop.run_until_complete(coroutine())


@operation("async with, raised by it and in its window", any_kind=False)
def _async_with(world: World) -> Action:
    session = world.session("burst")

    async def act() -> None:
        for _ in range(2):
            async with session.ainference():
                pass

    return _run(world, act)


@operation("an asynchronous stream", any_kind=False, may_be_lost=True)
def _async_stream(world: World) -> Action:
    session = world.session("high_performance")

    async def tokens() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(0)

    async def act() -> None:
        async for _ in session.stream(tokens()):
            pass

    return _run(world, act)


@operation("coroutines in modes", any_kind=False)
def _async_modes(world: World) -> Action:
    modes = _modes(world)

    async def act() -> None:
        async with modes.inference("low"), modes.inference("high") as inference:
            await inference.ause("low")
            await inference.ause("high")

    return _run(world, act)
