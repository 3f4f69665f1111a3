"""The log: one record for each event, on the logger ``htppower``, with keys that do not change between versions.

It is the first subscriber of each controller.
"""

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

# If one of these transitions fails, votes may stay up.
LOWERINGS = frozenset({Trigger.LOWER, Trigger.LOWER_FURTHER, Trigger.RELEASE, Trigger.DESTROY})
_LINK_LEVELS = {LinkState.WELL: logging.INFO, LinkState.HELD: logging.ERROR}
# INFO is for events that an operator caused, and for rare events that an operator waits for.
_LEVELS = {
    ReleaseFailed: logging.ERROR,
    Degraded: logging.WARNING,
    **dict.fromkeys((Recovered, HoldBegan, HoldEnded, CapSet, CapLifted), logging.INFO),
}


def log_wants(kind: type[Event], details: Mapping[str, Any]) -> bool:
    """Return whether an event is logged.

    Native calls and cold starts are not logged, since the transition that they belong to is.
    """
    if kind is CallMade or kind is ColdStart:
        return False
    # ``isEnabledFor`` would take the lock of ``logging``, which must not happen here: the line is held.
    level = _level(kind, details)
    return level >= _LOGGER.getEffectiveLevel() and level > _LOGGER.manager.disable and not _LOGGER.disabled


def log_event(event: Event) -> None:
    """Write an event to the logger ``htppower``: its fields are in the text and in ``record.htppower``."""
    _LOGGER.log(level_of(event), "%s", line(event), extra={"htppower": event})


def line(event: Event) -> str:
    """Return an event as one line: its kind, then ``key=value`` for each field that is not None.

    The keys are in the order of the fields. A value with a blank, a quote or a control character is a JSON string.
    """
    values = ((field.name, getattr(event, field.name)) for field in attrs.fields(type(event)))
    fields = (f"{name}={_spelt(value)}" for name, value in values if value is not None)
    return " ".join((type(event).__name__, *fields))


def level_of(event: Event) -> int:
    """Return the level of an event: ERROR if votes may still be up, WARNING if they may be lost."""
    return _level(type(event), {name: getattr(event, name, None) for name in ("trigger", "attempted", "dest")})


def _level(kind: type[Event], details: Mapping[str, Any]) -> int:
    if kind is LinkChanged:
        return _LINK_LEVELS.get(details["dest"], logging.WARNING)
    if details.get("trigger") is Trigger.LOSE:
        return logging.ERROR if details.get("attempted") in LOWERINGS else logging.WARNING
    return _LEVELS.get(kind, logging.DEBUG)


def _spelt(value: object) -> str:
    text = str(value)
    plain = text.isprintable() and text and not any(mark in text for mark in ' "')
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable())
