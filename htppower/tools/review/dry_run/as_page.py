"""A run as one page: its timeline, its votes, its native calls, and the findings of lint in its file."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from htppower.profiles.discovery import shown_path
from htppower.profiles.fields import spell, vote_fields
from htppower.profiles.profile import power_states
from htppower.profiles.sustain import Adaptive
from htppower.tools.report.as_html import as_html
from htppower.tools.report.blocks import Heading, Pairs, Paragraph, Picture, Table
from htppower.tools.review.lint.run import lint
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline
from htppower.tools.review.words import sustain_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.errors import Finding, KeyPath
    from htppower.profiles.profile import Relax
    from htppower.profiles.sustain import Sustain
    from htppower.tools.report.blocks import Block
    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.report import Report

SIMULATED = "Nothing was sent to hardware: this is the simulated HTP."
# A page with more calls than _MOST_ROWS shows only the first and the last calls. 20000 rows open slowly and are not
# read.
_MOST_ROWS = 200
_FEW_ROWS = 60
# The columns of the power states, by the fields that name them.
_HEADS: dict[KeyPath, str] = {
    ("relax", "to"): "lowered",
    ("relax", "after_deinit_to"): "after DE-INIT",
    ("relax", "then", "to"): "further",
}


def as_page(report: Report, findings: Sequence[Finding] = ()) -> str:
    """Return the page of a run, with findings in its file."""
    profile = report.profile
    blocks = (
        Heading(profile.name, 1),
        Paragraph(profile.summary),
        Pairs(about(report)),
        Picture(as_svg(timeline(report), head=False), f"Votes of {profile.name} over time"),
        Heading("Summary"),
        Pairs(summary(report)),
        Heading("Findings"),
        _findings(findings) if findings else Paragraph("None."),
        Heading("Votes"),
        *_votes(report),
        Heading("Native calls"),
        *_calls(report),
    )
    return as_html(blocks, f"{profile.name}: votes over time", SIMULATED)


def findings_of(report: Report, folders: Iterable[str]) -> Sequence[Finding]:
    """Return what lint finds in the profile's file, on the platform of the run."""
    source = report.profile.source
    if source is None:
        return ()
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return lint([source], today, profiles=folders, platform=report.backend.platform).told


def about(report: Report) -> list[tuple[str, str]]:
    """Return what was run, as labels and texts; a shipped file by its name, wherever it is installed."""
    source = report.profile.source
    return [
        ("file", "none" if source is None else shown_path(str(source))),
        ("platform", str(report.backend.platform)),
        ("workload", report.workload_line),
        *(("record", line) for line in report.record_lines),
    ]


def summary(report: Report) -> list[tuple[str, str]]:
    """Return the sums of a run, as labels and texts."""
    return [
        ("native calls", f"{len(report.rows)}, {report.count('setPowerConfig')} of them setPowerConfig"),
        ("time", report.state_line or "none"),
        *(("sustain", line) for line in report.sustain_lines),
        *(("degraded", line) for line in report.degradation_lines),
    ]


def _findings(findings: Sequence[Finding]) -> Table:
    rows = (
        (each.severity.value, each.rule, shown_path(str(each.place or "")), each.message, each.hint)
        for each in findings
    )
    return Table("Findings, by rule", ("severity", "rule", "place", "what", "what to do"), rows, "findings")


def _votes(report: Report) -> Iterator[Block]:
    """Yield the table of each vote, raised, lowered and after DE-INIT, as a file writes it, and when it is lowered."""
    profile = report.profile
    if not profile.votes or profile.relax is None:
        yield Paragraph("The profile sends no votes: the system's own settings stay as they are.")
        return
    relax = profile.relax
    states = power_states(profile)
    voted = [dict(vote_fields(votes)) for votes in (profile.votes, *(state.votes for _, state in states))]
    names = dict.fromkeys(at for fields in voted for at in fields)
    rows = ((".".join(at[1:]), *(spell(fields.get(at)) for fields in voted)) for at in names)
    head = ("field", "raised", *(_HEADS[at] for at, _ in states))
    yield Table("Each field, raised and lowered", head, rows, "votes")
    background = ", in the background" if relax.lowers_in_background else ""
    yield Paragraph(
        f"Relaxes to {relax.to.name} {relax.after_init_us} us after INIT and {_time(relax.after_inference_us)} after "
        f"the last inference{background}, {_further(relax)}and to {relax.after_deinit_to.name} after DE-INIT."
        f"{f' Raises {relax.raise_ahead_us} us ahead of a predicted inference.' if relax.raise_ahead_us else ''}"
    )


def _time(sustain: Sustain) -> str:
    """Return a time in us; a learnt time in words."""
    return f"a time that is {sustain_in_words(sustain)}," if isinstance(sustain, Adaptive) else f"{sustain} us"


def _further(relax: Relax) -> str:
    then = relax.then
    return "" if then is None else f"then to {then.to.name} {_time(then.after_us)} after that, "


def _calls(report: Report) -> Iterator[Block]:
    """Yield the table of the native calls; only the first and the last if there are very many."""
    rows = report.rows
    head = ("time us", "phase", "why", "state", "call", "votes")
    if not rows:
        yield Paragraph("No call: this profile does not vote.")
    elif len(rows) <= _MOST_ROWS:
        yield Table("Every native call", head, map(_call, rows), "calls")
    else:
        yield Table(f"The first {_FEW_ROWS} native calls", head, map(_call, rows[:_FEW_ROWS]), "calls")
        yield Paragraph(f"{len(rows) - 2 * _FEW_ROWS} calls are left out here; --format json has every one.")
        yield Table(f"The last {_FEW_ROWS} native calls", head, map(_call, rows[-_FEW_ROWS:]), "calls")


def _call(row: Row) -> tuple[str, ...]:
    phase = "" if row.phase is None else str(row.phase)
    fields = () if row.call.votes is None else vote_fields(row.call.votes)
    lines = "\n".join(f"{'.'.join(at[1:])}: {spell(value)}" for at, value in fields if value is not None)
    step = (str(row.call.time_us), phase, str(row.cause), str(row.state))
    return *(("",) * len(step) if row.goes_on else step), row.text, lines
