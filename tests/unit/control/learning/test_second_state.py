"""The second power state: when lowered votes relax to it, and which events prevent this."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench
from support.inside import session_of
from support.learning import AFTER_US, SUSTAIN_US, in_two_steps, released, triggers

from htppower.control.core.session_record import SessionRecord
from htppower.control.gate.gate import Gate
from htppower.events import State, Trigger
from htppower.votes.native import Option

if TYPE_CHECKING:
    from collections.abc import Callable


def test_votes_relax_in_two_steps() -> None:
    """The votes of the first power state are sent once, and, when their time is over, those of the second once."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER]
    bench.time.advance_us(AFTER_US - 1)
    assert len(bench.casts) == 2
    bench.time.advance_us(1)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]
    assert session.state is State.LOWERED
    (votes,) = bench.controller.status().sessions[0].votes.values()
    assert votes == released().votes.without(Option.RPC_POLLING_TIME)  # polling, which is a setting of the process
    bench.time.advance_us(100 * AFTER_US)
    assert (len(bench.casts), bench.time.alarms) == (3, 0)


def test_an_inference_in_between_begins_anew() -> None:
    """From either power state an inference raises the votes, and both times start again."""
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
    """With a time of 0 us, the votes of the second power state are sent right after those of the first."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps(0, sustain))
    bench.infer(session)
    bench.time.advance_us(sustain)
    assert triggers(bench) == [Trigger.RAISE, Trigger.LOWER, Trigger.LOWER_FURTHER]


def test_other_phases_do_not_relax_further() -> None:
    """After DE-INIT, or after another profile, votes stay in the power state of that phase or profile."""
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
    """After a lost link the votes of the first power state are sent again, and then those of the second."""
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


def test_closing_ends_both() -> None:
    """Closing a session between the two power states cancels its alarm."""
    bench = Bench.make()
    session = bench.controller.session(in_two_steps())
    bench.infer(session)
    bench.time.advance_us(SUSTAIN_US)
    session.close()
    assert bench.time.alarms == 0
    bench.time.advance_us(10 * AFTER_US)
    assert triggers(bench)[-1] is Trigger.DESTROY


def test_plans_and_transitions_are_taken_in_under_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both change only while the line is held, so a step can read the second power state without a lock."""
    held: dict[str, set[bool]] = {"use_plan": set(), "moved": set()}

    def noted(name: str) -> Callable[..., None]:
        wrapped: Callable[..., None] = getattr(Gate, name)

        def note(gate: Gate, change: Any, **ends: bool) -> None:
            session = session_of(gate)
            assert isinstance(session, SessionRecord)
            held[name].add(session.home.engine.line.is_held)
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
    assert held == {"use_plan": {True}, "moved": {True}}
