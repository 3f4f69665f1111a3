"""Two dry runs side by side with their costs, as text and as JSON."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from htppower.errors import printable
from htppower.profiles.fields import spell, vote_fields
from htppower.review.diff.runs import RunPair, raised_us

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.review.dry_run.observer import Row
    from htppower.review.dry_run.report import Report
    from htppower.votes.vote_set import VoteSet


def as_dicts(runs: Iterable[RunPair]) -> list[dict[str, Any]]:
    """Return the runs of each profile, for JSON."""
    return [{"profile": pair.name, "old": _as_dict(pair.old), "new": _as_dict(pair.new)} for pair in runs]


def lines(pair: RunPair) -> Iterator[str]:
    """Yield the runs of a profile, old on the left, new on the right, with a bar between calls that differ."""
    yield f"{printable(pair.name)}: dry runs on {pair.new.backend.platform}"
    rows = list(_side_by_side(pair.old.rows, pair.new.rows))
    width = max((len(_call(old, new)) for old, new in rows), default=0)
    yield f"{'old':<{width}}   new"
    for old, new in rows:
        same = old is not None and new is not None and old.call == new.call
        yield f"{_call(old, new):<{width}} {' ' if same else '|'} {_call(new, old)}".rstrip()
    costs = (
        ("native calls", len(pair.old.rows), len(pair.new.rows), ""),
        ("time raised", raised_us(pair.old), raised_us(pair.new), " us"),
    )
    for what, before, after, unit in costs:
        more = "the same" if before == after else f"{after - before:+}{unit}"
        yield f"{what}: {before}{unit} -> {after}{unit} ({more})"


def _side_by_side(old: tuple[Row, ...], new: tuple[Row, ...]) -> Iterator[tuple[Row | None, Row | None]]:
    """Yield the calls of both, paired where they have the same reason."""
    before, after = ([(row.cause, row.call.function, row.state) for row in rows] for rows in (old, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(old[first:last], new[start:end], strict=True)
            continue
        yield from ((row, None) for row in old[first:last])
        yield from ((None, row) for row in new[start:end])


def _call(row: Row | None, beside: Row | None = None) -> str:
    """Return a call in a line: its votes on clocks and polling, and those that differ from the call beside it."""
    if row is None:
        return ""
    call = row.call
    other = None if beside is None else beside.call.votes
    said = call.function if call.votes is None else ", ".join(_votes(call.votes, other))
    return f"{call.time_us:>9}  {row.state.value:<9}  {said}".rstrip()


def _votes(votes: VoteSet, other: VoteSet | None) -> Iterator[str]:
    hvx = votes.hvx
    clocks = {} if hvx is None else {"core": hvx.core, "bus": hvx.bus}
    spelt = {clock: spell(corners) for clock, corners in clocks.items() if corners is not None}
    for corners in dict.fromkeys(spelt.values()):
        yield f"{', '.join(clock for clock in spelt if spelt[clock] == corners)} {corners}"
    if votes.rpc_polling_time_us is not None:
        yield f"polling {votes.rpc_polling_time_us}"
    theirs = {} if other is None else dict(vote_fields(other))
    shown = {"core", "bus", "rpc_polling_time_us"}
    for at, value in vote_fields(votes):
        if at[-1] not in shown and value is not None and (theirs.get(at, value) != value or not (spelt or theirs)):
            yield f"{at[-1]} {spell(value)}"


def _as_dict(report: Report) -> dict[str, Any]:
    return {
        "native_calls": len(report.rows),
        "set_power_config": report.count("setPowerConfig"),
        "raised_us": raised_us(report),
        "calls": [
            {
                "time_us": row.call.time_us,
                "cause": row.cause.value,
                "state": row.state.value,
                "function": row.call.function,
                "options": [config.option for config in row.call.configs],
            }
            for row in report.rows
        ],
    }
