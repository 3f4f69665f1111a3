"""The log: one record an event, on the logger ``htppower``, with stable keys."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs

from htppower.events import CallMade, Cause, Degraded, ReleaseFailed, Transition

if TYPE_CHECKING:
    from htppower.events import Event

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


def wants(event: Event) -> bool:
    """Return whether the event is logged; a native call is not, since the transition that it was made for is."""
    return not isinstance(event, CallMade) and _LOGGER.isEnabledFor(level_of(event))


def log_event(event: Event) -> None:
    """Write an event to the logger ``htppower``: its fields by name in the text, and as ``record.htppower``."""
    fields = {
        field.name: getattr(event, field.name)
        for field in attrs.fields(type(event))
        if getattr(event, field.name) is not None
    }
    text = " ".join(f"{name}={value}" for name, value in fields.items())
    _LOGGER.log(level_of(event), "%s %s", type(event).__name__, text, extra={"htppower": event})


def level_of(event: Event) -> int:
    """Return the level of an event: ERROR where votes may still be up, WARNING where they may be lost."""
    if isinstance(event, ReleaseFailed):
        return logging.ERROR
    if isinstance(event, Degraded):
        return logging.WARNING
    if isinstance(event, Transition) and event.error is not None:
        return logging.ERROR if event.cause in _LOWERINGS else logging.WARNING
    return logging.DEBUG
