"""Holds: another profile for a session until they end, the highest first, and what each of their ends does."""

from __future__ import annotations

import gc
import itertools
import weakref
from typing import TYPE_CHECKING

import pytest
from bench import BURST_SUSTAIN_US, MAX_CORNER, Bench, core_target

from htppower import Hold, ProfileError, SessionClosed, State
from htppower.codes import FAILED
from htppower.corners import VoltageCorner
from htppower.events import Cause, Event, HoldBegan, HoldEnd, HoldEnded, ProfileChanged

if TYPE_CHECKING:
    from collections.abc import Iterator

BOTH_ORDERS = ((0, 1), (1, 0))
NOM_PLUS, TURBO = VoltageCorner.NOM_PLUS, VoltageCorner.TURBO


class Owner:
    """An object that can own a hold, and be part of a cycle."""

    def __init__(self) -> None:
        self.itself: Owner | None = None


def told(bench: Bench) -> list[Event]:
    """Return a list that grows with what is told of holds and profiles."""
    events: list[Event] = []
    bench.controller.subscribe(events.append, (HoldBegan, HoldEnded, ProfileChanged))
    return events


def ends(events: list[Event]) -> list[HoldEnd]:
    """Return what ended the holds, in order."""
    return [event.end for event in events if isinstance(event, HoldEnded)]


@pytest.mark.parametrize(("begins", "released"), list(itertools.product(BOTH_ORDERS, BOTH_ORDERS)), ids=str)
def test_two_holds_begun_and_released_in_any_order(
    bench: Bench, begins: tuple[int, int], released: tuple[int, int]
) -> None:
    """The higher one counts while it lasts, then the lower one, then the session's own profile."""
    names = ("high_performance", "balanced")
    session = bench.controller.session("power_saver")
    holds: dict[int, Hold] = {}
    with session.inference():
        for each in begins:
            holds[each] = session.hold(names[each], reason=names[each])
            assert session.profile.name == names[min(holds)]
            assert bench.effective().core_target == (TURBO, NOM_PLUS)[min(holds)]
        for each in released:
            holds.pop(each).release()
            assert session.profile.name == (names[min(holds)] if holds else "power_saver")
        assert bench.effective().core_target == VoltageCorner.SVS
    assert session.own_profile.name == "power_saver"


def test_a_hold_raises_nothing_by_itself(bench: Bench) -> None:
    """On a session that is not raised it makes no call; the next raise casts its votes."""
    session = bench.controller.session("balanced")
    with session.hold("burst", reason="camera preview") as hold:
        assert (bench.sets, session.state, hold.active) == ([], State.UNVOTED, True)
        bench.infer(session)
        assert core_target(bench.sets[0]) == MAX_CORNER
    assert not hold.active
    bench.infer(session)
    assert core_target(bench.sets[-2]) == NOM_PLUS


def test_a_hold_on_a_lowered_session_waits_for_the_next_raise(bench: Bench) -> None:
    """Neither its beginning nor its end makes a call while the session is lowered."""
    session = bench.controller.session("balanced")
    bench.infer(session)
    before = len(bench.sets)
    session.hold("burst", reason="camera").release()
    assert (len(bench.sets), session.state) == (before, State.LOWERED)


def test_a_hold_in_flight_is_voted_at_once_and_taken_back_at_once(bench: Bench) -> None:
    """With an inference running, its beginning and its end are one call each."""
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        assert bench.effective().core_target == MAX_CORNER
        hold.release()
        assert bench.effective().core_target == NOM_PLUS
        assert len(bench.sets) == 3


@pytest.mark.parametrize("name", ["balanced", "high_performance"])
def test_a_hold_in_a_sustain_window_ends_the_sustain(bench: Bench, name: str) -> None:
    """A session that is up only by its sustain time is lowered, as by ``use``."""
    session = bench.controller.session("burst")
    bench.infer(session)
    assert (session.state, len(bench.sets)) == (State.RAISED, 1)
    session.hold(name, reason="test").release()
    assert session.state is State.LOWERED
    assert bench.time.alarms == 0


def test_the_end_of_a_hold_ends_its_sustain(bench: Bench) -> None:
    """What was up by the hold's sustain time comes down with the hold."""
    session = bench.controller.session("balanced")
    hold = session.hold("burst", reason="test")
    bench.infer(session)
    assert (session.state, len(bench.sets)) == (State.RAISED, 1)
    hold.release()
    assert session.state is State.LOWERED


def test_a_hold_of_the_profile_in_use_changes_nothing(bench: Bench) -> None:
    """No call, no ProfileChanged, and the pending sustain goes on; yet status names the hold."""
    session = bench.controller.session("burst")
    bench.infer(session)
    events, before = told(bench), len(bench.sets)
    hold = session.hold("burst", reason="again")
    (status,) = bench.controller.status().sessions
    assert status.decided_by is not None
    assert status.decided_by.reason == "again"
    hold.release()
    assert [type(event) for event in events] == [HoldBegan, HoldEnded]
    assert (len(bench.sets), session.state) == (before, State.RAISED)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert session.state is State.LOWERED


def test_use_while_held_counts_after_the_hold(bench: Bench) -> None:
    """The session's own profile changes, and is used when the hold ends."""
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        session.use("power_saver")
        assert (session.profile.name, session.own_profile.name) == ("burst", "power_saver")
        assert len(bench.sets) == 2
        hold.release()
        assert bench.effective().core_target == VoltageCorner.SVS


@pytest.mark.parametrize(("early_us", "name"), [(1, "burst"), (0, "balanced")])
def test_a_timeout_is_exact(bench: Bench, early_us: int, name: str) -> None:
    """It ends a hold at its microsecond, and not one before."""
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
    """Dropping the handle does not end it; releasing it takes the alarm back."""
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
    """Also after a timeout, and told once."""
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
    """Soon, on the thread of the alarms: nobody could release it any more."""
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
    """Also with one in a reference cycle; and not with the handle."""
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
    """An owner that lives as long as the process must not gather what watched for it."""
    session, owner = bench.controller.session("balanced"), Owner()
    for _ in range(3):
        session.hold("burst", reason="camera", owner=owner, timeout_us=1)
        bench.time.advance_us(1)
    session.hold("burst", reason="camera", owner=owner)
    session.close()
    assert weakref.getweakrefcount(owner) == 0


def test_a_with_block_ends_its_hold_by_an_exception(bench: Bench) -> None:
    """The exception passes through, also where the lowering that follows fails."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        bench.simulated.fail_next(FAILED)
        with pytest.raises(ZeroDivisionError), hold:
            raise ZeroDivisionError
    assert session.profile.name == "balanced"


def test_a_hold_in_a_generator_that_is_collected_ends_soon(bench: Bench) -> None:
    """On the thread of the alarms, since a generator may be collected where a lock is held."""
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
    assert session.profile.name == "burst"
    bench.time.advance_us(0)
    assert (session.profile.name, ends(events)) == ("balanced", [HoldEnd.RELEASED])


@pytest.mark.parametrize("whole", [False, True])
def test_closing_ends_every_hold(bench: Bench, whole: bool) -> None:
    """Each is told, none changes the profile on the way, no alarm stays, and the handles do nothing any more."""
    session = bench.controller.session("balanced")
    events = told(bench)
    with session.inference():
        holds = [session.hold("burst", reason="a"), session.hold("high_performance", reason="b", timeout_us=5)]
        before = len(bench.sets)
        (bench.controller if whole else session).close()
    assert ends(events) == [HoldEnd.SESSION_CLOSED] * 2
    assert len([event for event in events if isinstance(event, ProfileChanged)]) == 1
    assert len(bench.sets) == before + 1
    assert bench.time.alarms == 0
    for hold in holds:
        assert not hold.active
        hold.release()
    with pytest.raises(SessionClosed):
        session.hold("burst", reason="camera")


def test_a_hold_on_a_closed_session_passes_while_the_process_ends(bench: Bench) -> None:
    """It has no effect then, and is told to nobody."""
    session = bench.controller.session("balanced")
    events = told(bench)
    bench.controller.end_process()
    hold = session.hold("burst", reason="camera", timeout_us=5)
    assert (hold.active, events, bench.time.alarms) == (False, [], 0)
    hold.release()


def test_what_is_told_of_a_hold(bench: Bench) -> None:
    """HoldBegan, then ProfileChanged with cause and reason; HoldEnded, then ProfileChanged; and status meanwhile."""
    session = bench.controller.session("balanced", owner="camera")
    events = told(bench)
    hold = session.hold("burst", reason="preview")
    (status,) = bench.controller.status().sessions
    assert (status.profile, status.own_profile) == ("burst", "balanced")
    assert [(claim.profile.name, claim.reason, claim.since_us, claim.until_us) for claim in status.holds] == [
        ("burst", "preview", 0, None)
    ]
    assert status.decided_by == status.holds[0]
    hold.release()
    began, changed, ended, back = events
    assert isinstance(began, HoldBegan)
    assert (began.held, began.reason, began.owner, began.profile) == ("burst", "preview", "camera", "balanced")
    assert isinstance(changed, ProfileChanged)
    assert (changed.before, changed.profile, changed.cause, changed.reason) == (
        "balanced",
        "burst",
        Cause.HOLD_BEGAN,
        "preview",
    )
    assert isinstance(ended, HoldEnded)
    assert (ended.held, ended.reason, ended.end) == ("burst", "preview", HoldEnd.RELEASED)
    assert isinstance(back, ProfileChanged)
    assert (back.before, back.profile, back.cause) == ("burst", "balanced", Cause.HOLD_ENDED)
    (status,) = bench.controller.status().sessions
    assert (status.holds, status.decided_by) == ((), None)
    assert repr(hold) == "<Hold burst on session 1: preview>"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"reason": ""}, ValueError),
        ({"reason": "x", "timeout_us": 0}, ValueError),
        ({"reason": "x", "owner": 5}, TypeError),
    ],
    ids=str,
)
def test_what_a_hold_refuses(bench: Bench, options: dict[str, object], error: type[Exception]) -> None:
    """A hold that is refused has not begun."""
    session = bench.controller.session("balanced")
    events = told(bench)
    with pytest.raises(error):
        session.hold("burst", **options)  # type: ignore[arg-type]
    with pytest.raises(ProfileError):
        session.hold("bursst", reason="x")
    assert (events, session.profile.name) == ([], "balanced")
