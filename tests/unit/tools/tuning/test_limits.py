"""Parsing of limits, and quantiles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from htppower.tools.tuning.limits import Limit, parse_limit, quantiles_us


@pytest.mark.parametrize(
    ("text", "measure", "most"),
    [
        ("p99 <= 12 ms", "p99", 12_000),
        ("p50<=1.5ms", "p50", 1_500),
        ("p99.9 <= 3 ms", "p99.9", 3_000),
        ("p95<=3ms", "p95", 3_000),
        (" max <= 2 s ", "max", 2_000_000),
        ("mean \u2264 300 us", "mean", 300),
        ("cold <= 5 %", "cold", Fraction(1, 20)),
        ("cold <= 0.5%", "cold", Fraction(1, 200)),
    ],
)
def test_a_limit_has_a_measure_a_number_and_a_unit(text: str, measure: str, most: Fraction | int) -> None:
    """A time is in us, and a share from 0 to 1."""
    limit = parse_limit(text)
    assert (limit.measure, limit.most, str(limit)) == (measure, most, text.strip())
    assert limit.holds(float(limit.most))
    assert not limit.holds(float(limit.most) + 1e-6)


@pytest.mark.parametrize("count", [3, 20, 60, 77, 100])
def test_a_share_or_a_mean_that_is_just_as_large_is_within(count: int) -> None:
    """An equal share or mean is within the limit for any divisor, in spite of the rounding of floats."""
    for part in range(count + 1):
        share = Fraction(100 * part, count)
        if 10_000 * share == int(10_000 * share):
            assert parse_limit(f"cold <= {float(share):.4f} %").holds(part / count)
            assert parse_limit(f"mean <= {float(share):.4f} us").holds(100 * part / count)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not a limit"),
        ("fast", "not a limit"),
        ("p98 <= 3 ms", "'p98' is not a measure"),
        ("p99 <= 3", "us, ms or s"),
        ("p99 <= 3 %", "us, ms or s"),
        ("p99 < 3 ms", "write <="),
        ("p99 >= 3 ms", "not a limit"),
        ("cold <= 5 ms", "a share"),
        ("cold <= 101 %", "100 %"),
        ("p99 <= -3 ms", "not a limit"),
        ("p99 <= nan ms", "not a limit"),
    ],
)
def test_what_is_no_limit_is_refused_with_what_is_one(text: str, says: str) -> None:
    """The message names the text and its problem."""
    with pytest.raises(ValueError, match=says) as refused:
        parse_limit(text)
    assert repr(text) in str(refused.value)


def test_a_quantile_is_the_latency_of_an_inference() -> None:
    """At least this share of the inferences is as fast, and no smaller latency has this property."""
    latencies = np.arange(100, 0, -1)
    assert quantiles_us(latencies) == [50, 90, 95, 99, 100, 100]
    assert quantiles_us(np.array([7])) == [7] * 6
    assert quantiles_us(np.array([1, 2, 3])) == [2, 3, 3, 3, 3, 3]


@pytest.mark.parametrize("digits", [400, 5_000])
def test_a_number_that_is_beyond_all_measure_is_no_limit(digits: int) -> None:
    """For any number of digits, the error shows a valid limit."""
    with pytest.raises(ValueError, match="write MEASURE <= NUMBER UNIT"):
        parse_limit(f"mean <= {'9' * digits} s")


def test_a_limit_is_a_value() -> None:
    """Two limits with the same text are equal, so a result for one can be reused for the other."""
    assert parse_limit("p99 <= 1 ms") == parse_limit("p99 <= 1 ms") == Limit("p99", 1_000, "p99 <= 1 ms")  # type: ignore[arg-type]
