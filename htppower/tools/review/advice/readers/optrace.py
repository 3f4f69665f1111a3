"""The trace that qnn-profile-viewer makes of optrace: the runs and yields of a graph.

A track is named "GRAPH Runtraces" or "GRAPH Yields"; its spans are in us.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.tools.review.advice.measurement import Event, Measurement

if TYPE_CHECKING:
    from htppower.tools.review.advice.readers.source import Node

_FORM = "trace of optrace"
_TRACK = re.compile(r"(?P<graph>.*?)(?P<kind>Runtraces?|Yields?)$", re.IGNORECASE)
_NOTE = "Optrace itself takes time: the trace shows yields, not usual times."


def is_trace(tree: Node) -> bool:
    """Return whether a file is a trace in Chrome's format."""
    value = tree.value
    return isinstance(value, dict) and isinstance(value.get("traceEvents"), list)


def read(tree: Node) -> list[Measurement]:
    """Return a measurement for each graph with such tracks.

    Raises:
        UnreadableFile: a value is wrong, or no track is a graph's.
    """
    tracks: dict[tuple[object, object], tuple[str, bool]] = {}
    spans: dict[tuple[object, object], list[tuple[float, float]]] = {}
    for each in tree.items("traceEvents"):
        phase = each.text("ph")
        key = tuple(str(each.value.get(name)) for name in ("pid", "tid"))
        if phase == "M":
            arguments = each.get("args")
            said = "" if arguments is None else arguments.text("name")
            if said and (found := _TRACK.match(said)):
                tracks[key[0], key[1]] = (found["graph"].rstrip(), found["kind"].lower().startswith("yield"))
        elif phase == "X":
            begin, duration = each.get("ts"), each.get("dur")
            if begin is not None and duration is not None:
                start = begin.number()
                spans.setdefault((key[0], key[1]), []).append((start, start + duration.number()))
    graphs: dict[str, dict[bool, list[tuple[float, float]]]] = {}
    for key_of, (graph, yields) in tracks.items():
        graphs.setdefault(graph, {}).setdefault(yields, []).extend(spans.get(key_of, ()))
    if not any(False in kinds for kinds in graphs.values()):
        hint = "make it with runtrace: true in the viewer's configuration; htppower trace reads other traces of events"
        raise tree.wrong("has no track of Runtraces", hint)
    return [_measurement(tree.file, graph, kinds) for graph, kinds in graphs.items() if False in kinds]


def _measurement(path: str, graph: str, kinds: dict[bool, list[tuple[float, float]]]) -> Measurement:
    """Return the whole trace as one inference."""
    yields = kinds.get(True, [])
    columns = {Event.ACCELERATOR: (_covered(kinds[False]),), Event.YIELDS: (float(len(yields)),)}
    if yields:
        columns[Event.YIELD_WAIT] = (_covered(yields),)
    units = {Event.ACCELERATOR: "us", Event.YIELDS: "count", Event.YIELD_WAIT: "us"}
    return Measurement(path, _FORM, columns, units, graph, notes=(_NOTE,))


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return how long at least one span runs. Spans lie within each other."""
    total, end = 0.0, 0.0
    for first, last in sorted(spans):
        total += max(0.0, last - max(first, end))
        end = max(end, last)
    return total
