"""Counts of inferences, of those that waited for a native call, and of their waiting times."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import Bench, voting
from support.learning import relaxing

from htppower import VoteRejected, load_profile
from htppower.backends import SimulatedHtp
from htppower.control.gate.cold_starts import NO_COLD_STARTS, WAIT_BOUNDS_US
from htppower.events import ColdStart
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from htppower import Session


def counts(bench: Bench) -> tuple[int, int]:
    """Return how many inferences the one session had, and how many waited."""
    (session,) = bench.controller.status().sessions
    return session.inferences, session.cold_starts.count


def slow_bench(call_us: int) -> Bench:
    """Return a bench whose votes take this time."""
    bench = Bench.make()
    bench.simulated.delay_calls(call_us, "setPowerConfig")
    return bench


def begun(session: Session, how: str) -> None:
    """Run an inference in the given way."""
    if how == "with":
        with session.inference():
            pass
    elif how == "ticket":
        session.begin().end()
    elif how == "decorator":
        session.votes(lambda: None)()
    elif how == "stream":
        assert list(session.stream([1, 2])) == [1, 2]
    else:

        async def infer() -> None:
            async with session.ainference():
                pass

        asyncio.run(infer())


@pytest.mark.parametrize("how", ["with", "ticket", "decorator", "stream", "coroutine"])
@pytest.mark.parametrize("profile", ["burst", "high_performance"])
def test_every_inference_counts_and_those_that_raise_are_cold(how: str, profile: str) -> None:
    """With a sustain time one of three inferences is a cold start, without it each; each waits for two calls."""
    bench = slow_bench(1_000)
    session = bench.controller.session(profile)
    for _ in range(3):
        begun(session, how)
    (status,) = bench.controller.status().sessions
    cold = 1 if profile == "burst" else 3
    assert (status.inferences, status.cold_starts.count) == (3, cold)
    assert (status.cold_starts.wait_us, status.cold_starts.by_bound[3]) == (2_000 * cold, cold)
    assert bench.controller.status().inferences == 3
    bench.controller.close()


def test_each_wait_is_told_and_counted_under_its_bound() -> None:
    """A wait equal to a bound counts under this bound; a wait above the last bound counts in the last entry."""
    bench = slow_bench(0)
    told: list[int] = []
    bench.controller.subscribe(lambda event: told.append(getattr(event, "wait_us", -1)), ColdStart)
    quiet = voting(rpc_polling_time_us=None, rpc_control_latency_us=None)
    session = bench.controller.session(attrs.evolve(quiet, relax=load_profile("high_performance").relax))
    waits = [0, *(us + more for us in WAIT_BOUNDS_US for more in (0, 1))]
    for wait_us in waits:
        bench.simulated.delay_calls(wait_us, "setPowerConfig")
        bench.infer(session)
    (status,) = bench.controller.status().sessions
    assert (told, status.cold_starts.wait_us) == (waits, sum(waits))
    assert status.cold_starts.by_bound == (2, *(2 for _ in WAIT_BOUNDS_US[1:]), 1)
    bench.controller.close()


def test_what_runs_counts_and_what_never_began_does_not() -> None:
    """A running inference counts; an inference whose raise failed with ``on_error="raise"`` has not begun."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.simulated.fail_next(FAILED)
    with pytest.raises(VoteRejected), session.inference():
        pass
    assert counts(bench) == (0, 0)
    bench.time.advance_us(1_000_000)
    with session.inference(), session.inference():
        assert counts(bench) == (2, 1)
    assert counts(bench) == (2, 1)
    bench.controller.close()


def test_an_inference_without_votes_waits_for_nothing(bench: Bench) -> None:
    """On a dead link during the back-off, an inference makes no call and does not wait."""
    session = bench.controller.session("burst")
    bench.simulated.restart_subsystem(fatal=True)
    for _ in range(5):
        bench.infer(session)
    inferences, cold = counts(bench)
    assert (inferences, cold < 5) == (5, True)
    bench.simulated.restart_subsystem()


def test_one_that_was_raised_ahead_is_not_cold(bench: Bench) -> None:
    """An inference whose votes were raised ahead counts, but not as a cold start."""
    profile = relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=5_000)
    session = bench.controller.session(profile)
    for _ in range(4):
        bench.infer(session)
        session.expect(in_us=50_000)
        bench.time.advance_us(50_000)
    bench.infer(session)
    assert counts(bench) == (5, 1)


def test_one_that_is_collected_is_counted_once(bench: Bench) -> None:
    """An inference whose ticket is garbage collected is counted once."""
    session = bench.controller.session("burst")
    ticket = session.begin()
    assert counts(bench) == (1, 1)
    del ticket
    gc.collect()
    bench.time.advance_us(0)
    assert counts(bench) == (1, 1)


def test_the_total_outlives_sessions(bench: Bench) -> None:
    """The controller's total includes closed sessions, and never falls."""
    totals = []
    for _ in range(3):
        with bench.controller.session("burst") as session:
            bench.infer(session)
            bench.infer(session)
            totals.append(bench.controller.status().inferences)
        totals.append(bench.controller.status().inferences)
    assert totals == [2, 2, 4, 4, 6, 6]


def test_the_total_stands_while_a_session_closes(bench: Bench) -> None:
    """During a close, a subscriber reads the same total of inferences at each event."""
    session = bench.controller.session("burst")
    bench.infer(session)
    totals: list[int] = []
    bench.controller.subscribe(lambda _: totals.append(bench.controller.status().inferences))
    session.close()
    bench.controller.flush_events()
    assert totals
    assert set(totals) == {1}


def test_a_session_that_had_none_shares_the_empty_count() -> None:
    """Sessions without cold starts share one empty value, since a host may have thousands."""
    bench = Bench.make(SimulatedHtp(arch=75))
    bench.controller.session("burst")
    (status,) = bench.controller.status().sessions
    assert status.cold_starts is NO_COLD_STARTS
    bench.controller.close()
