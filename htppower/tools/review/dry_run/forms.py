"""A dry run as text and as JSON, and the choice of any other form.

The text has what was run, the calls in the vendor's words, and a summary. It loads nothing that draws.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower.events import State
from htppower.rules import table as rules
from htppower.rules.rule import Breach
from htppower.tools.report import as_text as blocks
from htppower.tools.report.blocks import Lines, Pairs
from htppower.tools.report.layout import WIDTH, flowed
from htppower.tools.report.styled import styled
from htppower.tools.report.words import duration
from htppower.tools.review.dry_run.workload import NO_HARDWARE
from htppower.votes.native import native_config
from htppower.votes.options import VOTE_OPTIONS, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.workload import Report
    from htppower.votes.native import NativeConfig

_HEADINGS = ("time", "phase", "why", "state")
_CALL = "call and votes"
_GAP = "  "
# The place of votes below their call: under its column in a wide terminal, else nearer to the margin.
_BESIDE_FROM = 120
_INDENT = 8
# The indent of the rest of a line whose columns do not fit.
_FURTHER = " " * 12
_COLOURS = {State.RAISED: "red", State.LOWERED: "green", State.UNKNOWN: "yellow"}
_PREFIXES = (
    "DCVS_VOLTAGE_VCORNER_",
    "DCVS_VOLTAGE_CORNER_",
    "DCVS_EXP_VCORNER_",
    "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_",
    "QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_",
)
FORMAT_VERSION = 1


def as_text(report: Report, width: int = WIDTH) -> str:
    """Return the report, styled."""
    calls = Lines(lambda width: _calls(report, width))
    return blocks.as_text((Pairs(_head(report)), calls, Pairs(_summary(report))), width)


def _head(report: Report) -> tuple[tuple[str, str], ...]:
    return (
        ("profile", f"{report.profile.name}: {report.profile.summary}"),
        ("file", str(report.profile.source or "none")),
        ("platform", str(report.backend.platform)),
        ("workload", report.workload_line),
        ("hardware", NO_HARDWARE),
        *(("record", line) for line in report.record_lines),
        ("reading", "a call carries the votes that differ from those in force; corners are min / target / max"),
    )


def _calls(report: Report, width: int) -> Iterator[str]:
    """Yield a line for each call, as wide as its columns need, and below it the votes of the call."""
    cells = [_cells(row) for row in report.rows]
    widths = [max(map(len, column)) for column in zip(_HEADINGS, *cells, strict=True)]
    margin = sum(widths) + len(_GAP) * len(widths)
    beside = margin + max((len(row.text) for row in report.rows), default=0) <= width
    heading = _line(_HEADINGS, widths, width)
    yield from (styled(line, "bold") for line in heading[:-1])
    yield styled(f"{heading[-1]}{_GAP}{_CALL}" if beside else heading[-1].rstrip(), "bold")
    if not report.rows:
        yield "no call: this profile does not vote"
    indent = margin if width >= _BESIDE_FROM else _INDENT
    for row, texts in zip(report.rows, cells, strict=True):
        if not row.goes_on:
            *before, last = _line(texts, widths, width)
            yield from before
            said = texts[-1]
            line = f"{last.rstrip().removesuffix(said)}{styled(said, _COLOURS.get(row.state))}"
            yield f"{line}{' ' * (widths[-1] - len(said))}{_GAP}{row.text}" if beside else line
        if not beside:
            yield from _below((row.text,), indent - len(_GAP), width)
        elif row.goes_on:
            yield f"{' ' * margin}{row.text}"
        for config in row.call.configs:
            for number, parts in enumerate(_vote(config)):
                yield from _below(parts, indent + len(_GAP) * min(number, 1), width)


def _cells(row: Row) -> tuple[str, ...]:
    phase = "" if row.phase is None else row.phase.value
    return duration(row.call.time_us), phase, row.cause.value, row.state.value


def _line(texts: Sequence[str], widths: Sequence[int], width: int) -> list[str]:
    """Return the line of cells side by side, the first aligned right; several lines if they do not fit."""
    first = f"{texts[0]:>{widths[0]}}"
    line = _GAP.join((first, *(f"{text:<{each}}" for text, each in zip(texts[1:], widths[1:], strict=True))))
    return [line] if len(line.rstrip()) <= width else flowed((first, *filter(None, texts[1:])), width, "", _FURTHER)


def _below(parts: Sequence[str], indent: int, width: int) -> list[str]:
    lead = " " * indent
    return flowed(parts, width, lead, f"{lead}{_GAP * 2}")


def _vote(config: NativeConfig) -> Iterator[tuple[str, ...]]:
    """Yield the parts of a vote: its option and numbers, then the corners of each of its clocks."""
    about = VOTE_OPTIONS[Option[config.option]]
    if not about.fields:
        unit = " us" if about.field.endswith("_us") else ""
        yield config.option, f"{next(iter(config.fields.values()))}{unit}"
    elif about.partial:
        flags = [field for field in about.fields if field.flag and config.fields[field.flag]]
        shown = [field.native[0] for field in flags if len(field.native) == 1]
        shown += [field.native[0] for field in about.fields if not field.flag]
        yield config.option, *(_number(config, name) for name in shown)
        yield from ((_corners(config, field.native),) for field in flags if len(field.native) > 1)
    else:
        numbers = [field.native[0] for field in about.fields if "Corner" not in field.native[0]]
        is_default = about.default is not None and config.fields == native_config(about, about.default, 0).fields
        shown = numbers[:1] if is_default else numbers
        yield config.option, *(_number(config, name) for name in shown)
        if not is_default:
            yield (_corners(config, tuple(name for name in config.fields if "Corner" in name)),)


def _number(config: NativeConfig, name: str) -> str:
    """Return a field with its number, or the short name of its enumerator."""
    unit = " us" if name == "sleepLatency" else ""
    return f"{name} {_short(config, name) if name in config.symbols else config.fields[name]}{unit}"


def _corners(config: NativeConfig, names: tuple[str, ...]) -> str:
    low, target, high = (_short(config, name) for name in names)
    clock = names[0].removesuffix("Min")
    return f"{clock} {target}" if low == target == high else f"{clock} {low} / {target} / {high}"


def _short(config: NativeConfig, field: str) -> str:
    name = config.symbols[field]
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name


def _summary(report: Report) -> list[tuple[str, str]]:
    sets = report.count("setPowerConfig")
    warnings = rules.ids(lambda rule: rule.breach is Breach.WARNING)
    found = rules.check(report.profile.case(report.backend.platform), warnings)
    rows = [
        ("calls", f"{len(report.rows)} native calls, {sets} of them setPowerConfig"),
        ("time", report.state_line),
        *(("sustain", line) for line in report.sustain_lines),
        *(("degraded", line) for line in report.degradation_lines),
        *(("warning", f"{each.rule}: {each.message}{f' ({each.hint})' if each.hint else ''}") for each in found),
    ]
    named = dict.fromkeys((*(lost.rule for lost in report.degradations), *(each.rule for each in found)))
    return [*rows, *(("why", f"htppower explain {rule}") for rule in named)]


def _svg(report: Report, *_: object) -> str:
    from htppower.tools.review.pictures.svg import as_svg  # noqa: PLC0415 - only for this form
    from htppower.tools.review.pictures.timeline import timeline  # noqa: PLC0415 - as above

    return as_svg(timeline(report))


def _html(report: Report, folders: Sequence[str], _width: int) -> str:
    from htppower.tools.review.dry_run.drawn import as_page, findings_of  # noqa: PLC0415 - only for this form

    return as_page(report, findings_of(report, folders))


def _trace(report: Report, *_: object) -> str:
    from htppower.tools.review.dry_run.drawn import as_trace  # noqa: PLC0415 - only for this form

    return as_trace(report)


def as_json(report: Report) -> str:
    """Return the report as JSON, format version 1. Keys keep their order between versions."""
    platform = report.backend.platform
    soc = platform.soc
    document = {
        "format_version": FORMAT_VERSION,
        "profile": report.profile.name,
        "source": None if report.profile.source is None else str(report.profile.source),
        **({"record": report.record_lines[0]} if report.record_lines else {}),
        "platform": {
            "soc_model": None if soc is None else soc.model,
            "soc": None if soc is None else "/".join(soc.names),
            "arch": f"V{platform.arch}",
        },
        "workload": {
            "inferences": report.workload.inferences,
            "inference_us": report.workload.inference_us,
            "gap_us": report.workload.gap_us,
        },
        "calls": [_json_of_call(row) for row in report.rows],
        "degradations": [{"rule": lost.rule, "message": lost.message} for lost in report.degradations],
        "summary": {
            "native_calls": len(report.rows),
            "set_power_config": report.count("setPowerConfig"),
            "time_in_state_us": {state.value: time_us for state, time_us in report.time_in_state_us.items()},
            **({"time_outs_us": report.time_outs_us, "further_us": report.further_us} if report.sustain_lines else {}),
        },
    }
    return json.dumps(document, indent=2)


def _json_of_call(row: Row) -> dict[str, Any]:
    call = row.call
    return {
        "time_us": call.time_us,
        "phase": None if row.phase is None else row.phase.value,
        "cause": row.cause.value,
        "function": call.function,
        "device_id": call.device_id,
        "core_id": call.core_id,
        "power_config_id": call.power_config_id,
        "state": row.state.value,
        "configs": [
            {"option": config.option, "fields": dict(config.fields), "symbols": dict(config.symbols)}
            for config in call.configs
        ],
        "code": call.code,
    }


_RENDERERS: Mapping[str, Callable[[Report, Sequence[str], int], str]] = {
    "text": lambda report, _folders, width: as_text(report, width),
    "json": lambda report, *_: as_json(report),
    "svg": _svg,
    "html": _html,
    "trace": _trace,
}
FORMS = tuple(_RENDERERS)


def render(report: Report, form: str, folders: Sequence[str] = (), width: int = WIDTH) -> str:
    """Return the report as one of ``FORMS``. The text loads nothing that draws.

    Args:
        report: the run.
        form: the form.
        folders: more folders, where the findings of a page look up names.
        width: the width of text.
    """
    return _RENDERERS[form](report, folders, width)
