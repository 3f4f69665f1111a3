"""Two kinds of calls, votes of an id and settings of the process: a refused setting does not stop the clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, options, voting
from support.second_controller import polling_us, second_on

from htppower import State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.events import Degraded
from htppower.votes.native import Option
from htppower.votes.options import PROCESS_WIDE

if TYPE_CHECKING:
    from htppower import Session

CLOCKS = ["DCVS_V3", "HMX_V2"]
LATENCY, POLLING = "RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"


@pytest.fixture
def refusing() -> Bench:
    """Return a bench on a device whose FastRPC refuses polling."""
    made = Bench.make(SimulatedHtp(arch=75, link="device"))
    made.simulated.refuse_settings(POLLING)
    return made


def sent(bench: Bench) -> list[list[str]]:
    """Return what was sent since this was called last, call by call."""
    found = [options(call) for call in bench.sets]
    bench.recorder.clear()
    return found


def degraded(session: Session) -> list[tuple[str, str]]:
    """Return the settings that a session lacks, with their rules."""
    return [(lost.rule, lost.option.name) for lost in session.degradations]


def test_clocks_go_first_and_settings_follow_in_a_call_of_their_own(bench: Bench) -> None:
    """A raise and a lowering make two calls each, none with both kinds; a setting that is in force is not sent."""
    session, other = (bench.controller.session("burst") for _ in range(2))
    with session.inference():
        assert sent(bench) == [CLOCKS, [LATENCY, POLLING]]
        with other.inference():
            assert sent(bench) == [CLOCKS]
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert sent(bench) == [["DCVS_V3"], ["DCVS_V3"], [POLLING]]


def test_settings_of_the_process_travel_alone_if_nothing_else_differs(bench: Bench) -> None:
    """A change of profile that changes only polling makes one call."""
    session = bench.controller.session("burst")
    with session.inference():
        sent(bench)
        session.use(voting(rpc_polling_time_us=5000))
        assert (sent(bench), polling_us(bench)) == ([[POLLING]], 5000)


def test_no_setting_is_sent_if_the_clocks_have_failed(bench: Bench) -> None:
    """If the votes fail, the session is UNKNOWN and no setting is sent: polling alone would only cost power."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(13006)
    with session.inference():
        assert (session.state, sent(bench), polling_us(bench)) == (State.UNKNOWN, [CLOCKS], 0)


def test_a_refused_setting_keeps_no_clock_from_its_vote(refusing: Bench) -> None:
    """A session whose polling is refused is RAISED and later LOWERED, and degrades by rule RPC-7, with one event."""
    session = refusing.controller.session("burst")
    with session.inference():
        assert (session.state, refusing.effective().core_target) == (State.RAISED, MAX_CORNER)
        assert sent(refusing) == [CLOCKS, [LATENCY, POLLING], [LATENCY], [POLLING]]
        assert refusing.effective().rpc_control_latency_us == 100
    refusing.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, refusing.effective().core_target) == (State.LOWERED, SVS)
    for _ in range(3):
        refusing.infer(session)
        refusing.time.advance_us(BURST_SUSTAIN_US)
    assert not any(POLLING in each for each in sent(refusing))
    assert degraded(session) == [("RPC-7", POLLING)]
    (told,) = [event.degradation for event in refusing.events if isinstance(event, Degraded)]
    assert (told.rule, "13006" in told.message) == ("RPC-7", True)
    refusing.controller.close()


def test_another_session_and_another_controller_are_not_asked_again(refusing: Bench) -> None:
    """All sessions share the link, so after one refusal those of both controllers lack polling, and send none."""
    other = second_on(refusing)
    refusing.infer(refusing.controller.session("burst"))
    sent(refusing)
    for controller in (refusing.controller, other):
        session = controller.session("burst")
        with session.inference():
            assert (session.state, sent(refusing)) == (State.RAISED, [CLOCKS])
            assert degraded(session) == [("RPC-7", POLLING)]
    other.close()
    refusing.controller.close()


def test_a_renewed_link_is_asked_again(refusing: Bench) -> None:
    """After a renewal the setting is tried again, since the new link may have another FastRPC."""
    session = refusing.controller.session("burst")
    with session.inference():
        assert degraded(session) == [("RPC-7", POLLING)]
        refusing.simulated.refuse_settings()
        refusing.controller.link_lost(1011)
        assert (session.state, polling_us(refusing), session.degradations) == (State.RAISED, 9999, ())
    refusing.controller.close()


@pytest.mark.parametrize("code", [13003, 13005, 13006, 1003])
def test_a_setting_may_be_refused_with_any_code(bench: Bench, code: int) -> None:
    """Whatever code refuses the setting, the link stays WELL, and nothing else is sent again."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(code, nth=2)
    bench.simulated.fail_next(code, nth=4)
    with session.inference():
        assert (session.state, sent(bench)) == (State.RAISED, [CLOCKS, [LATENCY, POLLING], [LATENCY], [POLLING]])
        assert degraded(session) == [("RPC-7", POLLING)]
        assert bench.controller.status().link == "WELL"


@pytest.mark.parametrize("code", [13002, 13004])
def test_a_setting_that_the_platform_lacks_has_its_own_rule(bench: Bench, code: int) -> None:
    """A setting that the platform lacks is not sent again, even after a renewal."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(code, nth=2)
    bench.simulated.fail_next(code, nth=4)
    with session.inference():
        bench.controller.link_lost(1011)
        assert (session.state, degraded(session)) == (State.RAISED, [("RPC-4", POLLING)])


@pytest.mark.parametrize("code", [13001, 13003, 13006])
def test_a_refused_taking_back_of_a_setting_does_not_fail_the_lowering(bench: Bench, code: int) -> None:
    """If resetting a setting is refused, the session is LOWERED without a degradation; the close resets it later."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(code, nth=2)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, bench.effective().core_target, bench.time.alarms) == (State.LOWERED, SVS, 0)
    assert (session.degradations, polling_us(bench)) == ((), 9999)
    session.close()
    assert polling_us(bench) == 0


def test_an_orphan_is_destroyed_though_settings_are_refused_before_it(bench: Bench) -> None:
    """If the settings on a session's ID get 13001, the back-off still destroys the orphan."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(13001)
    bench.simulated.fail_next(13005, function="destroyPowerConfigId")
    bench.infer(session)
    assert (session.state, bench.controller.status().orphans) == (State.RAISED, (1,))
    bench.simulated.fail_next(13006)
    bench.simulated.fail_next(13001, nth=2)
    bench.time.advance_us(8_000_000)
    assert (session.state, bench.controller.status().orphans) == (State.LOWERED, ())
    destroyed = [call.power_config_id for call in bench.recorder.calls if call.function == "destroyPowerConfigId"]
    assert (destroyed, session.degradations, polling_us(bench)) == ([1, 1], (), 0)


def test_a_setting_that_is_refused_twice_in_a_row_is_left_out(bench: Bench) -> None:
    """A setting that was accepted before is sent once more, with the next votes, and then left out."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13006, nth=2)
    bench.simulated.fail_next(13006, nth=4)
    bench.time.advance_us(BURST_SUSTAIN_US)
    with session.inference():
        assert (session.state, degraded(session)) == (State.RAISED, [("RPC-7", POLLING)])
    session.close()
    # The fixture asserts that nothing is left; the refused setting is gone only with the link.
    bench.simulated.restart_subsystem()


def test_settings_on_the_id_of_a_closed_session_say_nothing_of_the_platform() -> None:
    """If settings are sent on the id of a closed session, a refusal is not a degradation."""
    bench = Bench.make(SimulatedHtp(arch=75, link="device"))
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(13006, nth=2)
    bench.simulated.fail_next(13006, function="destroyPowerConfigId")
    session.close()
    bench.time.advance_us(10_000_000)
    assert bench.controller.status().orphans == ()
    with bench.controller.session("burst") as session, session.inference():
        assert (session.degradations, polling_us(bench)) == ((), 9999)
    bench.controller.close()


@pytest.mark.parametrize("code", [1007, 1011])
def test_a_lost_link_that_a_setting_meets_is_one(bench: Bench, code: int) -> None:
    """A lost link that a call with settings notices has lost the clocks, too, so everything is sent again."""
    session = bench.controller.session("burst")
    bench.simulated.fail_next(code, nth=2)
    with session.inference():
        assert (session.state, session.degradations) == (State.RAISED, ())
        assert sent(bench) == [CLOCKS, [LATENCY, POLLING]] * 2
        assert (bench.effective().core_target, polling_us(bench)) == (MAX_CORNER, 9999)


def test_strict_makes_a_refused_setting_fail_a_raise_and_no_lowering(refusing: Bench) -> None:
    """In strict mode a refused setting makes the raise fail; votes that are up are still lowered."""
    refusing.controller.close()
    bench = Bench.make(refusing.simulated, strict=True, on_error="raise")
    session = bench.controller.session("burst")
    with pytest.raises(VoteRejected, match="13006"), session.inference():
        pytest.fail("the inference began")
    bench.simulated.refuse_settings()
    with session.inference():
        assert session.state is State.RAISED
        bench.simulated.refuse_settings(POLLING)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, bench.effective().core_target) == (State.LOWERED, SVS)
    bench.controller.close()


def test_a_profile_of_settings_alone_has_them_on_an_id_of_its_own(bench: Bench) -> None:
    """Settings need an id, so a session that votes only for settings creates one."""
    burst = voting()
    assert burst.relax is not None
    only = {"dcvs_v3": None, "hmx_v2": None}
    state = attrs.evolve(burst.relax.to, votes=attrs.evolve(burst.relax.to.votes, **only))
    profile = attrs.evolve(voting(**only), relax=attrs.evolve(burst.relax, to=state, after_deinit_to=state))
    session = bench.controller.session(profile)
    with session.inference():
        assert (session.state, sent(bench), polling_us(bench)) == (State.RAISED, [[LATENCY, POLLING]], 9999)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert (session.state, polling_us(bench)) == (State.LOWERED, 0)


def test_no_call_has_both_kinds(bench: Bench) -> None:
    """No call has votes and settings, whatever the votes are, after INIT, a change of profile and a restart, too."""
    session = bench.controller.session(voting(hmx_timeout_us=1000, adaptive_polling_time_us=1000))
    with session.init():
        pass
    bench.infer(session)
    session.use("balanced")
    bench.infer(session)
    bench.simulated.restart_subsystem()
    bench.infer(session)
    kinds = [{Option(config.number) in PROCESS_WIDE for config in call.configs} for call in bench.sets]
    assert {len(kind) for kind in kinds} == {1}
