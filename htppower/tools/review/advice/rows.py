"""Sorts rows of events, in the order of a file, into inferences and graphs.

No format marks the end of an inference, and rows may be missing. So a row begins the next inference if its event is
already in the current one. If most rows come in the same order, a row also begins the next inference if it belongs
before the last one.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.readers.limits import GRAPH_ROOM, MEASURED, Room, TooMuch, raised
from htppower.tools.review.advice.measurement import MISSING, WHOLES, Event, Measurement
from htppower.tools.review.advice.numbers import median, present

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# How many rows the order is learnt from.
_LEARN_FROM = 1024
# An event that is rarer than this has no place in the order. A follower must be as frequent.
_USUAL = 0.6
# The first inference of a file may lack up to this many of its first rows.
_LACKING = 2
# At most this many series of one graph are compared with each new one.
_MOST_COMPARED = 100
# Rows of ops are kept until their inference ends. No graph has more.
_MOST_PENDING = 500_000
_NO_OPS: frozenset[str] = frozenset()
# Two lists of ops belong to the same graph if they share this much, since rows may be missing.
_ALIKE = 0.5
# Sessions whose work differs by less may belong to the same graph, and are joined.
_SAME_WORK = 1.3
_WORK = (Event.CYCLES, Event.COMPUTE, Event.ACCELERATOR, Event.QNN_ACCELERATOR, Event.QNN, Event.NETRUN)
# Inferences may overlap a little, because of the way they are logged.
_OVERLAP = 0.8


@attrs.frozen
class Row:
    """One number: its event, when it was logged, and its graph. The row of an op has no event."""

    event: Event | None
    number: float
    unit: str = ""
    noted_us: float = MISSING
    graph: str = ""
    op: str = ""


class Series:
    """The inferences of one graph in one session, as columns."""

    def __init__(self, graph: str, ops: frozenset[str]) -> None:
        self.graph = graph
        self.ops = ops
        self.columns: dict[Event, array[float]] = {}
        self.units: dict[Event, str] = {}
        self.noted_us = array("d")
        self.starts = [0]

    @property
    def count(self) -> int:
        """How many inferences there are."""
        return len(self.noted_us)

    def add(self, rows: list[Row]) -> None:
        """Add an inference."""
        self.noted_us.append(rows[0].noted_us)
        for row in rows:
            if row.event is None:
                continue
            column = self.columns.get(row.event)
            if column is None:
                column = self.columns[row.event] = array("d")
                self.units[row.event] = row.unit
            if len(column) < self.count - 1:
                column.extend([MISSING] * (self.count - 1 - len(column)))
            column.append(row.number)

    def fill(self) -> None:
        """Make every column as long as there are inferences."""
        for column in self.columns.values():
            column.extend([MISSING] * (self.count - len(column)))

    def join(self, other: Series) -> None:
        """Append the inferences of another session."""
        self.starts.append(self.count)
        for event, column in other.columns.items():
            mine = self.columns.setdefault(event, array("d"))
            mine.extend([MISSING] * (self.count - len(mine)))
            mine.extend(column)
            self.units.setdefault(event, other.units[event])
        self.noted_us.extend(other.noted_us)
        self.fill()

    def is_like(self, other: Series) -> bool:
        """Return whether another session seems to run the same graph."""
        if self.graph != other.graph:
            return False
        if self.ops and other.ops:
            return _alike(self.ops, other.ops)
        for event in _WORK:
            if event in self.columns and event in other.columns:
                here, there = (median(each.columns[event]) for each in (self, other))
                return max(here, there) <= _SAME_WORK * min(here, there)
        return True


class Collector:
    """Takes rows in the order of a file, and returns the series."""

    def __init__(self) -> None:
        # The series of the file and of the session, by the names of their graphs.
        self._series: dict[str, list[Series]] = {}
        self._session: dict[str, list[Series]] = {}
        self._rows: list[Row] = []
        self._seen: set[Event] = set()
        self._buffer: list[Row] | None = []
        self._ranks: Mapping[Event, int] = {}
        self._rank = -1
        self._room = Room(MEASURED, "numbers and graphs")
        self._most_pending = raised(_MOST_PENDING)

    @property
    def begun(self) -> bool:
        """Whether the session has any row of an inference."""
        return bool(self._rows or self._session or self._buffer)

    def add(self, row: Row) -> None:
        """Add a row."""
        if self._buffer is None:
            self._sort(row)
            return
        self._buffer.append(row)
        if len(self._buffer) == _LEARN_FROM:
            self._learn()

    def end_inference(self) -> None:
        """Begin another inference, because the file marks it. No order need be learnt."""
        if self._buffer is not None:
            rows, self._buffer = self._buffer, None
            for row in rows:
                self._sort(row)
        self._flush()

    def end_session(self) -> None:
        """Begin another session. Its graphs may have the names of earlier graphs."""
        self._learn()
        self._flush()
        self._buffer, self._ranks = [], {}
        for series in itertools.chain.from_iterable(self._session.values()):
            series.fill()
            known = self._series.setdefault(series.graph, [])
            like = next((each for each in known[:_MOST_COMPARED] if each.is_like(series)), None)
            if like is None:
                known.append(series)
            else:
                like.join(series)
        self._session = {}

    def finish(self) -> list[Series]:
        """Return the series. The sessions of one graph are joined."""
        self.end_session()
        return list(itertools.chain.from_iterable(self._series.values()))

    def _learn(self) -> None:
        """Learn the usual order of events from the buffered rows, and divide these rows into inferences."""
        if self._buffer is None:
            return
        rows, self._buffer = self._buffer, None
        order = usual_order([row.event for row in rows if row.event], cut=len(rows) == _LEARN_FROM)
        self._ranks = {event: rank for rank, event in enumerate(order)}
        for row in rows:
            self._sort(row)

    def _sort(self, row: Row) -> None:
        if row.event is not None:
            rank = self._ranks.get(row.event, self._rank)
            if row.event in self._seen or rank < self._rank:
                self._flush()
            self._rank = rank
            self._seen.add(row.event)
        self._rows.append(row)
        if len(self._rows) > self._most_pending:
            raise TooMuch(f"has more than {self._most_pending} rows of one inference")

    def _flush(self) -> None:
        rows, self._rows, self._seen, self._rank = self._rows, [], set(), -1
        if any(row.event for row in rows):
            self._keep(rows)

    def _keep(self, rows: list[Row]) -> None:
        self._room.take(len(rows))
        graph = next((row.graph for row in rows if row.graph), "")
        ops = frozenset(row.op for row in rows if row.op) if any(row.event is None for row in rows) else _NO_OPS
        known = self._session.setdefault(graph, [])
        for series in known[:_MOST_COMPARED]:
            if not ops or not series.ops or _alike(series.ops, ops):
                series.add(rows)
                return
        self._room.take(GRAPH_ROOM + len(ops))
        known.append(Series(graph, ops))
        known[-1].add(rows)


def usual_order(events: Sequence[Event], *, cut: bool = False) -> list[Event]:
    """Return the order of the rows of an inference; empty if they have no order, or are too few to learn it.

    The order is the cycle of the events, each mostly after the same event. It begins with the first event of the
    file. If the file seems to lack the first rows, it begins with NetRun, or after QNN (execute), as all tools write
    it. ``cut`` means that more rows come later.
    """
    counts = Counter(events)
    rare = {event for event, count in counts.items() if count < _USUAL * max(counts.values())}
    usual = [event for event in events if event not in rare]
    following: dict[Event, Counter[Event]] = {}
    for event, then in itertools.pairwise(usual):
        following.setdefault(event, Counter())[then] += 1
    order = usual[:1]
    while len(order) < len(counts) - len(rare):
        follower = _follower(following.get(order[-1], Counter()))
        if follower is None or follower in order:
            return []
        order.append(follower)
    if not order or _follower(following.get(order[-1], Counter())) is not order[0]:
        return []
    in_turn = all(event is order[place % len(order)] for place, event in enumerate(usual))
    if in_turn and (cut or len(usual) % len(order) == 0):
        return order  # no row is missing
    for back in range(1, min(_LACKING, len(order) - 1) + 1):
        if order[-back] is Event.NETRUN or order[-back - 1] is Event.QNN:
            return [*order[-back:], *order[:-back]]
    return order


def _follower(after: Counter[Event]) -> Event | None:
    """Return the event that mostly comes next; None if there is none."""
    count = sum(after.values())
    return next((event for event, often in after.items() if often >= _USUAL * count), None)


def _alike(ops: frozenset[str], others: frozenset[str]) -> bool:
    return len(ops & others) >= _ALIKE * min(len(ops), len(others))


def measurements(source: str, form: str, series: Sequence[Series], **more: Any) -> list[Measurement]:
    """Return a measurement for each series; ``more`` are the other attributes of each measurement.

    If several graphs have no name, they are numbered.
    """
    unnamed = [each for each in series if not each.graph]
    numbered = {id(each): f"graph {number}" for number, each in enumerate(unnamed, 1)} if len(unnamed) > 1 else {}
    found = []
    for each in series:
        graph, starts = numbered.get(id(each), each.graph), tuple(each.starts)
        made = Measurement(source, form, each.columns, each.units, graph, starts, begins_us=_begins(each), **more)
        found.append(made)
    return found


def _begins(series: Series) -> tuple[float, ...]:
    """Return when the inferences were logged, if the moments are in order and no closer than inferences last."""
    noted = list(series.noted_us)
    if len(present(noted)) < len(noted) or len(noted) < 2:  # noqa: PLR2004 - two moments make one gap
        return ()
    steps = [later - earlier for earlier, later in itertools.pairwise(noted)]
    whole = next((median(series.columns[event]) for event in WHOLES if event in series.columns), 0.0)
    return tuple(noted) if min(steps) > 0 and median(steps) >= _OVERLAP * whole else ()
