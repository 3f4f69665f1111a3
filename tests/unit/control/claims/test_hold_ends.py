"""The ends of a hold: by release, by timeout, or with its owner, its handle or its session."""

from __future__ import annotations

import gc
import weakref
from typing import TYPE_CHECKING

import pytest
from support.bench import Bench
from support.inside import end_process

from htppower import SessionClosed, State
from htppower.events import Event, HoldBegan, HoldEnd, HoldEnded, ProfileChanged
from htppower.votes.corners import VoltageCorner
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower import VoteController

NOM_PLUS = VoltageCorner.NOM_PLUS


class Owner:
    """An object that can own a hold and be part of a cycle."""

    def __init__(self) -> None:
        self.itself: Owner | None = None


def told(bench: Bench) -> list[Event]:
    """Return a list to which each event about holds and profiles is added."""
    events: list[Event] = []
    bench.controller.subscribe(events.append, (HoldBegan, HoldEnded, ProfileChanged))
    return events


def ends(events: list[Event]) -> list[HoldEnd]:
    """Return how the holds ended, in order."""
    return [event.end for event in events if isinstance(event, HoldEnded)]


@pytest.mark.parametrize(("early_us", "name"), [(1, "burst"), (0, "balanced")])
def test_a_timeout_is_exact(bench: Bench, early_us: int, name: str) -> None:
    """The timeout ends the hold exactly at its deadline, and not a microsecond earlier."""
    session = bench.controller.session("balanced")
    bench.time.advance_us(17)
    events = told(bench)
    with session.inference():
        session.hold("burst", reason="camera", timeout_us=1_000)
        bench.time.advance_us(1_000 - early_us)
        assert session.profile.name == name
    assert events[0].time_us == 17
    assert isinstance(events[0], HoldBegan)
    assert events[0].until_us == 1_017
    assert ends(events) == ([] if early_us else [HoldEnd.TIMEOUT])


def test_a_hold_with_a_timeout_outlives_its_handle_and_leaves_no_alarm(bench: Bench) -> None:
    """Dropping the handle of a hold with a timeout does not end it; releasing it cancels the alarm."""
    session = bench.controller.session("balanced")
    session.hold("burst", reason="camera", timeout_us=1_000)
    gc.collect()
    bench.time.advance_us(999)
    assert session.profile.name == "burst"
    bench.time.advance_us(1)
    assert session.profile.name == "balanced"
    session.hold("burst", reason="camera", timeout_us=1_000).release()
    assert bench.time.alarms == 0


def test_releasing_twice_is_fine(bench: Bench) -> None:
    """A second release has no effect, even after a timeout; the end is one event."""
    session = bench.controller.session("balanced")
    events = told(bench)
    hold = session.hold("burst", reason="camera")
    hold.release()
    hold.release()
    timed = session.hold("burst", reason="camera", timeout_us=1)
    bench.time.advance_us(1)
    timed.release()
    assert ends(events) == [HoldEnd.RELEASED, HoldEnd.TIMEOUT]


def test_a_dropped_handle_ends_its_hold(bench: Bench) -> None:
    """A hold without a timeout ends on another thread soon after its handle is garbage collected."""
    session = bench.controller.session("balanced")
    events = told(bench)
    with session.inference():
        hold = session.hold("burst", reason="camera")
        del hold
        gc.collect()
        assert session.profile.name == "burst"
        bench.time.advance_us(0)
        assert bench.effective().core_target == NOM_PLUS
    assert ends(events) == [HoldEnd.HANDLE_DROPPED]


@pytest.mark.parametrize("cycle", [False, True])
def test_a_hold_ends_with_its_owner(bench: Bench, cycle: bool) -> None:
    """A hold ends when its owner is garbage collected, even in a cycle; dropping the handle does not end it."""
    session = bench.controller.session("balanced")
    events, owner = told(bench), Owner()
    owner.itself = owner if cycle else None
    session.hold("burst", reason="camera", owner=owner)
    gc.collect()
    bench.time.advance_us(0)
    assert session.profile.name == "burst"
    del owner
    gc.collect()
    bench.time.advance_us(0)
    assert (session.profile.name, ends(events)) == ("balanced", [HoldEnd.OWNER_GONE])


def test_a_hold_that_has_ended_leaves_nothing_with_its_owner(bench: Bench) -> None:
    """A hold that has ended leaves no weak reference on its owner, so they do not pile up on a long-lived owner."""
    session, owner = bench.controller.session("balanced"), Owner()
    for _ in range(3):
        session.hold("burst", reason="camera", owner=owner, timeout_us=1)
        bench.time.advance_us(1)
    session.hold("burst", reason="camera", owner=owner)
    session.close()
    assert weakref.getweakrefcount(owner) == 0


def test_a_with_block_ends_its_hold_by_an_exception(bench: Bench) -> None:
    """The exception that leaves the block is passed on unchanged, even if the lowering after it fails."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        bench.simulated.fail_next(FAILED)
        with pytest.raises(ZeroDivisionError), hold:
            raise ZeroDivisionError
    assert session.profile.name == "balanced"


def test_a_hold_in_a_generator_that_is_collected_ends(bench: Bench) -> None:
    """If the generator with the hold is garbage collected, the hold is released, as at the end of its block."""
    session = bench.controller.session("balanced")
    events = told(bench)

    def frames() -> Iterator[int]:
        with session.hold("burst", reason="preview"):
            yield 1

    made = frames()
    next(made)
    assert session.profile.name == "burst"
    del made
    gc.collect()
    bench.time.advance_us(0)
    assert (session.profile.name, ends(events)) == ("balanced", [HoldEnd.RELEASED])


@pytest.mark.parametrize("whole", [False, True])
def test_closing_ends_every_hold(bench: Bench, whole: bool) -> None:
    """Closing the session ends each hold with an event, without a profile change, and cancels its alarm."""
    session = bench.controller.session("balanced")
    events = told(bench)
    with session.inference():
        holds = [session.hold("burst", reason="a"), session.hold("high_performance", reason="b", timeout_us=5)]
        before = len(bench.casts)
        (bench.controller if whole else session).close()
    assert ends(events) == [HoldEnd.SESSION_CLOSED] * 2
    assert len([event for event in events if isinstance(event, ProfileChanged)]) == 1
    assert len(bench.casts) == before + 1
    assert bench.time.alarms == 0
    for hold in holds:
        assert not hold.active
        hold.release()
    with pytest.raises(SessionClosed):
        session.hold("burst", reason="camera")


def test_a_hold_on_a_closed_session_passes_while_the_process_ends(bench: Bench) -> None:
    """If the process is ending, a hold on a closed session has no effect and sends no event."""
    session = bench.controller.session("balanced")
    events = told(bench)
    end_process(bench.controller, 1)
    hold = session.hold("burst", reason="camera", timeout_us=5)
    assert (hold.active, events, bench.time.alarms) == (False, [], 0)
    hold.release()


def test_a_hold_whose_timeout_can_not_be_kept_does_not_begin(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """If arming the timeout fails with an error such as MemoryError, ``hold`` raises it, and no hold is left."""
    session = bench.controller.session("balanced")

    def full(*_arguments: object) -> None:
        raise MemoryError

    monkeypatch.setattr(bench.time, "call_at", full)
    with pytest.raises(MemoryError):
        session.hold("burst", reason="camera", timeout_us=5)
    monkeypatch.undo()
    bench.time.advance_us(0)
    assert (bench.controller.status().sessions[0].holds, session.profile.name) == ((), "balanced")


@pytest.mark.usefixtures("no_threads")
def test_a_hold_with_a_timeout_begins_where_no_thread_can_be_started(controller: VoteController) -> None:
    """If no thread can be started, a hold with a timeout still begins, and ends by release or with its session."""
    session = controller.session("balanced")
    with session.hold("burst", reason="camera", timeout_us=60_000_000) as hold, session.inference():
        assert (hold.active, session.profile.name, session.state) == (True, "burst", State.RAISED)
    assert (hold.active, session.profile.name) == (False, "balanced")
    hold = session.hold("burst", reason="camera", timeout_us=60_000_000)
    session.close()
    assert not hold.active
