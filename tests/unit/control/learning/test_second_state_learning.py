"""The time until the second power state: how it is learnt, and which events do not change it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import Bench
from support.learning import AFTER_US, SUSTAIN_US, in_two_steps, triggers

from htppower.control.learning.raise_ahead import RaiseAhead
from htppower.events import Cause, Event, State, SustainLearned, Transition, Trigger
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from htppower import Profile

LEAD_US = 5_000


def raising_ahead(profile: Profile) -> Profile:
    """Return a profile with a second power state and a raise ahead."""
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, raise_ahead_us=LEAD_US))


@pytest.mark.parametrize("seed", range(3))
def test_both_times_are_learnt_apart(seed: int) -> None:
    """Each time is learnt separately; the gaps for the second time begin when the votes are lowered."""
    rng, bench = random.Random(seed), Bench.make()
    first, second = Adaptive(break_even_us=50_000), Adaptive(break_even_us=1_000_000)
    session = bench.controller.session(in_two_steps(second, first))
    outer, inner = make_learner(first), make_learner(second)
    bench.infer(session)
    for _ in range(300):
        gap_us = int(rng.expovariate(1 / rng.choice((10_000, 300_000, 4_000_000))))
        bench.events.clear()
        bench.time.advance_us(gap_us)
        rest_us = gap_us - outer.time_out_us
        # With a timeout of 0 the votes were lowered as the inference ended.
        expected = [Trigger.LOWER] * (rest_us >= 0 and outer.time_out_us > 0)
        expected += [Trigger.LOWER_FURTHER] * (rest_us >= inner.time_out_us > 0)
        assert [each for each in triggers(bench) if each is not Trigger.RAISE] == expected
        if rest_us >= 0:
            inner.learn(rest_us)
        outer.learn(gap_us)
        bench.infer(session)


def test_what_the_second_time_has_learnt_is_told(bench: Bench) -> None:
    """The status shows the learnt second time, and an event reports each change; it is kept over a hold."""
    told = list[Event]()
    bench.controller.subscribe(told.append, kinds=[SustainLearned])
    session = bench.controller.session(in_two_steps(Adaptive(break_even_us=1_000_000)))
    bench.infer_often(session, 6, SUSTAIN_US + 5_000_000)
    bench.infer(session)
    before = bench.controller.status().sessions[0].learnt_further
    assert before is not None
    assert (before.gaps, before.cold_starts, before.time_out_us) == (6, 6, 0)
    with session.hold("burst", reason="a photo"):
        assert bench.controller.status().sessions[0].learnt_further is None
    with session.hold(in_two_steps(), reason="a photo"):
        assert bench.controller.status().sessions[0].learnt_further is None
    assert bench.controller.status().sessions[0].learnt_further == before
    bench.controller.flush_events()
    changes = [(event.before_us, event.after_us, event.further) for event in told if isinstance(event, SustainLearned)]
    assert (changes[0][0], changes[-1][1]) == (1_000_000, 0)
    assert all(further for _, _, further in changes)


def test_the_second_time_is_learnt_from_raises_ahead_too(bench: Bench) -> None:
    """A raise ahead ends the gap of the second time, as any raise does."""
    session = bench.controller.session(raising_ahead(in_two_steps(Adaptive(break_even_us=1_000_000), 0)))
    session.expect(every_us=100_000)
    for _ in range(20):
        bench.infer(session, 10_000)
        bench.time.advance_us(90_000)
    learnt = bench.controller.status().sessions[0].learnt_further
    assert learnt is not None
    assert (learnt.gaps, learnt.raised_us, learnt.cold_starts) == (20, 20 * 85_000, 0)


def test_a_raise_ahead_whose_alarm_rings_too_late_is_none(bench: Bench) -> None:
    """If the alarm rings too late, no raise is made, and the votes relax to the second state at their time."""
    session = bench.controller.session(raising_ahead(in_two_steps()))
    bench.infer(session)
    session.expect(in_us=SUSTAIN_US + 1_000_000)
    bench.time.advance_us(SUSTAIN_US)
    lowered_us = bench.time.now_us
    bench.events.clear()
    bench.time.sleep(1 + LEAD_US / 1_000_000)
    bench.time.advance_us(10 * AFTER_US)
    (moved,) = (event for event in bench.events if isinstance(event, Transition))
    assert (moved.trigger, moved.cause) == (Trigger.LOWER_FURTHER, Cause.SUSTAIN_EXPIRED)
    assert moved.time_us == lowered_us + AFTER_US


def test_a_raise_ahead_that_is_made_too_late_leaves_the_time_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the raising thread is too late, the votes stay lowered, and relax to the second state at their time."""
    bench = Bench.make()
    session = bench.controller.session(raising_ahead(in_two_steps()))
    bench.infer(session)
    session.expect(in_us=SUSTAIN_US + 1_000_000)
    raise_now = RaiseAhead.raise_now

    def slow(ahead: RaiseAhead, *, up: bool) -> bool:
        raises = raise_now(ahead, up=up)
        bench.time.sleep(3 * LEAD_US / 1_000_000)
        return raises

    monkeypatch.setattr(RaiseAhead, "raise_now", slow)
    bench.time.advance_us(SUSTAIN_US + AFTER_US - 1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
    bench.time.advance_us(1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]


@pytest.mark.parametrize("held_us", [1, AFTER_US, 3 * AFTER_US])
def test_another_profile_while_they_are_relaxed_leaves_the_time_as_it_was(held_us: int) -> None:
    """After a hold, votes relax to the second state at their old time, or at once if that has passed."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US + AFTER_US // 2)
    other = in_two_steps(AFTER_US // 10)
    with session.hold(attrs.evolve(other, name="other"), reason="a preview"):
        bench.time.advance_us(held_us)
        assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
    left_us = max(0, AFTER_US // 2 - held_us)
    if left_us:
        bench.time.advance_us(left_us - 1)
        assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
        bench.time.advance_us(1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]
    with session.hold("balanced", reason="a preview"):
        bench.time.advance_us(1)
    bench.time.advance_us(10 * AFTER_US)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]


def test_votes_that_another_profile_has_relaxed_do_not_relax_further() -> None:
    """Votes that a hold without a second power state has lowered stay until the next raise."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    with session.hold("balanced", reason="a preview"):
        bench.infer(session)
        bench.time.advance_us(1_000_000)
    assert session.state is State.LOWERED
    bench.time.advance_us(10 * AFTER_US)
    assert Trigger.LOWER_FURTHER not in triggers(bench)


def test_an_option_that_is_refused_meanwhile_leaves_the_time_as_it_was(bench: Bench) -> None:
    """If the plan changes and the profile does not, the votes relax to the second state at their time."""
    profile = in_two_steps()
    profile = attrs.evolve(profile, votes=attrs.evolve(profile.votes, hmx_timeout_us=1000))
    session, other = (bench.controller.session(profile) for _ in range(2))
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    bench.events.clear()
    bench.simulated.fail_next(13002)
    bench.simulated.fail_next(13002, nth=4)
    with other.inference():
        bench.time.advance_us(AFTER_US)
        assert session.degradations
        assert session.degradations == other.degradations
    assert triggers(bench).count(Trigger.LOWER_FURTHER) == 1


def test_a_raise_that_fails_first_ends_the_gap_when_the_inference_began(bench: Bench) -> None:
    """The back-off raises a second later; the gap that is learnt from ends at the begin, without this second."""
    second = Adaptive(break_even_us=1_000_000)
    session = bench.controller.session(in_two_steps(second))
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    learner = make_learner(second)
    bench.time.advance_us(1_500_000)
    learner.learn(1_500_000, waited=True)
    bench.simulated.fail_next(13006)
    with session.inference():
        bench.time.advance_us(10_000_000)
        assert session.state is State.RAISED
    learnt = bench.controller.status().sessions[0].learnt_further
    assert learnt is not None
    assert (learnt.time_out_us, learnt.gaps) == (learner.learnt_us, 1)
    assert learnt.raised_us == learner.savings().raised_us
