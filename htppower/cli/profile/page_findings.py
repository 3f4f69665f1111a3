"""What lint finds in the file of a run, as a page shows it."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from htppower.profiles.discovery import shown_path
from htppower.review.lint.run import lint
from htppower.review.pictures.findings import Shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.review.dry_run.workload import Report


def findings_of(report: Report, folders: Iterable[str]) -> tuple[Shown, ...]:
    """Return the findings in the file of the profile that was run, on the platform of the run."""
    if report.profile.source is None:
        return ()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    found = lint([report.profile.source], today, profiles=folders, platform=report.backend.platform).findings
    return tuple(
        Shown(each.severity.value, each.rule, shown_path(each.place), each.message, each.hint) for each in found
    )
