"""Taking the status of a controller while its other threads work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.gate.counts import count_all, count_inferences
from htppower.control.phases.tickets import open_tickets
from htppower.control.status.controller_status import (
    ControllerStatus,
    LearntSustain,
    OpenTicket,
    ProcessSetting,
    SessionStatus,
)
from htppower.control.status.cores import core_statuses
from htppower.events import State
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.backends.base import Description
    from htppower.control.clock.reading import ClockStatus
    from htppower.control.core.engine import Engine
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.gate.gate import Gate
    from htppower.control.learning.learners import Learners
    from htppower.control.ledger.process_settings import ProcessSettings
    from htppower.control.recording.recorder import RecordingStatus
    from htppower.control.registry import Registry
    from htppower.votes.native import Option

# Reading the values from the class each time would take longer.
_MAY_BE_UP = (State.RAISED, State.UNKNOWN)
_DESTROYED = State.DESTROYED


def controller_status(
    time_us: int,
    backend: Description,
    number: int,
    engine: Engine,
    registry: Registry,
    events_lost: int,
    recording: RecordingStatus | None,
    clocks: tuple[ClockStatus, ...] = (),
) -> ControllerStatus:
    """Return the snapshot.

    This waits for no call, since the values of a session are replaced as a whole, never changed.
    """
    sessions, inferences = registry.counted()
    process, own = engine.settings.now.known, frozenset(sessions)
    statuses = []
    for session in sessions:
        if session.state is _DESTROYED:
            # The session is about to be removed. Its inferences still count, since a counter must not fall.
            inferences += count_inferences(session.gate)
        else:
            statuses.append(_session_status(session, time_us))
            inferences += statuses[-1].inferences
    return ControllerStatus(
        time_us=time_us,
        backend=backend,
        number=number,
        sharing=max(0, len(engine.homes) - 1),
        caps=registry.caps,
        sessions=tuple(statuses),
        cores=core_statuses(sessions, process),
        settings=tuple(_setting(option, engine.settings, own) for option in VOTE_OPTIONS if option in PROCESS_WIDE),
        orphans=tuple(engine.recovery.orphans),
        events_lost=events_lost,
        recording=recording,
        calls_under_way=engine.calls_under_way,
        inferences=inferences,
        link=engine.recovery.link.state,
        process=process,
        clocks=clocks,
    )


def _setting(option: Option, settings: ProcessSettings, sessions: frozenset[SessionRecord]) -> ProcessSetting:
    value = settings.now.known.get(option)
    holders = sessions.intersection(settings.holders(option, value)) if value else ()
    return ProcessSetting(VOTE_OPTIONS[option].field, value, tuple(sorted([session.number for session in holders])))


def _session_status(session: SessionRecord, now_us: int) -> SessionStatus:
    # A host may have thousands of sessions. Each further function call here, such as a comprehension or a property,
    # costs 5 %.
    votes = {}
    for ledger in session.ledgers.values():
        votes[ledger.power_config_id] = ledger.now.known
    gate, history, state = session.gate, session.history, session.state
    plan, learning = gate.plan, gate.learning
    in_flight, begun, sustained_until_us, inferences = count_all(gate)
    told, saves = history.saves
    if plan.casts:
        saves += begun - told
    noted, since_us, cause, left_us = history.stay
    # The session may have entered its state after this status read the clock, so the time may be negative.
    since_us = min(since_us, now_us)
    # Made in two steps: a single display would build two dictionaries.
    lasted_us = left_us.copy()
    lasted_us[noted] = lasted_us.get(noted, 0) + now_us - since_us
    if noted is not state:
        # The state has just changed, and the new stay is not recorded yet.
        since_us = now_us
        lasted_us.setdefault(state, 0)
    # Positional arguments, in the order of the fields: keyword arguments would take 1.6 times as long.
    return SessionStatus(
        session.number,
        session.owner,
        plan.profile.name,
        session.own.name,
        session.holds,
        session.decided_by,
        state,
        since_us,
        cause,
        in_flight,
        _open_tickets(session) if session.tickets else (),
        sustained_until_us if state in _MAY_BE_UP else None,
        session.device_id,
        session.core_ids,
        (*votes,),
        votes,
        plan.degradations,
        session.error,
        history.last_error,
        history.last_call,
        inferences,
        gate.cold_starts,
        history.calls,
        2 * saves * len(session.core_ids),
        lasted_us,
        None if learning is None else _learnt(gate, learning.gaps.learners),
        None if learning is None else _learnt(gate, learning.second.learners),
        gate.closing,
        None if gate.cpu is None else gate.cpu.status(),
        None if session.pace is None else session.pace.status(),
    )


def _learnt(gate: Gate, learners: Learners) -> LearntSustain | None:
    with gate.lock:
        learner = learners.current
        return None if learner is None else LearntSustain(learner.learnt_us, *learner.savings())


def _open_tickets(session: SessionRecord) -> tuple[OpenTicket, ...]:
    return tuple(OpenTicket(ticket.since_us, ticket.until_us) for ticket in open_tickets(session))
