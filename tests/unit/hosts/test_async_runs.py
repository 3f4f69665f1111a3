"""Inferences that ONNX Runtime ends in a thread of its own: none stays in flight."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import Any

import pytest
from support.bench import Bench
from support.hanging import join, started
from support.onnxsessions import WAIT_S, Answer, Held, X, by_async, on_cpu

from htppower import SessionClosed, State
from htppower.control.phases.blocks import Inference
from htppower.hosts.async_runs import AsyncRuns
from htppower.hosts.onnxruntime import VotingSession
from htppower.votes.native_codes import FAILED


def interrupt(*_arguments: Any) -> None:
    """Raise KeyboardInterrupt."""
    raise KeyboardInterrupt


def test_an_async_run_is_in_flight_until_the_callback(bench: Bench) -> None:
    """The votes are up before the run is submitted; the inference ends when the user's callback is called."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    called: list[Any] = []
    for number in range(2):
        model.run_async(None, {}, lambda *given: called.append((*given, votes.in_flight)), number)
    assert held.states == [State.RAISED] * 2
    assert (votes.in_flight, votes.state) == (2, State.RAISED)
    held.callbacks[1]("results", 1, "")
    held.callbacks[0](None, 0, "failed")
    assert called == [("results", 1, "", 1), (None, 0, "failed", 0)]
    assert votes.state is State.LOWERED


def test_an_async_run_whose_callback_raises_is_ended(bench: Bench) -> None:
    """The callback's error goes to ONNX Runtime, as without htppower, and the inference has ended."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    VotingSession(held, votes).run_async(None, {}, lambda *_: 1 // 0, None)
    with pytest.raises(ZeroDivisionError):
        held.callbacks[0](None, None, "")
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)


def test_an_async_run_that_is_refused_is_ended_once(bench: Bench) -> None:
    """The refusal is raised and ends the inference; a later callback does not end another one."""
    votes = bench.controller.session("balanced")
    held = Held(votes, refusal=RuntimeError("no threads"))
    called: list[Any] = []
    model = VotingSession(held, votes)
    with pytest.raises(RuntimeError, match="no threads"):
        model.run_async(None, {}, lambda *given: called.append(given), None)
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)
    with votes.inference():
        held.callbacks[0](None, None, "")
        assert votes.in_flight == 1
    assert called == [(None, None, "")]


def test_the_errors_of_onnx_runtime_end_an_async_run(bench: Bench) -> None:
    """If ONNX Runtime refuses a run or reports its failure, nothing stays in flight."""
    votes = bench.controller.session("balanced")
    with pytest.raises(Exception, match="at least one thread"):
        by_async(VotingSession(on_cpu(threads=1), votes))
    assert votes.in_flight == 0
    answer = Answer()
    VotingSession(on_cpu(), votes).run_async(["nothing"], {"x": X}, answer, None)
    assert answer.come.wait(WAIT_S)
    assert "nothing" in answer.error
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)


def test_a_model_that_is_dropped_with_an_async_run_pending(bench: Bench) -> None:
    """The callback is still called, and nothing stays in flight."""
    votes = bench.controller.session("balanced")
    dropped = threading.Event()
    answer = Answer(dropped)
    model: Any = VotingSession(on_cpu(), votes)
    never_run = Held(votes)
    held: Any = VotingSession(never_run, votes)
    model.run_async(None, {"x": X}, answer, None)
    held.run_async(None, {}, lambda *_: None, None)
    callback = never_run.callbacks[0]
    del model, held, never_run
    gc.collect()
    dropped.set()
    assert answer.come.wait(WAIT_S)
    assert votes.in_flight == 1
    callback(None, None, "")
    assert votes.in_flight == 0


def test_a_lowering_that_fails_in_the_callback_is_not_raised_there() -> None:
    """With on_error="raise" the user's callback still gets its results, and the session reports the failure."""
    bench = Bench.make(on_error="raise")
    votes = bench.controller.session("balanced")
    held = Held(votes)
    called: list[Any] = []
    VotingSession(held, votes).run_async(None, {}, lambda *given: called.append(given), 7)
    bench.simulated.fail_next(FAILED, function="setPowerConfig")
    held.callbacks[0]("results", 7, "")
    assert called == [("results", 7, "")]
    assert votes.in_flight == 0
    assert votes.error is not None
    bench.controller.close()


def test_a_vote_that_fails_keeps_an_async_run_from_being_submitted() -> None:
    """With on_error="raise" the run is not submitted, and nothing is in flight."""
    bench = Bench.make(on_error="raise")
    votes = bench.controller.session("balanced")
    held = Held(votes)
    bench.simulated.fail_next(FAILED, function="setPowerConfig")
    with pytest.raises(Exception, match="FAILED"):
        VotingSession(held, votes).run_async(None, {}, print, None)
    assert held.callbacks == []
    assert votes.in_flight == 0
    bench.controller.close()


def test_close_waits_for_async_runs(bench: Bench) -> None:
    """The model is released after its last callback."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    model.run_async(None, {}, lambda *_: None, None)
    (closing,) = started(model.close)
    closing.join(0.05)
    assert closing.is_alive()
    held.callbacks[0](None, None, "")
    join(closing)
    assert [str(getattr(event, "cause", "")) for event in bench.events][-2:] == ["DE-INIT began", "DE-INIT ended"]


def test_a_close_that_is_interrupted_releases_nothing_that_runs(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """If Ctrl-C interrupts ``close``, no new run begins, the model is kept, and a second close releases it."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    model.run_async(None, {}, lambda *_: None, None)
    released = weakref.ref(held)
    with monkeypatch.context() as patched:
        patched.setattr(AsyncRuns, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.close()
    with pytest.raises(SessionClosed):
        model.run(None, {})
    callback = held.callbacks[0]
    del held
    gc.collect()
    assert released() is not None
    callback(None, None, "")
    model.close()
    gc.collect()
    assert released() is None
    assert [str(getattr(event, "cause", "")) for event in bench.events][-2:] == ["DE-INIT began", "DE-INIT ended"]


def closes(model: VotingSession) -> bool:
    """Return whether a model is closed in time."""
    closing = threading.Thread(target=model.close, daemon=True)
    closing.start()
    closing.join(WAIT_S)
    return not closing.is_alive()


def test_close_waits_for_no_callback_that_is_gone(bench: Bench) -> None:
    """A collected callback can't be called any more, so its inference has ended."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    model.run_async(None, {}, lambda *_: None, None)
    held.callbacks.clear()
    gc.collect()
    bench.time.advance_us(0)
    assert votes.in_flight == 0
    assert closes(model)


def test_close_waits_for_no_run_whose_begin_was_interrupted(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C comes after the inference began, and the exception with its frames is kept; ``close`` returns."""
    votes = bench.controller.session("balanced")
    model = VotingSession(Held(votes), votes)
    entered = Inference.__enter__

    def enter(inference: Inference) -> None:
        entered(inference)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Inference, "__enter__", enter)
        with pytest.raises(KeyboardInterrupt) as kept:
            model.run_async(None, {}, print, None)
    assert kept.value.__traceback__ is not None
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)
    assert closes(model)
