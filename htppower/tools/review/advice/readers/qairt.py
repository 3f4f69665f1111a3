"""The report of ``qairt.Profiler``: messages, each with the events of one call of the backend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.advice.measurement import Event, event_of
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.readers.source import Node

_FORM = "report of qairt.Profiler"
_EXECUTE = "EXECUTE"
_GRAPH_KEYS = ("graphName", "graph_name", "graph")


def is_qairt(tree: Node) -> bool:
    """Return whether a file is such a report."""
    return isinstance(tree.value, dict) and isinstance(tree.value.get("messages"), list)


def read(tree: Node) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: a value is wrong, or no graph was executed.
    """
    collector = Collector()
    for message in tree.items("messages"):
        method = message.text("method").upper()
        if _EXECUTE not in method:
            if method and collector.begun:
                collector.end_session()
            continue
        graph = next((message.value[key] for key in _GRAPH_KEYS if isinstance(message.value.get(key), str)), "")
        collector.end_inference()
        for event in message.items("profilingEvents"):
            _take(collector, event, graph)
    found = measurements(tree.file, _FORM, collector.finish())
    if not found:
        raise tree.wrong("has no message BACKEND_EXECUTE with known events", "profile at least one inference")
    return found


def _take(collector: Collector, node: Node, graph: str) -> None:
    name = node.text("identifier")
    event = event_of(name)
    if event is None and node.text("type").upper() == _EXECUTE and name in ("", "NULL"):
        event = Event.QNN
    for below in node.items("sub-events"):
        collector.add(Row(None, 0.0, graph=graph, op=below.text("identifier")))
    if event is None:
        return
    value = node.get("value")
    if value is None:
        raise node.wrong("has no value")
    unit = node.text("unit")
    collector.add(Row(event, value.amount(event, unit), unit, graph=graph))
