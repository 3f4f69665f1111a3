"""The profiles for random sessions: some shipped ones, and some whose votes need more calls to take back."""

from __future__ import annotations

import attrs

from htppower import Lowering, Profile, load_profile
from htppower.votes.clock_votes import HmxV2
from htppower.votes.corners import ClkPerfMode, ExpandedCorner
from htppower.votes.vote_set import VoteSet


def _made_in_code() -> tuple[Profile, ...]:
    """Return profiles with votes to take back: explicit HMX, no sleep, adaptive polling, a hold after INIT, gaps.

    One more is lowered in the background, and one votes only for a setting of the process.
    """
    burst = load_profile("burst")
    assert burst.relax is not None
    lowered = burst.relax.to.votes
    assert burst.votes.dcvs_v3 is not None
    assert lowered.dcvs_v3 is not None
    hmx = HmxV2(ExpandedCorner.NOM, ExpandedCorner.TUR, ExpandedCorner.TUR, ClkPerfMode.LOW)
    awake = attrs.evolve(lowered.dcvs_v3, sleep_disable=False)
    cleared = attrs.evolve(burst.relax.to, votes=attrs.evolve(lowered, dcvs_v3=awake))
    sleepless = attrs.evolve(
        burst,
        name="sleepless",
        votes=attrs.evolve(
            burst.votes,
            dcvs_v3=attrs.evolve(burst.votes.dcvs_v3, sleep_disable=True),
            hmx_v2=hmx,
            adaptive_polling_time_us=2000,
        ),
        relax=attrs.evolve(burst.relax, to=cleared, after_deinit_to=cleared),
    )
    holding = attrs.evolve(
        burst,
        name="holding",
        votes=attrs.evolve(burst.votes, hmx_v2=None, rpc_polling_time_us=None, hmx_timeout_us=1000),
        relax=attrs.evolve(burst.relax, after_init_us=400_000, after_inference_us=20_000),
    )
    core_only = attrs.evolve(
        burst,
        name="core_only",
        votes=VoteSet(dcvs_v3=attrs.evolve(burst.votes.dcvs_v3, bus=None, sleep_latency_us=None)),
    )
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    behind = attrs.evolve(
        balanced, name="behind", relax=attrs.evolve(balanced.relax, lowering=Lowering.BACKGROUND, after_init_us=20_000)
    )
    unpolled = attrs.evolve(balanced.relax.to, votes=VoteSet(rpc_polling_time_us=0))
    polls_only = attrs.evolve(
        balanced,
        name="polls_only",
        votes=VoteSet(rpc_polling_time_us=5000),
        relax=attrs.evolve(balanced.relax, to=unpolled, after_deinit_to=unpolled, after_inference_us=20_000),
    )
    return sleepless, holding, core_only, behind, polls_only


SHIPPED = ("burst", "high_performance", "balanced", "power_saver", "extreme_power_saver", "system_settings")
MADE_IN_CODE = _made_in_code()
PROFILES: tuple[str | Profile, ...] = (*SHIPPED, *MADE_IN_CODE)
BY_NAME = {profile.name: profile for profile in (*map(load_profile, SHIPPED), *MADE_IN_CODE)}
