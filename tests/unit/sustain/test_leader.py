"""The leader with a bank: its bound against an adversary, and its distance from the best timer."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.learning import best_fixed_us, clairvoyant_us, cost_us, learn_all

from htppower.profiles.sustain import Adaptive
from htppower.sustain.leader import Leader
from htppower.sustain.learner import make_learner

# Break-even times, the shortest below the shortest time of a timer.
WORTHS_US = (10_000, 20_000, 30_000, 100_000, 1_000_000)
# The moves of an adversary that knows the time-out: gaps just within it, just beyond it, and by the break-even time.
MOVES = ("at", "within", "beyond", "nothing", "half", "worth", "double", "for ever")


def gap_of(move: str, time_out_us: int, worth_us: int) -> int:
    """Return the gap of a move."""
    return {
        "at": time_out_us,
        "within": max(0, time_out_us - 1),
        "beyond": time_out_us + 1,
        "nothing": 0,
        "half": worth_us // 2,
        "worth": worth_us,
        "double": 2 * worth_us,
        "for ever": 100 * worth_us,
    }[move]


class _Costs:
    """The costs of gaps that an adversary chooses; they may be at most twice the best possible ones, and a constant."""

    def __init__(self, worth_us: int) -> None:
        self.learner = make_learner(Adaptive(break_even_us=worth_us))
        self._bound_us = max(worth_us, 20_000)
        self._paid_us = self._best_us = 0

    def add(self, move: str, least_us: int = 0) -> None:
        """Let the learner learn from a gap, and check the costs up to now."""
        time_out_us = self.learner.time_out_us
        gap_us = max(least_us, gap_of(move, time_out_us, self._bound_us))
        self._paid_us += cost_us(gap_us, time_out_us, self._bound_us)
        self._best_us += min(gap_us, self._bound_us)
        self.learner.learn(gap_us)
        assert self._paid_us <= 2 * self._best_us + 2 * self._bound_us


@examples(45)
@given(st.sampled_from(WORTHS_US), st.lists(st.tuples(st.sampled_from(MOVES), st.integers(1, 40)), max_size=30))
def test_no_adversary_gets_beyond_the_bound(worth_us: int, moves: list[tuple[str, int]]) -> None:
    """After any gaps the cost is at most twice the clairvoyant's cost, plus two break-even times."""
    costs = _Costs(worth_us)
    for move, times in moves:
        for _ in range(times):
            costs.add(move)


@examples(35)
@given(
    st.sampled_from(WORTHS_US),
    st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 3_000_000)), max_size=150),
)
def test_wrong_hints_stay_within_the_bound(worth_us: int, moves: list[tuple[str, int]]) -> None:
    """The bound holds with any hint, and a hint counts for one gap only."""
    costs = _Costs(worth_us)
    for move, said_us in moves:
        if said_us % 3:
            costs.learner.hint(said_us)
        costs.add(move)


@examples(60)
@given(
    st.sampled_from(WORTHS_US),
    st.lists(st.tuples(st.sampled_from(MOVES), st.integers(0, 3_000_000), st.integers(0, 100)), max_size=150),
)
def test_hints_in_the_middle_of_a_gap_stay_within_the_bound(worth_us: int, moves: list[tuple[str, int, int]]) -> None:
    """The cost is for the real time that votes were up in the gap."""
    costs = _Costs(worth_us)
    for move, said_us, percent in moves:
        passed_us = costs.learner.time_out_us * percent // 100
        if passed_us < costs.learner.time_out_us:
            costs.learner.hint(passed_us + said_us, passed_us)
            assert costs.learner.time_out_us >= passed_us
        costs.add(move, passed_us)


def test_a_hint_is_no_knowledge() -> None:
    """A hint is not saved with the learnt numbers, and a time that is not a gap removes it."""
    learner = make_learner(Adaptive(break_even_us=100_000))
    learn_all(learner, [60_000] * 5, 100_000)
    before = learner.state()
    learner.hint(5_000_000)
    assert (learner.time_out_us, learner.learnt_us) == (0, 100_000)
    assert learner.state() == before
    learner.forget_hint()
    assert learner.time_out_us == 100_000


def test_a_right_hint_pays_the_clairvoyant() -> None:
    """With right hints the cost is the clairvoyant's, except for the first gaps, while the bank is small."""
    rng, worth_us = random.Random(4), 100_000
    gaps_us = [rng.choice((5_000, 60_000, 400_000)) for _ in range(2000)]
    learner, paid_us = make_learner(Adaptive(break_even_us=worth_us)), 0
    for gap_us in gaps_us:
        learner.hint(gap_us)
        paid_us += cost_us(gap_us, learner.time_out_us, worth_us)
        learner.learn(gap_us)
    assert paid_us <= 1.005 * clairvoyant_us(gaps_us, worth_us)


@pytest.mark.parametrize(("gap_us", "time_out_us"), [(5_000_000, 0), (150_000, 0), (40_000, 100_000)])
def test_gaps_of_one_length(gap_us: int, time_out_us: int) -> None:
    """If all gaps are longer than the break-even time, each is lowered at once; if all are short, none is."""
    learner = make_learner(Adaptive(break_even_us=100_000))
    learn_all(learner, [gap_us] * 100, 100_000)
    assert learner.time_out_us == time_out_us


@pytest.mark.parametrize("seed", range(8))
def test_it_is_near_the_best_timer_after_32_gaps(seed: int) -> None:
    """For gaps of bursts and pauses, the next 500 cost at most 5 % more than with the best fixed timer."""
    rng, worth_us = random.Random(seed), 100_000
    gaps_us = [int(rng.expovariate(1 / (15e3 if rng.random() < 0.8 else 2e6))) for _ in range(532)]
    learner = make_learner(Adaptive(break_even_us=worth_us))
    learn_all(learner, gaps_us[:32], worth_us)
    assert learn_all(learner, gaps_us[32:], worth_us) <= 1.05 * best_fixed_us(gaps_us[32:], worth_us)


def test_no_time_that_a_timer_does_not_keep() -> None:
    """A time-out is 0, or at least 20 ms (rule SUS-1)."""
    rng, learner, seen = random.Random(2), make_learner(Adaptive(break_even_us=40_000)), set()
    for _ in range(5000):
        learner.learn(int(rng.paretovariate(0.8) * 2000))
        seen.add(learner.time_out_us)
    assert len(seen) > 3
    assert all(time_out_us == 0 or time_out_us >= 20_000 for time_out_us in seen)


@pytest.mark.parametrize(("least_us", "most_us"), [(50_000, 80_000), (0, 60_000), (300_000, 400_000), (0, 10_000)])
def test_the_limits_that_are_stated_hold(least_us: int, most_us: int) -> None:
    """The time-out stays between the limits, also if both are below or above the break-even time."""
    rng = random.Random(3)
    learner = make_learner(Adaptive(break_even_us=100_000, least_us=least_us, most_us=most_us))
    for _ in range(2000):
        assert least_us <= learner.time_out_us <= most_us
        learner.learn(int(rng.expovariate(1 / 150_000)))


def test_gaps_learnt_together_are_gaps_learnt_one_by_one() -> None:
    """Gaps within the time-out may be learnt in any order, and at once."""
    rng = random.Random(5)
    together, one_by_one = (Leader(Adaptive(break_even_us=50_000)) for _ in range(2))
    for _ in range(300):
        within = [rng.randrange(one_by_one.time_out_us) for _ in range(rng.randrange(20)) if one_by_one.time_out_us]
        beyond_us = one_by_one.time_out_us + rng.randrange(200_000)
        for gap_us in (*within, beyond_us):
            one_by_one.learn(gap_us)
        together.learn_within(within)
        together.learn(beyond_us)
        assert together.state() == one_by_one.state()


def test_what_was_learnt_goes_on_from_a_state() -> None:
    """A restored learner has the same counts, gaps and savings, and the bank of a new one."""
    rng, sustain = random.Random(6), Adaptive(break_even_us=70_000)
    first = make_learner(sustain)
    learn_all(first, [int(rng.expovariate(1 / 80_000)) for _ in range(500)], 70_000)
    second = make_learner(sustain, first.state())
    assert second.gaps == first.gaps == 500
    assert second.time_out_us == first.time_out_us
    assert {**second.state(), "bank_us": 0} == {**first.state(), "bank_us": 0}
    rest_us = [int(rng.expovariate(1 / 20_000)) for _ in range(500)]
    assert learn_all(second, rest_us, 70_000) <= 1.05 * learn_all(first, rest_us, 70_000)


def test_the_bound_holds_for_each_that_goes_on_from_one_state() -> None:
    """Each learner restored from one state keeps the bound: the saved bank is not used by all of them."""
    worth_us = 100_000
    sustain = Adaptive(break_even_us=worth_us)
    rich = make_learner(sustain)
    learn_all(rich, [60_000] * 500 + [5_000_000] * 500, worth_us)
    second, paid_us, best_us = make_learner(sustain, rich.state()), 0, 0
    for _ in range(200):
        gap_us = second.time_out_us
        paid_us += cost_us(gap_us, gap_us, worth_us)
        best_us += min(gap_us, worth_us)
        second.learn(gap_us)
        assert paid_us <= 2 * best_us + 2 * worth_us


@pytest.mark.parametrize(
    "changed",
    [
        {"bank_us": -1},
        {"bank_us": 65 * 70_000},
        {"bank_us": "much"},
        {"counts": [1, 2]},
        {"counts": 7},
        {"sums_us": [-1] * 7},
        {"time_out_us": None},
        {"savings": [1]},
    ],
)
def test_a_state_that_no_learner_has_is_refused(changed: dict[str, int | list[int]]) -> None:
    """A damaged state, or one of another learner, is refused as a whole."""
    sustain = Adaptive(break_even_us=70_000)
    with pytest.raises((ValueError, TypeError)):
        make_learner(sustain, {**make_learner(sustain).state(), **changed})


def test_the_savings_are_those_of_the_gaps() -> None:
    """``savings`` has the learner's cost, and the cost of a fixed 300 ms."""
    learner = make_learner(Adaptive(break_even_us=100_000, most_us=100_000))
    for gap_us in (40_000, 99_999, 100_000, 299_999, 300_000, 2_000_000):
        learner.learn(gap_us)
        learner.time_out_us = 100_000
    savings = learner.savings()
    assert (savings.gaps, savings.raised_us, savings.cold_starts) == (6, 40_000 + 99_999 + 4 * 100_000, 4)
    assert savings.fixed_raised_us == 40_000 + 99_999 + 100_000 + 299_999 + 2 * 300_000
    assert savings.fixed_cold_starts == 2
