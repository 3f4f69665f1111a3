"""A comparison as text, Markdown, a page and JSON."""

from __future__ import annotations

import json
import math
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_markdown import as_markdown
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Heading, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import NONE, WIDTH
from htppower.tools.report.words import counted, percent, time
from htppower.tools.review.advice.measurement import Event, Kind
from htppower.tools.review.advice.numbers import present
from htppower.tools.review.compare.comparable import Weight, profile_of
from htppower.tools.review.compare.comparison import headline, where
from htppower.tools.review.compare.difference import CONFIDENCE
from htppower.tools.review.compare.picture import order_picture, parts_picture, spread_picture
from htppower.tools.review.compare.suggestions import once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from htppower.tools.report.blocks import Block
    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.compare.comparison import Comparison
    from htppower.tools.review.compare.difference import Difference
    from htppower.tools.review.compare.sample import Sample

FORMAT_VERSION = 1
_TITLE = "Two measurements compared"
_FOOT = "It reads what was measured; nothing was sent to hardware."
_COLOURS = {Weight.BLOCKS: "red", Weight.DOUBT: "yellow", Weight.UNKNOWN: "cyan"}
_HEAD = ("", "A", "B", "B - A", f"{percent(CONFIDENCE)} interval", "share")
# Profilers write whole us, and smaller shares say nothing.
_LEAST_US, _SHARE = 0.1, 0.005
_SUMS = "Medians of parts do not add up to the median of the whole exactly: {} are left over."
_STARTS = "The interval is about the runs of these files. Another start of a host may differ more: measure several."
_WITHIN = "Power-up, VTCM and yields lie within the parts, so they are not parts themselves."
_BY_RATIO = (
    "The clock is seen in the cycles for a time. Only the cycles of a timeline give a clock in MHz: the others add up "
    "ops that run side by side."
)


def _text(comparison: Comparison, width: int) -> str:
    return as_text((Heading(headline(comparison)), Paragraph(where(comparison)), *_body(comparison)), width)


def _markdown(comparison: Comparison, _width: int) -> str:
    top = (Heading(_TITLE, 1), Paragraph(headline(comparison)), Paragraph(where(comparison)))
    return as_markdown((*top, *_body(comparison)))


def _html(comparison: Comparison, _width: int) -> str:
    top = (Heading(_TITLE, 1), Paragraph(headline(comparison)), Paragraph(where(comparison)))
    title = f"{_TITLE}: {comparison.a.name}, {comparison.b.name}"
    return as_html((*top, *_pictures(comparison), *_body(comparison)), title, _FOOT)


def _pictures(comparison: Comparison) -> Iterator[Block]:
    runs = [_runs(measured, event) for measured, event in _sides(comparison)]
    pictures = (
        ("Where the time of an inference goes", parts_picture(comparison)),
        ("How the runs are spread", spread_picture(comparison)),
        ("The runs in their order", order_picture(comparison, runs)),
    )
    for says, picture in pictures:
        if picture:
            yield Heading(says, 3)
            yield Picture(picture, says)


def _sides(comparison: Comparison) -> tuple[tuple[Measurement, Event], ...]:
    return (comparison.a, comparison.differences.of_a), (comparison.b, comparison.differences.of_b)


def _runs(measured: Measurement, event: Event) -> list[float]:
    """Return the times of the whole, in their order; nothing if the file has averages."""
    if measured.averaged:
        return []
    there = present(measured.columns[event])
    return [1e6 / rate for rate in there if rate > 0] if event.kind is Kind.RATE else there


def _body(comparison: Comparison) -> Iterator[Block]:
    yield Heading("The two sides")
    yield Pairs((("A", comparison.a.name), ("B", comparison.b.name)))
    yield Table("The two sides", ("", "A", "B"), _about(comparison))
    yield from _parts(comparison)
    yield from _once(comparison)
    yield Heading("What makes them hard to compare" if comparison.findings else "Nothing makes them hard to compare")
    for found in comparison.findings:
        yield Heading(f"{found.rule.id}  {found.rule.says}", 3)
        weight = str(found.weight)
        yield Pairs(
            (("weight", weight), ("evidence", found.evidence), ("do", found.rule.mend)),
            {"weight": _COLOURS[found.weight]},
        )
    yield Heading("What to try" if comparison.suggestions else "Nothing to try")
    for number, each in enumerate(comparison.suggestions, start=1):
        yield Heading(f"{number}. On {each.side}: {each.about}", 3)
        yield Pairs((("why", each.why), ("do", "\n".join(each.do))))
    yield Heading("Notes")
    yield Pairs(("note", note) for note in _notes(comparison))


def _about(comparison: Comparison) -> Iterator[tuple[str, str, str]]:
    """Yield what the sides are, in rows."""
    samples = comparison.differences.samples
    for what, of_side in _ROWS.items():
        said = [of_side(each, sample) for each, sample in zip((comparison.a, comparison.b), samples, strict=True)]
        if any(said):
            yield what, said[0] or NONE, said[1] or NONE
    facts = dict.fromkeys(name for each in (comparison.a, comparison.b) for name in each.facts)
    for name in facts:
        if name != "profile":
            yield name, comparison.a.facts.get(name, NONE), comparison.b.facts.get(name, NONE)


def _spread(sample: Sample) -> str:
    if len(sample.points) <= 2:  # noqa: PLR2004 - a median and both ends
        return ""
    return f"{time(sample.at(0.1))} to {time(sample.at(0.9))}"


_ROWS: Mapping[str, Callable[[Measurement, Sample], str]] = MappingProxyType(
    {
        "form": lambda measured, _: measured.form,
        "runs": lambda _, sample: f"{sample.count:,}" if sample.count else "averages",
        "median": lambda _, sample: (
            f"{time(sample.median)}{'' if sample.single or len(sample.points) > 1 else ' on average'}"
        ),
        "80 % of them": lambda _, sample: _spread(sample),
        "profile": lambda measured, _: profile_of(measured),
        "SoC": lambda measured, _: "" if measured.soc is None else "/".join(measured.soc.names),
    }
)


def _parts(comparison: Comparison) -> Iterator[Block]:
    found = comparison.differences
    yield Heading("Where the difference lies" if found.parts else "The difference")
    # The numbers of language models lie beside each other; all others are within the parts.
    beside = found.also if found.whole.wheres else ()
    rows = map(_row, (*found.parts, found.whole, *beside))
    yield Table("Where the difference lies", _HEAD, rows, "parts", numbers=True)
    if found.also and not beside:
        yield Heading("Also measured")
        yield Table("Also measured", _HEAD[:-1], (_row(each)[:-1] for each in found.also), "parts", numbers=True)


def _row(part: Difference) -> tuple[str, ...]:
    a, b = part.said or (time(part.a_us), time(part.b_us))
    share = f"{100 * part.share:.0f} %" if abs(part.share) >= _SHARE else ""
    return part.name, a, b, signed(part.by_us), interval(part), share


def signed(by_us: float) -> str:
    """Return a difference of times: ``+1.2 ms``, ``-40 us``, ``0 us``."""
    by_us = by_us if abs(by_us) >= _LEAST_US else 0.0
    sign = "+" if by_us > 0 else "-" if by_us < 0 else ""
    return f"{sign}{time(abs(by_us))}"


def interval(part: Difference) -> str:
    """Return the interval of a difference, in one unit; a dash if there is none."""
    if part.low_us is None or part.high_us is None:
        return NONE
    low, high = signed(part.low_us), signed(part.high_us)
    number, _, unit = low.rpartition(" ")
    return f"{number} to {high}" if high.endswith(f" {unit}") else f"{low} to {high}"


def _once(comparison: Comparison) -> Iterator[Block]:
    rows = [
        (name, *(NONE if us is None else time(us) for us in sides)) for name, *sides in once(comparison.a, comparison.b)
    ]
    if rows:
        yield Heading("Once, before the runs")
        yield Table("Once, before the runs", ("what", "A", "B"), rows, "parts", numbers=True)


def _notes(comparison: Comparison) -> Iterator[str]:
    found = comparison.differences
    if found.whole.low_us is not None:
        yield f"Intervals: a bootstrap of the medians, {percent(CONFIDENCE)} of 2,000 draws with a fixed seed."
        yield _STARTS
    if found.parts and found.whole.shown and abs(found.rest_us) > abs(found.whole.by_us) / 20:
        yield _SUMS.format(signed(found.rest_us))
    if any(part.said for part in found.parts):
        yield _BY_RATIO
    if found.also and found.parts:
        yield _WITHIN
    for label, sample in zip("AB", found.samples, strict=True):
        if sample.has_interval and sample.independent < sample.count / 2:
            told = f"Neighbouring runs of {label} resemble each other: {counted(sample.count, 'run')} tell as much as"
            yield f"{told} {max(1, round(sample.independent))} independent ones, so the interval is wider."
    sides = {"A": comparison.a.notes, "B": comparison.b.notes}
    for note in dict.fromkeys((*comparison.a.notes, *comparison.b.notes)):
        yield f"{' and '.join(label for label, notes in sides.items() if note in notes)}: {note}"


def _json(comparison: Comparison, _width: int) -> str:
    found = comparison.differences
    document = {
        "format_version": FORMAT_VERSION,
        "says": headline(comparison),
        "where": where(comparison),
        "comparable": comparison.comparable,
        "confidence": CONFIDENCE,
        "a": _side_json(comparison.a, found.samples[0], found.of_a),
        "b": _side_json(comparison.b, found.samples[1], found.of_b),
        "ratio": _rounded(found.ratio, 5),
        "ratio_interval": None if found.ratio_low is None else [_rounded(each, 5) for each in _ratios(comparison)],
        "whole": _part_json(found.whole),
        "parts": [_part_json(each) for each in found.parts],
        "left_over_us": _rounded(found.rest_us),
        "also": [_part_json(each) for each in found.also],
        "once": [{"name": name, "a_us": a_us, "b_us": b_us} for name, a_us, b_us in once(comparison.a, comparison.b)],
        "findings": [
            {
                "rule": each.rule.id,
                "says": each.rule.says,
                "weight": each.weight.value,
                "evidence": each.evidence,
                "do": each.rule.mend,
            }
            for each in comparison.findings
        ],
        "suggestions": [
            {"side": each.side, "about": each.about, "why": each.why, "do": list(each.do)}
            for each in comparison.suggestions
        ],
        "notes": list(_notes(comparison)),
    }
    return json.dumps(document, indent=2)


def _ratios(comparison: Comparison) -> tuple[float | None, float | None]:
    return comparison.differences.ratio_low, comparison.differences.ratio_high


def _side_json(measured: Measurement, sample: Sample, event: Event) -> dict[str, Any]:
    return {
        "path": measured.source,
        "graph": measured.graph,
        "form": measured.form,
        "event": event.printed,
        "runs": sample.count or None,
        "independent_runs": _rounded(sample.independent, 1) if sample.count else None,
        "median_us": _rounded(sample.median),
        "profile": profile_of(measured) or None,
        "soc": None if measured.soc is None else measured.soc.model,
        "simulated": measured.simulated,
        "facts": dict(measured.facts),
    }


def _part_json(part: Difference) -> dict[str, Any]:
    interval_us = None if part.low_us is None else [_rounded(part.low_us), _rounded(part.high_us)]
    return {
        "name": part.name,
        "where": [each.value for each in part.wheres],
        "a_us": _rounded(part.a_us),
        "b_us": _rounded(part.b_us),
        "said": list(part.said),
        "difference_us": _rounded(part.by_us),
        "interval_us": interval_us,
        "shown": part.shown,
        "share": _rounded(part.share, 4),
    }


def _rounded(number: float | None, digits: int = 3) -> float | None:
    return None if number is None or math.isnan(number) else round(number, digits)


_RENDERERS: Mapping[str, Callable[[Comparison, int], str]] = MappingProxyType(
    {"text": _text, "markdown": _markdown, "html": _html, "json": _json}
)
FORMS = tuple(_RENDERERS)


def render(comparison: Comparison, form: str, width: int = WIDTH) -> str:
    """Return the comparison as one of ``FORMS``; text has this width."""
    return _RENDERERS[form](comparison, width)
