"""What is interrupted: each public operation, in a world that is ready for it."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import json
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs
from interrupts.world import loaded

from htppower import ThermalCap, VoteController
from htppower.backends import SimulatedHtp
from htppower.control.learning.learnt_file import read
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive
from htppower.testing import VirtualTime
from htppower.votes.native_codes import SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Iterator

    from interrupts.world import World

    from htppower import Session
    from htppower.events import Event


Action: TypeAlias = "Callable[[], object]"

SECOND_US = 1_000_000
BURST_SUSTAIN_US = 300_000


@attrs.frozen
class Operation:
    """An operation.

    Attributes:
        name: what it is called.
        prepare: makes a world ready; returns what is interrupted, and what takes in that it was not.
        kinds: whether any exception may come, or only one that asyncio passes on.
        may_be_lost: whether the interpreter runs some of it in a finalizer, in which it loses exceptions.
        one_call_at_a_time: whether the backend says so.
        begun_after: the functions in which nothing was begun: where an interrupt comes there, the host asks once more.
    """

    name: str
    prepare: Callable[[World], Action]
    any_kind: bool = True
    may_be_lost: bool = False
    one_call_at_a_time: bool = False
    begun_after: frozenset[str] = frozenset()


OPERATIONS: list[Operation] = []


def operation(name: str, **options: Any) -> Callable[[Callable[[World], Action]], Callable[[World], Action]]:
    """Note an operation."""

    def note(prepare: Callable[[World], Action]) -> Callable[[World], Action]:
        OPERATIONS.append(Operation(name, prepare, **options))
        return prepare

    return note


def _infer(session: Session) -> None:
    with session.inference():
        pass


def _in_window(world: World, profile: str = "burst", **options: Any) -> Session:
    session = world.session(profile, **options)
    _infer(session)
    return session


# Sessions


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
            _infer(session)

    return act


@operation("close a session in its window")
def _close_session(world: World) -> Action:
    session = _in_window(world)
    return session.close


@operation("close a session with a timeout, beside one in use")
def _close_session_timeout(world: World) -> Action:
    session = _in_window(world, core_ids=(0, 1))
    world.in_use()
    session.hold("balanced", reason="a test", timeout_us=SECOND_US)
    return functools.partial(session.close, timeout_s=5.0)


@operation("close a session, while its calls fail")
def _close_failing(world: World) -> Action:
    session = _in_window(world)
    world.htp.fail_next(13006, times=2)
    world.htp.fail_next(13006, "destroyPowerConfigId")
    return session.close


# Phases


@operation("a raise and a lowering")
def _isolated(world: World) -> Action:
    session = world.session("high_performance")
    return functools.partial(_infer, session)


@operation("a raise, with a sustain after it")
def _sustained(world: World) -> Action:
    session = world.session("burst")
    return functools.partial(_infer, session)


@operation("a raise and a lowering, one call at a time", one_call_at_a_time=True)
def _one_call(world: World) -> Action:
    world.in_use("balanced")
    session = world.session("high_performance")
    return functools.partial(_infer, session)


@operation("an inference in its window")
def _window(world: World) -> Action:
    session = _in_window(world)
    return functools.partial(_infer, session)


@operation("an inference kept by name, in its window")
def _window_named(world: World) -> Action:
    session = _in_window(world)

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
    return functools.partial(_infer, session)


@operation("INIT")
def _init(world: World) -> Action:
    session = world.session()

    def act() -> None:
        with session.init():
            pass

    return act


@operation("DE-INIT, beside a session in use")
def _deinit(world: World) -> Action:
    session = _in_window(world)
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


# Functions, streams, coroutines


@operation("a decorated function")
def _function(world: World) -> Action:
    session = world.session("high_performance")

    @session.votes
    def infer() -> None:
        pass

    return infer


@operation("a decorated generator, to its end")
def _generator(world: World) -> Action:
    session = world.session("high_performance")

    @session.votes
    def tokens() -> Iterator[int]:
        yield 1
        yield 2

    return lambda: list(tokens())


@operation("a stream that is closed")
def _stream_closed(world: World) -> Action:
    session = world.session("high_performance")

    def act() -> None:
        stream = session.stream(iter(range(3)))
        next(stream)
        stream.close()

    return act


@operation("a stream that is dropped, and collected", may_be_lost=True)
def _stream_dropped(world: World) -> Action:
    session = world.session("high_performance")

    def act() -> None:
        stream = session.stream(iter(range(3)))
        next(stream)
        del stream
        world.time.advance_us(1)

    return act


def _run(world: World, coroutine: Callable[[], Coroutine[Any, Any, object]]) -> Action:
    """Return what runs a coroutine as ``asyncio.run`` does: what is left when it is interrupted is cancelled."""
    loop = asyncio.new_event_loop()

    def end() -> None:
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if tasks:
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()

    world.ends_loop = end
    return lambda: loop.run_until_complete(coroutine())


@operation("async with", any_kind=False)
def _async_with(world: World) -> Action:
    session = world.session("high_performance")

    async def act() -> None:
        async with session.ainference():
            pass

    return _run(world, act)


@operation("async with, in its window", any_kind=False)
def _async_window(world: World) -> Action:
    session = _in_window(world)

    async def act() -> None:
        async with session.ainference():
            pass

    return _run(world, act)


@operation("a decorated coroutine", any_kind=False)
def _async_function(world: World) -> Action:
    session = world.session("high_performance")

    @session.votes
    async def act() -> None:
        await asyncio.sleep(0)

    return _run(world, act)


@operation("an asynchronous stream", any_kind=False, may_be_lost=True)
def _async_stream(world: World) -> Action:
    session = world.session("high_performance")

    async def tokens() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(0)
        yield 2

    async def act() -> None:
        async for _ in session.stream(tokens()):
            pass

    return _run(world, act)


@operation("a coroutine that is cancelled in its raise", any_kind=False)
def _async_cancelled(world: World) -> Action:
    session = world.session("high_performance")

    async def infer() -> None:
        async with session.ainference():
            await asyncio.sleep(10)

    async def act() -> None:
        task = asyncio.ensure_future(infer())
        await asyncio.sleep(0)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    return _run(world, act)


# Holds, caps, profiles


@operation("a hold and its release, while votes are up")
def _hold(world: World) -> Action:
    session = world.in_use("balanced")

    def act() -> None:
        session.hold("burst", reason="a test").release()

    return act


@operation("with a hold")
def _with_hold(world: World) -> Action:
    session = _in_window(world, "balanced")

    def act() -> None:
        with session.hold("burst", reason="a test"):
            _infer(session)

    return act


@operation("a hold with a timeout, which is over")
def _hold_timeout(world: World) -> Action:
    session = _in_window(world)

    def act() -> None:
        hold = session.hold("balanced", reason="a test", timeout_us=1000)
        world.time.advance_us(1000)
        hold.release()

    return act


class _Owner:
    """What a hold belongs to."""


@operation("a hold that ends with its owner")
def _hold_owner(world: World) -> Action:
    session = _in_window(world)

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
    _in_window(world, "sustained_high_performance")
    return lambda: world.controller.cap("balanced", reason="a test").lift()


@operation("with a cap")
def _with_cap(world: World) -> Action:
    session = world.session()

    def act() -> None:
        with world.controller.cap("balanced", reason="a test"):
            _infer(session)

    return act


@operation("another profile, while votes are up")
def _use(world: World) -> Action:
    session = _in_window(world)

    def act() -> None:
        session.use("high_performance")
        session.use("burst")

    return act


@operation("a profile without votes, and back")
def _use_none(world: World) -> Action:
    session = _in_window(world)

    def act() -> None:
        session.use("system_settings")
        session.use("burst")

    return act


# Restarts, failures, alarms


@operation("a restart that the host tells of", begun_after=frozenset({"link_lost", "run_watched"}))
def _link_lost(world: World) -> Action:
    world.in_use()
    session = _in_window(world)
    world.htp.restart_subsystem(forget_ids=True)
    with contextlib.suppress(Exception):
        world.htp.native_set(0, None)
    return functools.partial(session.link_lost, SYSTEM_COMMUNICATION)


@operation("a DSP that is dead, and comes back")
def _link_dead(world: World) -> Action:
    world.in_use()
    session = _in_window(world)
    world.htp.restart_subsystem(fatal=True)

    def act() -> None:
        world.controller.link_lost(SYSTEM_COMMUNICATION_FATAL)
        _infer(session)
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
    return functools.partial(_infer, session)


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


@operation("the alarm that ends a sustain")
def _alarm(world: World) -> Action:
    _in_window(world)
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


# Controllers


@operation("close a controller")
def _close(world: World) -> Action:
    _in_window(world)
    _in_window(world, "balanced", core_ids=(0, 1))
    world.session()
    return world.controller.close


@operation("close a controller with a timeout, with a session in use")
def _close_timeout(world: World) -> Action:
    world.in_use()
    _in_window(world)
    return functools.partial(world.controller.close, timeout_s=5.0)


@operation("with a controller of its own")
def _with_controller(world: World) -> Action:
    def act() -> None:
        with VoteController(SimulatedHtp(arch=75), time=VirtualTime(), handle_sigterm=False) as made:
            _infer(made.session("burst"))

    return act


@operation("the status")
def _status(world: World) -> Action:
    world.in_use()
    _in_window(world)
    return world.controller.status


# In real time a thread of its own writes it, and a TimeoutError is a failure to write.
@operation("a file of the status", any_kind=False)
def _status_file(world: World) -> Action:
    session = world.in_use()
    folder = tempfile.TemporaryDirectory()
    world.finally_.append(folder.cleanup)

    def act() -> None:
        with world.controller.serve_status(Path(folder.name) / "status.json"):
            _infer(session)

    return act


def _infer_later(world: World, session: Session) -> None:
    """Run an inference at a time of its own, by which the recording knows it again."""
    world.time.advance_us(1)
    _infer(session)


def _recorded(world: World) -> Path:
    """Return where to record; in the end each inference is in a file once, or told as lost, and each line is whole."""
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "trace.json"

    def check() -> None:
        writer = world.controller._registry.recording
        if writer is not None:
            writer.close()
        events = [json.loads(line[:-1]) for file in folder_files() for line in file.read_text().splitlines()[1:]]
        begins = [event["ts"] for event in events if event["name"] == "inference"]
        lost = sum(event["args"]["inferences"] for event in events if event["name"] == "lost")
        if len(set(begins)) != len(begins):
            raise AssertionError(f"an inference is written twice: {begins}")
        if writer is not None and len(begins) + lost != writer._ring.number():
            raise AssertionError(f"{len(begins)} inferences are written and {lost} told as lost")

    def folder_files() -> Iterator[Path]:
        return Path(folder.name).iterdir()

    world.finally_ += [folder.cleanup, check]
    return path


@operation("a recording")
def _recording(world: World) -> Action:
    session, path = _in_window(world), _recorded(world)

    def act() -> None:
        with world.controller.record(path):
            _infer_later(world, session)

    return act


@operation("an inference that is recorded, and its writing in a new file")
def _recorded_inference(world: World) -> Action:
    session = _in_window(world, owner="x" * 3_000)
    world.controller.record(_recorded(world), most_bytes=4096, files=4)
    _infer_later(world, session)

    def act() -> None:
        _infer_later(world, session)
        world.time.advance_us(SECOND_US)

    return act


@operation("open a session that is recorded, and close the controller")
def _recorded_session(world: World) -> Action:
    world.controller.record(_recorded(world))

    def act() -> None:
        with world.controller.session("burst") as session:
            _infer_later(world, session)
        world.controller.close()

    return act


@operation("a controller that keeps what is learnt")
def _keeps_learnt(world: World) -> Action:
    folder = tempfile.TemporaryDirectory()
    world.finally_.append(folder.cleanup)
    path, burst = Path(folder.name) / "learnt.json", loaded("burst")
    assert burst.relax is not None
    relax = attrs.evolve(burst.relax, after_inference_us=Adaptive(break_even_us=100_000))
    profile = attrs.evolve(burst, relax=relax)
    gaps: list[int] = []
    other = VoteController(SimulatedHtp(arch=75), time=world.time, handle_sigterm=False, learnt=path)
    # While it is open.
    world.kept = 1

    def act() -> None:
        with other:
            session = other.session(profile, owner="me")
            for _ in range(2):
                _infer(session)
                world.time.advance_us(SECOND_US)
            session.close()
        gaps.append(1)

    def check() -> None:
        other.close()
        kept = [each.gaps for each in read(str(path))]
        if kept not in ([], [1]) or len(kept) < len(gaps):
            raise AssertionError(f"{kept} gaps are kept")
        if path.with_name("learnt.json.bad").exists():
            raise AssertionError("a damaged file was written")

    world.finally_.append(check)
    return act


@operation("hints, raises ahead of inferences that come or do not, and a second power state")
def _hints(world: World) -> Action:
    burst = loaded("burst")
    assert burst.relax is not None
    then = Then(burst.relax.after_deinit_to, Adaptive(break_even_us=SECOND_US))
    relax = attrs.evolve(
        burst.relax, after_inference_us=Adaptive(break_even_us=20_000), then=then, raise_ahead_us=5_000
    )
    session = world.controller.session(attrs.evolve(burst, relax=relax))
    world.sessions.append(session)
    _infer(session)

    def act() -> None:
        for comes in (True, False):
            session.expect(in_us=SECOND_US)
            world.time.advance_us(SECOND_US)
            if comes:
                _infer(session)
        world.time.advance_us(3 * SECOND_US)
        _infer(session)

    def check() -> None:
        if world.controller.status().sessions and session._record.gate.begun < 0:
            raise AssertionError("more inferences found votes up ahead of them than there were")

    world.finally_.append(check)
    return act


@operation("a subscriber that uses the session")
def _subscriber(world: World) -> Action:
    session = world.session("high_performance")
    seen: list[Event] = []

    def note(event: Event) -> None:
        seen.append(event)

    def act() -> None:
        end = world.controller.subscribe(note)
        _infer(session)
        end()

    return act


@operation("a thermal cap that is set and lifted")
def _thermal(world: World) -> Action:
    world.in_use()
    folder = tempfile.TemporaryDirectory()
    zone = Path(folder.name) / "thermal_zone0"
    zone.mkdir()
    (zone / "type").write_text("npu\n", encoding="ascii")
    temperature = zone / "temp"
    temperature.write_text("80000\n", encoding="ascii")
    world.finally_.append(folder.cleanup)

    def act() -> None:
        with ThermalCap(world.controller, above_c=70, below_c=60, root=folder.name):
            world.time.advance_us(SECOND_US)
            temperature.write_text("40000\n", encoding="ascii")
            world.time.advance_us(SECOND_US)

    return act


# Beside other threads


def _beside(world: World) -> None:
    """Park another session's raise in its native call, on a thread of its own, until the controller is closed."""
    session = world.session("low_balanced", core_ids=(1,))
    # So that its raise carries no setting of the process, for which others would wait.
    _infer(session)
    thread = threading.Thread(target=_infer, args=(session,), daemon=True)
    world.htp.parks = thread
    thread.start()
    world.htp.parked.wait()
    world.beside[session.number] = thread


@operation("a raise beside another's call that hangs")
def _raise_beside(world: World) -> Action:
    session = world.session("high_performance")
    _beside(world)
    return functools.partial(_infer, session)


@operation("closing with a timeout beside a call that hangs")
def _close_beside(world: World) -> Action:
    session = _in_window(world)
    _beside(world)
    return functools.partial(session.close, timeout_s=0.0)


@operation("a restart that is told of beside a call that hangs", begun_after=frozenset({"link_lost", "run_watched"}))
def _restart_beside(world: World) -> Action:
    session = world.in_use()
    _beside(world)
    return functools.partial(session.link_lost, SYSTEM_COMMUNICATION)
