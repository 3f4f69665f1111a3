"""Holds: another profile for a session until the hold ends. The highest hold counts."""

from __future__ import annotations

import itertools

import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, Bench, core_target

from htppower import Hold, ProfileError, State
from htppower.events import Cause, Event, HoldBegan, HoldEnd, HoldEnded, ProfileChanged
from htppower.votes.corners import VoltageCorner

BOTH_ORDERS = ((0, 1), (1, 0))
NOM_PLUS, TURBO = VoltageCorner.NOM_PLUS, VoltageCorner.TURBO


def told(bench: Bench) -> list[Event]:
    """Return a list to which each event about holds and profiles is added."""
    events: list[Event] = []
    bench.controller.subscribe(events.append, (HoldBegan, HoldEnded, ProfileChanged))
    return events


@pytest.mark.parametrize(("begins", "released"), list(itertools.product(BOTH_ORDERS, BOTH_ORDERS)), ids=str)
def test_two_holds_begun_and_released_in_any_order(
    bench: Bench, begins: tuple[int, int], released: tuple[int, int]
) -> None:
    """The higher hold counts while it lasts, then the lower hold, then the session's own profile."""
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
    """A hold on a session that is not raised makes no call; the next raise sends its votes."""
    session = bench.controller.session("balanced")
    with session.hold("burst", reason="camera preview") as hold:
        assert (bench.sets, session.state, hold.active) == ([], State.UNVOTED, True)
        bench.infer(session)
        assert core_target(bench.casts[0]) == MAX_CORNER
    assert not hold.active
    bench.infer(session)
    assert core_target(bench.casts[-2]) == NOM_PLUS


def test_a_hold_on_a_lowered_session_waits_for_the_next_raise(bench: Bench) -> None:
    """On a lowered session neither the begin nor the end of a hold makes a call."""
    session = bench.controller.session("balanced")
    bench.infer(session)
    before = len(bench.sets)
    session.hold("burst", reason="camera").release()
    assert (len(bench.sets), session.state) == (before, State.LOWERED)


def test_a_hold_in_flight_is_voted_at_once_and_taken_back_at_once(bench: Bench) -> None:
    """While an inference runs, the begin and the end of a hold make one call of clocks each."""
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        assert bench.effective().core_target == MAX_CORNER
        hold.release()
        assert bench.effective().core_target == NOM_PLUS
        assert len(bench.casts) == 3


@pytest.mark.parametrize("name", ["balanced", "high_performance"])
def test_a_hold_in_a_sustain_window_ends_the_sustain(bench: Bench, name: str) -> None:
    """A hold lowers a session that is up only for its sustain time, as ``use`` does."""
    session = bench.controller.session("burst")
    bench.infer(session)
    assert (session.state, len(bench.casts)) == (State.RAISED, 1)
    session.hold(name, reason="test").release()
    assert session.state is State.LOWERED
    assert bench.time.alarms == 0


def test_the_end_of_a_hold_ends_its_sustain(bench: Bench) -> None:
    """When a hold ends, votes that are up only for the hold's sustain time are lowered."""
    session = bench.controller.session("balanced")
    hold = session.hold("burst", reason="test")
    bench.infer(session)
    assert (session.state, len(bench.casts)) == (State.RAISED, 1)
    hold.release()
    assert session.state is State.LOWERED


def test_a_hold_of_the_profile_in_use_changes_nothing(bench: Bench) -> None:
    """A hold of the same profile makes no call, sends no ProfileChanged and ends no sustain time; status names it."""
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
    """``use`` under a hold changes the session's own profile, which counts after the hold."""
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        session.use("power_saver")
        assert (session.profile.name, session.own_profile.name) == ("burst", "power_saver")
        assert len(bench.casts) == 2
        hold.release()
        assert bench.effective().core_target == VoltageCorner.SVS


def test_what_is_told_of_a_hold(bench: Bench) -> None:
    """A hold sends HoldBegan, ProfileChanged, HoldEnded and ProfileChanged, with reasons; status shows it."""
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
    with session.hold("burst", reason="\x1b[31m\nx") as hostile:
        assert repr(hostile) == "<Hold burst on session 1: \\x1b[31m\\nx>"


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
