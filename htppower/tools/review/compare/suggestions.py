"""Suggestions for the slower side, by the parts that differ: its advice, the other profile, or settings."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.tools.review.advice.checks.clock import clock_follows
from htppower.tools.review.advice.checks.power import cold_start
from htppower.tools.review.advice.numbers import Numbers
from htppower.tools.review.advice.own_settings import of_mode, polling_us, recorded_runtime, speed
from htppower.tools.review.advice.rules import (
    CONTENTION,
    POLLING,
    POWER_UP,
    UNEXPLAINED,
    WAKE_UP,
    Advice,
)
from htppower.tools.review.advice.run import advise
from htppower.tools.review.compare.difference import Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.rules import AdviceRule, Report
    from htppower.tools.review.compare.difference import Differences

OUTSIDE = "outside the NPU"
# A part with a smaller share of the difference is left alone.
_SHARE = 0.1
_DETAILED = "--profiling_level detailed   # qnn-net-run; profiling_level=detailed of ONNX Runtime"
# The rules of advice that explain a part, and what to look at if none applies to the slower side.
_RULES: Mapping[Where, tuple[AdviceRule, ...]] = MappingProxyType(
    {
        Where.FASTRPC: (WAKE_UP, POLLING),
        Where.OUTSIDE: (POWER_UP,),
        Where.WAITING: (POWER_UP, CONTENTION, UNEXPLAINED),
    }
)
_ELSE: Mapping[Where, tuple[str, tuple[str, ...]]] = MappingProxyType(
    {
        Where.HOST: (
            "The host spends the time outside the call: copies, its own threads, or threads that spin.",
            (
                "htppower settings --check FILE   # of both hosts: spinning threads (SET-14)",
                "give both hosts the same inputs, threads and buffers",
            ),
        ),
        Where.FASTRPC: (
            "The call is longer on its way, mostly because a CPU sleeps when the answer comes.",
            ("htppower doctor   # are latency and polling accepted?", "htppower profile burst -- COMMAND"),
        ),
        Where.OUTSIDE: (
            "The HTP spends the time before or after the graph, such as on power-up or VTCM.",
            (_DETAILED,),
        ),
        Where.WAITING: (
            "The graph waits on the HTP.",
            (_DETAILED, "stop other clients of the HTP, and measure again"),
        ),
        Where.CLOCK: (
            "The same cycles take longer: the clock is lower.",
            (
                "htppower status   # is the session RAISED, under which profile?",
                "htppower doctor   # does the library accept the votes?",
                "let the device cool down, and measure again",
            ),
        ),
        Where.WORK: (
            "The graph takes more cycles: it is prepared in another way, or waits longer for memory.",
            (
                "compare the preparation: release, optimization level, precision, VTCM, HVX threads",
                "run the same context binary on both sides",
            ),
        ),
        Where.LANGUAGE: (
            "The file does not show where the time of a token goes.",
            (
                "htppower settings --check CONFIG.json   # of both: which votes does the dialog ask for?",
                "--profiling_level detailed   # qnn-net-run, with the context binary of the model",
            ),
        ),
    }
)
_WHOLE_ONLY = (
    "Only the whole is known: a side has no rows of the HTP.",
    (_DETAILED, "then compare the two CSV files"),
)


@attrs.frozen
class Suggestion:
    """A thing to try on a side, ``A``, ``B`` or both, for a part, with the reason and the way."""

    side: str
    about: str
    why: str
    do: tuple[str, ...]


def suggest(a: Measurement, b: Measurement, found: Differences) -> tuple[Suggestion, ...]:
    """Return what to try on the slower side, for the largest parts of the difference first."""
    suggestions = list(_clock(a, b))
    if found.whole.shown:
        label, slower, faster = ("B", b, a) if found.whole.by_us > 0 else ("A", a, b)
        # A clock that does not follow the profiles, or a profile with higher clocks, says all about the clock.
        explained = bool(suggestions) or _votes_higher(faster, slower)
        suggestions += _profile(label, slower, faster)
        suggestions += _placement(label, slower, faster)
        of_parts = _parts(label, slower, found)
        suggestions += [each for each in of_parts if not (explained and each.about == str(Where.CLOCK))]
    suggestions += _once(a, b)
    return tuple(suggestions)


def _votes_higher(one: Measurement, other: Measurement) -> bool:
    """Return whether the profile of one side votes higher clocks than the other's."""
    return (speed(other.profile) or 1.0) < (speed(one.profile) or 0.0)


def _clock(a: Measurement, b: Measurement) -> Iterator[Suggestion]:
    """Yield what to do if the profiles differ, and the clock does not follow them (ADV-7)."""
    same_graph = [Numbers(attrs.evolve(each, graph="")) for each in (a, b)]
    for _, answer in clock_follows(same_graph):
        if isinstance(answer, Advice):
            yield Suggestion("A and B", str(Where.CLOCK), _said(answer), answer.do)


def _profile(side: str, slower: Measurement, faster: Measurement) -> Iterator[Suggestion]:
    """Yield the profile of the faster side, if it votes higher clocks or polls and the slower side's does not."""
    mine, other = slower.profile, faster.profile
    if mine is None or other is None or mine.name == other.name:
        return
    reasons = ["votes higher clocks"] if _votes_higher(faster, slower) else []
    reasons += ["polls for the answer"] if polling_us(other) and not polling_us(mine) else []
    if not reasons:
        return
    do = f"htppower profile {other.name} -- COMMAND"
    if recorded_runtime(mine) is not None:
        do = of_mode(mine, other.name.rpartition(":")[2]) or do
    why = f"The faster side's profile, {other.name}, {' and '.join(reasons)}; {mine.name} does not."
    yield Suggestion(side, "profile", why, (do,))


def _placement(side: str, slower: Measurement, faster: Measurement) -> Iterator[Suggestion]:
    """Yield what to do if more of the slower side's graph runs outside the NPU."""
    mine, other = (each.facts.get(OUTSIDE, "") for each in (slower, faster))
    if mine and other and int(mine.split()[0]) > int(other.split()[0]):
        why = f"{mine} run outside the NPU, where votes have no effect; on the faster side {other}."
        yield Suggestion(side, "placement", why, ("give the delegate all nodes: look for what it refuses in the log",))


def _parts(side: str, slower: Measurement, found: Differences) -> Iterator[Suggestion]:
    report = advise([slower])
    told = 0
    for part in sorted(found.parts, key=lambda each: -each.share):
        if not part.shown or part.share < _SHARE:
            continue
        told += 1
        # A part that lacks a level in between has several places: each of them may be the reason.
        for where in part.wheres:
            yield _of_place(side, part.name, where, report)
    if found.whole.wheres:
        yield _of_place(side, found.whole.name, found.whole.wheres[0], report)
    elif not told:
        yield Suggestion(side, "where the time goes", *_WHOLE_ONLY)


def _of_place(side: str, about: str, where: Where, report: Report) -> Suggestion:
    """Return the advice that applies to a place, or what to look at there."""
    rules = _RULES.get(where, ())
    advice = next((each.advice for each in report.told if each.advice.rule in rules), None)
    if advice is None:
        return Suggestion(side, about, *_ELSE[where])
    return Suggestion(side, about, _said(advice), advice.do)


def _said(advice: Advice) -> str:
    """Return the rule of advice and its evidence."""
    return f"{advice.rule.id}: {advice.rule.says} {advice.evidence[0]}"


def _once(a: Measurement, b: Measurement) -> Iterator[Suggestion]:
    """Yield what to do if only one side starts slowly."""
    answers = {"A": cold_start(Numbers(a)), "B": cold_start(Numbers(b))}
    cold = [(side, answer) for side, answer in answers.items() if isinstance(answer, Advice)]
    if len(cold) == 1:
        ((side, advice),) = cold
        yield Suggestion(side, "warm-up", _said(advice), advice.do)


def once(a: Measurement, b: Measurement) -> tuple[tuple[str, float | None, float | None], ...]:
    """Return what happened once on a side, in us: None if a file does not have it."""
    names = dict.fromkeys((*a.once, *b.once))
    return tuple((name, a.once.get(name), b.once.get(name)) for name in names)
