"""Holds whose votes fail or are missing on the platform, and holds on sessions without votes."""

from __future__ import annotations

import attrs
import pytest
from support.bench import MAX_CORNER, Bench, explicit_hmx, voting

from htppower import RuleBreach, State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.events import Event, HoldBegan, HoldEnd, HoldEnded
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import FAILED, SUCCESS, UNSUPPORTED

NOM_PLUS = VoltageCorner.NOM_PLUS


def test_a_hold_that_raises_has_not_begun() -> None:
    """After a hold whose begin raised, the session uses its own profile, and HoldEnded has been sent."""
    bench = Bench.make(on_error="raise")
    events: list[Event] = []
    bench.controller.subscribe(events.append, (HoldBegan, HoldEnded))
    session = bench.controller.session("balanced")
    with session.inference():
        bench.simulated.fail_next(FAILED)
        with pytest.raises(VoteRejected):
            session.hold("burst", reason="camera", timeout_us=1_000)
        (shown,) = bench.controller.status().sessions
        assert (shown.profile, shown.holds, shown.decided_by) == ("balanced", (), None)
        assert [type(event) for event in events] == [HoldBegan, HoldEnded]
        bench.time.advance_us(2_000_000)
        assert bench.effective().core_target == NOM_PLUS
    bench.controller.close()
    assert bench.time.alarms == 0


def test_a_failing_hold_goes_on_where_errors_do_not_raise(bench: Bench) -> None:
    """By default a hold whose votes fail has begun; the session is UNKNOWN, and the votes are sent again."""
    session = bench.controller.session("balanced")
    with session.inference():
        bench.simulated.fail_next(FAILED)
        hold = session.hold("burst", reason="camera")
        assert (hold.active, session.state) == (True, State.UNKNOWN)
        bench.time.advance_us(2_000_000)
        assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)
        hold.release()


@pytest.mark.parametrize("on_error", ["continue", "raise"])
def test_a_release_that_fails_has_ended_the_hold(on_error: str) -> None:
    """After a release whose votes fail the hold has ended, whatever ``on_error`` is, and the votes are sent again."""
    bench = Bench.make(on_error=on_error)
    session = bench.controller.session("balanced")
    with session.inference():
        hold = session.hold("burst", reason="camera")
        bench.simulated.fail_next(FAILED)
        if on_error == "raise":
            with pytest.raises(VoteRejected):
                hold.release()
        else:
            hold.release()
        assert (hold.active, session.profile.name) == (False, "balanced")
        hold.release()
        bench.time.advance_us(2_000_000)
        assert bench.effective().core_target == NOM_PLUS
    bench.controller.close()


def test_a_timeout_whose_votes_fail_raises_nowhere() -> None:
    """If the votes fail when a hold times out, no error is raised; the back-off sends them again."""
    bench = Bench.make(on_error="raise")
    events: list[Event] = []
    bench.controller.subscribe(events.append, (HoldEnded,))
    session = bench.controller.session("balanced")
    with session.inference():
        session.hold("burst", reason="camera", timeout_us=1_000)
        bench.simulated.fail_next(FAILED)
        bench.time.advance_us(1_000)
        assert session.state is State.UNKNOWN
        bench.time.advance_us(2_000_000)
        assert bench.effective().core_target == NOM_PLUS
    assert [event.end for event in events if isinstance(event, HoldEnded)] == [HoldEnd.TIMEOUT]
    bench.controller.close()


def test_a_session_without_votes_is_held_up_and_let_go(bench: Bench) -> None:
    """A hold gives a session of system_settings IDs and votes; after the hold every vote is removed."""
    session = bench.controller.session("system_settings")
    with session.inference():
        with session.hold("burst", reason="camera"):
            assert bench.effective().core_target == MAX_CORNER
        assert (session.state, bench.simulated.power_config_ids) == (State.UNVOTED, ())


def test_a_hold_may_take_every_vote_away(bench: Bench) -> None:
    """A hold of system_settings removes the votes, and its end brings them back."""
    session = bench.controller.session("balanced")
    with session.inference():
        with session.hold("system_settings", reason="measurement"):
            assert bench.simulated.power_config_ids == ()
        assert bench.effective().core_target == NOM_PLUS


def test_a_hold_tells_of_its_degradations() -> None:
    """While a hold lasts, the session's degradations come from the held profile."""
    bench = Bench.make(SimulatedHtp(arch=68))
    session = bench.controller.session("balanced")
    hold = session.hold(voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR)), reason="camera")
    assert [lost.rule for lost in session.degradations] == ["HMX-1"]
    hold.release()
    assert session.degradations == ()
    bench.controller.close()


def test_strict_refuses_a_hold_and_a_cap_that_would_degrade() -> None:
    """With ``strict=True``, a hold or cap that would degrade raises, and has not begun."""
    bench = Bench.make(SimulatedHtp(arch=68), strict=True)
    session = bench.controller.session("balanced")
    explicit = voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR))
    with pytest.raises(RuleBreach):
        session.hold(explicit, reason="camera")
    with pytest.raises(RuleBreach):
        bench.controller.cap(explicit, reason="heat")
    status = bench.controller.status()
    assert (status.sessions[0].holds, status.caps) == ((), ())
    bench.controller.close()


def test_an_option_refused_while_held_is_left_out_after_it_too(bench: Bench) -> None:
    """An option that is refused with 13002 during a hold is left out during the hold and after it."""
    session = bench.controller.session(attrs.evolve(voting(hmx_timeout_us=1_000), name="own"))
    hold = session.hold(voting(hmx_timeout_us=2_000), reason="camera")
    bench.simulated.fail_next(UNSUPPORTED)
    bench.simulated.fail_next(UNSUPPORTED, nth=4)
    with session.inference():
        assert session.state is State.RAISED
        assert [lost.option.name for lost in session.degradations] == ["HMX_TIMEOUT_INTERVAL_US"]
        before = len(bench.sets)
        hold.release()
        assert (session.state, session.profile.name, len(bench.sets)) == (State.RAISED, "own", before)
        assert [lost.option.name for lost in session.degradations] == ["HMX_TIMEOUT_INTERVAL_US"]


def test_a_restart_while_held_votes_the_hold_again(bench: Bench) -> None:
    """After a restart of the DSP, the votes of the hold are sent again."""
    session = bench.controller.session("balanced")
    with session.inference(), session.hold("burst", reason="camera"):
        bench.simulated.restart_subsystem(fatal=False)
        other = bench.controller.session("balanced")
        with other.inference():
            assert (session.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)
    assert all(call.code == SUCCESS for call in bench.sets[-4:])
