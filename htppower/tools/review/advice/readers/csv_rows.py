"""The CSV of qnn-profile-viewer and of ONNX Runtime's QNN execution provider. Both have the same header.

The viewer writes lines about itself before the header, and a row ``NETRUN`` for the whole inference. ONNX Runtime
appends each run to the file. Newer versions add an eighth column.
"""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING, NamedTuple

from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice.measurement import MISSING, Event, Measurement, WrongUnit, event_of, in_kept_unit
from htppower.tools.review.advice.readers.text_profiles import release_in
from htppower.tools.review.advice.rows import Collector, Row, measurements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.readers.source import Source

COLUMNS = (
    "Msg Timestamp",
    "Message",
    "Time",
    "Unit of Measurement",
    "Timing Source",
    "Event Level",
    "Event Identifier",
)
_TIMESTAMP, _MESSAGE, _TIME, _UNIT, _TIMING_SOURCE, _LEVEL, _IDENTIFIER = range(len(COLUMNS))
_OF_A_SESSION = ("INIT", "FINALIZE", "COMPOSE GRAPHS", "DE-INIT", "DEINIT")
_OF_AN_INFERENCE = frozenset({"EXECUTE", "BACKEND", "NODE", "ROOT", "UNKNOWN"})
# The name that an old provider gives to the whole call.
_UNNAMED = frozenset({"", "NULL"})
_NETRUN = "NETRUN"
_DIGITS_MOST = 24
_HEADER_BEGINS = (COLUMNS[_TIMESTAMP], f'"{COLUMNS[_TIMESTAMP]}')
_USUAL_PLACES = tuple(range(len(COLUMNS)))
# How many kinds of rows are remembered. A graph has some thousands of ops.
_MOST_MEANINGS = 100_000
_SIMULATED = (
    "It was made by the simulation of the HTP on x86-64: it has no RPC row. Its times are not a device's, so no "
    "advice is given."
)


def is_csv(head: str) -> bool:
    """Return whether a file that begins like this is such a CSV."""
    return any(map(_places, head.splitlines()))


def read(source: Source) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: a row is wrong, or no row belongs to an inference.
    """
    reader = _Rows(source)
    for line in source.lines():
        reader.take(line)
    series = reader.collector.finish()
    if not series:
        hint = "profile at least one inference"
        raise UnreadableFile(source.path, "", "has no known row of an inference", hint)
    # A device writes RPC rows, or at least rows of the HTP and of HVX threads in use.
    events = {event for each in series for event in each.columns}
    of_device = Event.RPC in events or (reader.hvx_threads > 0 and Event.QNN_ACCELERATOR in events)
    simulated = not reader.of_viewer and not of_device
    form = "CSV of qnn-profile-viewer" if reader.of_viewer else "CSV of ONNX Runtime"
    notes, facts = (_SIMULATED,) if simulated else (), {"release": reader.release} if reader.release else {}
    return measurements(source.path, form, series, simulated=simulated, notes=notes, facts=facts)


class _Meaning(NamedTuple):
    """The meaning of a row, apart from its number and its timestamp.

    The row has the number of an event, in this unit of the file, or is an op's, or ends a session, or means nothing.
    ``factor`` converts the number to the unit of its kind.
    """

    event: Event | None = None
    factor: float = 1.0
    unit: str = ""
    graph: str = ""
    op: str = ""
    ends_session: bool = False


class _Rows:
    """Reads the lines. Most rows differ only in number and timestamp, so the meaning of the others is remembered."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places: tuple[int, ...] = ()
        self._meanings: dict[tuple[str, ...], _Meaning] = {}
        self.collector = Collector()
        self.of_viewer = False
        self.release = ""
        self.hvx_threads = 0.0

    def take(self, line: str) -> None:
        """Read a line."""
        if not line or line.isspace():
            return
        may_be_header = not self._places or line.startswith(_HEADER_BEGINS)
        if may_be_header and (places := _places(line)):
            self._places = places
            self._meanings = {}
            self.collector.end_session()
        elif not self._places:
            # Only the viewer writes lines before the header.
            self.of_viewer = True
            self.release = self.release or release_in(line)
        else:
            self._row(line)

    def _row(self, line: str) -> None:
        noted, number, key = self._parted(line)
        meaning = self._meanings.get(key)
        if meaning is None:
            if len(self._meanings) == _MOST_MEANINGS:
                self._meanings = {}
            meaning = self._meanings[key] = self._meaning(self._fields(line))
        if meaning.event is not None:
            measured = self._number(number, meaning.event) * meaning.factor
            if meaning.event is Event.HVX_THREADS:
                self.hvx_threads = max(self.hvx_threads, measured)
            self.collector.add(Row(meaning.event, measured, meaning.unit, _moment(noted), meaning.graph))
        elif meaning.op:
            self.collector.add(Row(None, 0.0, op=meaning.op))
        elif meaning.ends_session and self.collector.begun:
            self.collector.end_session()

    def _parted(self, line: str) -> tuple[str, str, tuple[str, ...]]:
        """Split a row into its timestamp, its number and the rest."""
        if self._places == _USUAL_PLACES and '"' not in line:
            parts = line.split(",", 3)
            if len(parts) > _TIME + 1:
                return parts[_TIMESTAMP], parts[_TIME], (parts[_MESSAGE], parts[-1])
        fields = self._fields(line)
        return fields[_TIMESTAMP], fields[_TIME], (fields[_MESSAGE], *fields[_UNIT:])

    def _meaning(self, fields: Sequence[str]) -> _Meaning:
        message, unit, identifier = fields[_MESSAGE].upper(), fields[_UNIT], fields[_IDENTIFIER]
        if message.startswith(_OF_A_SESSION) or "(finalize)" in identifier or "(load binary)" in identifier:
            return _Meaning(ends_session=True)
        if message not in _OF_AN_INFERENCE or unit.upper() == "INF/SEC":
            return _Meaning()
        of_root = fields[_LEVEL].upper() != "SUB-EVENT"
        event, graph = event_of(identifier), ""
        if fields[_TIMING_SOURCE].upper() == _NETRUN:
            self.of_viewer = True
            event, graph = Event.NETRUN, identifier.partition(":")[2].strip() or identifier
        elif event is None and message == "EXECUTE" and of_root and identifier in _UNNAMED:
            event = Event.QNN
        if event is None:
            return _Meaning(op=identifier if message == "NODE" or not of_root else "")
        try:
            return _Meaning(event, in_kept_unit(event, 1.0, unit), unit, graph)
        except WrongUnit as error:
            raise self._source.wrong(str(error), "", self._places[_UNIT] + 1) from None

    def _fields(self, line: str) -> list[str]:
        """Return the columns of a row in the order of ``COLUMNS``."""
        try:
            found = next(csv.reader((line,), skipinitialspace=True, strict=True)) if '"' in line else line.split(",")
        except csv.Error as error:
            raise self._source.wrong(f"is not CSV: {error}", "close each quote in its line") from None
        if len(found) <= max(self._places):
            most = max(self._places) + 1
            raise self._source.wrong(f"has {len(found)} columns, not {most}", "the file may be cut off", len(line) + 1)
        return [found[place].strip() for place in self._places]

    def _number(self, said: str, event: Event) -> float:
        try:
            number = float(said) if len(said) <= _DIGITS_MOST and "_" not in said else math.nan
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf:
            message, hint = f"{event.printed} is {said.strip()[:40]!r}", "a number, 0 or more"
            raise self._source.wrong(message, hint, self._places[_TIME] + 1)
        return number


def _places(line: str) -> tuple[int, ...]:
    """Return the places of ``COLUMNS`` in a header; none if the line is not a header."""
    names = [name.strip().strip('"').strip() for name in line.lstrip("\ufeff").split(",")]
    return tuple(names.index(name) for name in COLUMNS) if set(COLUMNS) <= set(names) else ()


def _moment(said: str) -> float:
    """Return a timestamp in us. The values 0 and UNKNOWN mean that there is none."""
    if said == "0" or len(said) > _DIGITS_MOST or not (said.isascii() and said.strip().isdecimal()):
        return MISSING
    return float(said) or MISSING
