"""ONNX Runtime as a host: every way to run a model votes, and everything else is passed to the session."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

import pytest
from support.onnxsessions import CPU, Watched, X, by_async, np, on_cpu, ort

from htppower import State
from htppower.hosts.onnxruntime import VotingSession

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.bench import Bench


def by_run(model: Any) -> Any:
    """Return the output."""
    return model.run(None, {"x": X})[0]


def by_ort_values(model: Any) -> Any:
    """Return the output."""
    return model.run_with_ort_values(["y"], {"x": ort.OrtValue.ortvalue_from_numpy(X)})[0].numpy()


def by_iobinding(model: Any) -> Any:
    """Return the output, with a binding that the model makes."""
    return bound(model, model.io_binding())


def by_own_iobinding(model: Any) -> Any:
    """Return the output, with a binding made on the model."""
    return bound(model, ort.IOBinding(model))


def bound(model: Any, binding: Any) -> Any:
    """Return the output of a binding."""
    binding.bind_cpu_input("x", X)
    binding.bind_output("y")
    model.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()[0]


def by_vector(model: Any) -> Any:
    """Return the output, with vectors of ONNX Runtime's own values."""
    capi = ort.capi.onnxruntime_pybind11_state
    feeds, fetches = capi.OrtValueVector(), capi.OrtValueVector()
    feeds.push_back(ort.OrtValue.ortvalue_from_numpy(X)._ortvalue)  # noqa: SLF001 - as ONNX Runtime does
    device = ort.OrtDevice.make("cpu", 0)._get_c_device()  # noqa: SLF001 - as ONNX Runtime does
    model.run_with_ortvaluevector(ort.RunOptions(), ["x"], feeds, ["y"], fetches, [device])
    return ort.OrtValue(fetches[0]).numpy()


@pytest.mark.parametrize("run", [by_run, by_ort_values, by_iobinding, by_own_iobinding, by_vector, by_async])
def test_every_way_to_run_votes(bench: Bench, run: Callable[[Any], Any]) -> None:
    """The votes are up while ONNX Runtime runs, and down after it; the output is the model's."""
    votes = bench.controller.session("balanced")
    watched = Watched(on_cpu(), votes)
    model: Any = VotingSession(watched, votes)
    assert np.array_equal(run(model), X + X)
    assert [state for _, state in watched.seen] == [State.RAISED]
    assert (votes.state, votes.in_flight, len(bench.sets)) == (State.LOWERED, 0, 3)


@pytest.mark.parametrize(
    "name",
    [
        "run",
        "run_async",
        "run_with_iobinding",
        "run_with_ort_values",
        "run_with_ortvaluevector",
        "set_ep_dynamic_options",
        "set_providers",
    ],
)
def test_a_method_is_called_as_that_of_onnx_runtime(name: str) -> None:
    """Names, order and defaults of the parameters are the same as in the installed ONNX Runtime."""
    ours, theirs = (inspect.signature(getattr(kind, name)) for kind in (VotingSession, ort.InferenceSession))
    assert [(each.name, each.default) for each in ours.parameters.values()] == [
        (each.name, each.default) for each in theirs.parameters.values()
    ]


def test_what_runs_nothing_is_passed_through(bench: Bench) -> None:
    """Metadata, providers and session options are the session's, and need no vote."""
    session = on_cpu()
    model: Any = VotingSession(session, bench.controller.session("burst"))
    assert [each.name for each in model.get_inputs()] == ["x"]
    assert model.get_providers() == CPU
    assert model.get_session_options() is session.get_session_options()
    assert bench.sets == []
    with pytest.raises(AttributeError, match="nothing"):
        _ = model.nothing


def test_a_run_that_fails_is_lowered_and_its_error_passed_on(bench: Bench) -> None:
    """ONNX Runtime's own error is raised and ends the inference."""
    votes = bench.controller.session("balanced")
    model = VotingSession(on_cpu(), votes)
    with pytest.raises(Exception, match="Got invalid dimensions"):
        model.run(None, {"x": X[:1]})
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)


def test_runs_inside_the_sustain_time_cost_no_call(bench: Bench) -> None:
    """Runs of every kind under burst cost one raise; the sustain timer lowers."""
    votes = bench.controller.session("burst")
    model = VotingSession(on_cpu(), votes)
    for run in (by_run, by_async, by_iobinding, by_async):
        run(model)
    assert (votes.state, len(bench.sets)) == (State.RAISED, 2)
    bench.time.advance_us(300_000)
    assert (votes.state, len(bench.sets)) == (State.LOWERED, 4)


def test_a_copy_is_usable(bench: Bench) -> None:
    """A shallow copy votes as the model does."""
    votes = bench.controller.session("balanced")
    model = copy.copy(VotingSession(on_cpu(), votes))
    assert np.array_equal(by_run(model), X + X)
    assert len(bench.sets) == 3
