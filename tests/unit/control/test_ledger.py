"""The ledger: what is known to be in force, and the difference to what is wanted."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from helpers import corners, hmx, hvx
from hypothesis import given, settings
from hypothesis import strategies as st

from htppower.backends import SimulatedHtp
from htppower.control.ledger import Ledger
from htppower.errors import VoteRejected
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, VoltageRange
from htppower.votes.corners import PowerMode, VoltageCorner
from htppower.votes.native import Option
from htppower.votes.vote_set import VoteSet

ID, OTHER_ID = 1, 2
NOTHING = VoteSet()
PROFILE = VoteSet(hvx(), HMX_DEFAULT, rpc_control_latency_us=100, rpc_polling_time_us=9999)
REMOVAL = hvx(
    VoltageCorner.DISABLE,
    dcvs_enable=True,
    power_mode=PowerMode.POWER_SAVER,
    sleep_latency_us=65535,
    sleep_disable=False,
)


@pytest.fixture
def ledger() -> Ledger:
    """Return an empty ledger."""
    return Ledger()


def cast(ledger: Ledger, wanted: VoteSet, power_config_id: int = ID) -> VoteSet:
    """Note a successful call with what differs, and return what it carried."""
    votes = ledger.difference(power_config_id, wanted)
    ledger.sending(power_config_id, votes)
    ledger.sent(power_config_id, votes)
    return votes


def fail(ledger: Ledger, wanted: VoteSet) -> None:
    """Note a call with what differs that did not return 0."""
    ledger.sending(ID, ledger.difference(ID, wanted))


def test_everything_is_sent_to_a_fresh_id(ledger: Ledger) -> None:
    """Of an id that nothing was sent to nothing is taken back, and every wanted vote differs."""
    assert ledger.difference(ID, PROFILE) == PROFILE
    assert not ledger.difference(ID, NOTHING)
    assert not ledger.in_force(ID)


def test_what_is_in_force_is_not_sent_again(ledger: Ledger) -> None:
    """Once a call has returned 0 its votes are in force, and the same set differs in nothing."""
    assert cast(ledger, PROFILE) == PROFILE
    assert ledger.in_force(ID) == PROFILE
    assert not ledger.difference(ID, PROFILE)


@pytest.mark.parametrize(
    "change",
    [
        {"dcvs_v3": hvx(VoltageCorner.SVS)},
        {"dcvs_v3": hvx(power_mode=PowerMode.POWER_SAVER)},
        {"hmx_v2": hmx()},
        {"rpc_control_latency_us": 50},
        {"rpc_polling_time_us": 0},
        {"adaptive_polling_time_us": 1000},
        {"hmx_timeout_us": 100},
        {"ddr_perf_mode": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_only_the_option_that_differs_is_sent(ledger: Ledger, change: dict[str, Any]) -> None:
    """A set that changes one vote sends that one vote."""
    cast(ledger, PROFILE)
    assert ledger.difference(ID, attrs.evolve(PROFILE, **change)) == attrs.evolve(NOTHING, **change)


@pytest.mark.parametrize(
    ("earlier", "later", "sent"),
    [
        (VoteSet(hvx(), hmx()), VoteSet(hvx()), VoteSet(hmx_v2=HMX_DEFAULT)),
        (VoteSet(rpc_polling_time_us=9999), NOTHING, VoteSet(rpc_polling_time_us=0)),
        (VoteSet(adaptive_polling_time_us=1000), NOTHING, VoteSet(adaptive_polling_time_us=0)),
        (VoteSet(hmx_timeout_us=100), NOTHING, VoteSet(hmx_timeout_us=300_000)),
        (VoteSet(ddr_perf_mode=True), NOTHING, VoteSet(ddr_perf_mode=False)),
        (VoteSet(hvx()), NOTHING, VoteSet(REMOVAL)),
        (VoteSet(hvx(), hmx()), NOTHING, VoteSet(REMOVAL, HMX_DEFAULT)),
        (VoteSet(rpc_control_latency_us=100), NOTHING, NOTHING),
        (VoteSet(hvx(sleep_disable=True)), VoteSet(hvx()), VoteSet(hvx(sleep_disable=False))),
        (VoteSet(hvx(dcvs_enable=False)), VoteSet(hvx(dcvs_enable=None)), VoteSet(hvx(dcvs_enable=True))),
        (VoteSet(hvx()), VoteSet(hvx(sleep_latency_us=None)), VoteSet(hvx(sleep_latency_us=65535))),
        (VoteSet(hvx()), VoteSet(hvx(bus=None)), VoteSet(hvx(bus=corners(*["DISABLE"] * 3)))),
        (VoteSet(hvx()), VoteSet(hvx(core=None)), VoteSet(hvx(core=corners(*["DISABLE"] * 3)))),
    ],
)
def test_what_a_later_set_leaves_unset_is_taken_back(
    ledger: Ledger, earlier: VoteSet, later: VoteSet, sent: VoteSet
) -> None:
    """A vote that the next set does not mention is taken back once, except a control latency, which can't be."""
    cast(ledger, earlier)
    assert cast(ledger, later) == sent
    assert not ledger.difference(ID, later)


@pytest.mark.parametrize(
    "votes",
    [
        VoteSet(REMOVAL, HMX_DEFAULT, None, 0, 0, 300_000, ddr_perf_mode=False),
        VoteSet(hvx(dcvs_enable=True, sleep_disable=False)),
    ],
)
def test_what_is_as_if_never_voted_is_not_taken_back(ledger: Ledger, votes: VoteSet) -> None:
    """A vote that already says what taking back would say stays unsent."""
    cast(ledger, votes)
    assert ledger.difference(ID, votes) == NOTHING
    later = VoteSet(attrs.evolve(votes.dcvs_v3 or hvx(), sleep_disable=None, dcvs_enable=None))
    assert ledger.difference(ID, later) == NOTHING


def test_after_a_failure_all_that_was_carried_is_unknown(ledger: Ledger) -> None:
    """Every option of a failed call is sent again, also where the wanted value stood before; others are not."""
    cast(ledger, PROFILE)
    fail(ledger, attrs.evolve(PROFILE, dcvs_v3=hvx(VoltageCorner.SVS), rpc_polling_time_us=0))
    assert ledger.in_force(ID) == VoteSet(hmx_v2=HMX_DEFAULT, rpc_control_latency_us=100)
    assert cast(ledger, PROFILE) == VoteSet(hvx(), rpc_polling_time_us=9999)
    assert ledger.in_force(ID) == PROFILE


def test_while_a_call_is_under_way_its_votes_are_unknown(ledger: Ledger) -> None:
    """Between sending and its return nothing is known of what a call carries."""
    ledger.sending(ID, PROFILE)
    assert not ledger.in_force(ID)
    ledger.sent(ID, PROFILE)
    assert ledger.in_force(ID) == PROFILE


@pytest.mark.parametrize(
    ("failed", "sent"),
    [
        (VoteSet(hvx()), VoteSet(REMOVAL)),
        (VoteSet(REMOVAL), VoteSet(REMOVAL)),
        (VoteSet(hvx(), HMX_DEFAULT), VoteSet(REMOVAL, HMX_DEFAULT)),
        (VoteSet(rpc_polling_time_us=0), VoteSet(rpc_polling_time_us=0)),
        (VoteSet(hmx_timeout_us=300_000), VoteSet(hmx_timeout_us=300_000)),
        (VoteSet(rpc_control_latency_us=100), NOTHING),
    ],
)
def test_what_may_be_in_force_is_taken_back(ledger: Ledger, failed: VoteSet, sent: VoteSet) -> None:
    """A vote whose call failed may be in force all the same: it is taken back, even if it was itself a taking back."""
    fail(ledger, failed)
    assert cast(ledger, NOTHING) == sent
    assert not ledger.difference(ID, NOTHING)


@pytest.mark.parametrize("second", [None, False])
def test_a_field_of_a_failed_hvx_vote_is_taken_back(ledger: Ledger, second: bool | None) -> None:
    """A sleep_disable that two failed calls set and cleared may be in force: a vote that leaves it unset clears it."""
    fail(ledger, VoteSet(hvx(sleep_disable=True)))
    fail(ledger, VoteSet(hvx(sleep_disable=second)))
    assert ledger.difference(ID, VoteSet(hvx())) == VoteSet(hvx(sleep_disable=False))


def test_forget_makes_an_id_unknown(ledger: Ledger) -> None:
    """After a restart of the DSP everything on the id is sent again, and what is left unset is taken back."""
    cast(ledger, VoteSet(hvx(), hmx(), rpc_polling_time_us=9999))
    ledger.forget(ID)
    assert ledger.in_force(ID) == VoteSet(rpc_polling_time_us=9999)
    assert cast(ledger, VoteSet(hvx(), rpc_polling_time_us=9999)) == VoteSet(hvx(), HMX_DEFAULT)


def test_forget_process_makes_process_settings_unknown(ledger: Ledger) -> None:
    """After a restart the process-wide settings are sent again, and nothing else."""
    cast(ledger, PROFILE)
    ledger.forget_process()
    assert not ledger.process_settings()
    assert cast(ledger, PROFILE) == VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=9999)


def test_a_dropped_id_is_as_fresh(ledger: Ledger) -> None:
    """Nothing is taken back of an id that is gone, but process-wide settings stay in force."""
    cast(ledger, VoteSet(hvx(), hmx(), hmx_timeout_us=100, rpc_polling_time_us=9999))
    ledger.drop(ID)
    ledger.drop(ID)
    assert ledger.in_force(ID) == ledger.process_settings() == VoteSet(rpc_polling_time_us=9999)
    assert ledger.difference(ID, NOTHING) == VoteSet(rpc_polling_time_us=0)
    assert ledger.difference(ID, VoteSet(hvx())) == VoteSet(hvx(), rpc_polling_time_us=0)


def test_ids_are_apart_but_for_process_wide_options(ledger: Ledger) -> None:
    """What one id sent process-wide is in force for another, which sends the rest of its own votes."""
    votes = attrs.evolve(PROFILE, adaptive_polling_time_us=1000)
    cast(ledger, votes)
    assert cast(ledger, votes, OTHER_ID) == VoteSet(hvx(), HMX_DEFAULT)
    assert cast(ledger, NOTHING, OTHER_ID) == VoteSet(REMOVAL, rpc_polling_time_us=0, adaptive_polling_time_us=0)
    assert ledger.difference(ID, votes) == VoteSet(rpc_polling_time_us=9999, adaptive_polling_time_us=1000)


def test_forgetting_one_id_leaves_another(ledger: Ledger) -> None:
    """What is in force on one id stays known when another is forgotten, dropped or fails."""
    cast(ledger, PROFILE)
    cast(ledger, PROFILE, OTHER_ID)
    ledger.forget(OTHER_ID)
    ledger.drop(OTHER_ID)
    assert ledger.in_force(ID) == PROFILE


def test_a_refused_option_is_not_taken_back(ledger: Ledger) -> None:
    """Of an option that the platform lacks nothing is in force, and nothing is to be taken back."""
    fail(ledger, VoteSet(hvx(), hmx()))
    ledger.refused(ID, Option.HMX_V2)
    ledger.refused(ID, Option.DDR_PERF_MODE)
    assert ledger.difference(ID, VoteSet(hvx())) == VoteSet(hvx())


RANGES = st.builds(VoltageRange, *[st.sampled_from(VoltageCorner)] * 3)
HVX_VOTES = st.builds(
    DcvsV3,
    dcvs_enable=st.sampled_from([None, True, False]),
    power_mode=st.sampled_from(PowerMode),
    sleep_latency_us=st.sampled_from([None, 10, 40, 65535]),
    sleep_disable=st.sampled_from([None, True, False]),
    bus=st.none() | RANGES,
    core=st.none() | RANGES,
)
HMX_VOTES = st.sampled_from([None, HMX_DEFAULT, hmx("NOM"), hmx("SVS", "TUR", "MAX")])
SCALARS = {
    "rpc_control_latency_us": st.sampled_from([None, 0, 100, 200]),
    "rpc_polling_time_us": st.sampled_from([None, 0, 9999]),
    "adaptive_polling_time_us": st.sampled_from([None, 0, 1000]),
    "hmx_timeout_us": st.sampled_from([None, 100, 300_000]),
}
VOTE_SETS = st.builds(VoteSet, dcvs_v3=HVX_VOTES, hmx_v2=HMX_VOTES, **SCALARS) | st.builds(VoteSet, **SCALARS)
# How many votes of a call are applied before it fails; None: it does not fail; "restart": the DSP restarts before it.
MISHAPS = st.sampled_from([None, None, 0, 1, 2, 3, 4, 5, "restart"])


def try_to_cast(ledger: Ledger, htp: SimulatedHtp, power_config_id: int, wanted: VoteSet) -> bool:
    """Send what differs to the simulated HTP, note what came of it, and return whether the set is in force."""
    votes = ledger.difference(power_config_id, wanted)
    ledger.sending(power_config_id, votes)
    try:
        htp.set_power_config(power_config_id, votes)
    except VoteRejected as error:
        if error.code != 13006:
            raise
        return False
    ledger.sent(power_config_id, votes)
    return True


@settings(max_examples=300)
@given(st.lists(st.tuples(VOTE_SETS, MISHAPS), max_size=6), VOTE_SETS)
def test_what_is_in_force_is_the_last_set_and_nothing_else(
    steps: list[tuple[VoteSet, int | str | None]], last: VoteSet
) -> None:
    """After any casts, failures and restarts, a cast that succeeds leaves what it alone gives a fresh id."""
    htp, ledger = SimulatedHtp(arch=81), Ledger()
    made = htp.create_power_config_id(0, 0)
    for wanted, mishap in steps:
        if mishap == "restart":
            htp.restart_subsystem()
            assert htp.native_set(made, []) == 1007
            ledger.forget(made)
            ledger.forget_process()
        elif isinstance(mishap, int):
            htp.fail_next(13006, applied=mishap)
        try_to_cast(ledger, htp, made, wanted)
    while not try_to_cast(ledger, htp, made, last):
        pass
    fresh = SimulatedHtp(arch=81)
    fresh.set_power_config(fresh.create_power_config_id(0, 0), last)
    # A control latency can't be taken back: without a new one the earlier stays in force.
    latency_us = last.rpc_control_latency_us or htp.effective().rpc_control_latency_us
    assert htp.effective() == attrs.evolve(fresh.effective(), rpc_control_latency_us=latency_us)
