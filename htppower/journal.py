"""Who is told what happened: subscribers, in order, and the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

from htppower.events import Cause, Degraded, ReleaseFailed, Transition

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.errors import VoteRejected
    from htppower.events import Degradation, Event, Phase
    from htppower.machine import State, Trigger
    from htppower.timing import Clock
    from htppower.usage import Usage

_LOGGER = logging.getLogger("htppower")
_LOGGER.addHandler(logging.NullHandler())

# A vote that was to be lowered and may still be up.
_LOWERINGS = frozenset(
    {
        Cause.INIT_ENDED,
        Cause.INFERENCE_ENDED,
        Cause.SUSTAIN_EXPIRED,
        Cause.DEINIT_ENDED,
        Cause.SESSION_CLOSED,
    }
)


class Journal:
    """Hands events to the log and to subscribers. The controller's lock protects it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._subscribers: tuple[Callable[[Event], None], ...] = (log_event,)

    def add(self, subscriber: Callable[[Event], None]) -> None:
        """Hand it every event from now on."""
        self._subscribers = (*self._subscribers, subscriber)

    def remove(self, subscriber: Callable[[Event], None]) -> None:
        """Hand it no event any more."""
        self._subscribers = tuple(other for other in self._subscribers if other is not subscriber)

    def tell(self, kind: Callable[..., Event], session: Usage, **details: object) -> None:
        """Make an event of a session and hand it out; what a subscriber raises is logged."""
        profile = session.plan.profile.name
        event = kind(
            time_us=self._clock.now_us,
            session=session.number,
            owner=session.owner,
            profile=profile,
            **details,
        )
        for subscriber in self._subscribers:
            try:
                subscriber(event)
            except Exception:
                _LOGGER.exception("a subscriber failed on %r", event)

    def transition(
        self,
        session: Usage,
        trigger: Trigger,
        source: State,
        cause: Cause,
        phase: Phase | None,
        error: VoteRejected | None = None,
    ) -> None:
        """Tell that a session has changed its state."""
        self.tell(
            Transition,
            session,
            trigger=trigger,
            source=source,
            dest=session.state,
            cause=cause,
            phase=phase,
            error=error,
        )

    def degradations(self, session: Usage, before: tuple[Degradation, ...]) -> None:
        """Tell what a session lacks that it did not lack before."""
        for degradation in session.plan.degradations:
            if degradation not in before:
                self.tell(Degraded, session, degradation=degradation)


def log_event(event: Event) -> None:
    """Write an event to the logger ``htppower``: its fields by name in the text, and as ``record.htppower``."""
    level = _level(event)
    if not _LOGGER.isEnabledFor(level):
        return
    fields = {
        field.name: getattr(event, field.name)
        for field in attrs.fields(type(event))
        if getattr(event, field.name) is not None
    }
    text = " ".join(f"{name}={value}" for name, value in fields.items())
    _LOGGER.log(level, "%s %s", type(event).__name__, text, extra={"htppower": event})


def _level(event: Event) -> int:
    if isinstance(event, ReleaseFailed):
        return logging.ERROR
    if isinstance(event, Degraded):
        return logging.WARNING
    if isinstance(event, Transition) and event.error is not None:
        return logging.ERROR if event.cause in _LOWERINGS else logging.WARNING
    return logging.DEBUG
