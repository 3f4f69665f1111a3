"""Relaxed votes that relax further: when they do, and what takes that back."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from bench import Bench
from learning import relaxing

from htppower import Profile, load_profile
from htppower.control.gate import Gate
from htppower.control.learning.raise_ahead import RaiseAhead
from htppower.control.locks import is_held
from htppower.control.session_record import SessionRecord
from htppower.events import Cause, Event, State, SustainLearned, Transition, Trigger
from htppower.profiles.profile import PowerState, Then
from htppower.profiles.sustain import Adaptive, Sustain
from htppower.sustain.learner import make_learner
from htppower.votes.native import Option

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.tokens import Token

SUSTAIN_US = 100_000
AFTER_US = 2_000_000
LEAD_US = 5_000


def released() -> PowerState:
    """Return a power state below that of burst."""
    relax = load_profile("burst").relax
    assert relax is not None
    return relax.after_deinit_to


def in_two_steps(after_us: Sustain = AFTER_US, sustain: Sustain = SUSTAIN_US) -> Profile:
    """Return a profile that relaxes, and then further."""
    return relaxing(after_inference_us=sustain, then=Then(released(), after_us))


def raising_ahead(profile: Profile) -> Profile:
    """Return a profile that relaxes, but raises ahead of a predicted begin."""
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, raise_ahead_us=LEAD_US))


def triggers(bench: Bench) -> list[Trigger]:
    """Return the transitions that were made."""
    return [event.trigger for event in bench.events if isinstance(event, Transition)]


def test_votes_relax_in_two_steps() -> None:
    """First those of the one power state are cast, and when their time is over those of the other; once each."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
    bench.time.advance_us(AFTER_US - 1)
    assert len(bench.sets) == 2
    bench.time.advance_us(1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]
    assert session.state is State.LOWERED
    (votes,) = bench.controller.status().sessions[0].votes.values()
    assert votes == released().votes.without(Option.RPC_POLLING_TIME)  # which is the process's
    bench.time.advance_us(100 * AFTER_US)
    assert (len(bench.sets), bench.time.alarms) == (3, 0)


def test_an_inference_in_between_begins_anew() -> None:
    """From either power state the votes are raised, and both times begin again."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    for idle_us in (SUSTAIN_US + AFTER_US - 1, SUSTAIN_US + AFTER_US, SUSTAIN_US + AFTER_US - 1):
        bench.infer(session)
        assert session.state is State.RAISED
        bench.time.advance_us(idle_us)
    assert triggers(bench).count(Trigger.LOWER_FURTHER) == 1
    bench.time.advance_us(1)
    assert triggers(bench).count(Trigger.LOWER_FURTHER) == 2


@pytest.mark.parametrize("sustain", [0, SUSTAIN_US])
def test_a_second_time_of_nothing(sustain: int) -> None:
    """With 0 us the votes of both power states are cast one after the other."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps(0, sustain))
    bench.infer(session)
    bench.time.advance_us(sustain)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]


def test_other_phases_do_not_relax_further() -> None:
    """After DE-INIT the power state is that of DE-INIT; after another profile, that of the other."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    with session.deinit():
        bench.time.advance_us(1)
    bench.time.advance_us(10 * AFTER_US)
    assert Trigger.LOWER_FURTHER not in triggers(bench)
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    session.use("balanced")
    bench.time.advance_us(10 * AFTER_US)
    assert Trigger.LOWER_FURTHER not in triggers(bench)


def test_a_restart_in_the_second_power_state() -> None:
    """When the link to the DSP is lost the first power state is voted again, and then the second."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US + AFTER_US)
    bench.events.clear()
    session.link_lost(1007)
    bench.time.advance_us(AFTER_US)
    bench.time.advance_us(10 * AFTER_US)
    assert triggers(bench)[-2:] == [Trigger.LOWER, Trigger.LOWER_FURTHER]
    assert session.state is State.LOWERED


@pytest.mark.parametrize("seed", range(3))
def test_both_times_are_learnt_apart(seed: int) -> None:
    """Each has a policy of its own: the second's gaps begin where the votes were relaxed."""
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
        # With a time-out of 0 the votes came down as the inference ended.
        expected = [Trigger.LOWER] * (rest_us >= 0 and outer.time_out_us > 0)
        expected += [Trigger.LOWER_FURTHER] * (rest_us >= inner.time_out_us > 0)
        assert [each for each in triggers(bench) if each is not Trigger.RAISE] == expected
        if rest_us >= 0:
            inner.learn(rest_us)
        outer.learn(gap_us)
        bench.infer(session)


def test_what_the_second_time_has_learnt_is_told(bench: Bench) -> None:
    """By the status, and by an event for each change, as that of the sustain time; it outlives a hold."""
    told = list[Event]()
    bench.controller.subscribe(told.append, kinds=[SustainLearned])
    session = bench.controller.session(in_two_steps(Adaptive(break_even_us=1_000_000)))
    for _ in range(6):
        bench.infer(session)
        bench.time.advance_us(SUSTAIN_US + 5_000_000)
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
    """A raise ends the time in the power states, whatever it is made for."""
    session = bench.controller.session(raising_ahead(in_two_steps(Adaptive(break_even_us=1_000_000), 0)))
    session.expect(every_us=100_000)
    for _ in range(20):
        bench.infer(session, 10_000)
        bench.time.advance_us(90_000)
    learnt = bench.controller.status().sessions[0].learnt_further
    assert learnt is not None
    assert (learnt.gaps, learnt.raised_us, learnt.cold_starts) == (20, 20 * 85_000, 0)


def test_a_raise_ahead_whose_alarm_rings_too_late_is_none(bench: Bench) -> None:
    """When its time is over nothing is raised: relaxed votes relax further when they would have, and for no hint."""
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
    """Votes that stay relaxed, since the thread that was to raise them is too slow, relax further when they would."""
    bench = Bench.make()
    session = bench.controller.session(raising_ahead(in_two_steps()))
    bench.infer(session)
    session.expect(in_us=SUSTAIN_US + 1_000_000)
    raise_now = RaiseAhead.raise_now

    def slow(ahead: RaiseAhead) -> bool:
        raises = raise_now(ahead)
        bench.time.sleep(3 * LEAD_US / 1_000_000)
        return raises

    monkeypatch.setattr(RaiseAhead, "raise_now", slow)
    bench.time.advance_us(SUSTAIN_US + AFTER_US - 1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
    bench.time.advance_us(1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]


def test_an_inference_that_is_interrupted_leaves_the_time_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """Votes that stay relaxed, since Ctrl-C comes before the raise that it waits for, relax further when they would."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps(Adaptive(break_even_us=AFTER_US)))
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US + 1_000_000)
    learn = Gate.learn

    def interrupted(gate: Gate, token: Token) -> None:
        patched.undo()
        learn(gate, token)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Gate, "learn", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bench.infer(session)
    bench.time.advance_us(AFTER_US - 1_000_000 - 1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
    bench.time.advance_us(1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]
    bench.infer(session)
    learnt = bench.controller.status().sessions[0].learnt_further
    assert learnt is not None
    assert learnt.gaps == 1


def test_an_option_that_is_refused_meanwhile_leaves_the_time_as_it_was(bench: Bench) -> None:
    """A session whose plan changes, but not its profile, relaxes further when it would have."""
    profile = in_two_steps()
    profile = attrs.evolve(profile, votes=attrs.evolve(profile.votes, hmx_timeout_us=1000))
    session, other = (bench.controller.session(profile) for _ in range(2))
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    bench.events.clear()
    bench.simulated.fail_next(13002)
    bench.simulated.fail_next(13002, nth=5)
    with other.inference():
        bench.time.advance_us(AFTER_US)
        assert session.degradations
        assert session.degradations == other.degradations
    assert triggers(bench).count(Trigger.LOWER_FURTHER) == 1


def test_closing_ends_both() -> None:
    """No alarm of a closed session rings."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    session.close()
    assert bench.time.alarms == 0
    bench.time.advance_us(10 * AFTER_US)
    assert triggers(bench)[-1] is Trigger.DESTROY


def test_plans_and_transitions_are_taken_in_within_the_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """So whether there is a second power state can be asked without the lock: no other thread changes that."""
    held: dict[str, set[bool]] = {"follow": set(), "moved": set()}

    def noted(name: str) -> Callable[..., None]:
        wrapped: Callable[..., None] = getattr(Gate, name)

        def note(gate: Gate, change: Any, **ends: bool) -> None:
            session = gate._session
            assert isinstance(session, SessionRecord)
            held[name].add(is_held(session.turn))
            wrapped(gate, change, **ends)

        return note

    for name in held:
        monkeypatch.setattr(Gate, name, noted(name))
    bench = Bench.make()
    session = bench.controller.session("burst")
    with session.inference():
        session.use(in_two_steps())
        bench.controller.cap("balanced", reason="a test").lift()
        session.hold("balanced", reason="a test", timeout_us=SUSTAIN_US)
        bench.simulated.restart_subsystem()
        bench.controller.link_lost(1007)
    bench.time.advance_us(10 * AFTER_US)
    session.close()
    assert held == {"follow": {True}, "moved": {True}}
