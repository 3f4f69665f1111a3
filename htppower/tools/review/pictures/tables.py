"""The tables of a page, escaped: votes, native calls, sums and findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.discovery import shown_path
from htppower.profiles.fields import spell, vote_fields
from htppower.profiles.profile import power_states
from htppower.profiles.sustain import Adaptive
from htppower.tools.report.svg import element, safe
from htppower.tools.review.sustain_words import sustain_in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.errors import Finding, KeyPath
    from htppower.profiles.profile import Relax
    from htppower.profiles.sustain import Sustain
    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.report import Report

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


def table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str) -> str:
    """Return a table of texts with their line breaks. In a narrow window, keys scroll it."""
    heads = "".join(f'<th scope="col">{cell(name)}</th>' for name in head)
    # In a narrow window each cell has its heading before it, and the headings are left out.
    opened = [element("td", "", data_head=name).removesuffix("</td>") for name in head]
    body = "\n".join(
        f"<tr>{''.join(f'{td}{cell(said)}</td>' for td, said in zip(opened, row, strict=True))}</tr>" for row in rows
    )
    whole = f"<caption>{safe(caption)}</caption>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody>"
    drawn = f'<table class="{kind}">\n{whole}</table>'
    return element("div", drawn, class_="scroll", role="region", tabindex=0, aria_label=caption)


def cell(said: object) -> str:
    """Return a text, escaped, with its own direction of writing."""
    return f'<bdi dir="auto">{safe(said).replace(chr(10), "<br>")}</bdi>' if said != "" else ""


def vote_table(report: Report) -> str:
    """Return the table of each vote, raised, lowered and after DE-INIT, as a file writes it."""
    profile = report.profile
    if not profile.votes or profile.relax is None:
        return "<p>The profile casts no votes: the system's own settings stay as they are.</p>"
    relax = profile.relax
    voted = [
        dict(vote_fields(votes)) for votes in (profile.votes, *(state.votes for _, state in power_states(profile)))
    ]
    heads = ("field", "raised", *(_HEADS[at] for at, _ in power_states(profile)))
    names = list(dict.fromkeys(at for fields in voted for at in fields))
    rows = [(".".join(at[1:]), *(spell(fields.get(at)) for fields in voted)) for at in names]
    background = ", in the background" if relax.lowers_in_background else ""
    said = (
        f"<p>Relaxes to <code>{cell(relax.to.name)}</code> {relax.after_init_us} us after INIT and "
        f"{_time(relax.after_inference_us)} after the last inference{background}, "
        f"{_further(relax)}and to <code>{cell(relax.after_deinit_to.name)}</code> after DE-INIT.{_ahead(relax)}</p>"
    )
    return table("Each field, raised and lowered", heads, rows, "votes") + said


def _time(sustain: Sustain) -> str:
    """Return a time in us; a learnt time in words."""
    return f"a time that is {sustain_in_words(sustain)}," if isinstance(sustain, Adaptive) else f"{sustain} us"


def _further(relax: Relax) -> str:
    then = relax.then
    return "" if then is None else f"further to <code>{cell(then.to.name)}</code> {_time(then.after_us)} after that, "


def _ahead(relax: Relax) -> str:
    ahead_us = relax.raise_ahead_us
    return f" Raises {ahead_us} us ahead of a predicted inference." if ahead_us else ""


def call_table(report: Report) -> str:
    """Return the table of the native calls; only the first and the last if there are very many."""
    rows = report.rows
    if not rows:
        return "<p>No call: this profile does not vote.</p>"
    head = ("time us", "phase", "why", "state", "call", "votes")
    if len(rows) <= _MOST_ROWS:
        return table("Every native call", head, map(_call, rows), "calls")
    left_out = len(rows) - 2 * _FEW_ROWS
    return (
        table(f"The first {_FEW_ROWS} native calls", head, map(_call, rows[:_FEW_ROWS]), "calls")
        + f"<p>{left_out} calls are left out here; --format json has every one.</p>"
        + table(f"The last {_FEW_ROWS} native calls", head, map(_call, rows[-_FEW_ROWS:]), "calls")
    )


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


def label_list(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels and texts as a description list."""
    return f"<dl>{''.join(f'<div><dt>{cell(label)}</dt><dd>{cell(text)}</dd></div>' for label, text in rows)}</dl>"


def finding_table(findings: Sequence[Finding]) -> str:
    """Return the table of the findings, or a sentence if there are none."""
    if not findings:
        return "<p>None.</p>"
    rows = [
        (each.severity.value, each.rule, shown_path(str(each.place or "")), each.message, each.hint)
        for each in findings
    ]
    return table("Findings, by rule", ("severity", "rule", "place", "what", "what to do"), rows, "findings")


def _call(row: Row) -> tuple[str, ...]:
    phase = "" if row.phase is None else str(row.phase)
    fields = () if row.call.votes is None else vote_fields(row.call.votes)
    lines = "\n".join(f"{'.'.join(at[1:])}: {spell(value)}" for at, value in fields if value is not None)
    step = (str(row.call.time_us), phase, str(row.cause), str(row.state))
    return *(("",) * len(step) if row.goes_on else step), row.text, lines
