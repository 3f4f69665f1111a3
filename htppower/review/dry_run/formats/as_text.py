"""A run as text, 100 columns wide: what was run, the calls in the vendor's words, a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import State
from htppower.review.dry_run.report import NO_HARDWARE
from htppower.review.layout import labelled
from htppower.review.styled import styled
from htppower.rules import table as rules
from htppower.rules.rule import Breach
from htppower.votes.native import native_config
from htppower.votes.option import Option
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.review.dry_run.report import Report
    from htppower.votes.native import NativeConfig

_COLUMNS = "{:>10}  {:<9}  {:<16}  {:<9}  {}"
_INDENT = " " * 54
_COLOURS = {State.RAISED: "red", State.LOWERED: "green", State.UNKNOWN: "yellow"}
_PREFIXES = (
    "DCVS_VOLTAGE_VCORNER_",
    "DCVS_VOLTAGE_CORNER_",
    "DCVS_EXP_VCORNER_",
    "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_",
    "QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_",
)


def render(report: Report) -> str:
    """Return the report, styled."""
    return "\n".join((*_head(report), "", *_timeline(report), "", *_summary(report)))


def _head(report: Report) -> Iterator[str]:
    yield from labelled("profile", f"{report.profile.name}: {report.profile.summary}")
    yield from labelled("file", str(report.profile.source or "none"))
    yield from labelled("platform", str(report.backend.platform))
    yield from labelled("workload", report.workload_line)
    yield from labelled("hardware", NO_HARDWARE)
    yield from labelled("reading", "a call carries what differs from what is in force; corners are min / target / max")


def _timeline(report: Report) -> Iterator[str]:
    yield styled(_COLUMNS.format("time us", "phase", "why", "state", "call and votes"), "bold")
    if not report.rows:
        yield _COLUMNS.format("", "", "", "", "no call: this profile does not vote")
    for row in report.rows:
        # The state is padded before it is coloured, so that columns stay aligned on a terminal.
        state = styled(f"{row.state.value:<9}", _COLOURS.get(row.state))
        phase = "" if row.phase is None else row.phase.value
        yield _COLUMNS.format(row.call.time_us, phase, row.cause.value, state, row.text).rstrip()
        for config in row.call.configs:
            for line in _vote(config):
                yield f"{_INDENT}{line}"


def _vote(config: NativeConfig) -> Iterator[str]:
    about = VOTE_OPTIONS[Option[config.option]]
    if not about.fields:
        unit = " us" if about.field.endswith("_us") else ""
        yield f"{config.option}  {next(iter(config.fields.values()))}{unit}"
    elif about.partial:
        yield config.option
        flags = [field for field in about.fields if field.flag and config.fields[field.flag]]
        yield f"  {'  '.join(_number(config, field.native[0]) for field in flags if len(field.native) == 1)}"
        yield f"  {'  '.join(_number(config, field.native[0]) for field in about.fields if not field.flag)}"
        for field in flags:
            if len(field.native) > 1:
                yield f"  {_corners(config, field.native)}"
    else:
        numbers = [field.native[0] for field in about.fields if "Corner" not in field.native[0]]
        is_default = about.default is not None and config.fields == native_config(about, about.default, 0).fields
        shown = numbers[:1] if is_default else numbers
        yield "  ".join((config.option, *(_number(config, name) for name in shown)))
        if not is_default:
            yield f"  {_corners(config, tuple(name for name in config.fields if 'Corner' in name))}"


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


def _summary(report: Report) -> Iterator[str]:
    sets = report.count("setPowerConfig")
    yield from labelled("calls", f"{len(report.rows)} native calls, {sets} of them setPowerConfig")
    yield from labelled("time", report.state_line)
    for line in report.degradation_lines:
        yield from labelled("degraded", line)
    warnings = rules.ids(lambda rule: rule.breach is Breach.WARNING)
    for finding in rules.check(report.profile.case(report.backend.platform), warnings):
        hint = f" ({finding.hint})" if finding.hint else ""
        yield from labelled("warning", f"{finding.rule}: {finding.message}{hint}")
