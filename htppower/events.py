"""Events: frozen values that are delivered to subscribers. May import votes and errors."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from htppower.errors import VoteRejected
    from htppower.votes.options import Option
    from htppower.votes.vote_set import VoteSet


class State(str, enum.Enum):
    """How much is known about a session's votes."""

    UNVOTED = "UNVOTED"
    RAISED = "RAISED"
    LOWERED = "LOWERED"
    UNKNOWN = "UNKNOWN"
    DESTROYED = "DESTROYED"

    __str__ = str.__str__


class Trigger(str, enum.Enum):
    """The transition between two states of a session."""

    RAISE = "raise"
    REVISE = "revise"
    LOWER = "lower"
    LOWER_FURTHER = "lower further"
    LOSE = "lose"
    RELEASE = "release"
    DESTROY = "destroy"

    __str__ = str.__str__


class Phase(str, enum.Enum):
    """A stage of graph execution."""

    INIT = "INIT"
    INFERENCE = "INFERENCE"
    DEINIT = "DE-INIT"

    __str__ = str.__str__


class Cause(str, enum.Enum):
    """The reason for a native call."""

    SESSION_OPENED = "session opened"
    INIT_BEGAN = "INIT began"
    INIT_ENDED = "INIT ended"
    INFERENCE_BEGAN = "inference began"
    INFERENCE_ENDED = "inference ended"
    SUSTAIN_EXPIRED = "sustain expired"
    INFERENCE_EXPECTED = "inference expected"
    EXPECTED_IN_VAIN = "inference expected in vain"
    DEINIT_BEGAN = "DE-INIT began"
    DEINIT_ENDED = "DE-INIT ended"
    PROFILE_CHANGED = "profile changed"
    HOLD_BEGAN = "hold began"
    HOLD_ENDED = "hold ended"
    CAP_SET = "cap set"
    CAP_LIFTED = "cap lifted"
    LINK_LOST = "link to the DSP lost"
    RETRIED = "retried"
    HEARTBEAT = "heartbeat"
    SESSION_CLOSED = "session closed"

    __str__ = str.__str__


class LinkState(str, enum.Enum):
    """How much is known about the link to the DSP."""

    WELL = "WELL"
    LOST = "LOST"
    SUSPECT = "SUSPECT"
    DEAD = "DEAD"
    HELD = "HELD"

    __str__ = str.__str__


class HoldEnd(str, enum.Enum):
    """The reason for the end of a hold."""

    RELEASED = "released"
    TIMEOUT = "timeout"
    OWNER_GONE = "owner gone"
    HANDLE_DROPPED = "handle dropped"
    SESSION_CLOSED = "session closed"

    __str__ = str.__str__


@attrs.frozen
class Degradation:
    """A vote of the profile that this platform lacks; the session works without it.

    Attributes:
        rule: the id of the rule.
        message: what is missing.
        option: the option that is omitted.
        hint: another vote or another platform to use instead.
    """

    rule: str
    message: str
    option: Option
    hint: str = ""


@attrs.frozen
class Event:
    """The fields of every event.

    Attributes:
        order: 1 for a controller's first event, then 2, 3, ...: a missing number means a lost event.
        time_us: the time by the controller's clock.
        session: the session's number within its controller; 0 for events of the controller itself.
        owner: the owner that the session was opened for, or None.
        profile: the name of the profile that the session uses.
    """

    order: int
    time_us: int
    session: int
    owner: str | None
    profile: str


@attrs.frozen
class SessionOpened(Event):
    """A session was opened and its power config ids were created.

    Attributes:
        power_config_ids: the ids, in the order of the cores; empty if the profile has no votes.
        cause: always ``SESSION_OPENED``.
    """

    power_config_ids: tuple[int, ...]
    cause: Cause = Cause.SESSION_OPENED


@attrs.frozen
class CallMade(Event):
    """A native call was made, and has returned.

    Attributes:
        function: the native function.
        power_config_id: the id of the call, or the created id; None if the create failed.
        votes: the votes of a setPowerConfig; None for the other functions.
        code: the native code; 0 is success.
        duration_us: how long it took.
    """

    function: str
    power_config_id: int | None
    votes: VoteSet | None
    code: int
    duration_us: int


@attrs.frozen
class Transition(Event):
    """A session's state changed, after the native calls that changed it.

    Attributes:
        trigger: the transition.
        source, dest: the states before and after.
        cause: the reason.
        phase: the phase that began or ended, or None.
        error: for ``lose``, the native call that failed; None if another session's call reported the loss.
        attempted: for ``lose``, the transition whose call failed; None if another session's call reported the loss, or
            if the heartbeat was sending the votes again.
        lasted_us: how long the session was in the state before.
        late_us: for a lowering by the sustain timer or in the background, how long after its deadline it began; in the
            background, the deadline is the end of the inference. None otherwise.
    """

    trigger: Trigger
    source: State
    dest: State
    cause: Cause
    phase: Phase | None
    error: VoteRejected | None = None
    attempted: Trigger | None = None
    lasted_us: int = 0
    late_us: int | None = None


@attrs.frozen
class LinkChanged(Event):
    """The state of the link to the DSP changed.

    Attributes:
        source, dest: the states before and after.
        error: the call that reported it; None if the link works again.
    """

    source: LinkState
    dest: LinkState
    error: VoteRejected | None = None


@attrs.frozen
class Recovered(Event):
    """The votes of a session are known again after a failed call or a restart of the DSP.

    Attributes:
        state: the state of the votes now.
        unknown_us: how long the votes were unknown.
        cause: the reason why they are known again.
    """

    state: State
    unknown_us: int
    cause: Cause


@attrs.frozen
class CallsSaved(Event):
    """Votes came down or were lost, after they had served more inferences than the one that raised them.

    Attributes:
        inferences: how many inferences began while the votes were up, and needed no call.
        calls: how many setPowerConfig calls this saved: a raise and a lowering for each inference on each core.
    """

    inferences: int
    calls: int


@attrs.frozen
class ColdStart(Event):
    """An inference had to wait for a native call before it began.

    Attributes:
        wait_us: how long it waited, until its votes were in force or the call failed.
    """

    wait_us: int


@attrs.frozen
class SustainLearned(Event):
    """A session learnt a new sustain time from a gap in which its votes came down.

    Attributes:
        before_us, after_us: the old time, and the time from the next gap on.
        gaps: how many gaps it has learnt from so far.
        raised_us: how long its votes were up in these gaps, without raises ahead.
        cold_starts: after how many of these gaps an inference waited for a raise.
        further: True if this is the time until the second power state. The gaps then begin when the votes are relaxed
            and end with the next raise, and ``raised_us`` is the time in the first power state.
    """

    before_us: int
    after_us: int
    gaps: int
    raised_us: int
    cold_starts: int
    further: bool = False


@attrs.frozen
class ProfileChanged(Event):
    """A session uses another profile, because of ``use``, a pace, or because a hold or a cap began or ended.

    Attributes:
        before: the name of the profile that it used before.
        cause: the reason.
        reason: the reason given for the hold or the cap, or the reason of the pace; None for ``use``.
    """

    before: str
    cause: Cause
    reason: str | None = None


@attrs.frozen
class HoldBegan(Event):
    """A hold began on a session.

    Attributes:
        held: the name of its profile.
        reason: the reason given for the hold.
        until_us: when it ends automatically, or None.
    """

    held: str
    reason: str
    until_us: int | None


@attrs.frozen
class HoldEnded(Event):
    """A hold ended.

    Attributes:
        held: the name of its profile.
        reason: the reason given for the hold.
        end: why it ended.
    """

    held: str
    reason: str
    end: HoldEnd


@attrs.frozen
class CapSet(Event):
    """A cap was set on every session.

    Attributes:
        cap: the name of its profile.
        reason: the reason given for the cap.
    """

    cap: str
    reason: str


@attrs.frozen
class CapLifted(Event):
    """A cap was lifted.

    Attributes:
        cap: the name of its profile.
        reason: the reason given for the cap.
    """

    cap: str
    reason: str


@attrs.frozen
class Degraded(Event):
    """The platform lacks a vote of the session's profile.

    Attributes:
        degradation: which vote, and why.
    """

    degradation: Degradation


@attrs.frozen
class ReleaseFailed(Event):
    """When a session closed, a power config id could not be destroyed, or process-wide settings not be restored.

    Attributes:
        power_config_id: the id of the call.
        error: the call that failed.
    """

    power_config_id: int
    error: VoteRejected
