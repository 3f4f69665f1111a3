"""The choice of a pace: when it goes down, when it goes up, and what it learns."""

from __future__ import annotations

import pytest

from htppower.control.pace.chooser import Chooser, Rung, Sample
from htppower.profiles.loading import load_profile

PERIOD_NS = 10_000_000
# Three profiles: half as fast, three quarters, and full speed.
RUNGS = tuple(
    Rung(load_profile(name), speed, stays_up=True)
    for name, speed in (("power_saver", 0.5), ("balanced", 0.75), ("burst", 1.0))
)


class Host:
    """Adds inferences to a chooser, with some time between them; each is as fast as the true speeds say."""

    def __init__(
        self, miss_rate: float = 0.05, speeds: tuple[float, ...] = (0.5, 0.75, 1.0), every_ns: int = PERIOD_NS
    ) -> None:
        self.chooser = Chooser(RUNGS, PERIOD_NS, miss_rate, raise_ns=0)
        self.speeds = speeds
        self.every_ns = every_ns
        self.now_ns = 0
        self.moves: list[tuple[int, int]] = []
        self.count = 0

    def infer(self, ms: float, times: int = 1) -> None:
        """Add inferences that take this long at full speed."""
        for _ in range(times):
            self.now_ns += self.every_ns
            self.count += 1
            run_ns = round(ms / self.speeds[self.chooser.at] * 1_000_000)
            sample = Sample(PERIOD_NS, 0, run_ns)
            if self.chooser.add(sample, self.now_ns, missed=run_ns > PERIOD_NS):
                self.moves.append((self.count, self.chooser.at))


def test_it_begins_at_the_top_and_comes_down_after_enough_inferences() -> None:
    """At 5 %, 60 inferences without a miss show that the lowest profile that is fast enough is enough."""
    host = Host()
    host.infer(4, 59)
    assert (host.chooser.at, host.chooser.tested) == (2, False)
    host.infer(4, 1)
    assert (host.moves, host.chooser.at) == ([(60, 0)], 0)


@pytest.mark.parametrize(("miss_rate", "fewest"), [(0.5, 60), (0.05, 60), (0.01, 299), (0.001, 2995)])
def test_a_small_share_of_misses_needs_more_inferences(miss_rate: float, fewest: int) -> None:
    """Without a miss, ln(0.05) / ln(1 - share) inferences leave a doubt of 5 %; at least 60 are needed."""
    assert Chooser(RUNGS, PERIOD_NS, miss_rate, raise_ns=0).fewest == fewest


def test_it_skips_a_profile_that_would_be_too_slow() -> None:
    """6 ms take 12 ms at half the speed, and 8 ms at three quarters."""
    host = Host()
    host.infer(6, 60)
    assert host.chooser.at == 1


def test_a_profile_that_is_only_just_fast_enough_is_not_chosen() -> None:
    """4.9 ms take 9.8 ms at half the speed: without a margin of 3 % the choice would change back and forth."""
    host = Host()
    host.infer(4.9, 300)
    assert host.chooser.at == 1


def test_it_goes_up_after_four_misses_in_a_row() -> None:
    """At 8 ms only the top is enough, and it is chosen at once, without a step in between."""
    host = Host()
    host.infer(4, 300)
    host.infer(8, 3)
    assert host.chooser.at == 0
    host.infer(8, 1)
    assert host.chooser.at == 2


def test_it_changes_up_at_most_once_a_second() -> None:
    """A second alarm after a change up waits until a second has passed, which is 100 inferences here."""
    host = Host()
    host.infer(4, 300)
    host.infer(5.5, 4)
    assert host.chooser.at == 1
    host.infer(9, 99)
    assert host.chooser.at == 1
    host.infer(9, 1)
    assert host.chooser.at == 2


def test_single_misses_within_the_allowed_share_change_nothing() -> None:
    """One long inference of 40 is 2.5 %, where 5 % are allowed."""
    host = Host()
    host.infer(4, 100)
    for _ in range(40):
        host.infer(4, 39)
        host.infer(8, 1)
    assert host.chooser.at == 0
    assert len(host.moves) == 1


def test_spread_misses_above_the_allowed_share_raise_the_profile_when_the_credit_is_spent() -> None:
    """One long inference of 40 is 2.5 %: too few for an alarm, but more than allowed in the long run.

    Under the next profile no deadline is missed, so that one is kept although the credit is still spent.
    """
    host = Host(miss_rate=0.01, every_ns=10 * PERIOD_NS)
    host.infer(4, 400)
    while not host.chooser.at and host.count < 4000:
        host.infer(4, 39)
        host.infer(6, 1)
    assert host.chooser.at == 1
    assert host.count > 1000
    host.infer(4, 250)
    assert host.chooser.at == 1


def test_a_trial_that_fails_ends_at_once_and_is_not_repeated_soon() -> None:
    """The lower profile is slower than the model says. It is left after four misses, and then not for 1,000."""
    host = Host(speeds=(0.3, 0.75, 1.0))
    host.infer(4, 60)
    assert host.moves == [(60, 0)]
    host.infer(4, 4)
    assert host.moves[-1] == (64, 1)
    host.infer(4, 900)
    assert host.chooser.at == 1


def test_a_measured_speed_is_measured_again_after_a_long_time() -> None:
    """A device that was slow for some time, such as a hot one, is tried again after 16 times 60 inferences."""
    host = Host(speeds=(0.45, 0.75, 1.0))
    host.infer(4, 100)
    host.speeds = (0.5, 0.75, 1.0)
    host.infer(5.2, 4)
    host.infer(4.4, 700)
    assert host.chooser.at == 1
    host.infer(4.4, 500)
    assert host.chooser.at == 0


def test_a_limit_is_the_highest_choice_until_it_is_raised() -> None:
    """The choice comes down to the limit at once. Misses there raise it only after the limit."""
    host = Host()
    host.infer(4, 10)
    host.chooser.limit(1, host.now_ns)
    assert (host.chooser.at, host.chooser.changes) == (1, 0)
    host.infer(9, 300)
    assert (host.chooser.at, host.chooser.keeps) == (1, False)
    host.chooser.limit(2, host.now_ns)
    assert host.chooser.keeps
    host.infer(9, 1)
    assert (host.chooser.at, host.chooser.changes) == (2, 1)


def test_a_part_that_is_the_same_under_each_profile_gains_nothing_under_a_higher_one() -> None:
    """With a short inference it made the lowest profile look three times slower than the highest."""
    chooser = Chooser(RUNGS, PERIOD_NS, 0.05, raise_ns=0)
    now_ns = 0
    for ms, count in ((1.0, 200), (7.0, 4)):
        for _ in range(count):
            now_ns += PERIOD_NS
            run_ns = round(ms / (0.5, 0.75, 1.0)[chooser.at] * 1_000_000) + (1_000_000 if chooser.at == 0 else 0)
            chooser.add(Sample(PERIOD_NS, 0, run_ns), now_ns, missed=run_ns > PERIOD_NS)
    assert chooser.at == 2


def test_an_inference_of_several_periods_is_one_miss() -> None:
    """Slots that are over are skipped, so the inferences after it are hardly late. One of 50 is within 5 %."""
    host = Host()
    for _ in range(5):
        host.infer(4, 49)
        host.infer(25, 1)
    assert host.moves == [(240, 0)]


def test_the_top_says_that_the_rate_is_not_kept_and_when_it_is_kept_again() -> None:
    """``keeps`` is false from the alarm until the misses have been rare for some time."""
    host = Host()
    host.infer(11, 3)
    assert host.chooser.keeps
    host.infer(11, 200)
    assert (host.chooser.keeps, host.moves) == (False, [])
    host.infer(6, 35)
    assert not host.chooser.keeps
    host.infer(6, 65)
    assert host.chooser.keeps
    host.infer(6, 200)
    assert host.chooser.at == 1


def test_a_wait_for_a_raise_counts_where_votes_do_not_stay_up() -> None:
    """4 ms take 8 ms at half the speed. With a raise of 3 ms before each inference, that is too long."""
    rungs = (Rung(RUNGS[0].profile, 0.5, stays_up=False), RUNGS[2])
    chooser = Chooser(rungs, PERIOD_NS, 0.05, raise_ns=3_000_000)
    quick = Chooser(rungs, PERIOD_NS, 0.05, raise_ns=500_000)
    for number in range(300):
        for each in (chooser, quick):
            each.add(Sample(PERIOD_NS, 0, 4_000_000), number * PERIOD_NS, missed=False)
    assert (chooser.at, quick.at) == (1, 0)


def test_the_wait_for_a_raise_is_measured() -> None:
    """The model says 0.5 ms, but it is 3 ms for some time: one trial shows it, and the next is 960 inferences later.

    From then on, raises are as quick as the model says, so the lower profile is kept.
    """
    rungs = (Rung(RUNGS[0].profile, 0.5, stays_up=False), RUNGS[2])
    chooser = Chooser(rungs, PERIOD_NS, 0.05, raise_ns=500_000)
    seen = []
    for number in range(3000):
        quick_ns = 3_000_000 if number < 500 else 500_000
        wait_ns, run_ns = (0, 4_000_000) if chooser.at else (quick_ns, 8_000_000)
        chooser.add(Sample(PERIOD_NS, wait_ns, run_ns), number * PERIOD_NS, missed=wait_ns + run_ns > PERIOD_NS)
        seen.append((chooser.at, chooser.changes))
    assert seen[1000] == (1, 2)
    assert seen[1100] == seen[-1] == (0, 3)


def test_one_profile_is_never_changed() -> None:
    """A ladder of one profile has nothing to choose."""
    chooser = Chooser(RUNGS[:1], PERIOD_NS, 0.05, raise_ns=0)
    changes = [chooser.add(Sample(None, 0, 2 * PERIOD_NS), number, missed=True) for number in range(500)]
    assert not any(changes)
    assert not chooser.keeps
