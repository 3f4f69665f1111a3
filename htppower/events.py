"""What happened, as frozen values handed to subscribers."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from htppower.errors import VoteRejected
    from htppower.machine import State, Trigger
    from htppower.native import Option


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
    DEINIT_BEGAN = "DE-INIT began"
    DEINIT_ENDED = "DE-INIT ended"
    PROFILE_CHANGED = "profile changed"
    LINK_LOST = "link to the DSP lost"
    RETRIED = "retried"
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


@attrs.frozen
class Event:
    """What every event carries.

    Attributes:
        time_us: when, by the controller's clock.
        session: the session's number within its controller.
        owner: what the session was opened for, or None.
        profile: the name of the session's profile.
    """

    time_us: int
    session: int
    owner: str | None
    profile: str


@attrs.frozen
class SessionOpened(Event):
    """A session was opened and its power config ids were created."""

    power_config_ids: tuple[int, ...]
    cause: Cause = Cause.SESSION_OPENED


@attrs.frozen
class Transition(Event):
    """A session's state changed, after the native calls that changed it.

    Attributes:
        trigger: the transition.
        source, dest: the states before and after.
        cause: why.
        phase: the phase that began or ended, or None.
        error: for ``lose``, the native call that failed; None where another session's call told of the loss.
    """

    trigger: Trigger
    source: State
    dest: State
    cause: Cause
    phase: Phase | None
    error: VoteRejected | None = None


@attrs.frozen
class Degraded(Event):
    """The platform does not have a vote of the session's profile."""

    degradation: Degradation


@attrs.frozen
class ReleaseFailed(Event):
    """A power config id could not be destroyed, or process-wide settings not be given back, when a session closed."""

    power_config_id: int
    error: VoteRejected
