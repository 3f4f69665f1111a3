"""What happened, as frozen values handed to subscribers. May import votes and errors."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from htppower.errors import VoteRejected
    from htppower.votes.option import Option
    from htppower.votes.vote_set import VoteSet


class State(str, enum.Enum):
    """What is known of a session's votes."""

    UNVOTED = "UNVOTED"
    RAISED = "RAISED"
    LOWERED = "LOWERED"
    UNKNOWN = "UNKNOWN"
    DESTROYED = "DESTROYED"

    __str__ = str.__str__


class Trigger(str, enum.Enum):
    """What takes a session from one state to another."""

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
    """Why a native call was made."""

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
    """What is known of the link to the DSP."""

    WELL = "WELL"
    LOST = "LOST"
    SUSPECT = "SUSPECT"
    DEAD = "DEAD"
    HELD = "HELD"

    __str__ = str.__str__


class HoldEnd(str, enum.Enum):
    """What ended a hold."""

    RELEASED = "released"
    TIMEOUT = "timeout"
    OWNER_GONE = "owner gone"
    HANDLE_DROPPED = "handle dropped"
    SESSION_CLOSED = "session closed"

    __str__ = str.__str__


@attrs.frozen
class Degradation:
    """A vote of the profile that this platform does not have; the session works without it.

    Attributes:
        rule: the id of the rule.
        message: what is missing.
        option: the option that is left out.
        hint: what to vote, or to run it on, instead.
    """

    rule: str
    message: str
    option: Option
    hint: str = ""

    __repr__ = field_repr


@attrs.frozen
class Event:
    """What every event carries.

    Attributes:
        order: 1 for a controller's first event, and one more for each that follows: a gap is an event that was lost.
        time_us: when, by the controller's clock.
        session: the session's number within its controller; 0 for what is the controller's own.
        owner: what the session was opened for, or None.
        profile: the name of the profile that the session uses.
    """

    order: int
    time_us: int
    session: int
    owner: str | None
    profile: str

    __repr__ = field_repr


@attrs.frozen(repr=False)
class SessionOpened(Event):
    """A session was opened and its power config ids were created.

    Attributes:
        power_config_ids: the ids, in the order of the cores; none where the profile has no votes.
        cause: always ``SESSION_OPENED``.
    """

    power_config_ids: tuple[int, ...]
    cause: Cause = Cause.SESSION_OPENED


@attrs.frozen(repr=False)
class CallMade(Event):
    """A native call was made, and has returned.

    Attributes:
        function: the native function.
        power_config_id: the id that it was made on, or that it created; None for a create that failed.
        votes: what a setPowerConfig carried; None for the other functions.
        code: the native code; 0 is success.
        duration_us: how long it took.
    """

    function: str
    power_config_id: int | None
    votes: VoteSet | None
    code: int
    duration_us: int


@attrs.frozen(repr=False)
class Transition(Event):
    """A session's state changed, after the native calls that changed it.

    Attributes:
        trigger: the transition.
        source, dest: the states before and after.
        cause: why.
        phase: the phase that began or ended, or None.
        error: for ``lose``, the native call that failed; None where another session's call told of the loss.
        attempted: for ``lose``, the transition of which the call failed; None where another session's call told of the
            loss, or where the votes were cast again by the heartbeat.
        lasted_us: how long the session was in the state before.
        late_us: for a lowering by the sustain timer or in the background, by how much it began after its deadline; one
            in the background is due when the inference ends. None otherwise.
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


@attrs.frozen(repr=False)
class LinkChanged(Event):
    """The link to the DSP is in another state.

    Attributes:
        source, dest: the states before and after.
        error: the call that told so; None if the link is well again.
    """

    source: LinkState
    dest: LinkState
    error: VoteRejected | None = None


@attrs.frozen(repr=False)
class Recovered(Event):
    """The votes of a session are known again, after a failed call or a restart of the DSP.

    Attributes:
        state: what they are now.
        unknown_us: for how long they were not known.
        cause: what brought them back.
    """

    state: State
    unknown_us: int
    cause: Cause


@attrs.frozen(repr=False)
class CallsSaved(Event):
    """Votes came down, or were lost, that had served more inferences than the one that they were raised for.

    Attributes:
        inferences: how many began while the votes were up, and made no call.
        calls: how many setPowerConfig calls that saved: a raise and a lowering for each, on each core.
    """

    inferences: int
    calls: int


@attrs.frozen(repr=False)
class ColdStart(Event):
    """An inference has begun that waited for a native call.

    Attributes:
        wait_us: how long it waited, until its votes were in force or the call failed.
    """

    wait_us: int


@attrs.frozen(repr=False)
class SustainLearned(Event):
    """A session has learnt another sustain time, from a gap in which its votes came down.

    Attributes:
        before_us, after_us: the time before, and from the next gap on.
        gaps: how many it has learnt from so far.
        raised_us: how long its votes have been up in them, but for raises ahead.
        cold_starts: after how many of them an inference waited for a raise.
        further: whether this is the time until relaxed votes relax further; the gaps are from when they were relaxed to
            the next raise then, and ``raised_us`` is how long they stayed in the first power state.
    """

    before_us: int
    after_us: int
    gaps: int
    raised_us: int
    cold_starts: int
    further: bool = False


@attrs.frozen(repr=False)
class ProfileChanged(Event):
    """A session uses another profile: by ``use``, or because a hold or a cap began or ended.

    Attributes:
        before: the name of the profile that it used before.
        cause: which of them.
        reason: what the hold or the cap was asked for; None for ``use``.
    """

    before: str
    cause: Cause
    reason: str | None = None


@attrs.frozen(repr=False)
class HoldBegan(Event):
    """A hold began on a session.

    Attributes:
        held: the name of its profile.
        reason: what it was asked for.
        until_us: when it ends by itself, or None.
    """

    held: str
    reason: str
    until_us: int | None


@attrs.frozen(repr=False)
class HoldEnded(Event):
    """A hold ended.

    Attributes:
        held: the name of its profile.
        reason: what it was asked for.
        end: what ended it.
    """

    held: str
    reason: str
    end: HoldEnd


@attrs.frozen(repr=False)
class CapSet(Event):
    """A cap was set on every session.

    Attributes:
        cap: the name of its profile.
        reason: what it was asked for.
    """

    cap: str
    reason: str


@attrs.frozen(repr=False)
class CapLifted(Event):
    """A cap was lifted.

    Attributes:
        cap: the name of its profile.
        reason: what it was asked for.
    """

    cap: str
    reason: str


@attrs.frozen(repr=False)
class Degraded(Event):
    """The platform does not have a vote of the session's profile.

    Attributes:
        degradation: which vote, and why.
    """

    degradation: Degradation


@attrs.frozen(repr=False)
class ReleaseFailed(Event):
    """A power config id could not be destroyed, or process-wide settings not be given back, when a session closed.

    Attributes:
        power_config_id: the id that the call was made on.
        error: the call that failed.
    """

    power_config_id: int
    error: VoteRejected
