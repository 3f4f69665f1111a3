"""Genie's profile: creations and queries of a dialog, with times, rates and numbers of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.advice.measurement import MISSING, Event, Kind, Measurement

if TYPE_CHECKING:
    from htppower.tools.review.advice.readers.source import Node

_FORM = "profile of Genie"
_EVENTS = {
    event.printed: event
    for event in (
        Event.FIRST_TOKEN,
        Event.PROMPT_TOKENS,
        Event.PROMPT_RATE,
        Event.TOKENS,
        Event.TOKEN_RATE,
        Event.TOKEN_TIME,
    )
}
_QUERY = "_query"
_NOTES = (
    "The times are the host's, over all graphs of the model: they are not device time.",
    "The file does not name the machine that made it: numbers of the simulation on x86-64 do not apply to a device.",
)


def is_genie(tree: Node) -> bool:
    """Return whether a file is a profile of Genie."""
    header = tree.value.get("header") if isinstance(tree.value, dict) else None
    kind = header.get("artifact_type") if isinstance(header, dict) else None
    return kind == "GENIE_PROFILE" or (isinstance(tree.value, dict) and "components" in tree.value)


def read(tree: Node) -> list[Measurement]:
    """Return what was measured of each component that answered queries.

    Raises:
        UnreadableFile: a value is wrong, or the file has no query.
    """
    found = []
    for component in tree.items("components"):
        queries = [each for each in component.items("events") if each.text("type").endswith(_QUERY)]
        if any(map(_numbers, queries)):
            found.append(_measurement(tree.file, component, queries))
    if not found:
        raise tree.wrong("has no query with numbers", "profile at least one GenieDialog_query")
    return found


def _measurement(path: str, component: Node, queries: list[Node]) -> Measurement:
    columns: dict[Event, list[float]] = {}
    units: dict[Event, str] = {}
    for place, query in enumerate(queries):
        for event, (number, unit) in _numbers(query).items():
            column = columns.setdefault(event, [])
            column.extend((*[MISSING] * (place - len(column)), number))
            units.setdefault(event, unit)
    for column in columns.values():
        column.extend([MISSING] * (len(queries) - len(column)))
    begins, ends = ([_moment(query, key) for query in queries] for key in ("start", "stop"))
    known = not any(moment != moment for moment in (*begins, *ends))  # noqa: PLR0124 - NaN is not itself
    return Measurement(
        path,
        _FORM,
        columns,
        units,
        component.text("name"),
        begins_us=begins if known else (),
        ends_us=ends if known else (),
        notes=_NOTES,
    )


def _numbers(query: Node) -> dict[Event, tuple[float, str]]:
    """Return the numbers of a query, each with its unit."""
    found: dict[Event, tuple[float, str]] = {}
    whole = query.get("duration")
    if whole is not None:
        found[Event.INFERENCE] = (whole.amount(Event.INFERENCE, "us"), "us")
    for name, event in _EVENTS.items():
        said = query.get(name)
        if said is None:
            continue
        value, unit = said.get("value"), said.text("unit")
        if value is None:
            raise said.wrong("has no value", 'write {"value": 1, "unit": "us"}')
        found[event] = (value.amount(event, unit or ("toks/sec" if event.kind is Kind.RATE else unit)), unit)
    return found


def _moment(query: Node, key: str) -> float:
    said = query.get(key)
    return MISSING if said is None else said.number()
