"""Findings as a page shows them: whoever finds something hands it over in this shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower import rules

if TYPE_CHECKING:
    from htppower.dry_run.workload import Report


@attrs.frozen
class Shown:
    """What a page shows of a finding, as plain texts.

    Attributes:
        severity: ``error``, ``warning`` or ``note``.
        rule: the rule's id.
        place: where it is, such as ``burst.yaml:12:5``; empty where that is not known.
        message: what is wrong.
        hint: what to write instead; may be empty.
    """

    severity: str
    rule: str
    place: str
    message: str
    hint: str = ""


def warnings(report: Report) -> tuple[Shown, ...]:
    """Return what the rules warn of in the profile of a run, on its platform."""
    return tuple(
        Shown("warning", problem.rule, f"{problem.path}:{problem.line}:{problem.column}", problem.message, problem.hint)
        for finding in rules.check(report.profile.case(report.backend.platform))
        if rules.RULES[finding.rule].breach is rules.Breach.WARNING
        for problem in (report.profile.problem(finding),)
    )
