"""The CSV of qnn-profile-viewer, and that of ONNX Runtime's QNN execution provider, which have one header.

The viewer writes lines about itself before it, and a row for the whole inference as ``NETRUN``. ONNX Runtime appends
each run to the file, and newer ones add an eighth column.
"""

from __future__ import annotations

import csv
import math
from typing import TYPE_CHECKING

from htppower.review.advice.events import Event, WrongUnit, event_of, in_kept_unit
from htppower.review.advice.measurement import MISSING, Measurement, UnreadableMeasurement
from htppower.review.advice.readers.made import measurements
from htppower.review.advice.rows import Collector, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.review.advice.readers.source import Source

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
# The name that an old provider gives the whole call.
_UNNAMED = frozenset({"", "NULL"})
_NETRUN = "NETRUN"
_DIGITS_MOST = 24
_SIMULATED = (
    "It was made by the simulation of the HTP on x86-64: there is no RPC row. No time in it is of a device, so no "
    "advice is given."
)


def is_csv(head: str) -> bool:
    """Return whether a file begins so."""
    return any(_is_header(line) for line in head.splitlines())


def read(source: Source) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableMeasurement: a row is wrong, or none is of an inference.
    """
    reader = _Rows(source)
    for line in source.lines():
        reader.take(line)
    series = reader.collector.finish()
    if not series:
        hint = "profile at least one inference"
        raise UnreadableMeasurement(source.path, "", "has no row of an inference that is known", hint)
    simulated = not reader.of_viewer and not _is_of_device([set(each.columns) for each in series], reader.hvx_threads)
    form = "CSV of qnn-profile-viewer" if reader.of_viewer else "CSV of ONNX Runtime"
    return measurements(source.path, form, series, simulated=simulated, notes=(_SIMULATED,) if simulated else ())


def _is_of_device(events: Sequence[set[Event]], hvx_threads: float) -> bool:
    """Return whether it is of a device: an RPC row, or else the remote side of one and vector threads in use."""
    if any(Event.RPC in each for each in events):
        return True
    return hvx_threads > 0 and any(Event.QNN_ACCELERATOR in each for each in events)


class _Rows:
    """Takes the lines."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places: tuple[int, ...] = ()
        self.collector = Collector()
        self.of_viewer = False
        self.hvx_threads = 0.0

    def take(self, line: str) -> None:
        """Take a line."""
        if not line.strip():
            return
        if not self._places or line.startswith((COLUMNS[_TIMESTAMP], f'"{COLUMNS[_TIMESTAMP]}')):
            if _is_header(line):
                self._places = _order(line)
                self.collector.end_session()
            else:
                self.of_viewer = True  # only the viewer writes lines before the header
            return
        fields = self._fields(line)
        message = fields[_MESSAGE].upper()
        identifier = fields[_IDENTIFIER]
        if message.startswith(_OF_A_SESSION) or "(finalize)" in identifier or "(load binary)" in identifier:
            if self.collector.begun:
                self.collector.end_session()
        elif message in _OF_AN_INFERENCE and fields[_UNIT].upper() != "INF/SEC":
            self._row(fields, message, identifier)

    def _row(self, fields: Sequence[str], message: str, identifier: str) -> None:
        of_root = fields[_LEVEL].upper() != "SUB-EVENT"
        graph = ""
        event = event_of(identifier)
        if fields[_TIMING_SOURCE].upper() == _NETRUN:
            self.of_viewer = True
            event, graph = Event.NETRUN, identifier.partition(":")[2].strip() or identifier
        elif event is None and message == "EXECUTE" and of_root and identifier in _UNNAMED:
            event = Event.QNN
        if event is not None:
            number = self._number(fields, event)
            if event is Event.HVX_THREADS:
                self.hvx_threads = max(self.hvx_threads, number)
            self.collector.add(Row(event, number, fields[_UNIT], _moment(fields[_TIMESTAMP]), graph))
        elif message == "NODE" or not of_root:
            self.collector.add(Row(None, 0.0, op=identifier))

    def _fields(self, line: str) -> list[str]:
        """Return the columns of a row in the order of ``COLUMNS``."""
        try:
            found = next(csv.reader((line,), skipinitialspace=True, strict=True)) if '"' in line else line.split(",")
        except csv.Error as error:
            raise self._source.wrong(f"is no CSV: {error}", "a quote is closed in its line") from None
        if len(found) <= max(self._places):
            most = max(self._places) + 1
            raise self._source.wrong(f"has {len(found)} columns, not {most}", "the file may be cut off", len(line) + 1)
        return [found[place].strip() for place in self._places]

    def _number(self, fields: Sequence[str], event: Event) -> float:
        said = fields[_TIME]
        try:
            number = float(said) if len(said) <= _DIGITS_MOST and "_" not in said else math.nan
        except ValueError:
            number = math.nan
        if not math.isfinite(number) or number < 0:
            hint = "a number, 0 or more"
            raise self._source.wrong(f"{event.printed} is {said[:40]!r}", hint, self._column(_TIME))
        try:
            return in_kept_unit(event, number, fields[_UNIT])
        except WrongUnit as error:
            raise self._source.wrong(str(error), "", self._column(_UNIT)) from None

    def _column(self, which: int) -> int:
        return self._places[which] + 1


def _order(header: str) -> tuple[int, ...]:
    names = [name.strip().strip('"').strip() for name in header.split(",")]
    return tuple(names.index(name) for name in COLUMNS)


def _is_header(line: str) -> bool:
    names = {name.strip().strip('"').strip() for name in line.lstrip("\ufeff").split(",")}
    return names.issuperset(COLUMNS)


def _moment(said: str) -> float:
    """Return a timestamp in us; 0 and UNKNOWN are none."""
    return (
        float(said) if said.isdecimal() and said.isascii() and 0 < len(said) <= _DIGITS_MOST and int(said) else MISSING
    )
