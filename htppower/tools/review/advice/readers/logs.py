"""Logs of runtimes: lines with numbers among other lines. Each runtime has a reader of its lines; all see the log.

llama.cpp's QNN backend logs an event as ``[ROOT][RPC (execute) time] BACKEND : 3039 US``, or in newer versions as
``[profiler][GRAPH]event[1]: RPC (execute) time, duration: 29.409 ms``. The readers of other runtimes are in
``llama_lines`` and ``runner_lines``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Protocol

from htppower.errors.root import UnreadableFile
from htppower.tools.readers.kinds import other_file
from htppower.tools.review.advice.measurement import WrongUnit, event_of, in_kept_unit
from htppower.tools.review.advice.readers.llama_lines import HexagonLines, LlamaTimes
from htppower.tools.review.advice.readers.runner_lines import ExecuTorchLines, LiteRtLines
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.readers.source import Source

_LLAMA = "log of llama.cpp's QNN backend"
_ROOT = re.compile(
    r"\[(?P<level>ROOT|SUB-EVENT)\]\[(?P<name>[^\]]+)\]\s*(?:\w+\s*)?:\s*"
    r"(?P<number>[^\s\[]*)(?:\s+(?P<unit>[^\s\d,]+))?\s*$"
)
_TRACED = re.compile(
    r"\[profiler\]\[(?P<graph>[^\]]*)\][^\s\[]*?event\[\d+\]:\s*(?P<name>\S(?:(?!\[profiler\]).)*?), "
    r"(?P<what>duration|count|cycles|sub_count):\s*(?P<number>[^\s,]*)\s*(?P<unit>[^\s\d,]*)"
)
_BEGINS = re.compile(r"\[profiler\]\[[^\]]*\]print_profile_events start")
_PLAIN_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,18})?")


class LogLines(Protocol):
    """Reads the lines of one runtime.

    Attributes:
        marks: each line of the runtime holds at least one of these texts; other lines are not given to ``take``.
    """

    marks: ClassVar[tuple[str, ...]]

    def take(self, line: str) -> None:
        """Read a line.

        Raises:
            UnreadableFile: a number in it is wrong.
        """

    def finish(self) -> list[Measurement]:
        """Return what was measured; nothing if the log is of another runtime."""


def read_log(source: Source) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: a line is wrong, or no line belongs to an inference.
    """
    kinds = (QnnLines, HexagonLines, LlamaTimes, LiteRtLines, ExecuTorchLines)
    readers: list[LogLines] = [kind(source) for kind in kinds]
    marks = [(mark, reader) for reader in readers for mark in reader.marks]
    for line in source.lines():
        taken = {id(reader): reader for mark, reader in marks if mark in line}
        for reader in taken.values():
            reader.take(line)
    found = [measured for reader in readers for measured in reader.finish()]
    if found:
        return found
    other = other_file(source.head)
    if other is not None:
        raise UnreadableFile(source.path, "", other.what, other.hint)
    hint = "htppower advise reads what profilers write; htppower advise --help lists them"
    raise UnreadableFile(source.path, "", "is not the output of a known profiler", hint)


class QnnLines:
    """The lines of llama.cpp's QNN backend."""

    marks: ClassVar[tuple[str, ...]] = ("[ROOT]", "[SUB-EVENT]", "[profiler]")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._collector = Collector()

    def take(self, line: str) -> None:
        """Read a line."""
        if _BEGINS.search(line):
            self._collector.end_inference()
        elif found := _ROOT.search(line) or _TRACED.search(line):
            self._event(found)

    def finish(self) -> list[Measurement]:
        """Return what was measured."""
        return measurements(self._source.path, _LLAMA, self._collector.finish())

    def _event(self, found: re.Match[str]) -> None:
        groups = found.groupdict()
        graph, what = groups.get("graph") or "", groups.get("what")
        event = event_of(found["name"])
        if event is None or groups.get("level") == "SUB-EVENT" or what == "sub_count":
            self._collector.add(Row(None, 0.0, graph=graph, op=found["name"]))
            return
        if not _PLAIN_NUMBER.fullmatch(found["number"]):
            message = f"{event.printed} is {found['number'][:40]!r}"
            raise self._source.wrong(message, "a number and its unit", found.start("number") + 1)
        unit = found["unit"] or (what if what in ("count", "cycles") else "")
        try:
            number = in_kept_unit(event, float(found["number"]), unit)
        except WrongUnit as error:
            raise self._source.wrong(str(error), "", found.start("unit") + 1) from None
        self._collector.add(Row(event, number, unit, graph=graph))
