"""Readers of JSON: jobs of AI Hub, profiles of Genie, optrace and its summary (QHAS), reports of ``qairt.Profiler``.

Each reader gets a file that the function before it recognises.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.tools.review.advice.measurement import MISSING, Event, Kind, Measurement, event_of
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.readers.source import Node

_AI_HUB = "profile job of AI Hub"
_SUMMARY = "execution_summary"
_BURST = "AI Hub runs its jobs under burst unless their options say something else."
_HOST = "The times are the host's: they are not device time."
_NPU = "NPU"
# A share too small to act on.
_ELSEWHERE_LEAST = 0.02
_GENIE = "profile of Genie"
_OF_QUERIES = (Event.FIRST_TOKEN, Event.PROMPT_TOKENS, Event.PROMPT_RATE, Event.TOKENS, Event.TOKEN_RATE)
_GENIE_NOTES = (
    "The times are the host's, over all graphs of the model: they are not device time.",
    "The file does not name the machine that made it: numbers of the simulation on x86-64 do not apply to a device.",
)
_OPTRACE = "trace of optrace"
_TRACK = re.compile(r"(?P<graph>.*?)(?P<kind>Runtraces?|Yields?)$", re.IGNORECASE)
_OPTRACE_NOTE = "Optrace itself takes time: the trace shows yields, not usual times."
_QHAS = "summary of optrace (QHAS)"
_OVERALL = "htp_overall_summary"
_QHAS_NOTE = "Optrace itself takes time: the times are longer than usual."
_QAIRT = "report of qairt.Profiler"
_EXECUTE = "EXECUTE"
_GRAPH_KEYS = ("graphName", "graph_name", "graph")


def ai_hub_job(tree: Node) -> Node | None:
    """Return a job's profile, as ``ProfileJob.download_profile`` returns it: the file, or its value for ``profile``.

    The result is None if it is another kind of file.
    """
    if not isinstance(tree.value, dict):
        return None
    job = tree if _SUMMARY in tree.value else tree.get("profile")
    return job if job is not None and isinstance(job.value, dict) and _SUMMARY in job.value else None


def read_ai_hub(job: Node) -> list[Measurement]:
    """Return what was measured. The times in the file are in us.

    Raises:
        UnreadableFile: a value is wrong, or no time is given.
    """
    summary = job.get(_SUMMARY)
    assert summary is not None  # noqa: S101 - ai_hub_job has checked it
    times = [each.number() for each in summary.items("all_inference_times")]
    fastest = summary.get("estimated_inference_time")
    notes = [_HOST, _BURST]
    if not times:
        if fastest is None:
            raise summary.wrong("has no inference times", "download the profile of a job that has succeeded")
        times = [fastest.number()]
        notes.append("estimated_inference_time is the fastest run, not the median, and the file has no other.")
    elif fastest is not None:
        ordered = sorted(times)
        notes.append(
            f"estimated_inference_time is the fastest run: {fastest.number():.0f} us; the median is "
            f"{ordered[len(ordered) // 2]:.0f} us."
        )
    layers = list(job.items("execution_detail")) if isinstance(job.value.get("execution_detail"), list) else []
    notes += _elsewhere(layers)
    columns: dict[Event, Sequence[float]] = {Event.INFERENCE: times}
    on_npu = [layer for layer in layers if layer.text("compute_unit").upper() == _NPU]
    cycles, busy_us = (_sum(on_npu, key) for key in ("execution_cycles", "execution_time"))
    if cycles and busy_us:
        columns |= {Event.CYCLES: (cycles,), Event.COMPUTE: (busy_us,)}
        notes.append(
            "Cycles and times of the layers are added up. Layers overlap, so the sums are not durations or clocks."
        )
    load = summary.get("first_load_time")
    once = {} if load is None or load.value is None else {"load": load.number()}
    return [Measurement(job.file, _AI_HUB, columns, {Event.INFERENCE: "us"}, notes=tuple(notes), once=once)]


def _elsewhere(layers: list[Node]) -> list[str]:
    """Return a note on layers that run on the CPU or GPU, where votes have no effect."""
    units = [layer.text("compute_unit").upper() for layer in layers]
    others = sum(unit not in ("", _NPU) for unit in units)
    if not others:
        return []
    busy_us = _sum(layers, "execution_time")
    there_us = _sum(
        [layer for layer, unit in zip(layers, units, strict=True) if unit not in ("", _NPU)], "execution_time"
    )
    share = there_us / busy_us if busy_us else others / len(units)
    if share < _ELSEWHERE_LEAST:
        return []
    return [f"{others} of {len(units)} layers, {share:.0%} of the time, run on the CPU or GPU. Votes can't help there."]


def _sum(layers: list[Node], key: str) -> float:
    found = (layer.get(key) for layer in layers)
    return sum(each.number() for each in found if each is not None and each.value is not None)


def is_genie(tree: Node) -> bool:
    """Return whether a file is a profile of Genie."""
    header = tree.value.get("header") if isinstance(tree.value, dict) else None
    kind = header.get("artifact_type") if isinstance(header, dict) else None
    return kind == "GENIE_PROFILE" or (isinstance(tree.value, dict) and "components" in tree.value)


def read_genie(tree: Node) -> list[Measurement]:
    """Return what was measured of each component that answered queries.

    Raises:
        UnreadableFile: a value is wrong, or the file has no query.
    """
    found = []
    for component in tree.items("components"):
        queries = [each for each in component.items("events") if each.text("type").endswith("_query")]
        if any(map(_numbers, queries)):
            found.append(_of_queries(component, queries))
    if not found:
        raise tree.wrong("has no query with numbers", "profile at least one GenieDialog_query")
    return found


def _of_queries(component: Node, queries: list[Node]) -> Measurement:
    told = [_numbers(query) for query in queries]
    units = {event: unit for numbers in reversed(told) for event, (_, unit) in numbers.items()}
    columns = {event: [each.get(event, (MISSING, ""))[0] for each in told] for event in units}
    moments = [[query.get(key) for query in queries] for key in ("start", "stop")]
    begins, ends = ([each.number() for each in column if each is not None] for column in moments)
    if len(begins) < len(queries) or len(ends) < len(queries):
        begins, ends = [], []
    name = component.text("name")
    return Measurement(component.file, _GENIE, columns, units, name, begins_us=begins, ends_us=ends, notes=_GENIE_NOTES)


def _numbers(query: Node) -> dict[Event, tuple[float, str]]:
    """Return the numbers of a query, each with its unit."""
    found: dict[Event, tuple[float, str]] = {}
    whole = query.get("duration")
    if whole is not None:
        found[Event.INFERENCE] = (whole.amount(Event.INFERENCE, "us"), "us")
    for event in (*_OF_QUERIES, Event.TOKEN_TIME):
        said = query.get(event.printed)
        if said is None:
            continue
        value, unit = said.get("value"), said.text("unit")
        if value is None:
            raise said.wrong("has no value", 'write {"value": 1, "unit": "us"}')
        found[event] = (value.amount(event, unit or ("toks/sec" if event.kind is Kind.RATE else unit)), unit)
    return found


def is_optrace(tree: Node) -> bool:
    """Return whether a file is a trace in Chrome's format, which qnn-profile-viewer makes of optrace."""
    return isinstance(tree.value, dict) and isinstance(tree.value.get("traceEvents"), list)


def read_optrace(tree: Node) -> list[Measurement]:
    """Return a measurement for each graph: its runs and yields.

    A track is named "GRAPH Runtraces" or "GRAPH Yields"; its spans are in us.

    Raises:
        UnreadableFile: a value is wrong, or no track is a graph's.
    """
    tracks: dict[tuple[str, ...], tuple[str, bool]] = {}
    spans: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for each in tree.items("traceEvents"):
        phase = each.text("ph")
        key = tuple(str(each.value.get(name)) for name in ("pid", "tid"))
        if phase == "M":
            arguments = each.get("args")
            said = "" if arguments is None else arguments.text("name")
            if said and (found := _TRACK.match(said)):
                tracks[key] = (found["graph"].rstrip(), found["kind"].lower().startswith("yield"))
        elif phase == "X":
            begin, duration = each.get("ts"), each.get("dur")
            if begin is not None and duration is not None:
                start = begin.number()
                spans.setdefault(key, []).append((start, start + duration.number()))
    graphs: dict[str, dict[bool, list[tuple[float, float]]]] = {}
    for key, (graph, yields) in tracks.items():
        graphs.setdefault(graph, {}).setdefault(yields, []).extend(spans.get(key, ()))
    if not any(False in kinds for kinds in graphs.values()):
        hint = "make it with runtrace: true in the viewer's configuration; htppower trace reads other traces of events"
        raise tree.wrong("has no track of Runtraces", hint)
    return [_optrace_measurement(tree.file, graph, kinds) for graph, kinds in graphs.items() if False in kinds]


def _optrace_measurement(path: str, graph: str, kinds: dict[bool, list[tuple[float, float]]]) -> Measurement:
    """Return the whole trace as one inference."""
    yields = kinds.get(True, [])
    columns = {Event.ACCELERATOR: (_covered(kinds[False]),), Event.YIELDS: (float(len(yields)),)}
    if yields:
        columns[Event.YIELD_WAIT] = (_covered(yields),)
    units = {Event.ACCELERATOR: "us", Event.YIELDS: "count", Event.YIELD_WAIT: "us"}
    return Measurement(path, _OPTRACE, columns, units, graph, notes=(_OPTRACE_NOTE,))


def _covered(spans: list[tuple[float, float]]) -> float:
    """Return how long at least one span runs. Spans lie within each other."""
    total, end = 0.0, 0.0
    for first, last in sorted(spans):
        total += max(0.0, last - max(first, end))
        end = max(end, last)
    return total


def is_qhas(tree: Node) -> bool:
    """Return whether a file is the summary that the reader of optrace writes: tables below ``data``."""
    data = tree.value.get("data") if isinstance(tree.value, dict) else None
    return isinstance(data, dict) and _OVERALL in data


def read_qhas(tree: Node) -> list[Measurement]:
    """Return what was measured: each row of the summary is one execution of a graph.

    ``graph_execute_us`` is its time on the HTP, and ``timeline_cycles`` are the cycles from its begin to its end.

    Raises:
        UnreadableFile: a value is wrong, or no row has a time.
    """
    data = tree.get("data")
    summary = None if data is None else data.get(_OVERALL)
    rows = [] if summary is None else list(summary.items("data"))
    keys = {Event.ACCELERATOR: "graph_execute_us", Event.TIMELINE: "timeline_cycles"}
    columns: dict[Event, list[float]] = {event: [] for event in keys}
    for row in rows:
        for event, key in keys.items():
            value = row.get(key)
            if value is None:
                raise row.wrong(f"has no {key}", "make the summary with QAIRT's reader of optrace")
            columns[event].append(value.number())
    if not rows:
        raise tree.wrong("has no executed graph", "trace at least one inference")
    units = {event: event.kind.value for event in keys}
    return [Measurement(tree.file, _QHAS, columns, units, tree.text("model_id"), notes=(_QHAS_NOTE,))]


def is_qairt(tree: Node) -> bool:
    """Return whether a file is a report of ``qairt.Profiler``: messages, each with the events of one call."""
    return isinstance(tree.value, dict) and isinstance(tree.value.get("messages"), list)


def read_qairt(tree: Node) -> list[Measurement]:
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
    found = measurements(tree.file, _QAIRT, collector.finish())
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
