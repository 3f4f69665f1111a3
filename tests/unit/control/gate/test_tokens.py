"""The tokens of a gate: the number of running phases is right, however a token comes back or is lost."""

from __future__ import annotations

import functools
import gc
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.gate_hosts import INIT_US, SUSTAIN_US, Host, collect
from support.hanging import join, started

from htppower import State
from htppower.control.gate.counts import count_all
from htppower.control.gate.tokens import Use
from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.bench import Bench

    from htppower import Session
    from htppower.control.gate.tokens import Token


@pytest.fixture
def host() -> Host:
    """Return a gate with a sustain time."""
    return Host.make()


@pytest.mark.parametrize("how", ["dropped", "in a cycle"])
def test_a_token_that_is_gone_ends_its_inference(host: Host, how: str) -> None:
    """A phase that never ends counts as ended when its token is garbage collected; its sustain time begins then."""
    held = [host.begin()]
    host.time.advance_us(1_000)
    if how == "dropped":
        held.clear()
    else:
        collect(held.pop())
        gc.collect()
    # The finalizer takes no lock: it only requests that lost tokens are counted.
    assert (host.gate.in_flight, host.time.alarms) == (1, 0)
    host.settle()
    assert (host.gate.in_flight, host.gate.tokens.made, host.gate.use().busy) == (0, 0, False)
    assert count_all(host.gate)[2] == 1_000 + SUSTAIN_US
    host.time.advance_us(SUSTAIN_US)
    assert host.rings == [(1_000 + SUSTAIN_US, Cause.SUSTAIN_EXPIRED)]


class _Contended(list[Any]):
    """A list of idle tokens; another thread takes a token right after its length is read."""

    def __init__(self, tokens: Iterable[Token]) -> None:
        super().__init__(tokens)
        self.taken: list[Token] = []

    def __len__(self) -> int:
        found = super().__len__()
        if found:
            self.taken.append(super().pop())
        return found


def test_a_phase_may_begin_as_those_that_are_gone_are_counted(host: Host) -> None:
    """Another thread may take an idle token while lost tokens are counted; each token is still taken only once."""
    held = [host.begin(), host.begin()]
    host.gate.end(held[0])
    held.clear()
    tokens = host.gate.tokens
    tokens.idle = contended = _Contended(tokens.idle)
    assert tokens.count_lost() == 1
    assert (tokens.made, len(tokens.idle) + len(contended.taken)) == (1, 1)


def test_without_a_sustain_time_a_sweep_rings_at_once() -> None:
    """Without a sustain time, votes are checked as soon as a lost token is counted."""
    host = Host.make(sustain_us=0)
    held = [host.begin(), host.begin()]
    del held[0]
    host.settle()
    assert (host.rings, host.gate.in_flight) == ([], 1)
    held.clear()
    host.settle()
    assert host.rings == [(0, Cause.INFERENCE_ENDED)]


@pytest.mark.parametrize("sweep_first", [True, False])
def test_a_token_that_comes_back_out_of_the_collector_counts_once(host: Host, *, sweep_first: bool) -> None:
    """A token that a finalizer gives back is not counted twice, and is not used again."""
    given_up: list[Token] = []
    other = host.begin()
    collect(host.begin(), given_up.append)
    gc.collect()
    assert len(given_up) == 1
    if sweep_first:
        host.settle()
    host.gate.end(given_up.pop())
    host.settle()
    assert (host.gate.in_flight, host.gate.use().busy) == (1, True)
    host.gate.end(other)
    assert (host.gate.in_flight, host.gate.use().busy) == (0, False)
    assert [host.begin(), host.begin()].count(other) == 1
    assert (host.gate.in_flight, host.gate.use().busy) == (2, True)


@pytest.mark.parametrize("phase", [Phase.INIT, Phase.DEINIT])
@pytest.mark.parametrize("how", ["dropped", "in a cycle", "given up in a cycle"])
def test_a_preparation_that_is_gone_has_ended(host: Host, phase: Phase, how: str) -> None:
    """An INIT or DE-INIT ends when its token is garbage collected: after INIT votes stay up, after DE-INIT not."""
    host.gate.end(host.begin())
    host.time.advance_us(1_000)
    held = [host.gate.prepare(phase)]
    assert (host.gate.use().busy, host.gate.in_flight) == (True, 0)
    if how == "dropped":
        held.clear()
    elif how == "in a cycle":
        collect(held.pop())
    else:
        collect(held.pop(), lambda token: host.time.call_soon(lambda: host.gate.end_preparation(token, phase)))
    gc.collect()
    host.settle()
    deadline_us = 1_000 + INIT_US if phase is Phase.INIT else 1_000
    after_deinit = phase is Phase.DEINIT
    assert host.gate.use() == Use(closing=False, busy=False, deadline_us=deadline_us, after_deinit=after_deinit)
    assert host.gate.tokens.preparing == ()
    assert (host.gate.inits > 0) is (phase is Phase.INIT)


class Run:
    """A host's object in a cycle, which ends its inference when the collector frees it."""

    def __init__(self, session: Session) -> None:
        self.inference = session.inference()
        self.inference.__enter__()
        self.me = self

    def __del__(self) -> None:
        """End the inference."""
        self.inference.__exit__(None, None, None)


@pytest.mark.parametrize("sweep_first", [True, False])
def test_an_object_that_ends_its_inference_when_it_is_freed(bench: Bench, *, sweep_first: bool) -> None:
    """The inference is counted once, and the next inference is counted, too, and keeps the votes up."""
    session = bench.controller.session("high_performance")
    Run(session)
    gc.collect()
    if sweep_first:
        bench.time.advance_us(0)
    with session.inference():
        bench.time.advance_us(1_000)
        assert (session.in_flight, session.state) == (1, State.RAISED)
    bench.time.advance_us(1_000)
    assert (session.in_flight, session.state) == (0, State.LOWERED)


ACTS = st.sampled_from(
    ["begin", "end", "not begin", "drop", "collect", "collect and end", "sweep", "prepare", "unprepare"]
)


@examples(60)
@given(st.lists(ACTS, max_size=30))
def test_no_count_is_ever_wrong(acts: list[str]) -> None:
    """Whatever happens to tokens, the running phases are counted, and no count is negative."""
    host = Host.make()
    running: list[Token] = []
    preparing: list[Token] = []
    # These tokens are lost and not counted yet, so they may still be in the number.
    unswept = 0
    for act in acts:
        if act == "begin":
            running.append(host.begin())
        elif act == "prepare":
            preparing.append(host.gate.prepare(Phase.INIT))
        elif act == "sweep":
            host.settle()
            unswept = 0
        elif act == "unprepare" and preparing:
            host.gate.end_preparation(preparing.pop(), Phase.INIT)
        elif act == "end" and running:
            host.gate.end(running.pop())
        elif act == "not begin" and running:
            host.gate.drop(running.pop())
        elif act == "drop" and running:
            running.pop()
            unswept += 1
        elif act.startswith("collect") and running:
            collect(running.pop(), host.end_soon if act == "collect and end" else None)
            gc.collect(0)
            unswept += 1
        assert len(running) <= host.gate.in_flight <= len(running) + unswept
        assert host.gate.use().busy or not (running or preparing)
    host.settle()
    assert host.gate.in_flight == len(running)
    assert host.gate.use().busy is bool(running or preparing)


def test_many_threads_leave_no_count_wrong(host: Host) -> None:
    """Eight threads that begin, end, cancel and lose tokens leave none in flight and see no negative count."""
    wrong: list[int] = []

    def work(kind: int) -> None:
        for turn in range(300):
            try:
                token = host.gate.tokens.idle.pop()
            except IndexError:
                token = host.gate.token()
            if host.gate.in_flight < 1:
                wrong.append(host.gate.in_flight)
            if (turn + kind) % 3 == 0:
                host.gate.end(token)
            elif (turn + kind) % 3 == 1:
                host.gate.drop(token)
            del token

    join(*started(*(functools.partial(work, kind) for kind in range(8))))
    host.settle()
    assert wrong == []
    assert (host.gate.in_flight, host.gate.use().busy) == (0, False)
