"""Dry runs of both sides of a comparison, side by side: the same workload under the old and the new profile."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from htppower.errors import ProfileError, RuleBreach, printable
from htppower.profiles.fields import spell, vote_fields
from htppower.tools.report.layout import WIDTH, beside, wrapped
from htppower.tools.report.words import duration
from htppower.tools.review.diff.compare import Pair
from htppower.tools.review.dry_run.workload import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.backends.simulated.htp import SimulatedHtp
    from htppower.tools.review.diff.compare import Comparison, RunPair
    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.workload import Report, Workload
    from htppower.votes.vote_set import VoteSet


# The width of the time and the state of a call, and the bars between old and new.
_LEAD = 22
_BAR, _NO_BAR = " | ", "   "
_BELOW = "    "


def run_both(
    comparison: Comparison, make_backend: Callable[[], SimulatedHtp], workload: Workload
) -> tuple[RunPair, ...]:
    """Return the runs of every profile that changed or is new, each on a backend of its own, in virtual time.

    Raises:
        ProfileError: a profile breaks a rule on the platform of the backend.
    """
    runs = []
    try:
        for pair in comparison.pairs:
            old, new = (run(each, make_backend(), workload) for each in (pair.old, pair.new))
            runs.append(Pair(pair.name, old, new, pair.old_is))
    except RuleBreach as breach:
        raise ProfileError(breach.problems) from None
    return tuple(runs)


def as_dicts(runs: Iterable[RunPair]) -> list[dict[str, Any]]:
    """Return the runs of each profile, for JSON."""
    return [{"profile": pair.name, "old": _as_dict(pair.old), "new": _as_dict(pair.new)} for pair in runs]


def lines(pair: RunPair, width: int = WIDTH) -> Iterator[str]:
    """Yield the runs of a profile, old on the left, new on the right, with a bar between calls that differ."""
    yield from wrapped(f"{printable(pair.name)}: dry runs on {pair.new.backend.platform}", width)
    rows = list(_side_by_side(pair.old.rows, pair.new.rows))
    sides = (rows, [(new, old) for old, new in rows])
    whole = [max((_LEAD + len(_said(*each)) for each in side), default=_LEAD) for side in sides]
    half = (width - len(_BAR)) // 2
    left, right = whole if sum(whole) + len(_BAR) <= width else (half, half)
    yield f"{printable(pair.old_is):<{left + len(_BAR)}}new"
    for old, new in rows:
        same = old is not None and new is not None and old.call == new.call
        columns = _call(old, new, left), _call(new, old, right)
        yield from beside(columns, (left, right), _NO_BAR if same else _BAR)
    costs = (
        ("native calls", len(pair.old.rows), len(pair.new.rows), str),
        ("time raised", pair.old.raised_us, pair.new.raised_us, duration),
    )
    for what, before, after, spelt in costs:
        more = "the same" if before == after else f"{'+' if after > before else ''}{spelt(after - before)}"
        yield f"{what}: {spelt(before)} -> {spelt(after)} ({more})"


def _side_by_side(old: tuple[Row, ...], new: tuple[Row, ...]) -> Iterator[tuple[Row | None, Row | None]]:
    """Yield the calls of both runs, paired if they have the same reason."""
    before, after = ([(row.cause, row.call.function, row.state) for row in rows] for rows in (old, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(old[first:last], new[start:end], strict=True)
            continue
        yield from ((row, None) for row in old[first:last])
        yield from ((None, row) for row in new[start:end])


def _call(row: Row | None, other_row: Row | None, width: int) -> list[str]:
    """Return the lines of a call: time and state, then the votes, on lines of their own if they are too long."""
    if row is None:
        return []
    head = f"{duration(row.call.time_us):>9}  {row.state.value:<9}"
    said = _said(row, other_row)
    if _LEAD + len(said) <= width:
        return [f"{head}  {said}"]
    return [*wrapped(head.rstrip(), width, _BELOW), *wrapped(f"{_BELOW}{said}", width)]


def _said(row: Row | None, other_row: Row | None) -> str:
    """Return the votes of a call on clocks and polling, and how they differ from the call next to it."""
    if row is None:
        return ""
    call = row.call
    other = None if other_row is None else other_row.call.votes
    return call.function if call.votes is None else ", ".join(_votes(call.votes, other))


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
        "raised_us": report.raised_us,
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
