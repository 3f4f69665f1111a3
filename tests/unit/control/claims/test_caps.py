"""Caps: a limit on every session, also on those to come and on what is held, until it is lifted."""

from __future__ import annotations

import gc
import itertools

import pytest
from bench import MAX_CORNER, Bench, core_target, explicit_hmx, voting
from helpers import hvx

from htppower import ProfileError, SessionClosed, State
from htppower.events import CapLifted, CapSet, Cause, Event, ProfileChanged
from htppower.votes.clock_votes import VoltageRange
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import FAILED

BOTH_ORDERS = ((0, 1), (1, 0))
NOM_PLUS, SVS = VoltageCorner.NOM_PLUS, VoltageCorner.SVS


def test_a_cap_limits_every_session_at_once_and_lifting_gives_back(bench: Bench) -> None:
    """Sessions in flight are voted at once, with one call of clocks each; one below the cap makes none."""
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
    """As ``use`` does; of a session below the cap it does not."""
    capped, below = bench.controller.session("burst"), bench.controller.session("sustained_high_performance")
    bench.infer(capped)
    bench.infer(below)
    cap = bench.controller.cap("sustained_high_performance", reason="heat")
    assert cap.active
    assert (capped.state, below.state) == (State.LOWERED, State.RAISED)


def test_a_cap_limits_sessions_that_are_opened_later(bench: Bench) -> None:
    """They begin with the cap's profile, and get their own when it is lifted."""
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
    """What is held or used under a cap is in force after it."""
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
    """And its end under the cap leaves the session capped."""
    session = bench.controller.session("burst")
    with session.inference(), bench.controller.cap("balanced", reason="heat"):
        with session.hold("power_saver", reason="night"):
            assert bench.effective().core_target == SVS
        assert bench.effective().core_target == NOM_PLUS


@pytest.mark.parametrize("order", list(itertools.product(BOTH_ORDERS, BOTH_ORDERS)))
def test_the_lowest_of_two_caps_counts_in_any_order(
    bench: Bench, order: tuple[tuple[int, int], tuple[int, int]]
) -> None:
    """Set and lifted in any order."""
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
    """No clock that the cap limits stays up because another is low."""
    session = bench.controller.session(voting(**votes))
    with session.inference(), bench.controller.cap("balanced", reason="heat"):
        assert session.profile.name == "balanced"
        assert bench.effective().bus_target <= NOM_PLUS
        assert bench.effective().hmx_target <= ExpandedCorner.NOM_L1


def test_a_cap_of_no_votes_removes_every_vote(bench: Bench) -> None:
    """system_settings as a cap: no session has an id while it is set."""
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
    """A cap raises nothing: system_settings stays without a call."""
    session = bench.controller.session("system_settings")
    with session.inference(), bench.controller.cap("balanced", reason="heat"):
        assert (bench.recorder.calls, session.profile.name) == ((), "system_settings")


def test_what_is_told_of_a_cap(bench: Bench) -> None:
    """CapSet and CapLifted of the controller, and ProfileChanged of each session that it changes; each once."""
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
    """The controller returns the caps themselves, by which each can be lifted."""
    session = bench.controller.session("burst")
    kept = bench.controller.cap("balanced", reason="heat")
    (cap,) = bench.controller.caps
    assert cap is kept
    assert (cap.profile.name, cap.reason, cap.active) == ("balanced", "heat", True)
    cap.lift()
    assert (session.profile.name, bench.controller.caps) == ("burst", ())


@pytest.mark.parametrize("cycle", [False, True])
def test_a_cap_that_is_dropped_is_lifted(bench: Bench, cycle: bool) -> None:
    """Sessions in flight get their own votes back soon after, and CapLifted is told once."""
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
    """Every session is capped, also those after the one that failed; what failed is sent again."""
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
    """No reason, no such profile, a closed controller."""
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
