"""The log: one record an event, on the logger ``htppower``, with stable keys."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import attrs

from htppower.events import (
    CallMade,
    CapLifted,
    CapSet,
    Degraded,
    HoldBegan,
    HoldEnded,
    Recovered,
    ReleaseFailed,
    Transition,
    Trigger,
)

if TYPE_CHECKING:
    from htppower.events import Event

_LOGGER = logging.getLogger("htppower")
_LOGGER.addHandler(logging.NullHandler())

# A failed one of these leaves a vote that was to come down, and may still be up.
LOWERINGS = frozenset({Trigger.LOWER, Trigger.RELEASE, Trigger.DESTROY})
# What an operator asks for, or waits for, and what is rare enough to be read.
_NOTEWORTHY = (Recovered, HoldBegan, HoldEnded, CapSet, CapLifted)


def wants(event: Event) -> bool:
    """Return whether the event is logged; a native call is not, since the transition that it was made for is."""
    return not isinstance(event, CallMade) and _LOGGER.isEnabledFor(level_of(event))


def log_event(event: Event) -> None:
    """Write an event to the logger ``htppower``: its fields by name in the text, and as ``record.htppower``."""
    _LOGGER.log(level_of(event), "%s", line(event), extra={"htppower": event})


def line(event: Event) -> str:
    """Return an event as one line: its kind, then ``key=value`` for each field that is not None.

    The order of the keys is that of the fields. A value with a blank, a quote or a control character is a JSON string.
    """
    values = ((field.name, getattr(event, field.name)) for field in attrs.fields(type(event)))
    fields = (f"{name}={_spelt(value)}" for name, value in values if value is not None)
    return " ".join((type(event).__name__, *fields))


def level_of(event: Event) -> int:
    """Return the level of an event: ERROR where votes may still be up, WARNING where they may be lost."""
    if isinstance(event, ReleaseFailed):
        return logging.ERROR
    if isinstance(event, Degraded):
        return logging.WARNING
    if isinstance(event, Transition) and event.trigger is Trigger.LOSE:
        return logging.ERROR if event.attempted in LOWERINGS else logging.WARNING
    return logging.INFO if isinstance(event, _NOTEWORTHY) else logging.DEBUG


def _spelt(value: object) -> str:
    text = str(value)
    plain = text.isprintable() and text and not any(mark in text for mark in ' "')
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())
