"""The findings of the rules in shipped profiles and wrong votes, and rules that hold by construction."""

from __future__ import annotations

import attrs
import pytest
from support.helpers import ceng, ceng_exp, hmx, hvx
from support.rule_cases import EXPLICIT, LATENCY, POLLING, on, voting

from htppower import load_profile
from htppower.backends import SimulatedHtp
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.rules.case import Applied, Case
from htppower.rules.platforms import platform_of
from htppower.rules.table import HVX_HMX_VALIDITY, check, errors, is_valid
from htppower.votes.clock_votes import HMX_DEFAULT
from htppower.votes.vote_set import VoteSet


@pytest.mark.parametrize(
    ("latency_us", "says"), [(1, "critical"), (199, "critical"), (200, "moderate"), (0, "not a vote")]
)
def test_rpc_5_tells_which_latency_it_is(latency_us: int, says: str) -> None:
    """A control latency below 200 us is called critical, from 200 us on moderate, and 0 is called not a vote."""
    (finding,) = check(voting(rpc_control_latency_us=latency_us), ["RPC-5"])
    assert says in finding.message


def test_hmx_4_without_an_hmx_vote_the_default_applies() -> None:
    """An ID without an HMX vote has the same clocks as an ID that voted pick default."""
    silent, default = SimulatedHtp(arch=75), SimulatedHtp(arch=75)
    silent.set_power_config(silent.create_power_config_id(0, 0), VoteSet(hvx()))
    default.set_power_config(default.create_power_config_id(0, 0), VoteSet(hvx(), HMX_DEFAULT))
    assert silent.effective() == default.effective()


def test_hmx_7_destroying_the_id_removes_every_vote() -> None:
    """After its destroy, an ID has no HVX and no HMX vote."""
    simulated = SimulatedHtp(arch=75)
    before = simulated.effective()
    power_config_id = simulated.create_power_config_id(0, 0)
    simulated.set_power_config(power_config_id, EXPLICIT)
    simulated.destroy_power_config_id(power_config_id)
    assert simulated.effective() == before


def test_the_vendors_validity_table() -> None:
    """The table of HVX and HMX votes has the vendor's four rows, and ``is_valid`` follows them."""
    rows = [
        (Applied.APPLIED, Applied.APPLIED, False, True),
        (Applied.NONE, Applied.APPLIED, None, False),
        (Applied.APPLIED, Applied.NONE, True, True),
        (Applied.REMOVED, Applied.REMOVED, None, True),
    ]
    assert [attrs.astuple(row) for row in HVX_HMX_VALIDITY] == rows
    assert all(is_valid(hvx_vote, hmx_vote) is valid for hvx_vote, hmx_vote, _, valid in rows)
    assert not is_valid(Applied.REMOVED, Applied.APPLIED)


@pytest.mark.parametrize("arch", [68, 75, 81])
def test_shipped_profiles_have_the_expected_notes_only(arch: int) -> None:
    """On Linux a shipped profile has only notes: on its power mode, its control latency, and FastRPC of boards."""
    found = {
        name: [finding.rule for finding in check(load_profile(name).case(platform_of(arch=arch)))]
        for name in SHIPPED_PROFILES
    }
    assert found.pop("system_settings") == []
    polls = ("DCVS-3", "RPC-5", "RPC-8", "RPC-8")
    assert set(map(tuple, found.values())) == {polls, polls[:3]}


def test_burst_on_qnx_loses_its_rpc_votes() -> None:
    """On QNX burst has no control latency and no polling, by rule."""
    found = check(load_profile("burst").case(platform_of(arch=75, os="qnx")))
    assert [finding.at for finding in found if finding.rule == "RPC-4"] == [LATENCY, POLLING]


def test_errors_are_the_breaches_that_refuse() -> None:
    """Only findings of rules with a breach of kind error refuse a vote set."""
    case = on(73, dcvs_v3=hvx(sleep_latency_us=9), hmx_v2=hmx(), hmx_timeout_us=99, adaptive_polling_time_us=1)
    assert [finding.rule for finding in errors(case)] == ["DCVS-1", "RPC-2", "TMR-1"]
    assert [finding.rule for finding in check(case)] == ["DCVS-1", "DCVS-3", "HMX-1", "RPC-2", "RPC-3", "TMR-1"]


@pytest.mark.parametrize(
    ("votes", "stated"),
    [
        (VoteSet(ceng=ceng()), "dcvs_v3"),
        (VoteSet(hmx_v2=hmx()), "dcvs_v3"),
        (VoteSet(ceng_exp=ceng_exp()), "dcvs_v3_exp"),
        (VoteSet(hmx_v2=hmx(), ceng_exp=ceng_exp()), "dcvs_v3_exp"),
    ],
)
def test_a_missing_hvx_vote_is_asked_for_in_the_form_of_the_others(votes: VoteSet, stated: str) -> None:
    """Next to a vote in expanded corners, the hint suggests an HVX vote in expanded corners."""
    hints = [finding.hint for finding in check(Case(votes), ("HMX-3", "CENG-2"))]
    assert hints
    assert all(hint.startswith(f"state {stated}, or ") for hint in hints)
