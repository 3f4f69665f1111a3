"""Random profiles: any votes, power states and times that the rules accept."""

from __future__ import annotations

from typing import Any

import attrs
from hypothesis import strategies as st

from htppower.profiles.profile import Lowering, PowerState, Profile, Relax
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.clock_votes import HMX_DEFAULT, Ceng, CengExp, DcvsV3, DcvsV3Exp, ExpandedRange, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

_MODES, _PERF_MODES = st.sampled_from(PowerMode), st.sampled_from(ClkPerfMode)
_LATENCIES = st.integers(10, 65535)


def ordered(corners: type[VoltageCorner | ExpandedCorner]) -> st.SearchStrategy[list[Any]]:
    """Return min, target and max of a clock in their order; sometimes all are DISABLE."""
    disable = corners["DISABLE"]
    voted = st.sampled_from([corner for corner in corners if corner is not disable])
    return st.just([disable] * 3) | st.lists(voted, min_size=3, max_size=3).map(sorted)


def _unset_or(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


_PLAIN, _EXPANDED = ordered(VoltageCorner), ordered(ExpandedCorner)
_RANGES = _unset_or(_PLAIN.map(lambda corners: VoltageRange(*corners)))
_EXPANDED_RANGES = _unset_or(_EXPANDED.map(lambda corners: ExpandedRange(*corners)))
_BOOLS = _unset_or(st.booleans())
HVX = st.builds(DcvsV3, _BOOLS, _MODES, _unset_or(_LATENCIES), _BOOLS, _RANGES, _RANGES)
HVX_EXP = st.builds(
    DcvsV3Exp, _MODES, _unset_or(_LATENCIES), _BOOLS, _EXPANDED_RANGES, _EXPANDED_RANGES, _PERF_MODES, _PERF_MODES
)
_HMX = (
    st.none()
    | st.just(HMX_DEFAULT)
    | st.builds(lambda corners, mode: HmxV2(corners[0], corners[1], corners[2], mode), _EXPANDED, _PERF_MODES)
)
_CENG = _unset_or(st.builds(lambda corners, mode: Ceng(corners[0], corners[1], corners[2], mode), _PLAIN, _PERF_MODES))
_CENG_EXP = _unset_or(
    st.builds(lambda corners, mode: CengExp(corners[0], corners[1], corners[2], mode), _EXPANDED, _PERF_MODES)
)
_SCALARS = {
    "rpc_control_latency_us": _unset_or(st.sampled_from([0, 1, 100, 2**31 - 1])),
    "rpc_polling_time_us": _unset_or(st.sampled_from([0, 1, 300, 9999])),
    "adaptive_polling_time_us": _unset_or(st.sampled_from([0, 1000, 5000])),
    "hmx_timeout_us": _unset_or(st.sampled_from([100, 300_000, 1_000_000])),
    "ddr_perf_mode": _BOOLS,
}


@st.composite
def vote_sets(draw: st.DrawFn, *, expanded: bool = True) -> VoteSet:
    """Return vote sets that no rule refuses; with ``expanded``, also vote sets of V85 and later."""
    fields = {name: draw(strategy) for name, strategy in _SCALARS.items()}
    if expanded and draw(st.booleans()):
        fields.update(dcvs_v3_exp=draw(HVX_EXP), ceng_exp=draw(_CENG_EXP))
    else:
        fields.update(dcvs_v3=draw(_unset_or(HVX)), ceng=draw(_CENG))
    votes = VoteSet(hmx_v2=draw(_HMX), **fields)
    while broken := rules.errors(Case(votes)):
        field = broken[0].at[1]
        votes = VoteSet(**{**{name: getattr(votes, name) for name in VOTE_FIELDS}, field: None})
    return votes


VOTE_FIELDS = tuple(field.name for field in attrs.fields(VoteSet))


# On x86, these votes of the vendor's voter can't be seen: matrix unit, compression engine, DDR performance mode.
_UNSEEN = ("hmx_v2", "ceng", "ddr_perf_mode")


@st.composite
def exportable_profiles(draw: st.DrawFn) -> Profile:
    """Return profiles that an extension file can express fully, with votes that can be seen on x86."""
    sets = vote_sets(expanded=False).map(_sayable)
    beside = {name: draw(strategy) for name, strategy in _SCALARS.items() if name not in _UNSEEN}
    votes = VoteSet(**{**beside, "dcvs_v3": draw(sets).dcvs_v3})
    while broken := rules.errors(Case(votes)):
        votes = VoteSet(**{**{name: getattr(votes, name) for name in VOTE_FIELDS}, broken[0].at[1]: None})
    if not votes:
        return Profile("any", "Any.", votes, None)
    to, last = (PowerState(name, "Any.", VoteSet(draw(sets).dcvs_v3)) for name in ("low", "lowest"))
    return Profile("any", "Any.", votes, Relax(to, 0, draw(st.sampled_from([0, 300_000])), after_deinit_to=last))


def _sayable(votes: VoteSet) -> VoteSet:
    hvx = votes.dcvs_v3
    if hvx is None or not hvx.sleep_disable:
        return votes
    return attrs.evolve(votes, dcvs_v3=attrs.evolve(hvx, sleep_disable=None))


@st.composite
def profiles(draw: st.DrawFn, *, expanded: bool = True) -> Profile:
    """Return profiles that no rule refuses."""
    sets = vote_sets(expanded=expanded)
    votes = draw(sets)
    if not votes:
        return Profile("any", "Any.", votes, None)
    states = [PowerState(name, "Any.", draw(sets)) for name in ("low", "lowest")]
    times = st.sampled_from([0, 0, 20_000, 300_000, 300_000, 1_000_000])
    relax = Relax(states[0], draw(times), draw(times), draw(st.sampled_from(Lowering)), draw(st.sampled_from(states)))
    made = Profile("any", "Any.", votes, relax)
    if rules.errors(made.case()):
        cleared = [PowerState(state.name, state.summary, VoteSet(rpc_polling_time_us=0)) for state in states]
        relax = Relax(cleared[0], relax.after_init_us, relax.after_inference_us, relax.lowering, cleared[1])
        made = Profile("any", "Any.", made.votes, relax)
    return made
