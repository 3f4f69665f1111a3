"""Two runs as one page: both timelines on one scale, what changed, and what each run costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.events import State
from htppower.review.pictures.page import figure, page
from htppower.review.pictures.svg import as_svg
from htppower.review.pictures.tables import cell, shown_file, summary, summary_list, table
from htppower.review.pictures.timeline import timeline, workload_said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.review.dry_run.workload import Report

CHANGE_HEAD = ("profile", "when", "field", "old", "new", "effect", "place")


@attrs.frozen
class Pair:
    """The runs of a profile before and after a change.

    Attributes:
        name: what is compared, as a heading.
        old, new: the runs; None where the profile is only on one side.
    """

    name: str
    old: Report | None
    new: Report | None


def as_diff_page(title: str, pairs: Sequence[Pair], changes: Sequence[Sequence[str]], lines: Sequence[str] = ()) -> str:
    """Return the page.

    Args:
        title: the heading, such as ``main...HEAD``.
        pairs: what is drawn, each with both timelines above each other on the same scale of time and of corners.
        changes: a row of texts for each change, in the order of ``CHANGE_HEAD``.
        lines: sentences above the table, such as counts.
    """
    said = "".join(f"<p>{cell(line)}</p>" for line in lines)
    rows = table("What changed, and its effect", CHANGE_HEAD, changes, "changes") if changes else "<p>No change.</p>"
    drawn = "\n".join(_pair(pair, number) for number, pair in enumerate(pairs, start=1))
    return page(title, f"<h1>{cell(title)}</h1>\n{said}\n<section><h2>Changes</h2>\n{rows}</section>\n{drawn}")


def _pair(pair: Pair, number: int) -> str:
    sides = [(side, report) for side, report in (("old", pair.old), ("new", pair.new)) if report is not None]
    drawn = {side: timeline(report) for side, report in sides}
    parts = [f"<section><h2>{cell(pair.name)}</h2>"]
    for side, report in sides:
        beside = tuple(other for name, other in drawn.items() if name != side)
        picture = as_svg(drawn[side], beside, f"{side}-{number}", head=False)
        about = f"{side}: {report.profile.name}, {report.profile.summary}"
        parts.append(f"<h3>{cell(about)}</h3>\n{figure(picture, f'{side}: votes of {report.profile.name} over time')}")
    columns = "".join(f"<div><h3>{side}</h3>{summary_list(_costs(report))}</div>" for side, report in sides)
    return "\n".join((*parts, f'<div class="columns">{columns}</div></section>'))


def _costs(report: Report) -> list[tuple[str, str]]:
    raised = f"{report.time_in_state_us[State.RAISED]} us of {report.end_us} us"
    return [
        ("file", shown_file(report)),
        ("platform", str(report.backend.platform)),
        ("workload", workload_said(report)),
        ("raised", raised),
        *summary(report),
    ]
