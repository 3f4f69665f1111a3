"""A tiny model under ONNX Runtime, without and with votes, and the results of LoadGen and the controller."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np
import onnx
import onnxruntime
from loadgen_scenarios import STREAMS, Load, run_load
from onnx import TensorProto, helper, numpy_helper

from htppower import State, VoteController
from htppower.hosts.onnxruntime import VotingSession

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session
    from htppower.backends import Backend
    from htppower.control.status.controller_status import SessionStatus

_FEATURES = 16
_LONGEST_SUSTAIN_S = 10.0


@attrs.frozen
class Row:
    """One scenario under one profile.

    Attributes:
        scenario, profile: the names.
        plain, voting: the session of ONNX Runtime without and with votes.
        calls: setPowerConfig calls, up to the lowering after the last inference.
        saved: setPowerConfig calls that were not needed, since the votes were up.
        raised: the share of the time, from the first query to the last, that the profile's votes were in force.
    """

    scenario: str
    profile: str
    plain: Load
    voting: Load
    calls: int
    saved: int
    raised: float


def on_cpu() -> Any:
    """Return a session of ONNX Runtime with a small classifier, on the CPU, without threads of its own."""
    random = np.random.default_rng(0)
    weights = numpy_helper.from_array(random.random((_FEATURES, 8), dtype=np.float32), "weights")
    nodes = [helper.make_node("MatMul", ["x", "weights"], ["product"]), helper.make_node("Softmax", ["product"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", _FEATURES])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 8])
    graph = helper.make_graph(nodes, "classifier", [x], [y], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def inferring(model: Any) -> Callable[[int], object]:
    """Return a function that runs the model on a batch of a given number of samples."""
    inputs = {size: {"x": np.ones((size, _FEATURES), dtype=np.float32)} for size in (1, STREAMS)}
    return lambda samples: model.run(None, inputs[samples])


def measure(scenario: str, profile: str, backend: Backend, *, duration_s: float, qps: float) -> Row:
    """Measure without votes, then with them."""
    session = on_cpu()
    infer = inferring(session)
    infer(1)
    plain = run_load(scenario, infer, duration_s=duration_s, qps=qps)
    with (
        VoteController(backend, handle_sigterm=False) as controller,
        controller.session(profile) as votes,
        VotingSession(session, votes) as model,
    ):
        before = _status(controller)
        at_end: list[SessionStatus] = []
        voting = run_load(
            scenario,
            inferring(model),
            duration_s=duration_s,
            qps=qps,
            at_end=lambda: at_end.append(_status(controller)),
        )
        _wait_until_lowered(votes)
        after = _status(controller)
    raised_us = _raised_us(at_end[-1]) - _raised_us(before)
    return Row(
        scenario,
        profile,
        plain,
        voting,
        calls=after.calls_sent - before.calls_sent,
        saved=after.calls_saved - before.calls_saved,
        raised=raised_us / 1e6 / voting.duration_s,
    )


def _status(controller: VoteController) -> SessionStatus:
    (status,) = controller.status().sessions
    return status


def _raised_us(status: SessionStatus) -> int:
    return status.time_in_state_us.get(State.RAISED, 0)


def _wait_until_lowered(votes: Session) -> None:
    until_s = time.monotonic() + _LONGEST_SUSTAIN_S
    while votes.state is State.RAISED:
        if time.monotonic() > until_s:
            raise RuntimeError(f"{votes!r}: the votes are still up")
        time.sleep(0.002)
