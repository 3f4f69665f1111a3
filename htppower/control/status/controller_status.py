"""The status of a controller: the votes in force, their sessions, their causes, and the calls that failed.

The JSON form (``document.py``) and the pages of the documentation are made from these classes.
"""

from typing import NamedTuple

import attrs

from htppower.backends.base import Description
from htppower.control.clock.reading import ClockStatus
from htppower.control.core.session_record import LastCall, LastError
from htppower.control.gate.cold_starts import ColdStarts
from htppower.control.gate.cpu_latency import CpuLatencyStatus
from htppower.control.pace.pace_status import PaceStatus
from htppower.control.plans.precedence import Claim
from htppower.control.recording.recorder import RecordingStatus
from htppower.control.status.cores import CoreStatus
from htppower.errors import CallUnderWay, VoteRejected
from htppower.events import Cause, Degradation, LinkState, State
from htppower.votes.vote_set import VoteSet

# This module has no postponed annotations, since other code reads the types of the fields.


@attrs.frozen
class OpenTicket:
    """An inference that ``Session.begin`` has begun, and that has not ended.

    Attributes:
        since_us: when it began.
        until_us: when it ends by itself; None if it has no timeout.
    """

    since_us: int
    until_us: int | None


@attrs.frozen
class LearntSustain:
    """A learnt sustain time, and what it has cost next to the vendor's fixed sustain time of 300 ms.

    Attributes:
        time_out_us: the time that applies after the next inference.
        gaps: how many gaps between inferences it has learnt from.
        raised_us: how long votes were up in them, without raises ahead.
        cold_starts: after how many of them an inference waited for a raise.
        fixed_raised_us: how long votes would have been up with 300 ms.
        fixed_cold_starts: how many inferences would have waited with 300 ms.
    """

    time_out_us: int
    gaps: int
    raised_us: int
    cold_starts: int
    fixed_raised_us: int
    fixed_cold_starts: int


class SessionStatus(NamedTuple):
    """One session. Times are by the controller's clock.

    A tuple, since a host may have thousands: an attrs class takes three times as long to make (measured).

    Attributes:
        number: the number of the session.
        owner: the client or task of the session, or None.
        profile: the name of the profile that it uses.
        own_profile: the name of the profile that it was opened with, or that ``use`` has set.
        holds: the holds on it.
        decided_by: the hold, the cap, the pace or the mode that decides which profile it uses; None if its own profile
            is used.
        state: whether its votes are up, lowered or not known.
        since_us: when it entered that state.
        cause: the cause of its last transition; None before the first one.
        in_flight: how many inferences are running.
        tickets: the inferences that ``Session.begin`` has begun and that have not ended, the oldest first.
        sustained_until_us: when its votes come down unless an inference begins before; None if no timer runs.
        device_id: the device that it votes on.
        core_ids: the cores that it votes on.
        power_config_ids: its power config ids.
        votes: the votes known to be in force, by power config id; without the process-wide settings.
        degradations: the votes of its profile that this platform does not have.
        error: the call that failed last; None if a call has succeeded since.
        last_error: the call that failed last, and when; kept if later calls succeed.
        last_call: its last native call.
        inferences: how many inferences have begun, including those that run or wait for their votes.
        cold_starts: the inferences that waited for a native call before they could begin, and how long they waited.
        calls_sent: how many native calls were made for it.
        calls_saved: how many setPowerConfig calls were not needed, since votes were up when an inference began: two for
            each such inference and core, a raise and a lowering.
        time_in_state_us: how long it has been in each state, up to now.
        learnt: its learnt sustain time; None if its profile states the sustain time.
        learnt_further: the same for the time until its votes relax to the second power state; None if its profile
            states that time, or has no second state. A gap is then from the first relaxing to the next raise:
            ``raised_us`` is how long votes stayed in the first power state, and ``cold_starts`` counts the waits for a
            raise from the second.
        closing: whether it is being closed, and its close waits for a call that has not returned.
        cpu_latency: its limit on the wake-up latency of the CPUs; None if no profile of it had one, and without
            hardware.
        pace: its pace; None if it has none.
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
    cpu_latency: CpuLatencyStatus | None = None
    pace: PaceStatus | None = None


@attrs.frozen
class ProcessSetting:
    """One process-wide setting.

    Attributes:
        name: as in a profile, such as ``rpc_polling_time_us``.
        value: the value in force; None if it is not known or was never voted.
        holders: the numbers of the sessions of this controller that wish for this value, and so keep it in force.
    """

    name: str
    value: int | None
    holders: tuple[int, ...]


@attrs.frozen
class ControllerStatus:
    """A controller.

    Attributes:
        time_us: when the snapshot was taken, by the controller's clock. All other times are by this clock, too.
        backend: the backend that receives the calls.
        number: the number of this controller on that backend, from 1.
        sharing: how many other controllers are on the backend, and share the process-wide settings.
        caps: the caps that are set.
        sessions: the open sessions, the oldest first.
        cores: each core that a session has a power config id on: the votes in force, and the sessions that decide it.
        settings: the process-wide settings, with their holders.
        orphans: ids of closed sessions whose destruction failed. Votes may still be in force on them. The back-off
            tries to destroy them again.
        events_lost: how many events were not delivered because a subscriber was too slow.
        recording: the progress of the recording of its inferences; None if it does not record.
        calls_under_way: the native calls that have not returned yet, the oldest first.
        inferences: how many inferences have begun, on all sessions that were ever open.
        link: the state of the link to the DSP; WELL if calls work.
        process: the process-wide settings known to be in force, as votes.
        clocks: the measured clocks and powers, one for each reader; empty without a reader.
    """

    time_us: int
    backend: Description
    number: int
    sharing: int
    caps: tuple[Claim, ...]
    sessions: tuple[SessionStatus, ...]
    cores: tuple[CoreStatus, ...]
    settings: tuple[ProcessSetting, ...]
    orphans: tuple[int, ...]
    events_lost: int
    recording: RecordingStatus | None
    calls_under_way: tuple[CallUnderWay, ...]
    inferences: int
    link: LinkState
    process: VoteSet
    clocks: tuple[ClockStatus, ...] = ()
