"""Durations in readable form."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower.tools.report.words import counted, duration, parse_duration, sentence


@pytest.mark.parametrize(
    ("duration_us", "said"),
    [
        (0, "0 us"),
        (40, "40 us"),
        (9999, "9.999 ms"),
        (999, "999 us"),
        (300_000, "300 ms"),
        (2_000_000, "2 s"),
        (1_500_000, "1.5 s"),
        (1_000_001, "1.000001 s"),
        (-1_900_000, "-1.9 s"),
    ],
)
def test_a_duration_is_told_exactly(duration_us: int, said: str) -> None:
    """The unit is the largest that is not above the duration, and no digit is lost."""
    assert duration(duration_us) == said


@given(st.integers(0, 10**13))
def test_what_is_told_is_read_back(duration_us: int) -> None:
    """A printed duration is a valid option, with or without the space."""
    assert parse_duration(duration(duration_us)) == duration_us
    assert parse_duration(duration(duration_us).replace(" ", "")) == duration_us


@pytest.mark.parametrize(
    ("text", "duration_us"),
    [("5ms", 5000), ("300us", 300), ("1s", 1_000_000), (" 2 MIN ", 120_000_000), ("0.5h", 18 * 10**8)],
)
def test_durations_are_read(text: str, duration_us: int) -> None:
    """Each unit is known in upper and lower case."""
    assert parse_duration(text) == duration_us


@pytest.mark.parametrize(
    "text",
    ["ms", "", "-5ms", "5 parsecs", "1.2.3s", "0.5us", "1e3us", "\u0663us", "nan s", ".ms", "1m"],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    """Unknown units, other digits, signs and parts of a microsecond are refused."""
    with pytest.raises(ValueError, match=r"write 5ms|whole number of us"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "units"), [("5", "us ms s"), (" 300 ", "us ms s"), ("50", "us ms s"), ("2.5", "ms s"), ("0.125", "ms s")]
)
def test_a_number_without_a_unit_is_refused(text: str, units: str) -> None:
    """The error names valid spellings, and each of them is accepted."""
    *rest, last = (f"{text.strip()}{unit}" for unit in units.split())
    said = f"{', '.join(rest)} or {last}"
    with pytest.raises(ValueError, match=f"has no unit; write {re.escape(said)}$"):
        parse_duration(text)
    assert all(parse_duration(each) for each in (*rest, last))


def test_zero_needs_no_unit() -> None:
    """Zero is the same time in every unit."""
    assert parse_duration("0") == 0


@pytest.mark.parametrize(
    ("count", "word", "said"),
    [(1, "query", "1 query"), (2, "query", "2 queries"), (0, "gap", "0 gaps"), (12_000, "day", "12,000 days")],
)
def test_a_count_is_told_with_its_word(count: int, word: str, said: str) -> None:
    """The word is in the plural unless the count is 1, and thousands have a comma."""
    assert counted(count, word) == said


def test_a_sentence_begins_with_a_capital() -> None:
    """A command to type stays as it is."""
    assert sentence("check the votes.") == "Check the votes."
    assert sentence("htppower doctor names the cause.") == "htppower doctor names the cause."
