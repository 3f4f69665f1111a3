"""Every regular expression of the package takes at most linear time on a hostile text."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from support.hostile_texts import Hostile, hostile_texts
from support.needs import WINDOWS
from support.package_patterns import Used, package_patterns

# A pattern with exponential, cubic or quadratic time takes longer than the limit at one of these sizes.
SIZES = (24, 250, 2_000, 8_000)
LIMIT_NS = 1_500_000
# Four times the size takes four times as long if the time is linear, and sixteen times if it is quadratic.
TIMES_SIZE, TIMES_TIME = 4, 9
TRIES = 2
# A busy machine may make one measurement of four times the size too long, but not each.
CONFIRMED = 4

pytestmark = pytest.mark.needs("thread times")
# The patterns are the same on every system; Windows lacks packages of modules that have some.
PATTERNS = [] if WINDOWS else package_patterns()


def _took_ns(used: Used, text: str) -> int:
    """Return the processor time of this thread that a pattern takes for a whole text."""
    given: Any = text.encode() if isinstance(used.pattern.pattern, bytes) else text
    began = time.thread_time_ns()
    if used.method == "search":
        for _ in used.pattern.finditer(given):
            pass
    else:
        getattr(used.pattern, used.method)(given)
    return time.thread_time_ns() - began


def _least_ns(used: Used, text: str, enough_ns: int) -> int:
    """Return the shortest of a few tries; the first try below ``enough_ns`` is enough."""
    least = _took_ns(used, text)
    for _ in range(TRIES):
        if least < enough_ns:
            break
        least = min(least, _took_ns(used, text))
    return least


def slow_text(used: Used) -> tuple[Hostile, int] | None:
    """Return a text and its size, if four times the size takes much more than four times as long."""
    for hostile in hostile_texts(used.pattern):
        for size in SIZES:
            if all(_is_slow(used, hostile, size) for _ in range(CONFIRMED)):
                return hostile, size
    return None


def _is_slow(used: Used, hostile: Hostile, size: int) -> bool:
    took_ns = _least_ns(used, hostile.text(size), LIMIT_NS)
    return took_ns >= LIMIT_NS and took_ns > TIMES_TIME * _least_ns(used, hostile.text(size // TIMES_SIZE), 0)


@pytest.mark.parametrize("used", PATTERNS, ids=[f"{used.where}-{used.method}" for used in PATTERNS])
def test_a_pattern_takes_linear_time(used: Used) -> None:
    """The time for long repetitions, after a prefix that leads to them, grows linearly."""
    slow = slow_text(used)
    assert slow is None, f"{used.method} of {used.pattern.pattern!r} is slow on {slow}"


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*:?\s*x", "match"),
        (r"(a|aa)+$", "match"),
        (r"a+b", "search"),
        (r"a.*?b", "search"),
        (r"(?P<name>.*?)[\s_]*(?:[\[(]\s*(?P<in>[^\])]*?)\s*[\])])?", "fullmatch"),
        (r"/\*.*\*/", "search"),
        (rb"^\s*\[?\s*\{", "search"),
    ],
)
def test_slow_patterns_are_found(pattern: str | bytes, method: str) -> None:
    """The texts find a quadratic, cubic or exponential pattern."""
    assert slow_text(Used("here", re.compile(pattern), method)) is not None


def test_patterns_of_every_kind_are_found() -> None:
    """Attributes of modules, patterns in tables, and texts compiled in a call are among the patterns."""
    found = {(used.where.partition(":")[0], used.method) for used in PATTERNS}
    assert {
        ("htppower.tools.extensions.json_parser._WORD", "match"),
        ("htppower.tools.extensions.key_words._CORE", "search"),
        ("htppower.tools.review.lint.suppressions", "fullmatch"),
        ("htppower.tools.tuning.traces.readers.chrome", "search"),
    } <= found
