"""The lines of llama.cpp: of its Hexagon backend (``ggml-hex``), and of its own times at the end of a run.

With ``GGML_HEXAGON_PROFILE`` the backend logs each op with its time and cycles on the HTP, and newer versions log each
batch of ops, too (ggml-hexagon.cpp of ggml-org/llama.cpp, in three variants):

- ``ggml-hex: HTP0 profile-op MUL_MAT|names|...|usec 120 cycles 168000 start 1 mhz 1400.0``;
- ``ggml-hex: HTP0 profile-op MUL_MAT: names : ... : usec 120 cycles 168000``;
- ``ggml-hex: HTP0 profile-op MUL_MAT: names : ... : op-usec 120 op-cycles 168000 op-pkts 9 (1.0) call-usec 190``.

Ops of a batch run one after the other, so their times and cycles may be added up.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, ClassVar

import attrs

from htppower.tools.review.advice.measurement import MISSING, Event, Measurement
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.readers.source import Source

_HEXAGON = "log of llama.cpp's Hexagon backend"
_OP = re.compile(r"ggml-hex: (?P<session>\S{1,100}) profile-op (?P<op>[^|:]{1,200})[|:] ?(?P<rest>.*)")
_NUMBERS = re.compile(r"\b(?:op-)?usec (?P<us>\d{1,15}) (?:op-)?cycles (?P<cycles>\d{1,18})\b")
_CALL = re.compile(r"\bcall-usec (?P<us>\d{1,15})\b")
_BATCH = "OPBATCH"
_COUNT = re.compile(r"\bn-ops (?P<count>\d{1,9})\b")
_ARCH = re.compile(r"ggml-hex: Hexagon Arch version (?P<arch>v\d{1,3})\b")
_BY_OPS = "An inference is taken to begin when an op comes again."
_BY_BATCH = "Each batch of ops counts as an inference: a token may take several batches."

_TIMES = "times of llama.cpp"
_PERF = re.compile(
    r"(?:_perf_print|_perf_context_print|llama_print_timings): +(?P<what>load|prompt eval|eval) time = +"
    r"(?P<ms>\d{1,12}(?:\.\d{1,6})?) ms(?: / +(?P<count>\d{1,9}) (?:tokens|runs))?"
)
_OF_HOST = "The times are the host's, over all devices that run a part of the model."
_US = 1_000.0


class HexagonLines:
    """The lines of the Hexagon backend. If the log has batches, its ops are not used."""

    marks: ClassVar[tuple[str, ...]] = ("ggml-hex: ",)

    def __init__(self, source: Source) -> None:
        self._source = source
        self._facts: dict[str, str] = {}
        self._ops, self._batches = Collector(), Collector()
        self._current: dict[str, list[tuple[str, float, float, float]]] = {}
        self._seen: dict[str, set[str]] = {}
        self._has_batches = False

    def take(self, line: str) -> None:
        """Read a line."""
        if arch := _ARCH.search(line):
            self._facts["arch"] = arch["arch"].upper()
        found = _OP.search(line)
        numbers = None if found is None else _NUMBERS.search(found["rest"])
        if found is None or numbers is None:
            return
        session, op, rest = found["session"], found["op"], found["rest"]
        took_us, cycles = float(numbers["us"]), float(numbers["cycles"])
        if op == _BATCH:
            count = _COUNT.search(rest)
            graph = f"{session}, batches of {count['count']} ops" if count else session
            self._has_batches = True
            _add(self._batches, graph, took_us, cycles, MISSING)
            return
        # The fields after the names are the sizes, which differ between a prompt and an answer.
        names = re.split(r"\|| : ", rest, maxsplit=1)[0]
        key = f"{op} {names}"
        seen = self._seen.setdefault(session, set())
        if key in seen:
            self._end(session)
        seen.add(key)
        call = _CALL.search(rest)
        call_us = MISSING if call is None else float(call["us"])
        self._current.setdefault(session, []).append((f"{op} {rest[: numbers.start()]}", took_us, cycles, call_us))

    def finish(self) -> list[Measurement]:
        """Return what was measured."""
        for session in tuple(self._current):
            self._end(session)
        collector, note = (self._batches, _BY_BATCH) if self._has_batches else (self._ops, _BY_OPS)
        found = measurements(self._source.path, _HEXAGON, collector.finish(), facts=self._facts, notes=(note,))
        # The graph of a prompt has the session's name, too.
        names = [each.graph for each in found]
        return [
            attrs.evolve(each, graph=f"{each.graph}, graph {place}") if names.count(each.graph) > 1 else each
            for place, each in enumerate(found, start=1)
        ]

    def _end(self, session: str) -> None:
        ops = self._current.pop(session, [])
        self._seen[session].clear()
        if not ops or self._has_batches:
            return
        for what, *_ in ops:
            self._ops.add(Row(None, 0.0, graph=session, op=what))
        took_us, cycles, call_us = map(math.fsum, zip(*(times for _, *times in ops), strict=True))
        _add(self._ops, session, took_us, cycles, call_us)


def _add(collector: Collector, graph: str, took_us: float, cycles: float, call_us: float) -> None:
    """Add an inference."""
    if call_us == call_us:  # noqa: PLR0124 - not missing
        collector.add(Row(Event.RPC, call_us, "us", graph=graph))
    collector.add(Row(Event.ACCELERATOR, took_us, "us", graph=graph))
    collector.add(Row(Event.TIMELINE, cycles, "cycles", graph=graph))
    collector.end_inference()


class LlamaTimes:
    """The times that llama.cpp prints at the end of a run: of loading, the prompt and the answer."""

    marks: ClassVar[tuple[str, ...]] = ("_perf_print:", "_perf_context_print:", "llama_print_timings:")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._load_us = MISSING
        self._queries: list[dict[Event, float]] = []

    def take(self, line: str) -> None:
        """Read a line."""
        found = _PERF.search(line)
        if found is None:
            return
        took_us = float(found["ms"]) * _US
        count = float(found["count"] or 0)
        if found["what"] == "load":
            self._load_us = took_us
            return
        if found["what"] == "prompt eval" or not self._queries:
            self._queries.append({})
        query = self._queries[-1]
        if count and took_us:
            is_prompt = found["what"] == "prompt eval"
            events = (Event.PROMPT_TOKENS, Event.PROMPT_RATE) if is_prompt else (Event.TOKENS, Event.TOKEN_RATE)
            query.update(zip(events, (count, 1e6 * count / took_us), strict=True))

    def finish(self) -> list[Measurement]:
        """Return what was measured."""
        queries = [query for query in self._queries if query]
        if not queries:
            return []
        once = {} if self._load_us != self._load_us else {"load": self._load_us}
        return [of_queries(self._source.path, _TIMES, queries, once, _OF_HOST)]


def of_queries(
    path: str, form: str, queries: Sequence[dict[Event, float]], once: dict[str, float], note: str
) -> Measurement:
    """Return a measurement of the queries to a language model."""
    events = dict.fromkeys(event for query in queries for event in query)
    columns = {event: [query.get(event, MISSING) for query in queries] for event in events}
    units = {event: event.kind.value for event in events}
    return Measurement(path, form, columns, units, "tokens", once=once, notes=(note,))
