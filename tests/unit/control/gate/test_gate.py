"""The gate: the phases that it counts, its deadline and alarm, and when a phase may begin without a call."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench
from support.gate_hosts import INIT_US, SUSTAIN_US, Host, make_plan
from support.inside import gate_of

from htppower.control.gate.counts import count_all, count_begun
from htppower.control.gate.gate import Gate
from htppower.control.gate.sustain_timer import NO_DEADLINE, SustainTimer
from htppower.control.gate.tokens import Use
from htppower.events import Cause, Phase
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


@pytest.fixture
def host() -> Host:
    """Return a gate with a sustain time."""
    return Host.make()


def test_a_new_gate_is_shut_and_idle() -> None:
    """A new gate counts nothing, has no alarm, and lets no phase begin without a call."""
    time = VirtualTime()
    gate = Gate("the session", time, lambda session, cause: None, make_plan(INIT_US, SUSTAIN_US))
    assert (gate.open, gate.in_flight, count_begun(gate), time.alarms) == (False, 0, 0, 0)
    assert gate.use() == Use(closing=False, busy=False, deadline_us=0)
    assert count_all(gate)[2] is None


def test_a_token_is_counted_until_it_is_given_back(host: Host) -> None:
    """Each running inference has its own token; the token of an ended inference is used again."""
    first, second = host.begin(), host.begin()
    assert (host.gate.in_flight, host.gate.use().busy) == (2, True)
    assert not host.gate.end(first)
    assert (host.gate.in_flight, host.gate.use().busy) == (1, True)
    assert not host.gate.end(second)
    assert (host.gate.in_flight, host.gate.use().busy) == (0, False)
    assert host.begin() in (first, second)
    assert (host.gate.tokens.made, host.gate.in_flight) == (2, 1)


def test_a_token_that_is_dropped_was_no_inference(host: Host) -> None:
    """An inference that did not begin is not counted and sets no deadline."""
    host.gate.drop(host.begin())
    assert (host.gate.in_flight, count_begun(host.gate)) == (0, 0)
    assert host.gate.use() == Use(closing=False, busy=False, deadline_us=0)


@pytest.mark.parametrize(("phase", "deadline_us"), [(Phase.INIT, 1_000 + INIT_US), (Phase.DEINIT, 1_000)])
def test_the_end_of_a_preparation_sets_the_deadline(host: Host, phase: Phase, deadline_us: int) -> None:
    """Votes stay up for a time after INIT and not after DE-INIT; the end of INIT never shortens a deadline."""
    host.gate.end(host.begin())
    assert host.gate.use().deadline_us == SUSTAIN_US
    host.time.advance_us(1_000)
    host.gate.end_preparation(host.gate.prepare(phase), phase)
    after_deinit = phase is Phase.DEINIT
    assert host.gate.use() == Use(closing=False, busy=False, deadline_us=deadline_us, after_deinit=after_deinit)
    host.gate.use_plan(make_plan(0, 0))
    host.gate.end_preparation(host.gate.prepare(Phase.INIT), Phase.INIT)
    assert host.gate.use().deadline_us == deadline_us


def test_whether_a_deinit_was_the_last_to_end(host: Host) -> None:
    """A DE-INIT is the last phase until another phase ends; a new plan or an ended sustain does not change that."""
    ends: list[tuple[Callable[[], object], bool]] = [
        (lambda: host.gate.end(host.begin()), False),
        (lambda: host.gate.end_preparation(host.gate.prepare(Phase.DEINIT), Phase.DEINIT), True),
        (lambda: host.gate.use_plan(make_plan(0, 0)), True),
        (lambda: host.gate.use_plan(make_plan(0, 0), ends_sustain=True), True),
        (lambda: host.gate.end_preparation(host.gate.prepare(Phase.INIT), Phase.INIT), False),
        (lambda: host.gate.end_preparation(host.gate.prepare(Phase.DEINIT), Phase.DEINIT), True),
        (lambda: host.gate.end(host.begin()), False),
    ]
    for end, after_deinit in ends:
        end()
        assert host.gate.use().after_deinit is after_deinit
    first = host.begin()
    host.gate.end_preparation(host.gate.prepare(Phase.DEINIT), Phase.DEINIT)
    host.gate.end(first)
    assert not host.gate.use().after_deinit


def test_only_the_last_to_end_arms_an_alarm(host: Host) -> None:
    """No alarm is armed while another inference runs; the last end sets the deadline."""
    held = [host.begin() for _ in range(3)]
    host.time.advance_us(5)
    for token in held[:2]:
        host.gate.end(token)
    assert host.gate.use() == Use(closing=False, busy=True, deadline_us=0)
    assert (host.time.alarms, count_all(host.gate)[2]) == (0, None)
    host.time.advance_us(3)
    host.gate.end(held[2])
    assert host.gate.use().deadline_us == 8 + SUSTAIN_US
    assert (host.time.alarms, count_all(host.gate)[2]) == (1, 8 + SUSTAIN_US)


def test_one_that_did_not_begin_leaves_the_sustain_time_of_one_that_ended_beside_it(host: Host) -> None:
    """The sustain time of an ended inference counts even if another inference was about to begin then and did not."""
    first, waiting = host.begin(), host.begin()
    host.time.advance_us(5)
    host.gate.end(first)
    host.time.advance_us(7)
    host.gate.drop(waiting)
    assert host.gate.use() == Use(closing=False, busy=False, deadline_us=5 + SUSTAIN_US)


def test_one_that_is_collected_beside_one_that_did_not_begin_has_its_sustain_time(host: Host) -> None:
    """A garbage-collected inference ends when it is counted, and its sustain time begins then."""
    first, waiting = host.begin(), host.begin()
    host.time.advance_us(5)
    del first
    gc.collect()
    host.gate()
    host.time.advance_us(7)
    host.gate.drop(waiting)
    assert host.gate.use() == Use(closing=False, busy=False, deadline_us=5 + SUSTAIN_US)


def test_the_alarm_is_lazy(host: Host) -> None:
    """An alarm at or before the deadline is left as it is; an alarm after it is replaced."""
    host.gate.end(host.begin())
    armed = host.gate.sustain.alarm
    for _ in range(5):
        host.time.advance_us(1_000)
        host.gate.end(host.begin())
    assert (host.gate.sustain.alarm, host.gate.sustain.alarm_us) == (armed, SUSTAIN_US)
    assert count_all(host.gate)[2] == 5_000 + SUSTAIN_US
    host.gate.use_plan(make_plan(0, 10))
    host.gate.end(host.begin())
    assert (host.gate.sustain.alarm_us, host.time.alarms) == (5_010, 1)
    host.time.advance_us(10)
    assert host.rings == [(5_010, Cause.SUSTAIN_EXPIRED)]
    assert host.gate.sustain.alarm is None


def test_another_plan_and_the_end_of_a_sustain_are_taken_in_at_once(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One lock covers both changes, so an inference that ends between them can't get the old plan's sustain time."""
    did: list[str] = []

    class Noted:
        def __enter__(self) -> None:
            did.append("lock")

        def __exit__(self, *_: object) -> None:
            did.append("unlock")

    for name in ("end", "set_time"):
        monkeypatch.setattr(SustainTimer, name, lambda *_, name=name: did.append(name))
    monkeypatch.setattr(host.gate, "lock", Noted())
    host.gate.use_plan(make_plan(0, 0), ends_sustain=True)
    assert did == ["lock", "end", "set_time", "unlock"]


def test_without_a_sustain_time_votes_are_looked_at_at_once() -> None:
    """Without a sustain time no alarm is armed: the thread that ends the last inference checks the votes."""
    host = Host.make(sustain_us=0)
    first, second = host.begin(), host.begin()
    assert not host.gate.end(first)
    assert host.gate.end(second)
    assert host.time.alarms == 0


def test_in_the_background_an_alarm_looks_at_once() -> None:
    """With background lowering, an alarm that is due now checks the votes, and the thread does not wait for it."""
    host = Host.make(sustain_us=0, background=True)
    assert not host.gate.end(host.begin())
    assert host.rings == []
    host.settle()
    assert host.rings == [(0, Cause.INFERENCE_ENDED)]


def test_a_profile_without_votes_has_nothing_to_look_at() -> None:
    """If the profile has no votes, the end of an inference asks for no check while the gate is open."""
    host = Host.make(sustain_us=0, voting=False)
    assert not host.gate.end(host.begin())
    host.gate.shut()
    assert host.gate.end(host.begin())


def test_a_gate_is_shut_only_where_no_phase_runs(host: Host) -> None:
    """While a phase runs, ``shut_if_idle`` leaves the gate open or shut; otherwise it shuts it."""
    token = host.begin()
    assert not host.gate.shut_if_idle(host.gate.sustain.deadline_us)
    assert host.gate.open
    host.gate.shut()
    assert not host.gate.shut_if_idle(host.gate.sustain.deadline_us)
    assert not host.gate.open
    host.gate.end(token)
    host.gate.set_open()
    assert host.gate.shut_if_idle(host.gate.sustain.deadline_us)
    assert not host.gate.open
    preparing = host.gate.prepare(Phase.DEINIT)
    assert not host.gate.shut_if_idle(host.gate.sustain.deadline_us)
    host.gate.end_preparation(preparing, Phase.DEINIT)
    assert host.gate.shut_if_idle(host.gate.sustain.deadline_us)


def test_another_plan_shuts_the_gate(host: Host) -> None:
    """After a change of plan no phase begins without a call until the new votes are in force."""
    host.gate.use_plan(make_plan(0, 0))
    assert not host.gate.open


def test_a_closed_gate_stays_shut_and_arms_nothing(host: Host) -> None:
    """After ``close`` no phase begins without a call, and ending a phase arms no alarm."""
    token = host.begin()
    host.gate.end(host.begin())
    host.gate.must_lower()
    host.gate.close()
    host.gate.set_open()
    assert not host.gate.open
    assert not host.gate.end(token)
    assert (host.time.alarms, host.gate.use().closing) == (0, True)
    host.time.advance_us(SUSTAIN_US)
    assert host.rings == []


def test_ending_a_sustain_makes_votes_due(host: Host) -> None:
    """Ending a sustain makes its deadline past and cancels its alarm."""
    host.gate.end(host.begin())
    host.gate.sustain.end()
    assert (host.gate.use().deadline_us, host.time.alarms, count_all(host.gate)[2]) == (NO_DEADLINE, 0, None)


def test_where_no_alarm_can_be_armed_votes_are_due_now(
    host: Host, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """If no thread can be started, the votes are due for lowering at once, and a warning is logged."""

    def call_at(deadline_us: int, action: Callable[[], None]) -> Any:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(host.time, "call_at", call_at)
    host.time.advance_us(7)
    assert host.gate.end(host.begin())
    assert host.gate.use() == Use(closing=False, busy=False, deadline_us=7)
    assert "no timer for 'the session'" in caplog.text


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_that_has_ended_is_not_counted_once_more(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of a phase that has ended normally causes no callback when it is garbage collected."""
    bench, told = Bench.make(), list[Gate]()
    session = bench.controller.session("burst")

    def count(gate: Gate) -> None:
        told.append(gate)

    monkeypatch.setattr(Gate, "__call__", count)
    begin: dict[Phase, Callable[[], AbstractContextManager[None]]] = {
        Phase.INIT: session.init,
        Phase.DEINIT: session.deinit,
        Phase.INFERENCE: session.inference,
    }
    with begin[phase]():
        pass
    gc.collect()
    bench.time.advance_us(0)
    assert told == []
    lost = session.init()
    lost.__enter__()
    del lost
    gc.collect()
    bench.time.advance_us(0)
    assert told == [gate_of(session)]


def test_in_a_forked_child_nothing_is_up_for_what_the_parent_predicts(host: Host) -> None:
    """The child has no votes: the parent's prediction and its deadline do not count there."""
    host.gate.expect(10_000, None)
    host.gate.sustain.until_us = 20_000
    host.gate.disown()
    assert (host.gate.learning, host.gate.use().expected) == (None, False)


def test_in_a_forked_child_phases_pass_and_nothing_rings(host: Host) -> None:
    """In a forked child, phases make no call and arm no alarm, even after the sustain time was ended."""
    lock = host.gate.lock
    host.gate.sustain.end()
    host.gate.disown()
    assert host.gate.lock is not lock
    assert host.gate.open
    host.gate.expect(10_000, None)
    assert not host.gate.end(host.begin())
    assert host.time.alarms == 0
