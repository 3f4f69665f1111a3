"""Checks what makes two measurements hard to compare (CMP-1 to CMP-17)."""

from __future__ import annotations

import enum
import random
from typing import TYPE_CHECKING

import attrs

from htppower.tools.report.words import counted, percent, time
from htppower.tools.review.advice.checks.power import cold_start
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.numbers import Numbers, median, present, two_humps
from htppower.tools.review.advice.rules import Advice
from htppower.tools.review.compare import rules
from htppower.tools.review.compare.sample import Sample, drawn_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.rules import AdviceRule
    from htppower.tools.review.compare.difference import Differences

# Cycles of one graph vary with the waits for memory, by less than this factor.
_SAME_WORK = 1.3
_SURE = 10
# Among so many runs, a slow one does not move the median.
_MANY = 20
# A quarter of the runs needs this many to have a median of its own.
_QUARTER = 10
# A smaller change does not matter.
_DRIFT_LEAST = 0.03
# Gaps count as another pace from this difference on.
_PACE_LEAST_US, _PACE_TIMES = 1_000.0, 3.0
_OVERLAP_LEAST = 0.1
_TOKENS_LEAST = 0.2
# A measured clock is read now and then, so its median differs by this share anyway.
_CLOCK_LEAST = 0.03
_LINTING, _OPTRACE = "Linting", "Optrace"
_SETTINGS = ("release", "delegate", "outside the NPU", "threads", "batch", "clock")
# The facts that a user may name.
FACTS = ("release", "delegate", "threads", "batch", "spin")


class Weight(str, enum.Enum):
    """How much a finding weighs."""

    BLOCKS = "not comparable"
    DOUBT = "compare with care"
    UNKNOWN = "not known"

    __str__ = str.__str__


@attrs.frozen
class Found:
    """A finding: the rule, its weight and the evidence, in a sentence."""

    rule: AdviceRule
    weight: Weight
    evidence: str


def check(a: Measurement, b: Measurement, found: Differences) -> tuple[Found, ...]:
    """Return the findings on two measurements, the heaviest first."""
    both = (_graph, _span, _soc, _profiles, _settings, _pace, _level, _tokens, _unknown)
    findings = [each for rule in both for each in rule(a, b, found)]
    for label, measured, sample in zip("AB", (a, b), found.samples, strict=True):
        findings += _of_one(label, measured, sample)
    # The same on both sides is told once.
    merged: dict[tuple[str, Weight], Found] = {}
    for each in findings:
        key = (each.rule.id, each.weight)
        before = merged.get(key)
        merged[key] = each if before is None else attrs.evolve(each, evidence=f"{before.evidence} {each.evidence}")
    order = list(Weight)
    return tuple(
        sorted(merged.values(), key=lambda each: (order.index(each.weight), int(each.rule.id.partition("-")[2])))
    )


def _graph(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    columns = [(each.columns.get(Event.CYCLES, ()), each.count) for each in (a, b)]
    # Sums over all layers, such as AI Hub's, are counted in another way.
    cycles = [median(column if len(column) == count else ()) for column, count in columns]
    known = all(each > 0 for each in cycles)
    if known and max(cycles) > _SAME_WORK * min(cycles):
        evidence = f"An inference of A takes {cycles[0] / 1e6:.2f} million cycles, of B {cycles[1] / 1e6:.2f} million."
        yield Found(rules.OTHER_GRAPH, Weight.BLOCKS, evidence)
    elif a.graph and b.graph and a.graph != b.graph and not known:
        evidence = f"A's is {a.graph}, B's is {b.graph}; no cycles show whether their work is the same."
        yield Found(rules.OTHER_GRAPH, Weight.DOUBT, evidence)


def _span(a: Measurement, b: Measurement, found: Differences) -> Iterator[Found]:
    if found.of_a is not found.of_b:
        evidence = f"A has {found.of_a.printed} ({a.form}), B has {found.of_b.printed} ({b.form})."
        yield Found(rules.OTHER_SPAN, Weight.DOUBT, evidence)
        return
    if found.of_a.kind.value == "per second":
        return
    for label, measured in zip("AB", (a, b), strict=True):
        whole = Numbers(measured).whole
        if whole is not None and whole not in (found.of_a, Event.NETRUN) and measured.columns.get(found.of_a):
            evidence = f"{label} also has {whole.printed}, which the other side lacks: only what both have is compared."
            yield Found(rules.OTHER_SPAN, Weight.DOUBT, evidence)


def _soc(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    names = [None if each.soc is None else "/".join(each.soc.names) for each in (a, b)]
    archs = [each.facts.get("arch") or ("" if each.soc is None else f"V{each.soc.arch}") for each in (a, b)]
    if all(names) and names[0] != names[1]:
        yield Found(rules.OTHER_SOC, Weight.BLOCKS, f"A is of {names[0]}, B of {names[1]}.")
    elif all(archs) and archs[0] != archs[1]:
        yield Found(rules.OTHER_SOC, Weight.BLOCKS, f"A is of Hexagon {archs[0]}, B of {archs[1]}.")


def profile_of(measured: Measurement) -> str:
    """Return the name of the profile that was in force; empty if it is not known."""
    return measured.profile.name if measured.profile is not None else measured.facts.get("profile", "")


def _profiles(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    names = profile_of(a), profile_of(b)
    if all(names) and names[0] != names[1]:
        yield Found(rules.OTHER_PROFILE, Weight.DOUBT, f"A was made under {names[0]}, B under {names[1]}.")


def _settings(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    said = []
    for name in _SETTINGS:
        values = [each.facts.get(name) for each in (a, b)]
        if all(values) and values[0] != values[1] and not (name == "clock" and _near(*values)):
            said.append(f"{name} {values[0]} in A, {values[1]} in B")
    if said:
        yield Found(rules.OTHER_SETTINGS, Weight.DOUBT, f"{'; '.join(said)}.")
    spins = [each.facts.get("spin") for each in (a, b)]
    if all(spins) and spins[0] != spins[1]:
        yield Found(rules.SPIN, Weight.DOUBT, f"spin is {spins[0]} in A, {spins[1]} in B.")


def _near(one: str | None, other: str | None) -> bool:
    a, b = (float((each or "0").split()[0]) for each in (one, other))
    return abs(a - b) <= _CLOCK_LEAST * max(a, b)


def _pace(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    gaps = [Numbers(each).gaps_us for each in (a, b)]
    if not all(gaps):
        return
    less, more = sorted(map(median, gaps))
    if more - less > _PACE_LEAST_US and more > _PACE_TIMES * less:
        evidence = f"Before an inference of A there is a gap of {time(median(gaps[0]))} at the median, "
        yield Found(rules.OTHER_PACE, Weight.DOUBT, f"{evidence}of B {time(median(gaps[1]))}.")


def _level(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    levels = []
    for each in (a, b):
        noted = [word for word in (_LINTING, _OPTRACE) if any(note.startswith(word) for note in each.notes)]
        detailed = Numbers(each).has(Event.POWER_ON)
        has_rows = Numbers(each).has(Event.ACCELERATOR)
        levels.append(noted[0].lower() if noted else "detailed" if detailed else "basic" if has_rows else "")
    if levels[0] != levels[1] and (all(levels) or {"linting", "optrace"} & set(levels)):
        said = [f"{label}: {level or 'no profiling of the HTP'}" for label, level in zip("AB", levels, strict=True)]
        yield Found(rules.OTHER_LEVEL, Weight.DOUBT, f"{'; '.join(said)}.")


def _tokens(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    for event, what in ((Event.PROMPT_TOKENS, "prompts"), (Event.TOKENS, "answers")):
        counts = [median(each.columns.get(event, ())) for each in (a, b)]
        if all(count > 0 for count in counts) and abs(counts[0] - counts[1]) > _TOKENS_LEAST * max(counts):
            evidence = f"The {what} of A have {counts[0]:.0f} tokens at the median, those of B {counts[1]:.0f}."
            yield Found(rules.OTHER_TOKENS, Weight.DOUBT, evidence)


def _unknown(a: Measurement, b: Measurement, _: Differences) -> Iterator[Found]:
    lacks = []
    for label, each in zip("AB", (a, b), strict=True):
        known = {
            "profile": profile_of(each),
            "SoC": each.soc or each.facts.get("arch"),
            "release": each.facts.get("release"),
        }
        missing = [name for name, value in known.items() if not value]
        lacks += [f"of {label}: {', '.join(missing)}"] if missing else []
    if lacks:
        yield Found(rules.NOT_KNOWN, Weight.UNKNOWN, f"Not known {'; '.join(lacks)}.")


def _of_one(label: str, measured: Measurement, sample: Sample) -> Iterator[Found]:
    """Yield the findings on one side."""
    if measured.simulated:
        yield Found(rules.SIMULATED, Weight.BLOCKS, f"{label} was made by the simulation on x86-64.")
    numbers = Numbers(measured)
    count = sample.count
    cold = cold_start(numbers)
    if isinstance(cold, Advice) and (measured.averaged or count < _MANY):
        yield Found(rules.WARM_UP, Weight.DOUBT, f"{label}: {cold.evidence[0]}")
    if measured.averaged and not sample.has_interval:
        over = f" over {counted(count, 'run')}" if count else ""
        yield Found(rules.AVERAGES, Weight.DOUBT, f"{label} has averages{over}, without their spread.")
    elif count < _SURE:
        yield Found(rules.FEW_RUNS, Weight.DOUBT, f"{label} has {counted(count, 'run')}.")
    if sample.single:
        yield from _over_time(label, numbers, [value for _, value in sample.points])


def _over_time(label: str, numbers: Numbers, ordered: Sequence[float]) -> Iterator[Found]:
    """Yield the findings on the order and the groups of the runs."""
    humps = two_humps(ordered)
    if humps is not None:
        evidence = f"The runs of {label} lie around {time(humps.fast)} and {time(humps.slow)}"
        yield Found(rules.NOT_SETTLED, Weight.DOUBT, f"{evidence}; {percent(humps.slow_share)} are slow.")
    measured = numbers.measurement
    whole = None if Event.FIRST_TOKEN in measured.columns else numbers.whole
    runs = present(measured.columns[whole]) if whole is not None else []
    quarter = len(runs) // 4
    first, last = Sample.of_runs(runs[:quarter]), Sample.of_runs(runs[len(runs) - quarter :])
    if quarter >= _QUARTER and first is not None and last is not None:
        draw = random.Random(label)  # noqa: S311 - no secret depends on it
        early, late = (each.medians(drawn_ranks(draw, each.runs)) for each in (first, last))
        by_us = sorted(after - before for before, after in zip(early, late, strict=True))
        out = len(by_us) // 40
        same = by_us[out] <= 0 <= by_us[-1 - out]
        if not same and abs(last.median - first.median) > _DRIFT_LEAST * first.median:
            what = "slower" if last.median > first.median else "faster"
            evidence = f"The last quarter of {label} is {what}: {time(last.median)}, the first {time(first.median)}."
            yield Found(rules.DRIFT, Weight.DOUBT, evidence)
    ends, begins = measured.ends_us, measured.begins_us
    if len(ends) > 1 and len(ends) == len(begins):
        share = sum(begin < end for begin, end in zip(begins[1:], ends, strict=False)) / (len(ends) - 1)
        if share >= _OVERLAP_LEAST:
            evidence = f"{percent(share)} of the inferences of {label} begin before the one before has ended."
            yield Found(rules.OVERLAP, Weight.DOUBT, evidence)
