"""Degradation: options that the platform lacks, strict mode, and options that only the library refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import MAX_CORNER, Bench, explicit_hmx, options, voting
from support.inside import is_ended

from htppower import RuleBreach, State
from htppower.backends import SimulatedHtp
from htppower.events import Degraded
from htppower.votes.corners import ExpandedCorner
from htppower.votes.native_codes import UNSUPPORTED, UNSUPPORTED_CONFIG

if TYPE_CHECKING:
    from htppower.backends import Description


def test_an_explicit_hmx_vote_degrades_below_v75() -> None:
    """On V73 the session works without its HMX vote; status and an event name rule HMX-1."""
    bench = Bench.make(SimulatedHtp(arch=73))
    session = bench.controller.session(voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR)))
    with session.inference():
        assert options(bench.votes[-1]) == ["DCVS_V3"]
    assert [lost.rule for lost in session.degradations] == ["HMX-1"]
    assert [event.degradation.rule for event in bench.events if isinstance(event, Degraded)] == ["HMX-1"]
    assert bench.controller.status().sessions[0].degradations == session.degradations
    bench.controller.close()


def test_the_default_hmx_vote_is_no_loss_below_v75() -> None:
    """On V73 pick default is not sent, since it is in force anyway, and nothing is degraded."""
    bench = Bench.make(SimulatedHtp(arch=73))
    session = bench.controller.session("burst")
    bench.infer(session)
    assert [options(call) for call in bench.sets] == [["DCVS_V3"], ["RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"]]
    assert session.degradations == ()
    bench.controller.close()


def test_rpc_votes_degrade_on_qnx() -> None:
    """On QNX polling and latency are left out, each by rule RPC-4."""
    bench = Bench.make(SimulatedHtp(arch=73, platform="qnx"))
    session = bench.controller.session("burst")
    bench.infer(session)
    assert options(bench.sets[-1]) == ["DCVS_V3"]
    assert [lost.rule for lost in session.degradations] == ["RPC-4", "RPC-4"]
    bench.controller.close()


def test_strict_refuses_what_would_degrade() -> None:
    """With ``strict=True`` the missing option is an error with the rule's ID."""
    bench = Bench.make(SimulatedHtp(arch=73), strict=True)
    with pytest.raises(RuleBreach) as caught:
        bench.controller.session(voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR)))
    assert caught.value.rule == "HMX-1"
    assert bench.recorder.calls == ()
    bench.controller.close()


def test_a_rule_refuses_a_profile_made_in_code(bench: Bench) -> None:
    """A profile made in code is checked by the same rules before anything is sent."""
    with pytest.raises(RuleBreach) as caught:
        bench.controller.session(voting(rpc_polling_time_us=10_000))
    assert caught.value.rule == "RPC-1"
    assert bench.recorder.calls == ()


@pytest.mark.parametrize("code", [UNSUPPORTED, UNSUPPORTED_CONFIG])
def test_an_option_that_the_library_refuses_is_left_out_and_remembered(code: int) -> None:
    """After 13002 or 13004 the votes are sent one by one; the refused one is never sent again."""
    bench = Bench.make()
    session = bench.controller.session(voting(hmx_timeout_us=1000))
    other = bench.controller.session(voting(hmx_timeout_us=2000))
    bench.simulated.fail_next(code)
    bench.simulated.fail_next(code, nth=4)
    with session.inference():
        assert session.state is State.RAISED
        assert bench.effective().core_target == MAX_CORNER
    assert [(lost.rule, lost.option.name) for lost in session.degradations] == [("TMR-1", "HMX_TIMEOUT_INTERVAL_US")]
    bench.recorder.clear()
    bench.infer(other)
    assert other.degradations == session.degradations
    assert options(bench.votes[0]) == ["DCVS_V3", "HMX_V2"]
    bench.controller.close()


@pytest.mark.parametrize("code", [UNSUPPORTED, UNSUPPORTED_CONFIG])
def test_the_hvx_vote_comes_first_however_votes_are_sent(code: int) -> None:
    """The HVX vote precedes the HMX vote in one call, and also if the votes are sent one by one (HMX-2)."""
    bench = Bench.make(SimulatedHtp(arch=75))
    session = bench.controller.session(voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR)))
    bench.simulated.fail_next(code)
    bench.infer(session)
    refused, *again = [options(call) for call in bench.sets]
    assert refused[:2] == ["DCVS_V3", "HMX_V2"]
    assert again[:2] == [["DCVS_V3"], ["HMX_V2"]]
    assert [call.code for call in bench.sets[1:3]] == [0, 0]
    bench.controller.close()


def test_a_process_wide_option_that_the_library_refuses_is_not_sent_for_another_session() -> None:
    """Polling that the library refused is not sent again for other raised sessions."""
    bench = Bench.make()
    first, second = (bench.controller.session("burst") for _ in range(2))
    # Once the settings in one call, then polling alone.
    bench.simulated.fail_next(UNSUPPORTED, nth=2)
    bench.simulated.fail_next(UNSUPPORTED, nth=4)
    with first.inference():
        bench.recorder.clear()
        with second.inference():
            assert [lost.option.name for lost in second.degradations] == ["RPC_POLLING_TIME"]
            assert options(bench.sets[-1]) == ["DCVS_V3", "HMX_V2"]
            assert len(bench.sets) == 1
    bench.controller.close()


def test_ddr_perf_mode_that_the_library_lacks_degrades_at_the_first_raise() -> None:
    """V81 passes the rule; the library's 13004 degrades the DDR vote, and the inference has its other votes."""
    bench = Bench.make(SimulatedHtp(arch=81))
    session = bench.controller.session(voting(ddr_perf_mode=True))
    with session.inference():
        assert bench.effective().rpc_polling_time_us == 9999
    assert [lost.rule for lost in session.degradations] == ["DDR-1"]
    bench.controller.close()


def test_a_platform_without_dcvs_v3_is_a_failure_not_a_degradation(bench: Bench) -> None:
    """After 13004 to DCVS_V3 itself the session is UNKNOWN, since every other vote needs it."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(UNSUPPORTED, times=2)
    with session.inference():
        assert session.state is State.UNKNOWN
    assert session.degradations == ()


@pytest.mark.parametrize("code", [13002, 13004])
def test_a_default_hmx_vote_that_is_refused_is_no_loss(code: int) -> None:
    """If the library refuses HMX votes, a session with the default HMX vote is complete, and none is sent again."""
    bench = Bench.make(SimulatedHtp(arch=75))
    # The whole call fails first, then the HMX vote alone.
    bench.simulated.fail_next(code, nth=1, applied=1)
    bench.simulated.fail_next(code, nth=3)
    with bench.controller.session("burst") as session:
        bench.infer(session)
        assert (bench.sets[2].code, options(bench.sets[2])) == (code, ["HMX_V2"])
        assert session.degradations == ()
        assert "HMX_V2" not in [option for call in bench.sets[3:] for option in options(call)]
    bench.controller.close()


class _SaysLittle(SimulatedHtp):
    def describe(self) -> Description:
        return attrs.evolve(super().describe(), platform=None)


@pytest.mark.parametrize("strict", [False, True])
def test_what_was_never_taken_is_not_taken_back_for_ever(*, strict: bool) -> None:
    """A setting that was never accepted is not in force, so its retries end."""
    bench = Bench.make(_SaysLittle(arch=75, platform="qnx"), strict=strict)
    session = bench.controller.session(voting(rpc_polling_time_us=9999, adaptive_polling_time_us=500))
    bench.simulated.restart_subsystem(fatal=True)
    bench.infer(session)
    session.close()
    bench.simulated.restart_subsystem()
    bench.time.advance_us(60_000_000)
    made = len(bench.recorder.calls)
    bench.time.advance_us(60_000_000)
    assert (len(bench.recorder.calls), bench.time.alarms) == (made, 0)
    bench.controller.close()
    assert is_ended(bench.controller)
