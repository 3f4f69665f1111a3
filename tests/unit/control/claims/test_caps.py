"""Caps: a limit on every session until it is lifted, including held sessions and sessions opened later."""

from __future__ import annotations

import gc
import itertools

import pytest
from support.bench import MAX_CORNER, Bench, core_target, explicit_hmx, voting
from support.helpers import hvx

from htppower import ProfileError, SessionClosed, State
from htppower.events import CapLifted, CapSet, Cause, Event, ProfileChanged
from htppower.votes.clock_votes import VoltageRange
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import FAILED

BOTH_ORDERS = ((0, 1), (1, 0))
NOM_PLUS, SVS = VoltageCorner.NOM_PLUS, VoltageCorner.SVS


def test_a_cap_limits_every_session_at_once_and_lifting_gives_back(bench: Bench) -> None:
    """A cap sends new votes for each running session above it, in one call of clocks; others make no call."""
    high, low = bench.controller.session("burst"), bench.controller.session("power_saver")
    with high.inference(), low.inference():
        before = len(bench.casts)
        cap = bench.controller.cap("balanced", reason="skin temperature")
        assert (high.profile.name, low.profile.name) == ("balanced", "power_saver")
        assert len(bench.casts) == before + 1
        assert bench.effective().core_target == NOM_PLUS
        cap.lift()
        assert bench.effective().core_target == MAX_CORNER
        assert len(bench.casts) == before + 2


def test_a_cap_in_a_sustain_window_ends_the_sustain(bench: Bench) -> None:
    """A cap ends the sustain time of a session that it limits, as ``use`` does, and of no other session."""
    capped, below = bench.controller.session("burst"), bench.controller.session("sustained_high_performance")
    bench.infer(capped)
    bench.infer(below)
    cap = bench.controller.cap("sustained_high_performance", reason="heat")
    assert cap.active
    assert (capped.state, below.state) == (State.LOWERED, State.RAISED)


def test_a_cap_limits_sessions_that_are_opened_later(bench: Bench) -> None:
    """A session that is opened under a cap begins with the cap's profile, and gets its own when the cap is lifted."""
    cap = bench.controller.cap("balanced", reason="heat")
    session = bench.controller.session("burst")
    (status,) = bench.controller.status().sessions
    assert (status.profile, status.own_profile) == ("balanced", "burst")
    assert status.decided_by is not None
    assert status.decided_by.reason == "heat"
    bench.infer(session)
    assert core_target(bench.casts[0]) == NOM_PLUS
    cap.lift()
    bench.infer(session)
    assert core_target(bench.casts[-1]) == MAX_CORNER


def test_a_cap_wins_over_holds_and_over_use(bench: Bench) -> None:
    """A hold or a ``use`` under a cap takes effect when the cap is lifted."""
    session = bench.controller.session("power_saver")
    with session.inference():
        with bench.controller.cap("balanced", reason="heat") as cap:
            hold = session.hold("burst", reason="camera")
            assert (session.profile.name, hold.active) == ("balanced", True)
            session.use("high_performance")
            assert bench.effective().core_target == NOM_PLUS
            (status,) = bench.controller.status().sessions
            assert status.decided_by is not None
            assert (status.decided_by.reason, len(status.holds)) == ("heat", 1)
        assert not cap.active
        assert bench.effective().core_target == MAX_CORNER
        hold.release()
        assert session.profile.name == "high_performance"


def test_a_hold_below_the_cap_decides(bench: Bench) -> None:
    """A hold below the cap decides; after that hold ends, the session is capped."""
    session = bench.controller.session("burst")
    with session.inference(), bench.controller.cap("balanced", reason="heat"):
        with session.hold("power_saver", reason="night"):
            assert bench.effective().core_target == SVS
        assert bench.effective().core_target == NOM_PLUS


@pytest.mark.parametrize("order", list(itertools.product(BOTH_ORDERS, BOTH_ORDERS)))
def test_the_lowest_of_two_caps_counts_in_any_order(
    bench: Bench, order: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """The lowest cap counts, in whatever order the caps are set and lifted."""
    names = ("power_saver", "balanced")
    session = bench.controller.session("burst")
    caps = {}
    with session.inference():
        for each in order[0]:
            caps[each] = bench.controller.cap(names[each], reason=names[each])
            assert session.profile.name == names[min(caps)]
        for each in order[1]:
            caps.pop(each).lift()
            assert session.profile.name == (names[min(caps)] if caps else "burst")
        assert bench.effective().core_target == MAX_CORNER


@pytest.mark.parametrize(
    "votes",
    [
        {"dcvs_v3": hvx(VoltageCorner.SVS, bus=VoltageRange.at(VoltageCorner.TURBO))},
        {"dcvs_v3": hvx(VoltageCorner.SVS), "hmx_v2": explicit_hmx(ExpandedCorner.TUR)},
    ],
    ids=["bus", "hmx"],
)
def test_one_clock_beyond_the_cap_is_enough(bench: Bench, votes: dict[str, object]) -> None:
    """A profile that exceeds the cap with one clock only is capped, too."""
    session = bench.controller.session(voting(**votes))
    with session.inference(), bench.controller.cap("balanced", reason="heat"):
        assert session.profile.name == "balanced"
        assert bench.effective().bus_target <= NOM_PLUS
        assert bench.effective().hmx_target <= ExpandedCorner.NOM_L1


def test_a_cap_of_no_votes_removes_every_vote(bench: Bench) -> None:
    """Under a cap of system_settings no session has a power config id."""
    session = bench.controller.session("burst")
    with session.inference():
        with bench.controller.cap("system_settings", reason="measurement"):
            assert bench.simulated.power_config_ids == ()
            later = bench.controller.session("burst")
            bench.infer(later)
            assert bench.simulated.power_config_ids == ()
        assert bench.effective().core_target == MAX_CORNER
    bench.infer(later)
    assert later.state is State.RAISED


def test_a_session_without_votes_is_left_alone(bench: Bench) -> None:
    """A cap never raises: a session of system_settings makes no call under it."""
    session = bench.controller.session("system_settings")
    with session.inference(), bench.controller.cap("balanced", reason="heat"):
        assert (bench.recorder.calls, session.profile.name) == ((), "system_settings")


def test_what_is_told_of_a_cap(bench: Bench) -> None:
    """CapSet, CapLifted, and ProfileChanged for each session that changes, are sent once each."""
    session = bench.controller.session("burst", owner="camera")
    below = bench.controller.session("power_saver")
    events: list[Event] = []
    bench.controller.subscribe(events.append, (CapSet, CapLifted, ProfileChanged))
    cap = bench.controller.cap("balanced", reason="heat")
    assert [claim.reason for claim in bench.controller.status().caps] == ["heat"]
    cap.lift()
    cap.lift()
    began, changed, ended, back = events
    assert isinstance(began, CapSet)
    assert (began.session, began.cap, began.reason) == (0, "balanced", "heat")
    assert isinstance(changed, ProfileChanged)
    assert (changed.session, changed.cause, changed.reason) == (session.number, Cause.CAP_SET, "heat")
    assert isinstance(ended, CapLifted)
    assert (ended.cap, ended.reason) == ("balanced", "heat")
    assert isinstance(back, ProfileChanged)
    assert (back.before, back.profile, back.cause) == ("balanced", "burst", Cause.CAP_LIFTED)
    assert (bench.controller.status().caps, cap.active, below.profile.name) == ((), False, "power_saver")
    assert repr(cap) == "<Cap balanced: heat>"
    with bench.controller.cap("balanced", reason="\x1b[31m\nx") as hostile:
        assert repr(hostile) == "<Cap balanced: \\x1b[31m\\nx>"


def test_caps_lists_the_caps_that_are_set(bench: Bench) -> None:
    """``controller.caps`` has the caps themselves, and each can be lifted through it."""
    session = bench.controller.session("burst")
    kept = bench.controller.cap("balanced", reason="heat")
    (cap,) = bench.controller.caps
    assert cap is kept
    assert (cap.profile.name, cap.reason, cap.active) == ("balanced", "heat", True)
    cap.lift()
    assert (session.profile.name, bench.controller.caps) == ("burst", ())


@pytest.mark.parametrize("cycle", [False, True])
def test_a_cap_that_is_dropped_is_lifted(bench: Bench, cycle: bool) -> None:
    """If the handle of a cap is dropped, the cap is lifted soon: sessions get their own votes, with one CapLifted."""
    session = bench.controller.session("burst")
    events: list[Event] = []
    bench.controller.subscribe(events.append, CapLifted)
    with session.inference():
        kept: list[object] = [bench.controller.cap("balanced", reason="heat")]
        kept += [kept] if cycle else []
        gc.collect()
        bench.time.advance_us(0)
        assert bench.effective().core_target == NOM_PLUS
        del kept
        gc.collect()
        bench.time.advance_us(0)
        assert (session.profile.name, bench.effective().core_target) == ("burst", MAX_CORNER)
    assert (bench.controller.caps, bench.controller.status().caps, len(events)) == ((), (), 1)


@pytest.mark.parametrize("on_error", ["continue", "raise"])
def test_a_call_that_fails_never_raises_from_a_cap(on_error: str) -> None:
    """If a call for a cap fails, every other session is still capped, and the failed votes are sent again."""
    bench = Bench.make(on_error=on_error)
    first, second = (bench.controller.session("burst") for _ in range(2))
    with first.inference(), second.inference():
        bench.simulated.fail_next(FAILED)
        cap = bench.controller.cap("balanced", reason="heat")
        assert (first.profile.name, second.profile.name) == ("balanced", "balanced")
        bench.time.advance_us(2_000_000)
        assert bench.effective().core_target == NOM_PLUS
        bench.simulated.fail_next(FAILED)
        cap.lift()
        bench.time.advance_us(2_000_000)
        assert bench.effective().core_target == MAX_CORNER
    bench.controller.close()


def test_what_a_cap_refuses(bench: Bench) -> None:
    """A cap without a reason, with an unknown profile or on a closed controller is refused."""
    with pytest.raises(ValueError, match="reason"):
        bench.controller.cap("balanced", reason="")
    with pytest.raises(ProfileError):
        bench.controller.cap("balancd", reason="heat")
    assert bench.controller.caps == ()
    cap = bench.controller.cap("balanced", reason="heat")
    bench.controller.close()
    with pytest.raises(SessionClosed):
        bench.controller.cap("balanced", reason="heat")
    cap.lift()
