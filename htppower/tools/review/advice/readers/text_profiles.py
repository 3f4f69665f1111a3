"""The text of qnn-profile-viewer.

The viewer prints sections of statistics, with one line for each event. Its usual reader prints averages, minima and
maxima; the reader of the HTP prints every run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice.measurement import Event, Measurement, WrongUnit, event_of, in_kept_unit
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from htppower.tools.review.advice.readers.source import Source

_VIEWER = "text of qnn-profile-viewer"
_SECTION = re.compile(r"^[-\s]*(?P<phase>[A-Z][\w /-]*?) Stats(?: \((?P<kind>\w+)\))?\s*:")
_GRAPH = re.compile(r"^[-\s]*Graph \d+ \((?P<name>.*)\)\s*:")
# The name ends at the last bracket before the colon: "Backend (RPC (execute) time): 2920 us".
_ENTRY = re.compile(r"^\s*(?:(?P<whole>NetRun)|Backend \((?P<name>.*?)\)\s*(?=:))\s*:(?P<rest>.*)$")
_NUMBER = re.compile(r"^\s*(?P<number>\d{1,18}(?:\.\d{1,18})?)\s*(?:(?P<unit>[^\s\d]+)\s*)?$")
_OP = re.compile(r"^\s+(?P<op>\S.*OpId_\d+) \(cycles\):")
_LINTING = re.compile(r"^\s*(?:Wait \(Scheduler\)|Overlap(?: \(wait\))?) time:")
# The viewer names the tools that made the log, and their releases.
_RELEASE = re.compile(r"^\s*(?:Backend|qnn-net-run)\s+v(?P<release>\d{1,3}\.\d{1,3}[\w.]{0,40})")
_SUMMARIES = ("Average", "Min", "Max")
_AVERAGES = "The numbers are averages, which one slow inference moves: they are not the median."
_LINTED = "Linting was on, which itself takes time: compare runs with linting only with other such runs."


def release_in(line: str) -> str:
    """Return the release of QAIRT in a line of the viewer about itself; empty if it has none."""
    found = _RELEASE.match(line)
    return found["release"] if found else ""


def is_viewer_text(head: str) -> bool:
    """Return whether a file that begins like this is such a text."""
    return any(_SECTION.match(line) or _ENTRY.match(line) for line in head.splitlines())


def read_viewer_text(source: Source) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: a line is wrong, or no line belongs to an inference.
    """
    reader = _Lines(source)
    for line in source.lines():
        reader.take(line)
    notes = (_LINTED,) if reader.linted else ()
    facts = {"release": reader.release} if reader.release else {}
    found = _summed_up(source.path, reader, notes, facts)
    found += measurements(source.path, _VIEWER, reader.collector.finish(), notes=notes, facts=facts)
    if not found:
        hint = "profile at least one inference"
        raise UnreadableFile(source.path, "", "has no statistics of an inference", hint)
    return found


class _Lines:
    """Reads the lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._executes = True  # a pasted text may begin inside the section
        self._kind = ""
        self._graph = ""
        self.summaries: dict[str, dict[str, dict[Event, tuple[float, str]]]] = {}
        self.collector = Collector()
        self.linted = False
        self.release = ""

    def take(self, line: str) -> None:
        """Read a line."""
        self.release = self.release or release_in(line)
        if section := _SECTION.match(line):
            self._executes = section["phase"] == "Execute"
            self._kind, self._graph = section["kind"] or "", ""
            self.collector.end_inference()
            return
        if not self._executes:
            return
        if graph := _GRAPH.match(line):
            self._graph = graph["name"]
        elif entry := _ENTRY.match(line):
            self._entry(line, entry)
        elif op := _OP.match(line):
            if self._kind not in _SUMMARIES:
                self.collector.add(Row(None, 0.0, graph=self._graph, op=op["op"]))
        elif _LINTING.match(line):
            self.linted = True

    def _entry(self, line: str, entry: re.Match[str]) -> None:
        event = Event.NETRUN if entry["whole"] else event_of(entry["name"])
        if event is None:
            return
        value = _NUMBER.match(entry["rest"])
        if value is None:
            message = f"{event.printed} is {entry['rest'].strip()[:40]!r}"
            raise self._source.wrong(message, "a number and its unit", entry.start("rest") + 1)
        unit = value["unit"] or ""
        try:
            number = in_kept_unit(event, float(value["number"]), unit)
        except WrongUnit as error:
            raise self._source.wrong(str(error), "", len(line.rstrip())) from None
        if self._kind in _SUMMARIES:
            graphs = self.summaries.setdefault(self._graph, {})
            graphs.setdefault(self._kind, {}).setdefault(event, (number, unit))
        else:
            self.collector.add(Row(event, number, unit, graph=self._graph))


def _summed_up(path: str, reader: _Lines, notes: tuple[str, ...], facts: dict[str, str]) -> list[Measurement]:
    """Return a measurement of the averages of each graph, or of all graphs together if the file has no other."""
    graphs = {name: kinds for name, kinds in reader.summaries.items() if name} or reader.summaries
    found = []
    for name, kinds in graphs.items():
        values = {kind: {event: number for event, (number, _) in each.items()} for kind, each in kinds.items()}
        middle = next((kinds[kind] for kind in _SUMMARIES if kind in kinds), {})
        found.append(
            Measurement(
                path,
                _VIEWER,
                {event: (number,) for event, (number, _) in middle.items()},
                {event: unit for event, (_, unit) in middle.items()},
                name,
                averaged=True,
                least=values.get("Min", {}),
                most=values.get("Max", {}),
                notes=(_AVERAGES, *notes),
                facts=facts,
            )
        )
    return found
