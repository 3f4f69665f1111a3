"""Which profile a session uses: the vendor's order, derived from the votes, and how a cap compares profiles."""

from __future__ import annotations

import itertools

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bench import explicit_hmx, voting
from support.helpers import ceng, ceng_exp, corners, expanded, hmx, hvx, hvx_exp

from htppower import Profile, load_profile
from htppower.control.plans.precedence import Claim, exceeds, in_use, rank
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.profile import NO_VOTES
from htppower.rules import power_order
from htppower.votes.clock_votes import HMX_DEFAULT, Ceng, DcvsV3, DcvsV3Exp, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, VoltageCorner, as_expanded
from htppower.votes.vote_set import VoteSet

SHIPPED = [load_profile(name) for name in SHIPPED_PROFILES]
BURST, BALANCED, POWER_SAVER = (load_profile(name) for name in ("burst", "balanced", "power_saver"))


def claims(*profiles: Profile) -> tuple[Claim, ...]:
    """Return claims of these profiles, numbered in their order."""
    return tuple(Claim(number, "hold", profile, "test", 0) for number, profile in enumerate(profiles, 1))


def clocks(core: str, bus: str, **votes: object) -> Profile:
    """Return a profile with these corners for its clocks."""
    core_range, bus_range = (VoltageRange.at(VoltageCorner[name]) for name in (core, bus))
    return voting(dcvs_v3=hvx(core=core_range, bus=bus_range, sleep_latency_us=1000), rpc_polling_time_us=0, **votes)


def test_rank_is_the_vendors_order() -> None:
    """The shipped profiles, sorted by rank, are in the vendor's order, and no two are equal."""
    assert sorted(SHIPPED, key=rank, reverse=True) == SHIPPED
    assert len({rank(profile) for profile in SHIPPED}) == len(SHIPPED)


@pytest.mark.parametrize(("higher", "lower"), list(itertools.combinations(SHIPPED, 2)), ids=lambda each: each.name)
def test_a_shipped_profile_exceeds_those_below_it(higher: Profile, lower: Profile) -> None:
    """The higher of two shipped profiles exceeds the lower, and the lower never exceeds the higher."""
    assert exceeds(higher, lower)
    assert not exceeds(lower, higher)


@pytest.mark.parametrize("profile", SHIPPED, ids=lambda each: each.name)
def test_a_profile_does_not_exceed_itself(profile: Profile) -> None:
    """A cap at the session's own profile changes nothing."""
    assert not exceeds(profile, profile)
    assert in_use(profile, (), claims(profile)) == (profile, None)


@pytest.mark.parametrize("corner", list(VoltageCorner), ids=lambda each: each.name)
def test_every_corner_has_a_rank(corner: VoltageCorner) -> None:
    """Every vote of a profile can be compared."""
    assert rank(clocks(corner.name, corner.name)) >= rank(load_profile("system_settings"))


def test_each_clock_in_turn_decides() -> None:
    """Core is compared first, then bus, then HMX, then sleep latency, polling and sustain time."""
    core = clocks("TURBO", "SVS")
    bus = clocks("NOM", "TURBO")
    hmx = clocks("NOM", "SVS", hmx_v2=explicit_hmx(ExpandedCorner.TUR))
    sleep = clocks("NOM", "SVS")
    assert sleep.votes.dcvs_v3 is not None
    sooner = attrs.evolve(
        sleep, votes=attrs.evolve(sleep.votes, dcvs_v3=attrs.evolve(sleep.votes.dcvs_v3, sleep_latency_us=40))
    )
    polls = attrs.evolve(sleep, votes=attrs.evolve(sleep.votes, rpc_polling_time_us=9999))
    assert sleep.relax is not None
    brief = attrs.evolve(sleep, relax=attrs.evolve(sleep.relax, after_inference_us=0))
    order = [core, bus, hmx, sooner, polls, sleep, brief]
    assert sorted(order, key=rank, reverse=True) == order


def test_an_unset_hmx_vote_counts_as_the_default() -> None:
    """Without an HMX vote, HMX follows the core (rule HMX-4)."""
    unset, default = voting(hmx_v2=None), voting(hmx_v2=HMX_DEFAULT)
    assert rank(unset) == rank(default)


def test_a_max_of_disable_limits_nothing() -> None:
    """If a target is voted, a max of DISABLE sets no limit, so the profile exceeds a cap with a max."""
    open_ended = corners("SVS", "NOM", "DISABLE")
    free = voting(dcvs_v3=hvx(core=open_ended, bus=open_ended))
    bound = voting(dcvs_v3=hvx(core=corners("SVS", "NOM", "TURBO"), bus=corners("SVS", "NOM", "TURBO")))
    assert exceeds(free, bound)
    assert not exceeds(bound, free)


@pytest.mark.parametrize(
    "own",
    [
        clocks("SVS", "TURBO"),
        clocks("SVS", "SVS", hmx_v2=explicit_hmx(ExpandedCorner.TUR)),
        clocks("SVS", "SVS", hmx_v2=HmxV2(ExpandedCorner.SVS, ExpandedCorner.SVS, ExpandedCorner.TUR, 0)),  # type: ignore[arg-type]
        voting(dcvs_v3=hvx(core=corners("SVS", "SVS", "TURBO"), bus=corners("SVS", "SVS", "SVS"))),
    ],
    ids=["bus", "hmx", "hmx max", "core max"],
)
def test_a_cap_takes_the_place_of_what_goes_beyond_it_with_one_clock(own: Profile) -> None:
    """A profile that is below the cap in the order is capped if its bus, HMX or max alone exceeds the cap."""
    assert rank(own) < rank(BALANCED)
    (cap,) = claims(BALANCED)
    assert in_use(own, (), (cap,)) == (BALANCED, cap)


@pytest.mark.parametrize("votes", [{"rpc_polling_time_us": 9999}, {"ddr_perf_mode": True}], ids=str)
def test_a_cap_limits_more_than_clocks(votes: dict[str, object]) -> None:
    """A cap limits polling and DDR votes, too, even if the profile's clocks are slower."""
    own = voting(**{"dcvs_v3": hvx(VoltageCorner.SVS), "rpc_polling_time_us": 0, **votes})
    (cap,) = claims(BALANCED)
    assert in_use(own, (), (cap,)) == (BALANCED, cap)


def test_without_claims_a_session_uses_its_own() -> None:
    """Without holds and caps the session's own profile counts."""
    assert in_use(BURST, (), ()) == (BURST, None)


@pytest.mark.parametrize("order", list(itertools.permutations((BURST, BALANCED, POWER_SAVER))))
def test_the_highest_hold_wins_in_any_order(order: tuple[Profile, ...]) -> None:
    """The highest hold counts, even if it is below the session's own profile."""
    holds = claims(*order)
    chosen, decides = in_use(BURST, holds, ())
    assert chosen == BURST
    assert decides == holds[order.index(BURST)]
    assert in_use(BURST, claims(POWER_SAVER), ())[0] == POWER_SAVER


def test_the_later_of_two_holds_as_high_decides() -> None:
    """Of equal holds the later one decides, so status shows its reason."""
    holds = claims(BURST, attrs.evolve(BURST, name="mine"))
    assert in_use(BALANCED, holds, ())[1] is holds[1]


@pytest.mark.parametrize("order", list(itertools.permutations(("burst", "balanced", "power_saver"))))
def test_the_lowest_cap_wins_in_any_order_and_over_holds(order: tuple[str, ...]) -> None:
    """The lowest cap counts, whatever holds there are."""
    caps = claims(*map(load_profile, order))
    assert in_use(POWER_SAVER, claims(BURST), caps) == (POWER_SAVER, caps[order.index("power_saver")])


def test_a_cap_leaves_what_is_below_it() -> None:
    """A session below the cap keeps its profile, and a hold on it still decides."""
    assert in_use(POWER_SAVER, (), claims(BALANCED)) == (POWER_SAVER, None)
    (hold,) = claims(POWER_SAVER)
    assert in_use(BURST, (hold,), claims(BALANCED)) == (POWER_SAVER, hold)


def test_a_cap_without_votes_leaves_no_session_a_vote() -> None:
    """system_settings is the lowest profile, so as a cap it replaces every other."""
    nothing = load_profile("system_settings")
    for profile in SHIPPED[:-1]:
        assert in_use(profile, (), claims(nothing))[0] == nothing


OFF = ceng("DISABLE")
PLAIN_CORNERS = st.sampled_from(VoltageCorner).map(VoltageRange.at)
EXPANDED_CORNERS = st.sampled_from(ExpandedCorner).map(lambda corner: expanded(corner.name))
MODES = st.sampled_from(ClkPerfMode)
HVX = st.one_of(
    st.builds(hvx, core=PLAIN_CORNERS, bus=PLAIN_CORNERS),
    st.builds(hvx_exp, core=EXPANDED_CORNERS, bus=EXPANDED_CORNERS, core_perf_mode=MODES, bus_perf_mode=MODES),
)
HMX = st.builds(lambda corner, mode: HmxV2(corner, corner, corner, mode), st.sampled_from(ExpandedCorner), MODES)
CENG = st.builds(lambda corner, mode: Ceng(corner, corner, corner, mode), st.sampled_from(VoltageCorner), MODES)
VOTES = st.builds(
    VoteSet,
    HVX,
    hmx_v2=st.none() | st.just(HMX_DEFAULT) | HMX,
    ceng=st.none() | CENG,
    rpc_polling_time_us=st.none() | st.sampled_from((0, 100, 9999)),
).map(lambda votes: votes if isinstance(votes.dcvs_v3, DcvsV3) else _in_its_form(votes))


def _in_its_form(votes: VoteSet) -> VoteSet:
    exp = votes.dcvs_v3
    assert isinstance(exp, DcvsV3Exp)
    return attrs.evolve(votes, dcvs_v3=None, dcvs_v3_exp=exp)


def asked(votes: VoteSet) -> dict[str, tuple[int, int]]:
    """Return a profile's core, bus, HMX, CENG and polling, as corners and frequencies, computed without the code."""

    def at(corner: int, mode: ClkPerfMode = ClkPerfMode.HIGH) -> tuple[int, int]:
        step = {ClkPerfMode.MAX: 1, ClkPerfMode.HIGH: 0, ClkPerfMode.LOW: -999}.get(mode, -int(mode))
        return (0, 0) if corner in (0, 16) else (as_expanded(corner), step)

    vote, matrix, engine = votes.hvx, votes.hmx_v2, votes.ceng
    modes = [getattr(vote, f"{clock}_perf_mode", ClkPerfMode.HIGH) for clock in ("core", "bus")]
    core = 0 if vote is None or vote.core is None else vote.core.target
    bus = 0 if vote is None or vote.bus is None else vote.bus.target
    lowest = engine is None or engine.target <= VoltageCorner.MIN_VOLTAGE_CORNER
    return {
        "core": at(core, modes[0]),
        "bus": at(bus, modes[1]),
        "hmx": at(core) if matrix is None or matrix.pick_default else at(matrix.target, matrix.perf_mode),
        "ceng": (0, 0) if lowest or engine is None else at(engine.target, engine.perf_mode),
        "polling": (votes.rpc_polling_time_us or 0, 0),
    }


@given(own=st.just(NO_VOTES) | VOTES, cap=st.just(NO_VOTES) | VOTES)
def test_a_cap_takes_the_place_of_just_what_goes_beyond_it(own: VoteSet, cap: VoteSet) -> None:
    """A cap never raises a session whose votes on core, bus, HMX, CENG and polling are all below the cap's.

    A session whose vote on any of these is higher is capped.
    """
    ours, limit = asked(own), asked(cap)
    beyond = any(ours[each] > limit[each] for each in ours)
    profile, (claim,) = voting_just(own), claims(voting_just(cap))
    chosen, decides = in_use(profile, (), (claim,))
    if beyond:
        assert decides == claim
    elif decides is not None:
        after = asked(chosen.votes)
        assert all(after[each] <= ours[each] for each in ours)


@given(cap=st.just(NO_VOTES) | VOTES)
def test_no_votes_go_beyond_no_cap(cap: VoteSet) -> None:
    """A cap never gives votes to a session without votes."""
    assert not power_order.exceeds(NO_VOTES, cap)
    nothing = load_profile("system_settings")
    assert in_use(nothing, (), claims(voting_just(cap))) == (nothing, None)


@pytest.mark.parametrize("own", SHIPPED, ids=lambda each: each.name)
def test_a_cap_with_the_compression_engine_off_raises_no_session(own: Profile) -> None:
    """Burst with CENG DISABLE, MIN or unset is as high as burst, which no shipped profile exceeds."""
    for vote in (OFF, ceng("MIN_VOLTAGE_CORNER"), ceng_exp("DISABLE"), ceng_exp("MIN"), None):
        field = "ceng" if isinstance(vote, Ceng) else "ceng_exp"
        assert in_use(own, (), claims(voting(**{field: vote}))) == (own, None)


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        ({"dcvs_v3_exp": hvx_exp(core_perf_mode=ClkPerfMode.LOW)}, {"dcvs_v3_exp": hvx_exp()}),
        ({"dcvs_v3_exp": hvx_exp(bus_perf_mode=ClkPerfMode.HIGH_D1)}, {"dcvs_v3_exp": hvx_exp()}),
        ({"hmx_v2": attrs.evolve(hmx(), perf_mode=ClkPerfMode.LOW)}, {"hmx_v2": hmx()}),
        ({"ceng": attrs.evolve(ceng(), perf_mode=ClkPerfMode.LOW)}, {"ceng": ceng()}),
        ({"ceng": ceng()}, {"ceng": attrs.evolve(ceng(), perf_mode=ClkPerfMode.MAX)}),
    ],
    ids=["core", "bus", "hmx", "ceng", "max"],
)
def test_caps_and_holds_know_the_frequency_of_a_corner(lower: dict[str, object], higher: dict[str, object]) -> None:
    """At the same corner, a cap with a lower perf mode limits a higher one; of two holds the higher one decides."""
    high, low = (
        voting(**{**({"dcvs_v3": None} if "dcvs_v3_exp" in votes else {}), **votes}) for votes in (higher, lower)
    )
    assert rank(high) > rank(low)
    assert in_use(high, (), claims(low))[0] == low
    assert in_use(low, (), claims(high)) == (low, None)
    assert in_use(BALANCED, claims(high, low), ())[0] == high


def voting_just(votes: VoteSet) -> Profile:
    """Return burst with only these votes."""
    return attrs.evolve(BURST, votes=votes)


def test_a_claim_shows_its_profile_by_name() -> None:
    """The repr of a claim has the profile's name only, so a status stays readable."""
    assert repr(claims(load_profile("burst"))[0]) == (
        "Claim(number=1, kind='hold', profile=burst, reason='test', since_us=0, until_us=None)"
    )
