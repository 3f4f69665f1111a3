"""Lines of events in the log of llama.cpp's QNN backend, in its old and its new form.

``[ROOT][RPC (execute) time] BACKEND : 3039 US``, and
``[profiler][GRAPH]event[1]: RPC (execute) time, duration: 29.409 ms``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.errors.root import UnreadableFile
from htppower.tools.readers.kinds import other_file
from htppower.tools.review.advice.measurement import WrongUnit, event_of, in_kept_unit
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.readers.source import Source

_FORM = "log of llama.cpp's QNN backend"
_ROOT = re.compile(
    r"\[(?P<level>ROOT|SUB-EVENT)\]\[(?P<name>[^\]]+)\]\s*(?:\w+\s*)?:\s*"
    r"(?P<number>[^\s\[]*)(?:\s+(?P<unit>[^\s\d,]+))?\s*$"
)
_TRACED = re.compile(
    r"\[profiler\]\[(?P<graph>[^\]]*)\][^\s\[]*?event\[\d+\]:\s*(?P<name>\S(?:(?!\[profiler\]).)*?), "
    r"(?P<what>duration|count|cycles|sub_count):\s*(?P<number>[^\s,]*)\s*(?P<unit>[^\s\d,]*)"
)
_BEGINS = re.compile(r"\[profiler\]\[[^\]]*\]print_profile_events start")
_NUMBER = re.compile(r"\d{1,18}(?:\.\d{1,18})?")


def read(source: Source) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: a line is wrong, or no line belongs to an inference.
    """
    collector = Collector()
    for line in source.lines():
        if _BEGINS.search(line):
            collector.end_inference()
        elif found := _ROOT.search(line) or _TRACED.search(line):
            _take(source, collector, found)
    series = collector.finish()
    if not series:
        other = other_file(source.head)
        if other is not None:
            raise UnreadableFile(source.path, "", other.what, other.hint)
        hint = "htppower advise reads what profilers write; htppower advise --help lists them"
        raise UnreadableFile(source.path, "", "is not the output of a known profiler", hint)
    return measurements(source.path, _FORM, series)


def _take(source: Source, collector: Collector, found: re.Match[str]) -> None:
    groups = found.groupdict()
    graph, what = groups.get("graph") or "", groups.get("what")
    event = event_of(found["name"])
    if event is None or groups.get("level") == "SUB-EVENT" or what == "sub_count":
        collector.add(Row(None, 0.0, graph=graph, op=found["name"]))
        return
    if not _NUMBER.fullmatch(found["number"]):
        message = f"{event.printed} is {found['number'][:40]!r}"
        raise source.wrong(message, "a number and its unit", found.start("number") + 1)
    unit = found["unit"] or (what if what in ("count", "cycles") else "")
    try:
        number = in_kept_unit(event, float(found["number"]), unit)
    except WrongUnit as error:
        raise source.wrong(str(error), "", found.start("unit") + 1) from None
    collector.add(Row(event, number, unit, graph=graph))
