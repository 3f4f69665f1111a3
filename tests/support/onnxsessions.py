"""Sessions of ONNX Runtime for tests of the host: on the CPU, with recorded states, or driven by hand."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session, State

np: Any = pytest.importorskip("numpy")
onnx: Any = pytest.importorskip("onnx")
ort: Any = pytest.importorskip("onnxruntime")

CPU = ["CPUExecutionProvider"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
WAIT_S = 30


def doubling() -> bytes:
    """Return a model that doubles."""
    helper, value = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        "double",
        [helper.make_tensor_value_info("x", value, [2, 3])],
        [helper.make_tensor_value_info("y", value, [2, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    serialized: bytes = model.SerializeToString()
    return serialized


def on_cpu(threads: int = 2) -> Any:
    """Return a session of ONNX Runtime on the CPU with the model that doubles; ``run_async`` needs two threads."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(doubling(), options, providers=CPU)


class Watched:
    """A session of ONNX Runtime that records the state of the votes at each run."""

    def __init__(self, session: Any, votes: Session) -> None:
        self._inner = session
        self._watched = votes
        self.seen: list[tuple[str, State]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("run"):
            self.seen.append((name, self._watched.state))
        return getattr(self._inner, name)


class Held:
    """A fake session of ONNX Runtime: a submitted run waits until the test triggers its callback."""

    def __init__(self, votes: Session, refusal: Exception | None = None) -> None:
        self.votes = votes
        self.refusal = refusal
        self.states: list[State] = []
        self.callbacks: list[Callable[[Any, Any, str], object]] = []

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Return no provider."""
        return {}

    def disable_fallback(self) -> None:
        """Have none."""

    def run_async(self, names: Any, feed: Any, callback: Any, user_data: Any, run_options: Any = None) -> None:
        """Take a run."""
        self.states.append(self.votes.state)
        self.callbacks.append(callback)
        if self.refusal is not None:
            raise self.refusal

    def get_providers(self) -> list[str]:
        """Return the provider."""
        return ["QNNExecutionProvider"]

    def set_providers(self, providers: Any, provider_options: Any) -> None:
        """Record the state."""
        self.states.append(self.votes.state)


class Answer:
    """A callback that stores its arguments."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.come = threading.Event()
        self.results: Any = None
        self.error = ""
        self._gate = gate

    def __call__(self, results: Any, user_data: Any, error: str) -> None:
        """Store the arguments when the gate is open."""
        assert self._gate is None or self._gate.wait(WAIT_S)
        self.results, self.error = results, error
        self.come.set()


def by_async(model: Any) -> Any:
    """Wait for the callback, and return the output of ``run_async``."""
    answer = Answer()
    model.run_async(None, {"x": X}, answer, None)
    assert answer.come.wait(WAIT_S)
    return answer.results[0]
