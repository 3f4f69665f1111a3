"""The table of the watched sessions of all hosts: one row each, with its rate, and the reasons below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.status.process_identity import Life
from htppower.errors import printable
from htppower.events import State
from htppower.tools.cli.status.history import now_of
from htppower.tools.cli.status.served import NONE_SERVED, life, process_name, why
from htppower.tools.cli.status.wording import lasted, measured_lines, painted, profile_in_use, up, wait
from htppower.tools.report.layout import NONE, labelled, padded, shown_width, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.tools.cli.status.document import Seen
    from htppower.tools.cli.status.history import Histories, Rate
    from htppower.tools.cli.status.served import Served

_LABEL = 11
# A narrower terminal has no room for the name of the program.
_ROOMY = 60
_LEAST_NAME, _MOST_NAME = 8, 24


@attrs.frozen
class Row:
    """A session of a host, or a host that has no session.

    Attributes:
        served: the host.
        view: its status.
        session: the session, or None.
        rate: its recent rate, if it is known.
    """

    served: Served
    view: Seen
    session: dict[str, Any] | None
    rate: Rate | None

    @property
    def name(self) -> str:
        """The owner of the session, or its number."""
        if self.session is None:
            return "no session"
        return self.session["owner"] or f"session {self.session['number']}"

    @property
    def state(self) -> str:
        """Its state, or that its process is gone."""
        if self.view.process is Life.GONE:
            return "gone"
        return NONE if self.session is None else str(self.session["state"])


@attrs.frozen
class Column:
    """A column.

    Attributes:
        title: its heading.
        width: its width; 0 for the names, which take the rest of the line.
        from_width: the least width of a terminal that shows it.
        cell: the text in it.
        order: the key to sort by it.
    """

    title: str
    width: int
    from_width: int
    cell: Callable[[Row], str]
    order: Callable[[Row], Any]


_STATES = {State.RAISED.value: 0, State.UNKNOWN.value: 1, State.LOWERED.value: 2, State.UNVOTED.value: 3}


def _rate(row: Row) -> str:
    return NONE if row.rate is None else f"{row.rate.each_s:.1f}"


def _cold(row: Row) -> str:
    return NONE if row.rate is None or row.rate.cold is None else f"{row.rate.cold:.0%}"


def _wait(row: Row) -> str:
    return NONE if row.rate is None or row.rate.wait_us is None else wait(row.rate.wait_us)


COLUMNS = (
    Column("PID", 7, 0, lambda row: str(row.view.document["pid"]), lambda _row: 0),
    Column("SESSION", 0, 0, lambda row: row.name, lambda row: row.name),
    Column("STATE", 8, 0, lambda row: row.state, lambda row: _STATES.get(row.state, len(_STATES))),
    Column(
        "FOR",
        7,
        72,
        lambda row: NONE if row.session is None else lasted(row.view, row.session["since_us"]),
        lambda row: 0 if row.session is None else row.session["since_us"] - row.view.until_us,
    ),
    Column("INF/S", 7, 0, _rate, lambda row: -1 if row.rate is None else -row.rate.each_s),
    Column("COLD", 5, 0, _cold, lambda row: -1 if row.rate is None else -(row.rate.cold or 0)),
    Column("WAIT", 7, 64, _wait, lambda row: -1 if row.rate is None else -(row.rate.wait_us or 0)),
    Column(
        "UP",
        5,
        54,
        lambda row: NONE if row.session is None else f"{up(row.session, row.view):.0%}",
        lambda row: 0 if row.session is None else -up(row.session, row.view),
    ),
)


def table(found: Iterable[Served], histories: Histories, width: int, sorted_by: int) -> tuple[list[str], list[str]]:
    """Return the heading of a table, and its lines; ``sorted_by``: the place of a column in ``COLUMNS``.

    Rows of running processes are first, in any order of sorting.
    """
    found = tuple(found)
    columns = [column for column in COLUMNS if width >= column.from_width]
    left = width - sum(column.width + 1 for column in columns)
    widths = [column.width or min(_MOST_NAME, max(_LEAST_NAME, left)) for column in columns]
    marked = (f"{each.title}*" if each is COLUMNS[sorted_by] else each.title for each in columns)
    rows = [row for served in found for row in _rows(served, histories)]
    rows.sort(key=lambda row: (row.view.process is Life.GONE, COLUMNS[sorted_by].order(row)))
    body = [line for row in rows for line in _lines(row, columns, widths, histories, width)]
    body += [line for each in found if each.seen is None for line in wrapped(f"unreadable: {each.problem}", width)]
    return [_line(marked, widths)], body or wrapped(NONE_SERVED, width)


def _rows(served: Served, histories: Histories) -> Iterator[Row]:
    view = served.seen
    if view is None:
        return
    for session in view.document["sessions"]:
        rate = histories.rate((str(served.path), session["number"]))
        # A process that is gone has no rate.
        yield Row(served, view, session, None if view.process is Life.GONE else rate)
    if not view.document["sessions"]:
        yield Row(served, view, None, None)


def _lines(row: Row, columns: list[Column], widths: list[int], histories: Histories, width: int) -> Iterator[str]:
    yield painted(_line((column.cell(row) for column in columns), widths))
    parts = [process_name(row.served).partition(" ")[2]] if width >= _ROOMY or row.view.uid is not None else []
    if row.view.process is not Life.RUNNING or row.view.document["closed"]:
        parts.append(life(row.view))
    if row.session is not None:
        state = f"was {row.session['state']}, " if row.view.process is Life.GONE else ""
        parts += [state + profile_in_use(row.session), f"since {why(row.session, row.view)}"]
    if row.session is None or row.session is row.view.document["sessions"][0]:
        # A host has one measured clock, whatever the number of its sessions.
        parts += [said for _, said in measured_lines(row.view)]
    if any(parts):
        yield from wrapped(f"  {'; '.join(filter(None, parts))}", width)
    if row.session is not None:
        strip = histories.strip((str(row.served.path), row.session["number"]), now_of(row.view), width)
        yield from labelled("  timeline", strip, width, _LABEL)


def _line(cells: Iterable[str], widths: list[int]) -> str:
    """Return cells side by side, each cut to its column."""
    return " ".join(padded(_cut(cell, width), width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _cut(text: str, width: int) -> str:
    text = printable(text)
    while shown_width(text) > width:
        text = text[:-1]
    return text
