"""Votes that have two forms, and votes that need an HVX vote: how they are replaced, reset and degraded."""

from __future__ import annotations

import attrs
import pytest
from support.helpers import ceng, ceng_exp, expanded, hmx, hvx, hvx_exp

from htppower import PowerState, Profile, Relax, VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.control.ledger.ledger import Ledger
from htppower.control.plans.plans import Missing, Planner
from htppower.events import Degradation
from htppower.rules.platforms import ARCHITECTURES, platform_of
from htppower.rules.power_order import exceeds
from htppower.testing import VirtualTime
from htppower.votes.clock_votes import CENG_DEFAULT, CENG_EXP_DEFAULT, HMX_DEFAULT, HVX_EXP_REMOVED, HVX_REMOVED
from htppower.votes.native import Option
from htppower.votes.vote_set import VoteSet

NOTHING = VoteSet()
PLAIN = VoteSet(hvx(), ceng=ceng())
EXPANDED = VoteSet(dcvs_v3_exp=hvx_exp(), hmx_v2=hmx(), ceng_exp=ceng_exp())
RELAXED = PowerState("relaxed", "", VoteSet(hvx(), HMX_DEFAULT))
NEAREST = hvx(dcvs_enable=True)
DECODE = Profile("decode", "", EXPANDED, Relax(RELAXED, 0, 0))


def cast(ledger: Ledger, wanted: VoteSet) -> VoteSet:
    """Send the difference successfully, and return it."""
    sent = ledger.difference(wanted)
    ledger.sending(sent)
    ledger.sent(sent)
    return sent


@pytest.mark.parametrize(
    ("first", "then", "sent"),
    [
        (PLAIN, EXPANDED, EXPANDED),
        (EXPANDED, PLAIN, attrs.evolve(PLAIN, hmx_v2=HMX_DEFAULT)),
        (PLAIN, NOTHING, VoteSet(HVX_REMOVED, ceng=CENG_DEFAULT)),
        (
            EXPANDED,
            NOTHING,
            VoteSet(
                dcvs_v3_exp=attrs.evolve(HVX_EXP_REMOVED),
                hmx_v2=HMX_DEFAULT,
                ceng_exp=CENG_EXP_DEFAULT,
            ),
        ),
    ],
)
def test_the_later_form_takes_the_place_of_the_earlier(first: VoteSet, then: VoteSet, sent: VoteSet) -> None:
    """Only the vote in the later form is sent, and the earlier form is not reset."""
    ledger = Ledger()
    cast(ledger, first)
    assert cast(ledger, then) == sent
    assert not ledger.difference(then)
    assert not ledger.now.doubtful
    assert ledger.now.known.options == sent.options


def test_a_field_that_the_other_form_has_set_is_cleared() -> None:
    """If the earlier form set sleep_disable and the later one leaves it unset, it is cleared."""
    ledger = Ledger()
    cast(ledger, VoteSet(hvx(sleep_disable=True)))
    sent = cast(ledger, EXPANDED)
    assert sent.dcvs_v3_exp is not None
    assert sent.dcvs_v3_exp.sleep_disable is False


def test_a_refused_form_leaves_the_earlier_to_be_taken_back() -> None:
    """If the platform refuses the later form, the earlier vote is in doubt, and is sent again or reset."""
    ledger = Ledger()
    cast(ledger, VoteSet(hvx()))
    ledger.sending(VoteSet(dcvs_v3_exp=hvx_exp()))
    assert ledger.now.doubtful.options == (Option.DCVS_V3, Option.DCVS_V3_EXP)
    ledger.refused(Option.DCVS_V3_EXP)
    assert ledger.difference(NOTHING) == VoteSet(HVX_REMOVED)
    assert ledger.difference(VoteSet(hvx())) == VoteSet(hvx())


def test_a_failed_call_with_the_other_form_is_made_up_for_by_one_form() -> None:
    """After a failed call either form may be in force; the next call has only one of them."""
    ledger = Ledger()
    cast(ledger, PLAIN)
    ledger.sending(EXPANDED)
    assert ledger.difference(NOTHING).options == (Option.DCVS_V3, Option.HMX_V2, Option.CENG)
    assert ledger.difference(EXPANDED) == EXPANDED


def test_that_a_form_was_accepted_outlives_the_other() -> None:
    """Both forms stay accepted, so a later refusal of either is a failure."""
    ledger = Ledger()
    cast(ledger, EXPANDED)
    cast(ledger, PLAIN)
    assert Option.DCVS_V3 in ledger.now.accepted
    ledger.sending(EXPANDED)
    assert {Option.DCVS_V3_EXP, Option.CENG_EXP} <= ledger.now.accepted


@pytest.mark.parametrize(
    ("arch", "left_out", "raised"),
    [
        (73, {"DCVS_V3_EXP": "DCVS-6", "HMX_V2": "HMX-1", "CENG_EXP": "CENG-1"}, VoteSet(NEAREST)),
        (81, {"DCVS_V3_EXP": "DCVS-6", "CENG_EXP": "CENG-1"}, VoteSet(NEAREST, hmx())),
        (85, {}, EXPANDED),
        (89, {"HMX_V2": "HMX-1", "CENG_EXP": "CENG-1"}, VoteSet(dcvs_v3_exp=hvx_exp())),
    ],
)
def test_what_a_platform_lacks_degrades(arch: int, left_out: dict[str, str], raised: VoteSet) -> None:
    """Missing options are left out by their rule; the HVX vote is sent in its plain form."""
    plan = Planner(platform_of(arch=arch), Missing(), strict=False).plan(DECODE)
    assert {lost.option.name: lost.rule for lost in plan.degradations} == left_out
    assert all(
        "the nearest DCVS_V3 vote is sent instead" in lost.message
        for lost in plan.degradations
        if lost.rule == "DCVS-6"
    )
    assert plan.raised == raised


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_raised_is_never_below_lowered(arch: int) -> None:
    """On every architecture, the raised votes are at least as fast as the lowered ones."""
    profile = attrs.evolve(DECODE, relax=load_profile("burst").relax)
    plan = Planner(platform_of(arch=arch), Missing(), strict=False).plan(profile)
    assert plan.lowered.hvx is not None
    assert not exceeds(plan.lowered, plan.raised)
    assert exceeds(plan.raised, plan.lowered)


def test_without_any_hvx_option_what_needs_one_goes_with_it() -> None:
    """If the library has no HVX vote in any form, every vote that needs one degrades."""
    planner = Planner(platform_of(arch=81), Missing(), strict=False)
    planner.missing.add(Degradation("", "the library answers 13004", Option.DCVS_V3))
    plan = planner.plan(DECODE)
    assert plan.raised == NOTHING
    assert Option.HMX_V2 in {lost.option for lost in plan.degradations}


@pytest.mark.parametrize(("version", "code"), [("2.47", 13002), ("2.51", 13004)])
def test_a_library_that_lacks_them_degrades(version: str, code: int) -> None:
    """After 13002 or 13004 the expanded forms are left out; the plain HVX vote and all others are sent."""
    simulated = SimulatedHtp(85 if version == "2.47" else 81, library_version=version, cores=2)
    profile = attrs.evolve(DECODE, votes=attrs.evolve(EXPANDED, rpc_polling_time_us=9))
    # The platform is not given, so the library's answer decides.
    time = VirtualTime()
    recorder = RecordingBackend(simulated, time=time)
    description = attrs.evolve(simulated.describe(), platform=None)
    simulated.describe = lambda: description  # type: ignore[method-assign]
    with VoteController(recorder, time=time, handle_sigterm=False) as controller:
        session = controller.session(profile, core_ids=(0, 1))
        with session.inference():
            assert str(session.state) == "RAISED"
            assert simulated.effective().rpc_polling_time_us == 9
            assert simulated.effective().core_target == 128
            assert simulated.effective().dcvs_enable
        assert not simulated.effective().dcvs_enable
        assert {lost.option.name: lost.message for lost in session.degradations} == {
            "DCVS_V3_EXP": f"the library answered {code} to DCVS_V3_EXP: this platform does not have it, and DCVS_V3 "
            "is cast",
            "CENG_EXP": f"the library answered {code} to CENG_EXP: this platform does not have it",
        }
    assert code in {call.code for call in recorder.calls}
    recorder.assert_nothing_left()


def test_the_simulated_clocks_compare_both_kinds_of_corners() -> None:
    """Next to an expanded vote, a plain vote counts in expanded corners; the highest target is in force."""
    simulated = SimulatedHtp(85)
    one, other = (simulated.create_power_config_id(0, 0) for _ in range(2))
    simulated.set_power_config(one, VoteSet(dcvs_v3_exp=hvx_exp("NOM", bus=expanded("TUR_L1")), ceng=ceng("NOM")))
    alone = simulated.effective()
    assert (alone.core_target, alone.bus_max, alone.hmx_target, alone.ceng_target) == (512, 672, 512, 512)
    assert alone.dcvs_enable
    simulated.set_power_config(other, VoteSet(hvx(), ceng_exp=ceng_exp("TUR")))
    both = simulated.effective()
    assert (both.core_target, both.bus_target, both.core_max, both.ceng_target) == (640, 672, 65535, 640)
    simulated.set_power_config(one, VoteSet(hvx()))
    assert simulated.effective().core_target == 128


def test_status_tells_whose_expanded_vote_decides() -> None:
    """Each clock in force has its expanded corner, and the sessions whose target it is."""
    time = VirtualTime()
    with VoteController(SimulatedHtp(85), time=time, handle_sigterm=False) as controller:
        plain = attrs.evolve(DECODE, name="plain", votes=VoteSet(hvx()))
        sessions = [controller.session(DECODE), controller.session(plain)]
        with sessions[0].inference(), sessions[1].inference():
            (core,) = controller.status().cores
            assert core.effective.core_target == 640
            assert core.decided_by["core"] == (1, 2)
            assert core.decided_by["hmx"] == (1, 2)
