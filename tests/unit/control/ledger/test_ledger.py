"""The ledgers of an ID and of the process: which votes are known to be in force, and which votes differ from these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.helpers import corners, hmx, hvx, hvx_exp
from support.ledgers import Known

from htppower.control.ledger import ledger as ledger_page
from htppower.control.ledger.ledger import Ledger
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3
from htppower.votes.corners import PowerMode, VoltageCorner
from htppower.votes.native import Option
from htppower.votes.options import BY_CLASS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.votes.clock_votes import DcvsV3Exp

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
def known() -> Known:
    """Return the ledgers of an id and of a process before any call."""
    return Known()


def test_everything_is_sent_to_a_fresh_id(known: Known) -> None:
    """On a fresh id every wanted vote differs, and no vote is reset."""
    assert known.difference(PROFILE) == PROFILE
    assert not known.difference(NOTHING)
    assert not known.in_force


def test_what_is_in_force_is_not_sent_again(known: Known) -> None:
    """After a call that returned 0, its votes are in force, and the same set differs in nothing."""
    assert known.cast(PROFILE) == PROFILE
    assert known.in_force == PROFILE
    assert not known.difference(PROFILE)


def test_a_call_without_votes_is_known_as_that() -> None:
    """A call without votes of the ID carries NOTHING, also after a comparison with an equal set."""
    ledger = Ledger(power_config_id=7)
    ledger.sending(PROFILE)
    ledger.sent(PROFILE)
    assert ledger.carrying(VoteSet()).votes is ledger_page.NOTHING
    assert ledger.carrying_difference(PROFILE).votes is ledger_page.NOTHING


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
def test_only_the_option_that_differs_is_sent(known: Known, change: dict[str, Any]) -> None:
    """A set that changes one vote sends only that vote."""
    known.cast(PROFILE)
    assert known.difference(attrs.evolve(PROFILE, **change)) == attrs.evolve(NOTHING, **change)


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
    known: Known, earlier: VoteSet, later: VoteSet, sent: VoteSet
) -> None:
    """A vote that the next set leaves unset is reset once, except a control latency, which can't be reset."""
    known.cast(earlier)
    assert known.cast(later) == sent
    assert not known.difference(later)


@pytest.mark.parametrize(
    "votes",
    [
        VoteSet(REMOVAL, HMX_DEFAULT, None, 0, 0, 300_000, ddr_perf_mode=False),
        VoteSet(hvx(dcvs_enable=True, sleep_disable=False)),
    ],
)
def test_what_is_as_if_never_voted_is_not_taken_back(known: Known, votes: VoteSet) -> None:
    """A vote that equals its default is not reset."""
    known.cast(votes)
    assert known.difference(votes) == NOTHING
    later = VoteSet(attrs.evolve(votes.dcvs_v3 or hvx(), sleep_disable=None, dcvs_enable=None))
    assert known.difference(later) == NOTHING


@pytest.mark.parametrize(
    "inactive",
    [hvx(VoltageCorner.DISABLE), DcvsV3(None, PowerMode.ADJUST_UP_DOWN, 10, None, None, None), hvx_exp("DISABLE")],
    ids=["DISABLE", "no-core", "expanded"],
)
def test_an_hvx_vote_that_is_not_active_goes_with_what_needs_it(known: Known, inactive: DcvsV3 | DcvsV3Exp) -> None:
    """A changed HMX vote needs an active HVX vote (rule HMX-6), so the HVX vote is sent again in the same call."""
    voted = VoteSet.of({BY_CLASS[type(inactive)].option: inactive, Option.HMX_V2: HMX_DEFAULT})
    known.cast(voted)
    changed = attrs.evolve(voted, hmx_v2=hmx("DISABLE", "DISABLE", "DISABLE"))
    sent = known.difference(changed)
    assert (sent.hvx, sent.hmx_v2) == (known.in_force.hvx, changed.hmx_v2)
    assert not known.own.carrying(sent).refused
    assert not known.difference(voted)
    polling = attrs.evolve(voted, rpc_polling_time_us=10)
    assert known.difference(polling) == VoteSet(rpc_polling_time_us=10)


def test_after_a_failure_all_that_was_carried_is_unknown(known: Known) -> None:
    """Every option of a failed call is sent again, also with its old value; other options are not."""
    known.cast(PROFILE)
    known.fail(attrs.evolve(PROFILE, dcvs_v3=hvx(VoltageCorner.SVS), rpc_polling_time_us=0))
    assert known.in_force == VoteSet(hmx_v2=HMX_DEFAULT, rpc_control_latency_us=100)
    assert known.cast(PROFILE) == VoteSet(hvx(), rpc_polling_time_us=9999)
    assert known.in_force == PROFILE


def test_while_a_call_is_under_way_its_votes_are_unknown(known: Known) -> None:
    """Until a call returns, the votes that it carries are unknown."""
    known.sending(PROFILE)
    assert not known.in_force
    known.sent(PROFILE)
    assert known.in_force == PROFILE


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
def test_what_may_be_in_force_is_taken_back(known: Known, failed: VoteSet, sent: VoteSet) -> None:
    """The vote of a failed call may be in force, so it is reset, even if the call itself was a reset."""
    known.fail(failed)
    assert known.cast(NOTHING) == sent
    assert not known.difference(NOTHING)


@pytest.mark.parametrize("second", [None, False])
def test_a_field_of_a_failed_hvx_vote_is_taken_back(known: Known, second: bool | None) -> None:
    """Two failed calls set and cleared sleep_disable: it may be in force, so a vote that leaves it unset clears it."""
    known.fail(VoteSet(hvx(sleep_disable=True)))
    known.fail(VoteSet(hvx(sleep_disable=second)))
    assert known.difference(VoteSet(hvx())) == VoteSet(hvx(sleep_disable=False))


def test_forget_makes_an_id_unknown(known: Known) -> None:
    """After a restart of the DSP, all votes on the id are sent again, and unset votes are reset."""
    known.cast(VoteSet(hvx(), hmx(), rpc_polling_time_us=9999))
    known.own.forget()
    assert known.in_force == VoteSet(rpc_polling_time_us=9999)
    assert known.cast(VoteSet(hvx(), rpc_polling_time_us=9999)) == VoteSet(hvx(), HMX_DEFAULT)


def test_forget_process_makes_process_settings_unknown(known: Known) -> None:
    """After a restart the process-wide settings are sent again, and nothing else."""
    known.cast(PROFILE)
    known.process.forget()
    assert not known.process.now.known
    assert known.cast(PROFILE) == VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=9999)


def test_forgetting_twice_keeps_what_is_doubtful(known: Known) -> None:
    """The options of a failed call stay in doubt after ``forget``, so each of them is reset."""
    known.cast(VoteSet(hvx(), hmx_timeout_us=100))
    known.fail(VoteSet(hvx(VoltageCorner.SVS), hmx(), hmx_timeout_us=100))
    for _ in range(2):
        known.own.forget()
        assert known.difference(NOTHING) == VoteSet(REMOVAL, HMX_DEFAULT, hmx_timeout_us=300_000)


def test_ids_are_apart_but_for_process_wide_options(known: Known) -> None:
    """Process-wide options that one ID sent are in force for another ID, which sends only its own votes."""
    other = Known(process=known.process)
    votes = attrs.evolve(PROFILE, adaptive_polling_time_us=1000)
    known.cast(votes)
    assert other.cast(votes) == VoteSet(hvx(), HMX_DEFAULT)
    assert other.cast(NOTHING) == VoteSet(REMOVAL, rpc_polling_time_us=0, adaptive_polling_time_us=0)
    assert known.difference(votes) == VoteSet(rpc_polling_time_us=9999, adaptive_polling_time_us=1000)


def test_forgetting_one_id_leaves_another(known: Known) -> None:
    """If one ID is forgotten or fails, the votes of another stay known."""
    other = Known(process=known.process)
    known.cast(PROFILE)
    other.cast(PROFILE)
    other.fail(VoteSet(hvx(VoltageCorner.SVS), rpc_control_latency_us=100, rpc_polling_time_us=9999))
    other.own.forget()
    assert known.in_force == PROFILE


def test_a_refused_option_is_not_taken_back(known: Known) -> None:
    """An option that the platform lacks is not in force, so it is not reset."""
    known.fail(VoteSet(hvx(), hmx()))
    known.own.refused(Option.HMX_V2)
    known.own.refused(Option.DDR_PERF_MODE)
    assert known.difference(VoteSet(hvx())) == VoteSet(hvx())


def test_what_was_read_does_not_change(known: Known) -> None:
    """A ledger holds frozen values, so a value that was read earlier does not change."""
    known.cast(PROFILE)
    read = known.own.now
    known.fail(VoteSet(hvx(VoltageCorner.SVS)))
    known.own.forget()
    known.own.refused(Option.DCVS_V3)
    assert read.known == VoteSet(hvx(), HMX_DEFAULT)
    assert not read.doubtful
    assert read.accepted == {Option.DCVS_V3, Option.HMX_V2}


def test_what_the_library_took_once_stays_noted(known: Known) -> None:
    """An accepted option stays recorded after a reset, a failure and a restart; only a refusal removes it."""
    known.cast(PROFILE)
    known.fail(NOTHING)
    known.own.forget()
    assert known.own.now.accepted == {Option.DCVS_V3, Option.HMX_V2}
    known.own.refused(Option.HMX_V2)
    assert known.own.now.accepted == {Option.DCVS_V3}
