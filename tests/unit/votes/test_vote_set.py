"""Vote sets: the order in a call, and their behaviour as values."""

from __future__ import annotations

import attrs
import pytest
from support.helpers import corners, hvx

from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3
from htppower.votes.corners import VoltageCorner
from htppower.votes.native import Option
from htppower.votes.options import VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

BURST = hvx(VoltageCorner.MAX_VOLTAGE_CORNER, sleep_latency_us=40)

ALL_SEVEN = VoteSet(
    dcvs_v3=BURST,
    hmx_v2=HMX_DEFAULT,
    rpc_control_latency_us=100,
    rpc_polling_time_us=9999,
    adaptive_polling_time_us=1000,
    hmx_timeout_us=5000,
    ddr_perf_mode=True,
)


def test_votes_are_sent_in_the_librarys_order() -> None:
    """The HVX vote is sent first, then votes on other clocks, then single numbers, in any construction order."""
    order = (
        "DCVS_V3, HMX_V2, RPC_CONTROL_LATENCY, RPC_POLLING_TIME, ADAPTIVE_POLLING_TIME, HMX_TIMEOUT_INTERVAL_US, "
        "DDR_PERF_MODE"
    )
    backwards = VoteSet.of(dict(reversed(list(ALL_SEVEN.items()))))
    every = order.replace("DCVS_V3, HMX_V2", "DCVS_V3, DCVS_V3_EXP, HMX_V2, CENG, CENG_EXP")
    assert ", ".join(option.name for option in VOTE_OPTIONS) == every
    assert ", ".join(option.name for option, _ in backwards.items()) == order
    assert ", ".join(config.option for config in backwards.native(1)) == order
    assert str(backwards) == (
        "DCVS_V3, HMX_V2, RPC_CONTROL_LATENCY 100, RPC_POLLING_TIME 9999, ADAPTIVE_POLLING_TIME 1000, "
        "HMX_TIMEOUT_INTERVAL_US 5000, DDR_PERF_MODE 1"
    )


def test_of_get_and_items_agree() -> None:
    """A set built from its own items is equal to it, and ``get`` returns each vote."""
    assert VoteSet.of(dict(ALL_SEVEN.items())) == ALL_SEVEN
    assert all(ALL_SEVEN.get(option) == value for option, value in ALL_SEVEN.items())
    assert VoteSet(rpc_polling_time_us=0).get(Option.DCVS_V3) is None
    assert list(VoteSet(rpc_polling_time_us=0).items()) == [(Option.RPC_POLLING_TIME, 0)]


def test_without_leaves_out_the_named_votes_only() -> None:
    """``without`` returns a new set without the named options; the old set does not change."""
    less = ALL_SEVEN.without(Option.HMX_V2, Option.DDR_PERF_MODE)
    left_out = [option for option, _ in ALL_SEVEN.items() if less.get(option) is None]
    assert left_out == [Option.HMX_V2, Option.DDR_PERF_MODE]
    assert less.get(Option.DCVS_V3) == BURST
    assert ALL_SEVEN.hmx_v2 is HMX_DEFAULT
    assert ALL_SEVEN.without() == ALL_SEVEN


def test_an_empty_set_is_falsy() -> None:
    """A set without votes is falsy and has no native form; a vote of 0 or False is a vote."""
    assert not VoteSet()
    assert VoteSet().native(1) == ()
    assert str(VoteSet()) == "no votes"
    assert VoteSet(rpc_polling_time_us=0)
    assert VoteSet(ddr_perf_mode=False)


def test_vote_sets_are_values() -> None:
    """Equal sets are equal and hash alike, different ones are not, and none can be changed."""
    again = VoteSet.of(dict(ALL_SEVEN.items()))
    assert len({again, ALL_SEVEN}) == 1
    assert attrs.evolve(again, rpc_polling_time_us=0) != ALL_SEVEN
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        again.rpc_polling_time_us = 0  # type: ignore[misc]
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        BURST.sleep_latency_us = 0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("vote", "active"),
    [
        (hvx(VoltageCorner.MIN_VOLTAGE_CORNER), True),
        (hvx(VoltageCorner.DISABLE), False),
        (hvx(core=None), False),
        (hvx(core=corners("SVS", "DISABLE", "NOM")), False),
    ],
)
def test_an_hvx_vote_is_active_with_a_core_target(vote: DcvsV3, active: bool) -> None:
    """An HVX vote is active if it has a core target other than DISABLE, whatever its limits."""
    assert vote.active is active
