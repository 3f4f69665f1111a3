"""The log: one record an event, on the logger ``htppower``, with stable keys. It is the first subscriber."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import attrs

from htppower.events import (
    CallMade,
    CapLifted,
    CapSet,
    ColdStart,
    Degraded,
    HoldBegan,
    HoldEnded,
    LinkChanged,
    LinkState,
    Recovered,
    ReleaseFailed,
    Trigger,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.events import Event

_LOGGER = logging.getLogger("htppower")
_LOGGER.addHandler(logging.NullHandler())

# A failed one of these leaves a vote that was to come down, and may still be up.
LOWERINGS = frozenset({Trigger.LOWER, Trigger.LOWER_FURTHER, Trigger.RELEASE, Trigger.DESTROY})
# What an operator asks for, or waits for, and what is rare enough to be read.
_LINK_LEVELS = {LinkState.WELL: logging.INFO, LinkState.HELD: logging.ERROR}
_NOTEWORTHY = frozenset({Recovered, HoldBegan, HoldEnded, CapSet, CapLifted})


def log_wants(kind: type[Event], details: Mapping[str, Any]) -> bool:
    """Return whether an event is logged. Native calls and waits for them are not: the transition that made them is."""
    if kind is CallMade or kind is ColdStart:
        return False
    # Not ``isEnabledFor``: it takes the lock of ``logging``, and the line is held here.
    return (
        (level := _level(kind, details.get("trigger"), details.get("attempted"), details.get("dest")))
        >= _LOGGER.getEffectiveLevel()
        and level > _LOGGER.manager.disable
        and not _LOGGER.disabled
    )


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
    return _level(
        type(event), getattr(event, "trigger", None), getattr(event, "attempted", None), getattr(event, "dest", None)
    )


def _level(kind: type[Event], trigger: Trigger | None, attempted: Trigger | None, dest: Any) -> int:
    if kind is ReleaseFailed:
        return logging.ERROR
    if kind is Degraded:
        return logging.WARNING
    if kind is LinkChanged:
        return _LINK_LEVELS.get(dest, logging.WARNING)
    if trigger is Trigger.LOSE:
        return logging.ERROR if attempted in LOWERINGS else logging.WARNING
    return logging.INFO if kind in _NOTEWORTHY else logging.DEBUG


def _spelt(value: object) -> str:
    text = str(value)
    plain = text.isprintable() and text and not any(mark in text for mark in ' "')
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())
