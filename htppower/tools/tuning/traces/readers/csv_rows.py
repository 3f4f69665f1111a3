"""Reads a table with a row for each inference: begin and end, or begin and duration, or only the begin.

The names of the columns state their meaning and unit: ``begin_us,end_us``, ``start [ms];duration [ms]``. Other columns
may hold the session, the profile, and whether the inference waited for a raise.
"""

from __future__ import annotations

import csv
import datetime
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

import attrs

from htppower.errors import TraceError
from htppower.tools.report.words import counted
from htppower.tools.tuning.traces.collected import LONGEST_US, Inferences, left_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.tuning.traces.readers.source import Source

# How many ns a unit has.
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_LONG_UNITS = {"sec": "s", "second": "s", "seconds": "s", "millis": "ms", "milliseconds": "ms", "\u00b5s": "us"}
_LONG_UNITS |= {"\u03bcs": "us", "micros": "us", "microseconds": "us", "nanos": "ns", "nanoseconds": "ns"}
_MEANINGS = {
    "begin": "begin begins began start started arrival arrived arrival_time arrival_timestamp begin_time start_time"
    " timestamp time ts t",
    "end": "end ends ended stop finish finished complete completed end_time finish_time",
    "duration": "duration dur latency elapsed inference_time length took",
    "session": "session owner model name user stream",
    "profile": "profile",
    "cold": "cold cold_start waited",
}
_MEANS = {name: meaning for meaning, names in _MEANINGS.items() for name in names.split()}
# If several columns have the same meaning, the column is used whose name is first in the list above.
_RANKS = {name: rank for rank, name in enumerate(_MEANS)}
_TIMES = ("begin", "end", "duration")
_TRUE = frozenset({"true", "1", "yes", "t", "y"})
_FALSE = frozenset({"false", "0", "no", "f", "n"})
_STAMP = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?")
_PLAIN = re.compile(r"\d{1,19}")
_HINT = "write begin_us,end_us in the first line"
_UNIT_HINT = "state it in the first line, as in begin_ms, or with --unit"
_UNFINISHED = "-1"
_LONGEST_ROW = 2**16
_MOST_TOLD = 8
_LONGEST_HEADING = 100
# Far beyond any time.
_MOST_DIGITS = 40


@attrs.frozen
class _Columns:
    """The places of the columns, -1 if missing; ``ns`` is the unit of begin, end and duration, -1 if not stated."""

    begin: int
    end: int
    duration: int
    session: int
    profile: int
    cold: int
    ns: dict[str, int]
    count: int

    @property
    def needed(self) -> int:
        """The least number of columns of a row."""
        return 1 + max(self.begin, self.end, self.duration, self.session, self.profile, self.cold)

    def is_unfinished(self, row: Sequence[str]) -> bool:
        """Return whether the inference of a row was not finished when the trace ended, as in Perfetto's tables."""
        return self.end < 0 <= self.duration < len(row) and row[self.duration].strip() == _UNFINISHED


def read(source: Source, unit: str | None = None) -> list[Inferences]:
    """Return the inferences of each session.

    Args:
        source: the file.
        unit: the unit of times whose column does not state it: s, ms, us or ns.

    Raises:
        TraceError: the column of the begin is missing, or a row has an error.
    """
    rows = _rows(source)
    first = next(rows, None)
    if first is None:
        raise source.wrong("has no rows", "write a row for each inference", line=0)
    columns = _columns(first, unit, source)
    sessions: dict[str, Inferences] = {}
    unfinished = 0
    if columns is None:
        columns = _Columns(0, -1, -1, -1, -1, -1, {"begin": _ns_of("", unit, "the only column", source)}, 1)
        _add(first, columns, sessions, source)
        rows = _numbers(rows, source)
    try:
        for row in rows:
            if columns.is_unfinished(row):
                unfinished += 1
            else:
                _add(row, columns, sessions, source)
    except TraceError:
        if source.line_ended or not _any(sessions):
            raise
        source.notes.append(f"line {source.line} is cut off, and was left out")
    else:
        if _any(sessions) and not source.line_ended and not source.is_cut:
            source.notes.append(
                f"line {source.line} has no line end: if the file was cut off, a number of this line may be wrong"
            )
    source.notes.extend(left_out(unfinished, "row", ("has", "have"), "a duration of -1, so no end"))
    if _any(sessions) and columns.end < 0 and columns.duration < 0:
        source.notes.append("it has only begins of inferences: each is taken to last 0 us")
    return list(sessions.values())


def _any(sessions: dict[str, Inferences]) -> bool:
    return any(map(len, sessions.values()))


def _rows(source: Source) -> Iterator[list[str]]:
    """Yield the rows that are neither empty nor a comment."""
    separator = ""
    for piece in source.pieces():
        if source.is_cut and not source.line_ended:
            continue  # the last line may end in the middle of a number
        if len(piece) > _LONGEST_ROW:
            raise source.wrong(f"a row is longer than {_LONGEST_ROW} bytes", "is it a table with a row on each line?")
        try:
            line = piece.decode().strip("\r\n")
        except UnicodeDecodeError:
            raise source.wrong("is not UTF-8", "save it as UTF-8 text") from None
        if "\0" in line:
            raise source.wrong("is not a text", "give a trace")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if "\r" in line and '"' not in line:
            raise source.wrong("has lines that end with only a CR", "save it with the line ends of Unix or Windows")
        separator = separator or max(",;\t", key=line.count)
        if '"' not in line:
            yield line.split(separator)
            continue
        try:
            yield next(csv.reader((line,), delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise source.wrong(f"is not CSV: {error}", "close each quote on its line") from None


def _numbers(rows: Iterator[list[str]], source: Source) -> Iterator[list[str]]:
    """Yield the rows of a table without headings. If a row is not a number, the error does not show its text."""
    for row in rows:
        if not _is_number(row[0]):
            raise source.wrong(f"is not a number, but {len(row[0].strip())} characters", _HINT)
        yield row


def _columns(heads: Sequence[str], unit: str | None, source: Source) -> _Columns | None:
    """Return the columns; None if the table has a single column of numbers without a heading."""
    for place, head in enumerate(heads, 1):
        if len(head) > _LONGEST_HEADING:
            hint = f"is the first line a row of headings? A heading may have {_LONGEST_HEADING} characters"
            raise source.wrong(f"the heading of column {place} has {len(head)} characters", hint)
    places: dict[str, int] = {}
    ns: dict[str, int] = {}
    known = sorted((_RANKS[name], place) for place, (name, _) in enumerate(map(_heading, heads)) if name in _RANKS)
    for _, place in known:
        head = heads[place].strip()
        name, said = _heading(head)
        meaning = _MEANS[name]
        if meaning in places:
            source.notes.append(
                f"column {head[:40]!r} was left out: {heads[places[meaning]].strip()[:40]!r} is the {meaning}"
            )
            continue
        places[meaning] = place
        if meaning in _TIMES:
            ns[meaning] = -1 if not said and unit is None else _ns_of(said, unit, head, source)
    if "begin" not in places:
        if len(heads) == 1 and (_PLAIN.fullmatch(heads[0].strip()) or _is_number(heads[0])):
            return None
        # The error does not show the text, since the path may be a link to a secret file.
        long = ", ".join(str(len(head.strip())) for head in heads[:_MOST_TOLD])
        long += ", ..." if len(heads) > _MOST_TOLD else ""
        told = f"the first line has {counted(len(heads), 'column')}, of {long} characters"
        raise source.wrong(f"no column is the begin of an inference: {told}", _HINT)
    where = {meaning: places.get(meaning, -1) for meaning in _MEANINGS}
    return _Columns(**where, ns=ns, count=len(heads))


def _heading(head: str) -> tuple[str, str]:
    """Return the name and the unit of a column; ``start [ms]``, ``start_ms`` and ``Start (ms)`` are the same."""
    said = "_".join(head.strip().strip('"').lower().split())
    if said.endswith((")", "]")):
        begin = max(said.rfind("("), said.rfind("["))
        name, unit = said[: max(begin, 0)], said[begin + 1 : -1].strip("_")
    else:
        name, _, unit = said.rpartition("_")
    unit = _LONG_UNITS.get(unit, unit)
    return (name.rstrip("_"), unit) if unit in UNITS else (said, "")


def _ns_of(said: str, unit: str | None, head: str, source: Source) -> int:
    """Return how many ns the unit of a column has."""
    named = said or unit
    if named is None:
        raise source.wrong(f"the unit of {head!r} is not known", _UNIT_HINT)
    if named not in UNITS:
        raise source.wrong(f"{named!r} is not a unit of time", f"use {', '.join(UNITS)}")
    return UNITS[named]


def _add(row: Sequence[str], columns: _Columns, sessions: dict[str, Inferences], source: Source) -> None:
    if len(row) < columns.needed:
        raise source.wrong(f"has {counted(len(row), 'column')}, not {columns.needed}", "the file may be cut off")
    if len(row) > columns.count and any(each.strip() for each in row[columns.count :]):
        hint = "write 1.5 for 1,5, or separate columns by a semicolon or a tab; a name with a comma needs quotes"
        raise source.wrong(f"has {counted(len(row), 'column')}, but the first line has {columns.count}", hint)
    begin_ns = _time_ns(row[columns.begin], columns.ns["begin"], "begin", source)
    end_ns = begin_ns
    if columns.end >= 0:
        end_ns = _time_ns(row[columns.end], columns.ns["end"], "end", source)
    elif columns.duration >= 0:
        end_ns = begin_ns + _time_ns(row[columns.duration], columns.ns["duration"], "duration", source)
    if end_ns < begin_ns:
        raise source.wrong(f"ends {(begin_ns - end_ns) / 1000:g} us before it begins", "write the begin, then the end")
    cold = _truth(row[columns.cold], source) if columns.cold >= 0 else None
    name = row[columns.session].strip() if columns.session >= 0 else ""
    found = sessions.get(name)
    if found is None:
        found = sessions[name] = Inferences(name or "inferences", source.room)
    if columns.profile >= 0 and row[columns.profile].strip():
        found.used(row[columns.profile].strip())
    found.add((begin_ns + 500) // 1000, (end_ns + 500) // 1000, cold=cold)


def _time_ns(said: str, ns: int, what: str, source: Source) -> int:
    """Return a time in ns: a number in its unit, or a date."""
    said = said.strip()
    if _PLAIN.fullmatch(said) and ns > 0:
        time_ns = int(said) * ns
    elif (stamp := _STAMP.fullmatch(said)) is not None and what != "duration":
        return _since_1970_ns(stamp, source)
    elif not _is_number(said):
        hint = "write a number, or a date such as 2026-01-31 12:00:00.000"
        if _is_number(said.replace(",", ".", 1)):
            hint = f"write {said[:40].replace(',', '.')}: the decimal mark is a point"
        raise source.wrong(f"{what} is {said[:40]!r}", hint)
    elif ns < 0:
        raise source.wrong(f"the unit of {what} is not known", _UNIT_HINT)
    else:
        time_ns = int((Decimal(said) * ns).to_integral_value())
    if not 0 <= time_ns <= LONGEST_US * 1000:
        raise source.wrong(f"{what} is {said[:40]}", "a time is 0 or more, and less than 285 years; is its unit right?")
    return time_ns


def _is_number(said: str) -> bool:
    """Return whether a text is a finite number that is not far longer than a time."""
    try:
        number = Decimal(said.strip())
    except InvalidOperation:
        return False
    return "_" not in said and number.is_finite() and max(len(said), number.adjusted()) < _MOST_DIGITS


def _since_1970_ns(stamp: re.Match[str], source: Source) -> int:
    """Return a date as ns since 1970; a date without a zone is in UTC."""
    zone = (stamp[3] or "+00:00").replace("Z", "+00:00").replace("UTC", "+00:00")
    zone = zone if ":" in zone else f"{zone[:3]}:{zone[3:] or '00'}"
    try:
        moment = datetime.datetime.fromisoformat(f"{stamp[1].replace(' ', 'T')}{zone}")
    except ValueError as error:
        raise source.wrong(f"{stamp[0]!r} is not a date: {error}", "write it as 2026-01-31 12:00:00.000") from None
    since = moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    whole_ns = (since.days * 86_400 + since.seconds) * UNITS["s"]
    if whole_ns < 0:
        raise source.wrong(f"{stamp[0]!r} is before 1970", "a time is 0 or more")
    return whole_ns + int((stamp[2] or "0")[:9].ljust(9, "0"))


def _truth(said: str, source: Source) -> bool:
    word = said.strip().lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise source.wrong(f"cold is {said.strip()[:40]!r}", "write true or false")
