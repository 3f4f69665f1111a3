"""The profiles of random sessions, and assertions about the votes in force and lowered clocks on the simulated HTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from support.inside import is_restart_unnoticed

from htppower import Lowering, Profile, Session, State, load_profile
from htppower.control.core.heartbeat import DEFAULT_HEARTBEAT_US
from htppower.events import Transition
from htppower.votes.clock_votes import HmxV2
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, VoltageCorner
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Collection

    from support.bench import Bench

    from htppower.backends.simulated.clocks import Client

CORES = (0, 1)


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


def assert_in_force(client: Client, votes: VoteSet) -> None:
    """Assert that an id has these votes; fields that are not set may have any value."""
    dcvs, hmx = votes.dcvs_v3, votes.hmx_v2
    if dcvs is not None:
        assert dcvs.dcvs_enable in (None, client.dcvs_enable)
        assert dcvs.sleep_latency_us in (None, client.sleep_latency_us)
        assert dcvs.sleep_disable in (None, client.sleep_disable)
        for voted, found in ((dcvs.bus, client.bus), (dcvs.core, client.core)):
            assert voted is None or (voted.min, voted.target, voted.max) == found
    if hmx is not None:
        assert client.explicit_hmx == (None if hmx.pick_default else (hmx.min, hmx.target, hmx.max))


def assert_lowered(bench: Bench, idle: Collection[Session], sessions: Collection[Session]) -> None:
    """Assert that the clocks are down, even after failures, when calls succeed again.

    ``idle``: the sessions without a running inference.
    """
    for session in idle:
        assert session.state in (State.LOWERED, State.UNVOTED)
    if len(idle) == len(sessions):
        for core in CORES:
            assert bench.effective(core).core_target <= VoltageCorner.SVS
            assert not bench.effective(core).sleep_disable
        assert bench.effective().rpc_polling_time_us == 0
        assert bench.effective().adaptive_polling_time_us == 0


def assert_restart_noticed(bench: Bench, session: Session) -> None:
    """Assert that the heartbeat notices a restart within twice its period if a session stays up."""
    with session.inference():
        bench.simulated.restart_subsystem()
        bench.time.advance_us(2 * DEFAULT_HEARTBEAT_US)
        assert not (session.state is State.RAISED and is_restart_unnoticed(bench.simulated))


def casts(session: Session) -> bool:
    """Return whether a session casts any vote that its platform supports."""
    return bool(session.profile.votes.without(*(lost.option for lost in session.degradations)))


def lowered_to(bench: Bench, session: Session, *, after_deinit: bool) -> VoteSet:
    """Return the votes of the power state that a session was lowered to; another profile since changes nothing."""
    lowered_by = next(
        event.profile
        for event in reversed(bench.events)
        if isinstance(event, Transition) and event.session == session.number and event.dest is State.LOWERED
    )
    relax = BY_NAME[str(lowered_by)].relax
    assert relax is not None
    return (relax.after_deinit_to if after_deinit else relax.to).votes
