"""When the next inference is predicted to begin, and the cost of wrong raises ahead."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower.sustain.prediction import Allowance, Prediction


def test_nothing_is_predicted_of_what_nobody_knows() -> None:
    """A session without a hint and without even begins predicts nothing."""
    prediction = Prediction()
    assert prediction.next_us(0) is None
    rng, now_us = random.Random(1), 0
    for _ in range(50):
        now_us += rng.randrange(1000, 100_000)
        prediction.began(now_us)
    assert prediction.next_us(now_us) is None


def test_a_hint_of_the_next_begin_ends_with_it() -> None:
    """The hint is for one future begin only."""
    prediction = Prediction()
    prediction.expect(33_000, None)
    assert (prediction.hinted, prediction.next_us(10_000), prediction.next_us(33_000)) == (True, 33_000, None)
    prediction.began(33_500)
    assert (prediction.hinted, prediction.next_us(34_000)) == (False, None)


def test_a_hint_of_all_begins_goes_on_from_the_last() -> None:
    """After missed begins the next multiple counts; a call without hints removes it."""
    prediction = Prediction()
    prediction.expect(None, 10_000)
    assert prediction.next_us(0) is None
    prediction.began(500)
    assert [prediction.next_us(now_us) for now_us in (600, 10_499, 10_500, 35_000)] == [10_500, 10_500, 20_500, 40_500]
    prediction.expect(None, None)
    assert (prediction.hinted, prediction.next_us(600)) == (False, None)


@pytest.mark.parametrize(("jitter_us", "predicted"), [(0, True), (2_500, True), (9_000, False)])
def test_even_begins_are_predicted(jitter_us: int, predicted: bool) -> None:
    """Eight even intervals are enough; intervals that differ by a tenth are not even."""
    rng, prediction = random.Random(3), Prediction()
    for place in range(40):
        prediction.began(place * 50_000 + rng.randint(-jitter_us, jitter_us) + jitter_us)
    next_us = prediction.next_us(39 * 50_000 + 2 * jitter_us)
    assert (next_us is not None) == predicted
    if next_us is not None:
        assert abs(next_us - 40 * 50_000) <= 3 * jitter_us


def test_begins_in_one_microsecond_count_as_one() -> None:
    """Begins with the same virtual time do not make even begins uneven."""
    prediction = Prediction()
    for begun_us in range(0, 90_000, 10_000):
        for _ in range(3):
            prediction.began(begun_us)
    assert prediction.next_us(80_000) == 90_000


@given(st.lists(st.booleans(), max_size=400))
def test_wrong_raises_are_bounded_by_right_predictions(comes: list[bool]) -> None:
    """Wrong raises are at most two, plus one for every four right ones."""
    allowance, right, wrong = Allowance(), 0, 0
    for begins in comes:
        paid = allowance.spend()
        right += begins
        wrong += paid and not begins
        if paid or begins:
            allowance.settle(right=begins)
        assert wrong <= 2 + right / 4
