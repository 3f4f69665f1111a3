"""Runs of coroutines: off the loop's thread, with the votes up, until the run ends."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.onnxsessions import WAIT_S, Watched, X, np, on_cpu, ort

from htppower import SessionClosed, State
from htppower.hosts.onnxruntime import ProviderVotes, VotingSession

if TYPE_CHECKING:
    from support.bench import Bench


@attrs.define
class Slow:
    """Replaces a session of ONNX Runtime; its run lasts until it is let go or asked to end."""

    begun: threading.Event = attrs.field(factory=threading.Event)
    go_on: threading.Event = attrs.field(factory=threading.Event)
    options: list[Any] = attrs.field(factory=list)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Return no provider."""
        return {}

    def disable_fallback(self) -> None:
        """Do nothing."""

    def run(self, names: Any, feed: Any, run_options: Any) -> str:
        """Wait."""
        self.options.append(run_options)
        self.begun.set()
        assert self.go_on.wait(WAIT_S)
        return "done"


def test_a_coroutine_runs_with_its_votes_up(bench: Bench) -> None:
    """The model's output is returned, the votes are up in the run, and another thread than the loop's runs it."""
    votes = bench.controller.session("balanced")
    watched = Watched(on_cpu(), votes)
    model: Any = VotingSession(watched, votes)

    async def run() -> Any:
        return await asyncio.gather(*(model.arun(None, {"x": X}) for _ in range(3)))

    for (result,) in asyncio.run(run()):
        assert np.array_equal(result, X + X)
    assert {state for _, state in watched.seen} == {State.RAISED}
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)


def test_the_loop_goes_on_during_a_run(bench: Bench) -> None:
    """During the run, another coroutine runs and lets the run end."""
    votes = bench.controller.session("balanced")
    slow = Slow()
    model: Any = VotingSession(slow, votes)

    async def run() -> Any:
        running = asyncio.create_task(model.arun(None, {}))
        await asyncio.to_thread(slow.begun.wait, WAIT_S)
        assert votes.in_flight == 1
        slow.go_on.set()
        return await running

    assert asyncio.run(run()) == "done"
    assert votes.in_flight == 0


@pytest.mark.parametrize("own", [False, True], ids=["no options", "options of the caller's"])
def test_a_cancelled_run_is_asked_to_end_and_its_inference_ends_with_it(bench: Bench, own: bool) -> None:
    """The coroutine ends at once, ``close`` waits for the run, and the caller's run options are not changed."""
    votes = bench.controller.session("balanced")
    slow = Slow()
    model: Any = VotingSession(slow, votes)
    given = ort.RunOptions() if own else None
    closing = threading.Thread(target=model.close)

    async def run() -> None:
        running = asyncio.create_task(model.arun(None, {}, given))
        await asyncio.to_thread(slow.begun.wait, WAIT_S)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert votes.in_flight == 1
        assert slow.options[0].terminate is (not own)
        closing.start()
        await asyncio.to_thread(closing.join, 0.05)
        assert closing.is_alive()
        slow.go_on.set()

    asyncio.run(run())
    closing.join(WAIT_S)
    assert not closing.is_alive()
    assert votes.in_flight == 0


def test_what_is_refused_is_refused_before_a_thread_is_asked(bench: Bench) -> None:
    """Voting options and a closed model raise in the coroutine, and nothing is in flight."""
    votes = bench.controller.session("balanced")
    model: Any = VotingSession(on_cpu(), votes)
    options = ort.RunOptions()
    options.add_run_config_entry("qnn.htp_perf_mode", "burst")
    with pytest.raises(ProviderVotes):
        asyncio.run(model.arun(None, {"x": X}, options))
    model.close()
    with pytest.raises(SessionClosed):
        asyncio.run(model.arun(None, {"x": X}))
    assert votes.in_flight == 0


def test_the_error_of_a_run_is_passed_on(bench: Bench) -> None:
    """ONNX Runtime's error reaches the coroutine, and the inference has ended."""
    votes = bench.controller.session("balanced")
    model: Any = VotingSession(on_cpu(), votes)
    with pytest.raises(Exception, match="Got invalid dimensions"):
        asyncio.run(model.arun(None, {"x": X[:1]}))
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)
