"""What is in force, for whom, since when and why, and what failed: one snapshot of a controller."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, NamedTuple

import attrs

from htppower.control.phases.tickets import open_tickets
from htppower.control.status.cores import CoreStatus, core_statuses
from htppower.events import LinkState, State
from htppower.votes.field_repr import field_repr
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.backends.base import Description
    from htppower.control.core.cold_starts import ColdStarts
    from htppower.control.core.engine import Engine
    from htppower.control.core.gate import Gate
    from htppower.control.core.precedence import Claim
    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.session_record import LastCall, LastError, SessionRecord
    from htppower.control.learning.learners import Learners
    from htppower.control.recording.recorder import RecordingStatus
    from htppower.errors import CallUnderWay, VoteRejected
    from htppower.events import Cause, Degradation
    from htppower.votes.native import Option
    from htppower.votes.vote_set import VoteSet

# Read off the class they take longer.
_MAY_BE_UP = (State.RAISED, State.UNKNOWN)
_DESTROYED = State.DESTROYED
_NUMBER = operator.attrgetter("number")


@attrs.frozen
class OpenTicket:
    """An inference that ``Session.begin`` has begun and nobody has ended.

    Attributes:
        since_us: when it began.
        until_us: when it ends by itself, None where it has no timeout.
    """

    since_us: int
    until_us: int | None

    __repr__ = field_repr


@attrs.frozen
class LearntSustain:
    """What a session has learnt of its sustain time, and what that was good for.

    Attributes:
        time_out_us: the time from the next end of an inference on.
        gaps: how many gaps between inferences it has learnt from.
        raised_us: how long votes were up in them.
        cold_starts: after how many of them an inference waited for a raise.
        fixed_raised_us, fixed_cold_starts: the same with a sustain time of 300 ms, the vendor's.
    """

    time_out_us: int
    gaps: int
    raised_us: int
    cold_starts: int
    fixed_raised_us: int
    fixed_cold_starts: int

    __repr__ = field_repr


class SessionStatus(NamedTuple):
    """One session. Times are by the controller's clock.

    A tuple, since a host may have thousands: a frozen value of attrs takes three times as long to make (measured).

    Attributes:
        number, owner: which session, and what for.
        profile: the name of the profile that it uses.
        own_profile: the name of the profile that it was opened with, or that ``use`` gave it.
        holds: the holds on it.
        decided_by: the hold or the cap that decides which profile it uses, None where its own does.
        state: what is known of its votes.
        since_us: when it came into that state.
        cause: why it made its last transition, None where it has made none.
        in_flight: how many inferences are running.
        tickets: those of them that ``Session.begin`` has begun, the oldest first: it may have been abandoned.
        sustained_until_us: when its votes come down unless an inference begins before; None where no timer runs.
        device_id, core_ids, power_config_ids: where it votes.
        votes: the votes known to be in force, by power config id; without the process-wide settings.
        degradations: the votes of its profile that this platform does not have.
        error: the call that failed last, None once one has succeeded since.
        last_error: the call that failed last and when, also where others have succeeded since.
        last_call: its last native call.
        inferences: how many inferences have begun, with those that run or wait for their votes.
        cold_starts: those that waited for a native call before they could begin, and how long they waited.
        calls_sent: how many native calls were made for it.
        calls_saved: how many setPowerConfig calls its inferences did without, since its votes were up when they began:
            a raise and a lowering each, on each core.
        time_in_state_us: for how long it has been in each state, all stays together, up to now.
        learnt: what it has learnt of its sustain time, None where its profile states that.
        learnt_further: the same of the time until its relaxed votes relax further. Its gaps are from when they were
            relaxed to the next raise; they stayed in the first power state for ``raised_us``, and ``cold_starts``
            waited for a raise from the second.
        closing: whether it is being closed, and a call that has not returned yet keeps it.
    """

    number: int
    owner: str | None
    profile: str
    own_profile: str
    holds: tuple[Claim, ...]
    decided_by: Claim | None
    state: State
    since_us: int
    cause: Cause | None
    in_flight: int
    tickets: tuple[OpenTicket, ...]
    sustained_until_us: int | None
    device_id: int
    core_ids: tuple[int, ...]
    power_config_ids: tuple[int, ...]
    votes: dict[int, VoteSet]
    degradations: tuple[Degradation, ...]
    error: VoteRejected | None
    last_error: LastError | None
    last_call: LastCall | None
    inferences: int
    cold_starts: ColdStarts
    calls_sent: int
    calls_saved: int
    time_in_state_us: dict[State, int]
    learnt: LearntSustain | None
    learnt_further: LearntSustain | None = None
    closing: bool = False


@attrs.frozen
class ProcessSetting:
    """One process-wide setting.

    Attributes:
        name: as in a profile, such as ``rpc_polling_time_us``.
        value: what is known to be in force, None where that is not known or was never voted.
        holders: the numbers of the controller's sessions whose votes ask for that value, and so keep it in force.
    """

    name: str
    value: int | None
    holders: tuple[int, ...]

    __repr__ = field_repr


@attrs.frozen
class ControllerStatus:
    """A controller.

    Attributes:
        time_us: when the snapshot was taken, by the controller's clock.
        backend: what receives the calls.
        number: which controller on that backend it is, from 1.
        sharing: how many other controllers are on it, with which it shares the process-wide settings.
        sessions: the open ones, in the order in which they were opened.
        cores: each core on which a session has a power config id: what is in force, and whose votes decide it.
        process: the process-wide settings known to be in force.
        settings: each of them, with its holders.
        caps: the caps that are set.
        orphans: ids that no session has any more and that could not be destroyed, with what may be voted on them; they
            are tried again with the back-off.
        events_lost: how many events subscribers were too slow for.
        recording: how the recording of its inferences goes, None where there is none.
        calls_under_way: the native calls that have not returned yet, in the order in which they began.
        inferences: how many inferences have begun, on all sessions that were ever open.
        link: what is known of the link to the DSP.
    """

    time_us: int
    backend: Description
    number: int
    sharing: int
    sessions: tuple[SessionStatus, ...]
    cores: tuple[CoreStatus, ...]
    process: VoteSet
    settings: tuple[ProcessSetting, ...]
    caps: tuple[Claim, ...]
    orphans: tuple[int, ...]
    events_lost: int
    recording: RecordingStatus | None = None
    calls_under_way: tuple[CallUnderWay, ...] = ()
    inferences: int = 0
    link: LinkState = LinkState.WELL

    __repr__ = field_repr


def controller_status(
    now_us: int,
    backend: Description,
    sessions: tuple[SessionRecord, ...],
    inferences_before: int,
    engine: Engine,
    number: int,
    caps: tuple[Claim, ...],
    events_lost: int,
    recording: RecordingStatus | None,
) -> ControllerStatus:
    """Return the snapshot. It waits for no call: what it reads of a session is replaced whole when it changes.

    ``inferences_before``: how many inferences there were on sessions that are not open any more.
    """
    process, own = engine.settings.now.known, frozenset(sessions)
    statuses, inferences = [], inferences_before
    for session in sessions:
        if session.state is _DESTROYED:
            # It is not removed yet. Its inferences count all the same: a counter must not go down.
            inferences += session.gate.inferences
        else:
            statuses.append(_session_status(session, now_us))
            inferences += statuses[-1].inferences
    return ControllerStatus(
        now_us,
        backend,
        number,
        max(0, len(engine.homes) - 1),
        tuple(statuses),
        core_statuses(sessions, process),
        process,
        tuple(_setting(option, engine.settings, own) for option in VOTE_OPTIONS if option in PROCESS_WIDE),
        caps,
        tuple(engine.recovery.orphans),
        events_lost,
        recording,
        engine.calls_under_way,
        inferences,
        engine.recovery.link.state,
    )


def _setting(option: Option, settings: ProcessSettings, sessions: frozenset[SessionRecord]) -> ProcessSetting:
    value = settings.now.known.get(option)
    holders = sessions.intersection(settings.holders(option, value)) if value else ()
    return ProcessSetting(VOTE_OPTIONS[option].field, value, tuple(sorted(map(_NUMBER, holders))))


def _session_status(session: SessionRecord, now_us: int) -> SessionStatus:
    # There may be thousands: a call more for each, as by a comprehension or a property, takes a twentieth of all.
    votes = {}
    for ledger in session.ledgers.values():
        votes[ledger.power_config_id] = ledger.now.known
    gate, history, state = session.gate, session.history, session.state
    plan, learning = gate.plan, gate.learning
    in_flight, begun, sustained_until_us, inferences = gate.counts()
    told, saves = history.saves
    if plan.casts:
        saves += begun - told
    noted, since_us, cause, left_us = history.stay
    # It may have begun after the time of this status was read.
    since_us = min(since_us, now_us)
    # In two steps: one display would make two dictionaries.
    lasted_us = left_us.copy()
    lasted_us[noted] = lasted_us.get(noted, 0) + now_us - since_us
    if noted is not state:
        # The state has just changed, and that is about to be noted.
        since_us = now_us
        lasted_us.setdefault(state, 0)
    # In the order of the fields: by their names it takes 1.6 times as long.
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
    )


def _learnt(gate: Gate, learners: Learners) -> LearntSustain | None:
    with gate.lock:
        learner = learners.current
        return None if learner is None else LearntSustain(learner.learnt_us, *learner.savings())


def _open_tickets(session: SessionRecord) -> tuple[OpenTicket, ...]:
    return tuple(OpenTicket(ticket.since_us, ticket.until_us) for ticket in open_tickets(session))
