"""Assertions about the simulated HTP in tests with random sessions: the votes in force, and lowered clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.inside import is_restart_unnoticed
from support.session_profiles import BY_NAME

from htppower import Session, State
from htppower.control.core.heartbeat import DEFAULT_HEARTBEAT_US
from htppower.events import Transition
from htppower.votes.corners import VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Collection

    from support.bench import Bench

    from htppower.backends.simulated.clocks import Client
    from htppower.votes.vote_set import VoteSet

CORES = (0, 1)


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
