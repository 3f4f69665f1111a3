"""The effect of a changed field."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import corners, hmx, hvx

from htppower.profiles.fields import limits, vote_fields
from htppower.tools.review.diff.effects import Effect, effect_of
from htppower.votes.clock_votes import HMX_DEFAULT, DcvsV3, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

RAISES, LOWERS, LATENCY, TIMING, _, WORDING = Effect
DCVS = ("votes", "dcvs_v3")
FREE = {"dcvs_enable": True, "core": corners("SVS", "NOM", "TURBO")}


def effect(option: str, old: Any, new: Any, core: VoltageCorner = VoltageCorner.NOM, polling_us: int = 9999) -> Effect:
    """Return the effect of a changed vote on an option, in a profile that polls."""
    others = {"dcvs_v3": hvx(core), "rpc_polling_time_us": polling_us}
    before, after = (VoteSet(**{**others, option: value}) for value in (old, new))
    return effect_of(("votes", option), old, new, before, after)


def dcvs_effect(field: str, old: Any, new: Any, **others: Any) -> Effect:
    """Return the effect of a changed field of the HVX vote."""
    before, after = (VoteSet(hvx(**{**others, field: value})) for value in (old, new))
    return effect_of((*DCVS, field), old, new, before, after)


@pytest.mark.parametrize("clock", ["core", "bus"])
@pytest.mark.parametrize("limit", ["min", "target", "max"])
def test_a_higher_corner_raises_power(clock: str, limit: str) -> None:
    """A higher limit of a clock raises power, a lower limit lowers it."""
    at, votes = (*DCVS, clock, limit), VoteSet(hvx())
    assert effect_of(at, VoltageCorner.SVS, VoltageCorner.TURBO, votes, votes) is RAISES
    assert effect_of(at, VoltageCorner.TURBO, VoltageCorner.SVS, votes, votes) is LOWERS


def test_a_client_without_a_core_target_limits_nothing() -> None:
    """A removed vote lowers power in each of its limits, the max too; an added vote raises it."""
    active, idle = VoteSet(hvx(VoltageCorner.SVS)), VoteSet(hvx(VoltageCorner.DISABLE))
    for limit in ("min", "target", "max"):
        at = (*DCVS, "core", limit)
        assert effect_of(at, VoltageCorner.SVS, VoltageCorner.DISABLE, active, idle) is LOWERS
        assert effect_of(at, VoltageCorner.DISABLE, VoltageCorner.SVS, idle, active) is RAISES


@pytest.mark.parametrize(("limit", "gone"), [("min", LOWERS), ("target", LOWERS), ("max", RAISES)])
def test_disable_takes_a_limit_away(limit: str, gone: Effect) -> None:
    """DISABLE is not a vote: without min or target the clock may fall, without max it may rise."""
    at, votes = (*DCVS, "core", limit), VoteSet(hvx())
    back = RAISES if gone is LOWERS else LOWERS
    assert effect_of(at, VoltageCorner.MIN_VOLTAGE_CORNER, VoltageCorner.DISABLE, votes, votes) is gone
    assert effect_of(at, VoltageCorner.DISABLE, VoltageCorner.MAX_VOLTAGE_CORNER, votes, votes) is back


def test_a_whole_range_goes_by_its_target() -> None:
    """If only one side votes on a clock at all, its target decides."""
    assert dcvs_effect("core", None, VoltageRange.at(VoltageCorner.SVS2)) is RAISES
    assert dcvs_effect("core", VoltageRange.at(VoltageCorner.SVS2), None) is LOWERS


@pytest.mark.parametrize(
    ("old", "new", "others", "expected"),
    [
        (False, True, {}, WORDING),
        (True, False, {}, WORDING),
        (True, False, {"core": corners("SVS", "NOM", "TURBO")}, RAISES),
        (False, True, {"core": corners("SVS", "SVS", "TURBO")}, RAISES),
        (True, False, {"core": corners("SVS", "SVS", "TURBO")}, LOWERS),
        (False, True, {"core": corners("SVS2", "SVS", "SVS")}, LOWERS),
        (False, True, {"core": None}, WORDING),
        (False, True, {"bus": corners("SVS", "SVS", "MAX_VOLTAGE_CORNER")}, RAISES),
        (False, True, {"core": VoltageRange.at(VoltageCorner.DISABLE)}, WORDING),
    ],
)
def test_dcvs_goes_by_the_clocks_that_it_allows(old: Any, new: Any, others: Any, expected: Effect) -> None:
    """The effect depends on the lowest and highest possible clock; if one of them rises, the clock may draw more."""
    assert dcvs_effect("dcvs_enable", old, new, **others) is expected


def test_a_power_mode_does_nothing_while_dcvs_is_off() -> None:
    """Rule DCVS-3: another mode is wording only if DCVS is off before and after."""
    modes = (PowerMode.POWER_SAVER, PowerMode.PERFORMANCE)
    assert dcvs_effect("power_mode", *modes) is WORDING
    assert dcvs_effect("power_mode", *modes, **FREE) is RAISES
    assert dcvs_effect("power_mode", *reversed(modes), **FREE) is LOWERS
    assert dcvs_effect("power_mode", PowerMode.ADJUST_UP_DOWN, PowerMode.ADJUST_ONLY_UP, **FREE) is WORDING
    assert dcvs_effect("power_mode", PowerMode.ADJUST_UP_DOWN, PowerMode.DUTY_CYCLE, **FREE) is TIMING


def test_sleep() -> None:
    """A sleep latency changes latency; keeping the DSP awake raises power."""
    assert dcvs_effect("sleep_latency_us", 40, 1000) is LATENCY
    assert dcvs_effect("sleep_latency_us", None, 1000) is LATENCY
    assert dcvs_effect("sleep_disable", None, True) is RAISES
    assert dcvs_effect("sleep_disable", True, False) is LOWERS
    assert dcvs_effect("sleep_disable", None, False) is LOWERS


@pytest.mark.parametrize(
    ("option", "old", "new", "expected"),
    [
        ("rpc_control_latency_us", 100, 200, LATENCY),
        ("rpc_polling_time_us", 0, 9999, RAISES),
        ("rpc_polling_time_us", 9999, None, LOWERS),
        ("rpc_polling_time_us", None, 0, WORDING),
        ("adaptive_polling_time_us", None, 2000, LOWERS),
        ("adaptive_polling_time_us", 2000, 0, RAISES),
        ("adaptive_polling_time_us", 2000, 5000, RAISES),
        ("adaptive_polling_time_us", 0, None, WORDING),
        ("hmx_timeout_us", None, 1000, LOWERS),
        ("hmx_timeout_us", None, 400_000, RAISES),
        ("hmx_timeout_us", None, 300_000, WORDING),
        ("hmx_timeout_us", 1000, 500, LOWERS),
        ("ddr_perf_mode", None, True, RAISES),
        ("ddr_perf_mode", True, False, LOWERS),
        ("ddr_perf_mode", None, False, WORDING),
    ],
)
def test_the_other_votes(option: str, old: Any, new: Any, expected: Effect) -> None:
    """Polling, the HMX timeout and the DDR's mode cost power; adaptive polling saves it; unset means the default."""
    assert effect(option, old, new) is expected


def test_an_hmx_vote_is_held_against_the_core_that_it_would_follow() -> None:
    """By default HMX follows the core: an explicit vote above the core raises power, one below lowers it.

    At the same corner an explicit vote stays up if DCVS lowers the core, so it costs more.
    """
    assert effect("hmx_v2", HMX_DEFAULT, hmx("TUR")) is RAISES
    assert effect("hmx_v2", HMX_DEFAULT, hmx("SVS")) is LOWERS
    assert effect("hmx_v2", HMX_DEFAULT, hmx("SVS", "NOM", "MAX")) is RAISES
    assert effect("hmx_v2", HMX_DEFAULT, hmx("MIN", "SVS", "MAX")) is RAISES
    assert effect("hmx_v2", HMX_DEFAULT, hmx("NOM")) is RAISES
    assert effect("hmx_v2", hmx("NOM"), HMX_DEFAULT) is LOWERS
    assert effect("hmx_v2", hmx("SVS"), None) is RAISES
    assert effect("hmx_v2", HMX_DEFAULT, None) is WORDING


def test_polling_that_goes_takes_adaptive_polling_with_it() -> None:
    """Without polling, adaptive polling does nothing, so it can't raise power."""
    on, off = (VoteSet(hvx(), rpc_polling_time_us=us, adaptive_polling_time_us=2000) for us in (9999, 0))
    without = VoteSet(hvx(), rpc_polling_time_us=0, adaptive_polling_time_us=0)
    at = ("votes", "adaptive_polling_time_us")
    assert effect_of(at, 2000, 0, on, without) is LOWERS
    assert effect_of(at, 2000, 0, off, without) is WORDING


def test_dcvs_with_clocks_that_come() -> None:
    """A client that becomes active raises power, whatever its range of clocks."""
    idle = VoteSet(hvx(VoltageCorner.DISABLE))
    active = VoteSet(hvx(dcvs_enable=True, core=corners("SVS2", "SVS", "SVS")))
    assert effect_of((*DCVS, "dcvs_enable"), False, True, idle, active) is RAISES


def test_hmx_corners_and_frequencies() -> None:
    """Higher expanded corners, and higher frequencies of a corner, raise power."""
    votes, at = VoteSet(hvx(), hmx("NOM")), ("votes", "hmx_v2")
    assert effect_of((*at, "target"), ExpandedCorner.NOM, ExpandedCorner.TUR, votes, votes) is RAISES
    order = [ClkPerfMode.MAX, ClkPerfMode.HIGH, ClkPerfMode.HIGH_D1, ClkPerfMode.HIGH_D15, ClkPerfMode.LOW]
    for higher, lower in itertools.pairwise(order):
        assert effect_of((*at, "perf_mode"), higher, lower, votes, votes) is LOWERS
        assert effect_of((*at, "perf_mode"), lower, higher, votes, votes) is RAISES


voltages = st.sampled_from(list(VoltageCorner))
ranges = st.none() | st.builds(VoltageRange, voltages, voltages, voltages)
hvx_votes = st.builds(
    DcvsV3,
    st.none() | st.booleans(),
    st.sampled_from(list(PowerMode)),
    st.none() | st.integers(10, 65535),
    st.none() | st.booleans(),
    ranges,
    ranges,
)
vote_sets = st.builds(
    VoteSet,
    st.none() | hvx_votes,
    st.sampled_from([None, HMX_DEFAULT, hmx("NOM"), hmx("SVS", "NOM", "TUR")]),
    st.none() | st.integers(0, 500),
    st.none() | st.integers(0, 9999),
    st.none() | st.integers(0, 9999),
    st.none() | st.integers(100, 1_000_000),
    st.none() | st.booleans(),
)
OPPOSITE = {RAISES: LOWERS, LOWERS: RAISES, LATENCY: LATENCY, TIMING: TIMING, WORDING: WORDING}


@given(vote_sets, vote_sets)
def test_the_way_back_has_the_opposite_effect(before: VoteSet, after: VoteSet) -> None:
    """An undone change lowers what the change raised, and every field has an effect."""
    old, new = dict(vote_fields(before)), dict(vote_fields(after))
    for at in old.keys() & new.keys():
        parts = [(at, old[at], new[at])]
        if old[at] is not None and new[at] is not None:
            ours, theirs = dict(limits(at, old[at])), dict(limits(at, new[at]))
            parts = [(part, ours[part], theirs[part]) for part in ours.keys() & theirs.keys()]
        for part, one, other in parts:
            if len(part) > 1 and part != DCVS:
                there = effect_of(part, one, other, before, after)
                back = effect_of(part, other, one, after, before)
                both = part in ((*DCVS, "dcvs_enable"), ("votes", "hmx_v2")) and there is back is RAISES
                assert back is OPPOSITE[there] or both, (part, one, other)
