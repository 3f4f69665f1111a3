"""What is in force, for whom, and what failed: one snapshot of a controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.votes import PROCESS_WIDE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends.base import Description
    from htppower.caster import Caster
    from htppower.errors import VoteRejected
    from htppower.events import Degradation
    from htppower.ledger import Ledger
    from htppower.machine import State
    from htppower.usage import Usage
    from htppower.votes import VoteSet


@attrs.frozen
class SessionStatus:
    """One session.

    Attributes:
        number, owner: which session, and what for.
        profile: the name of its profile.
        state: what is known of its votes.
        in_flight: how many inferences are running.
        device_id, core_ids, power_config_ids: where it votes.
        votes: the votes known to be in force, by power config id; without the process-wide settings.
        degradations: the votes of its profile that this platform does not have.
        error: the call that failed last, None once one has succeeded since.
    """

    number: int
    owner: str | None
    profile: str
    state: State
    in_flight: int
    device_id: int
    core_ids: tuple[int, ...]
    power_config_ids: tuple[int, ...]
    votes: dict[int, VoteSet]
    degradations: tuple[Degradation, ...]
    error: VoteRejected | None


@attrs.frozen
class ControllerStatus:
    """A controller.

    Attributes:
        backend: what receives the calls.
        sessions: the open ones, in the order in which they were opened.
        process: the process-wide settings known to be in force.
        orphans: ids of closed sessions that could not be destroyed, with what may still be voted on them; they
            are tried again with the back-off.
    """

    backend: Description
    sessions: tuple[SessionStatus, ...]
    process: VoteSet
    orphans: tuple[int, ...]


def controller_status(backend: Description, sessions: Iterable[Usage], caster: Caster) -> ControllerStatus:
    """Return the snapshot; the controller's lock is held."""
    ledger = caster.ledger
    lines = tuple(_session_status(session, ledger) for session in sessions)
    return ControllerStatus(backend, lines, ledger.process_settings(), tuple(caster.orphans))


def _session_status(session: Usage, ledger: Ledger) -> SessionStatus:
    ids = tuple(session.power_config_ids.values())
    return SessionStatus(
        session.number,
        session.owner,
        session.plan.profile.name,
        session.state,
        session.in_flight,
        session.device_id,
        session.core_ids,
        ids,
        {power_config_id: ledger.in_force(power_config_id).without(*PROCESS_WIDE) for power_config_id in ids},
        session.plan.degradations,
        session.error,
    )
