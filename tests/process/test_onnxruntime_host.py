"""A real inference host: an ONNX Runtime session with votes of the simulated HTP around its inferences."""

from __future__ import annotations

import functools
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.hanging import join, started

from htppower import State, VoteController
from htppower.backends import RecordingBackend, SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterator

np: Any = pytest.importorskip("numpy")
onnx: Any = pytest.importorskip("onnx")
ort: Any = pytest.importorskip("onnxruntime")

THREADS = 4
RUNS = 200
WIDTH = 32


@pytest.fixture(scope="module")
def host() -> Any:
    """Return an ONNX Runtime session of a small network: three layers with a residual connection and a softmax."""
    helper, rng = onnx.helper, np.random.default_rng(7)
    nodes, weights, last = [], [], "x"
    for layer in range(3):
        weight = rng.standard_normal((WIDTH, WIDTH)).astype(np.float32) / WIDTH
        weights.append(onnx.numpy_helper.from_array(weight, f"w{layer}"))
        nodes += [
            helper.make_node("MatMul", [last, f"w{layer}"], [f"m{layer}"]),
            helper.make_node("Relu", [f"m{layer}"], [f"r{layer}"]),
            helper.make_node("Add", [f"r{layer}", last], [f"a{layer}"]),
        ]
        last = f"a{layer}"
    nodes.append(helper.make_node("Softmax", [last], ["y"], axis=-1))
    value = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "residual",
        [helper.make_tensor_value_info("x", value, ["n", WIDTH])],
        [helper.make_tensor_value_info("y", value, ["n", WIDTH])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.fixture
def recorder() -> Iterator[RecordingBackend]:
    """Yield a recorder over the simulated HTP of a V75; assert that nothing is left."""
    made = RecordingBackend(SimulatedHtp(arch=75))
    yield made
    made.assert_nothing_left()


def test_two_hundred_runs_from_four_threads_cost_one_raise_and_one_lowering(
    host: Any, recorder: RecordingBackend
) -> None:
    """200 runs from 4 threads under burst make 1 raise and 1 lowering, with the same outputs."""
    inputs = np.random.default_rng(11).standard_normal((RUNS, 4, WIDTH)).astype(np.float32)
    expected = [host.run(None, {"x": each})[0] for each in inputs]
    outputs: list[Any] = [None] * RUNS
    states: set[State] = set()
    lowered = threading.Event()

    with VoteController(recorder, handle_sigterm=False) as controller:
        controller.subscribe(lambda event: lowered.set() if getattr(event, "dest", None) is State.LOWERED else None)
        session = controller.session("burst", owner="onnxruntime")

        def work(first: int) -> None:
            for index in range(first, RUNS, THREADS):
                with session.inference():
                    states.add(session.state)
                    outputs[index] = host.run(None, {"x": inputs[index]})[0]

        join(*started(*(functools.partial(work, first) for first in range(THREADS))))
        assert len([call for call in recorder.calls if call.function == "setPowerConfig"]) == 2
        assert lowered.wait(30)
        sets = [call for call in recorder.calls if call.function == "setPowerConfig"]

    assert len(sets) == 4
    assert states == {State.RAISED}
    assert all(np.array_equal(output, wanted) for output, wanted in zip(outputs, expected, strict=True))


def test_a_model_that_fails_in_the_host_is_lowered_and_its_error_passed_on(
    host: Any, recorder: RecordingBackend
) -> None:
    """A wrong input raises ONNX Runtime's own error, and the votes come down."""
    with VoteController(recorder, handle_sigterm=False) as controller:
        session = controller.session("high_performance")
        with pytest.raises(Exception, match="x"), session.inference():
            host.run(None, {"x": np.zeros((1, WIDTH + 1), np.float32)})
        assert (session.in_flight, session.state) == (0, State.LOWERED)
