"""A run as one page: its timeline, its votes, its native calls, and the findings of lint in its file."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from htppower.tools.review.lint.run import lint
from htppower.tools.review.pictures.page import figure, page
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.tables import (
    about,
    call_table,
    cell,
    finding_table,
    label_list,
    summary,
    vote_table,
)
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.errors import Finding
    from htppower.tools.review.dry_run.report import Report


def render(report: Report, folders: Iterable[str] = ()) -> str:
    """Return the page of a run, with the findings on its platform."""
    return page_of(report, _findings(report, folders))


def page_of(report: Report, findings: Sequence[Finding] = ()) -> str:
    """Return the page: self-contained, without a script, light or dark like the reader's system."""
    profile = report.profile
    sections = (
        ("Summary", label_list(summary(report))),
        ("Findings", finding_table(findings)),
        ("Votes", vote_table(report)),
        ("Native calls", call_table(report)),
    )
    body = "\n".join(
        (
            f"<h1>{cell(profile.name)}</h1>",
            f'<p class="summary">{cell(profile.summary)}</p>',
            label_list(about(report)),
            figure(as_svg(timeline(report), head=False), f"Votes of {profile.name} over time"),
            *(f"<section><h2>{name}</h2>\n{markup}</section>" for name, markup in sections),
        )
    )
    return page(f"{profile.name}: votes over time", body)


def _findings(report: Report, folders: Iterable[str]) -> Sequence[Finding]:
    source = report.profile.source
    if source is None:
        return ()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return lint([source], today, profiles=folders, platform=report.backend.platform).told
