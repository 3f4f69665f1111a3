"""Checks every rule against every measurement, and sorts the advice: the largest gain first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.advice.checks.clock import clock_follows, too_high
from htppower.tools.review.advice.checks.groups import first_query, humps, slow_tokens
from htppower.tools.review.advice.checks.power import cold_start, power_up
from htppower.tools.review.advice.checks.waits import contention, polling, unexplained, wake_up
from htppower.tools.review.advice.numbers import Numbers
from htppower.tools.review.advice.rules import Advice, Gain, Nothing, Report, Told

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.advice.rules import AdviceRule


def advise(measurements: Sequence[Measurement]) -> Report:
    """Return the advice on some measurements; none on those that the simulation on x86-64 made."""
    asked = [Numbers(each) for each in measurements if not each.simulated]
    answers = [(numbers, answer) for numbers in asked for answer in _of_one(numbers)] + clock_follows(asked)
    advice: list[tuple[Numbers, Advice]] = []
    nothing: dict[Numbers, list[Nothing]] = {numbers: [] for numbers in asked}
    for numbers, answer in answers:
        if isinstance(answer, Advice):
            advice.append((numbers, answer))
        else:
            nothing[numbers].append(answer)
    told = tuple((numbers.measurement, found) for numbers, found in nothing.items())
    return Report(tuple(measurements), tuple(_in_order(advice)), told)


def _of_one(numbers: Numbers) -> list[Advice | Nothing]:
    checks = (wake_up, polling, power_up, cold_start, contention, unexplained, first_query, slow_tokens)
    answers = [check(numbers) for check in checks]
    fired = [answer for answer in answers if isinstance(answer, Advice)]
    explained = sum(answer.share for answer in fired if answer.gain is Gain.EVERY_INFERENCE)
    rules = {answer.rule for answer in fired}
    return [*answers, too_high(numbers, min(1.0, explained)), humps(numbers, rules)]


def _in_order(advice: Iterable[tuple[Numbers, Advice]]) -> list[Told]:
    """Return the advice, joined for each rule.

    Advice that helps in every inference is first, then advice that helps once. Within each, the advice on the most time
    comes first.
    """
    by_rule: dict[AdviceRule, list[tuple[Numbers, Advice]]] = {}
    for numbers, each in advice:
        by_rule.setdefault(each.rule, []).append((numbers, each))
    order = list(Gain)
    told = []
    for found in by_rule.values():
        ranked = sorted(found, key=lambda pair: (order.index(pair[1].gain), -_weight(*pair)))
        key = (order.index(ranked[0][1].gain), -sum(_weight(*pair) for pair in ranked))
        about = tuple((numbers.measurement, one) for numbers, one in ranked)
        told.append((key, Told(about[0][1], about)))
    return [one for _, one in sorted(told, key=lambda pair: pair[0])]


def _weight(numbers: Numbers, advice: Advice) -> float:
    """Return the total time of the inferences that the advice is about."""
    return advice.share * (numbers.total_us or 1.0)
