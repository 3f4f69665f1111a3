"""A run as one page: its timeline, its votes, its native calls and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.review.pictures.page import figure, page
from htppower.review.pictures.svg import as_svg
from htppower.review.pictures.tables import (
    call_table,
    cell,
    finding_list,
    shown_file,
    summary,
    summary_list,
    vote_table,
)
from htppower.review.pictures.timeline import timeline, workload_said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.review.dry_run.workload import Report
    from htppower.review.pictures.findings import Shown


def as_html(report: Report, findings: Sequence[Shown] = ()) -> str:
    """Return the page: self-contained, without a script, light or dark as the reader's system is."""
    profile = report.profile
    about = [
        ("file", shown_file(report)),
        ("platform", str(report.backend.platform)),
        ("workload", workload_said(report)),
    ]
    sections = (
        ("Summary", summary_list(summary(report))),
        ("Findings", finding_list(findings)),
        ("Votes", vote_table(report)),
        ("Native calls", call_table(report)),
    )
    body = "\n".join(
        (
            f"<h1>{cell(profile.name)}</h1>",
            f'<p class="summary">{cell(profile.summary)}</p>',
            summary_list(about),
            figure(as_svg(timeline(report), head=False), f"Votes of {profile.name} over time"),
            *(f"<section><h2>{name}</h2>\n{markup}</section>" for name, markup in sections),
        )
    )
    return page(f"{profile.name}: votes over time", body)
