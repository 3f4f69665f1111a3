"""Two dry runs side by side, as text and as JSON, and what they cost."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from htppower.diff.runs import RunPair, raised_us
from htppower.texts import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.dry_run.workload import Report, Row
    from htppower.votes import VoteSet


def as_text(runs: Iterable[RunPair]) -> str:
    """Return the runs of each profile, old on the left, new on the right, with a bar between calls that differ."""
    return "\n\n".join("\n".join(_lines(pair)) for pair in runs)


def as_dicts(runs: Iterable[RunPair]) -> list[dict[str, Any]]:
    """Return the runs of each profile, for JSON."""
    return [{"profile": pair.name, "old": _as_dict(pair.old), "new": _as_dict(pair.new)} for pair in runs]


def _lines(pair: RunPair) -> Iterator[str]:
    yield f"{printable(pair.name)}: dry runs on {pair.new.backend.platform}"
    width = max((len(_call(row)) for row in pair.old.rows), default=0)
    yield f"{'old':<{width}}   new"
    for old, new in _side_by_side(pair.old.rows, pair.new.rows):
        same = old is not None and new is not None and old.call == new.call
        yield f"{_call(old):<{width}} {' ' if same else '|'} {_call(new)}".rstrip()
    for what, before, after, unit in _costs(pair):
        more = "the same" if before == after else f"{after - before:+}{unit}"
        yield f"{what}: {before}{unit} -> {after}{unit} ({more})"


def _side_by_side(old: tuple[Row, ...], new: tuple[Row, ...]) -> Iterator[tuple[Row | None, Row | None]]:
    """Yield the calls of both, those that are made for the same reason in one line."""
    before, after = ([(row.cause, row.call.function, row.state) for row in rows] for rows in (old, new))
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, start, end in matcher.get_opcodes():
        if kind == "equal":
            yield from zip(old[first:last], new[start:end], strict=True)
            continue
        yield from ((row, None) for row in old[first:last])
        yield from ((None, row) for row in new[start:end])


def _call(row: Row | None) -> str:
    if row is None:
        return ""
    call = row.call
    said = call.function if call.votes is None else ", ".join(_votes(call.votes))
    return f"{call.time_us:>9}  {row.state.value:<9}  {said}".rstrip()


def _votes(votes: VoteSet) -> Iterator[str]:
    """Yield what matters most of a vote set: the clocks and the polling; the rest by name where it is alone."""
    dcvs = votes.dcvs_v3
    clocks = {} if dcvs is None else {"core": dcvs.core, "bus": dcvs.bus}
    targets = {clock: corners.target.name for clock, corners in clocks.items() if corners is not None}
    for target in dict.fromkeys(targets.values()):
        yield f"{', '.join(clock for clock in targets if targets[clock] == target)} {target}"
    if votes.rpc_polling_time_us is not None:
        yield f"polling {votes.rpc_polling_time_us}"
    if not clocks and votes.rpc_polling_time_us is None:
        yield str(votes)


def _costs(pair: RunPair) -> Iterator[tuple[str, int, int, str]]:
    yield "native calls", len(pair.old.rows), len(pair.new.rows), ""
    yield "time raised", raised_us(pair.old), raised_us(pair.new), " us"


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
