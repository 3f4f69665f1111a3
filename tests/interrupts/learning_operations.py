"""Operations of sessions that learn their sustain time, relax twice, and are raised ahead of a predicted begin."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from interrupts.operations import SECOND_US, Action, infer, operation
from interrupts.world import loaded
from learning import relaxing

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.control.learning.learnt_file import read
from htppower.profiles.profile import PowerState, Then
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from interrupts.world import World

    from htppower import Profile, Session

LEAD_US = 5_000
GAP_US = 60_000


def _further() -> Then:
    relax = relaxing("power_saver").relax
    assert relax is not None
    return Then(PowerState("deeper", "The released state.", relax.to.votes), Adaptive(break_even_us=200_000))


def _learns() -> Profile:
    return relaxing(after_inference_us=Adaptive(break_even_us=100_000), then=_further())


def _raises_ahead() -> Profile:
    return relaxing(after_inference_us=0, raise_ahead_us=LEAD_US, then=_further())


def _infer(world: World, session: Session, us: int = 0, gap_us: int = GAP_US) -> None:
    with session.inference():
        world.time.advance_us(us)
    world.time.advance_us(gap_us)


def _opened(world: World, profile: Profile, gaps: int) -> Session:
    """Open a session, and see in the end that it has learnt from no more gaps than there were, and expects nothing."""
    session = world.controller.session(profile)
    world.sessions.append(session)
    gate = session._record.gate

    def check() -> None:
        watch, further = (None, None) if gate.pace is None else (gate.pace.watch, gate.pace.further)
        learners = {
            "gaps": None if watch is None else watch.learner,
            "gaps of the second power state": None if further is None else further.learner,
        }
        for name, learner in learners.items():
            if learner is not None and not 0 <= learner.gaps <= gaps:
                raise AssertionError(f"{learner.gaps} {name} are counted, and there were {gaps}")
        ahead = None if watch is None else watch.ahead
        until_us = gate.sustain.until_us
        if ahead is not None and until_us > world.time.now_us:
            raise AssertionError(f"votes are up until {until_us}")
        if ahead is not None and ahead.purse.right + ahead.purse.wrong > gaps + 1:
            raise AssertionError(f"{ahead.purse.right} raises ahead were right, and {ahead.purse.wrong} wrong")

    world.finally_.append(check)
    return session


@operation("inferences of a sustain time that is learnt, within it and beyond it")
def _learnt(world: World) -> Action:
    session = _opened(world, _learns(), 4)
    _infer(world, session)

    def act() -> None:
        _infer(world, session, 1_000, 1_000)
        _infer(world, session, 1_000, SECOND_US)
        _infer(world, session)

    return act


@operation("inferences that overlap, of a sustain time that is learnt")
def _learnt_overlap(world: World) -> Action:
    session = _opened(world, _learns(), 3)
    _infer(world, session, gap_us=SECOND_US)

    def act() -> None:
        with session.inference(), session.inference():
            world.time.advance_us(1_000)
        _infer(world, session)

    return act


@operation("INIT in a gap from which would be learnt")
def _learnt_init(world: World) -> Action:
    session = _opened(world, _learns(), 1)
    _infer(world, session)

    def act() -> None:
        with session.init():
            pass
        _infer(world, session)

    return act


@operation("the second power state, and a raise from there")
def _second_state(world: World) -> Action:
    session = _opened(world, _learns(), 2)
    _infer(world, session)

    def act() -> None:
        world.time.advance_us(SECOND_US)
        _infer(world, session)

    return act


@operation("a hint of a long gap, within the window")
def _hint(world: World) -> Action:
    session = _opened(world, _learns(), 2)
    _infer(world, session, gap_us=1_000)

    def act() -> None:
        session.expect(in_us=SECOND_US)
        world.time.advance_us(SECOND_US)
        _infer(world, session)

    return act


@operation("a hint, and a raise ahead that is right")
def _ahead_right(world: World) -> Action:
    session = _opened(world, _raises_ahead(), 2)
    _infer(world, session)

    def act() -> None:
        session.expect(in_us=GAP_US)
        world.time.advance_us(GAP_US)
        _infer(world, session)

    return act


@operation("a hint, and a raise ahead that is in vain")
def _ahead_wrong(world: World) -> Action:
    session = _opened(world, _raises_ahead(), 1)
    _infer(world, session)

    def act() -> None:
        session.expect(in_us=GAP_US)
        world.time.advance_us(SECOND_US)

    return act


@operation("hints during inferences, and one that is taken back")
def _hint_inside(world: World) -> Action:
    session = _opened(world, _raises_ahead(), 3)

    def act() -> None:
        with session.inference():
            session.expect(every_us=GAP_US)
        _infer(world, session, 1_000, GAP_US)
        session.expect()
        _infer(world, session)

    return act


@operation("a raise ahead that a change of profile ends")
def _ahead_use(world: World) -> Action:
    session = _opened(world, _raises_ahead(), 1)
    _infer(world, session)
    session.expect(in_us=GAP_US)
    profile = _learns()

    def act() -> None:
        world.time.advance_us(GAP_US)
        session.use(profile)

    return act


@operation("closing a session that is raised ahead")
def _ahead_close(world: World) -> Action:
    session = _opened(world, _raises_ahead(), 1)
    _infer(world, session)
    session.expect(in_us=GAP_US)
    world.time.advance_us(GAP_US)
    return session.close


@operation("a controller that keeps what is learnt")
def _keeps(world: World) -> Action:
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
                infer(session)
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
    infer(session)

    def act() -> None:
        for comes in (True, False):
            session.expect(in_us=SECOND_US)
            world.time.advance_us(SECOND_US)
            if comes:
                infer(session)
        world.time.advance_us(3 * SECOND_US)
        infer(session)

    def check() -> None:
        if world.controller.status().sessions and session._record.gate.begun < 0:
            raise AssertionError("more inferences found votes up ahead of them than there were")

    world.finally_.append(check)
    return act
