"""An inference host: ONNX Runtime on the CPU, power votes on the simulated HTP.

200 inferences from 4 threads under burst cost one raise and one lowering.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import htppower
from htppower.events import Event, Phase, Transition, Trigger

INFERENCES = 200
THREADS = 4


def tiny_model() -> bytes:
    """Return a small classifier: MatMul, Add, Relu, Softmax."""
    random = np.random.default_rng(0)
    weights = numpy_helper.from_array(random.random((16, 8), dtype=np.float32), "weights")
    bias = numpy_helper.from_array(random.random(8, dtype=np.float32), "bias")
    nodes = [
        helper.make_node("MatMul", ["x", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["sum"]),
        helper.make_node("Relu", ["sum"], ["active"]),
        helper.make_node("Softmax", ["active"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 8])
    graph = helper.make_graph(nodes, "classifier", [x], [y], [weights, bias])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    serialized: bytes = model.SerializeToString()
    return serialized


def main() -> None:
    """Load the model in INIT, run it in INFERENCE, drop it in DE-INIT; count the votes."""
    seen: list[Transition] = []
    lowered_by_timer = threading.Event()

    def note(event: Event) -> None:
        if isinstance(event, Transition):
            seen.append(event)
            if event.trigger is Trigger.LOWER and event.phase is None:
                lowered_by_timer.set()

    with htppower.VoteController(backend="simulated") as controller:
        controller.subscribe(note)
        with controller.session("burst", owner="classifier") as power:
            with power.init():
                providers = ["CPUExecutionProvider"]
                models = [onnxruntime.InferenceSession(tiny_model(), providers=providers)]
            inputs = {"x": np.ones((1, 16), dtype=np.float32)}
            controller.flush_events()
            before = len(seen)

            def infer(_number: int) -> float:
                with power.inference():  # returns when the votes are in force
                    (probabilities,) = models[0].run(None, inputs)
                return float(probabilities.sum())

            with ThreadPoolExecutor(THREADS) as pool:
                sums = list(pool.map(infer, range(INFERENCES)))
            if not lowered_by_timer.wait(timeout=10):  # burst sustains for 300 ms
                raise RuntimeError("the votes are still up")
            during = seen[before:]

            with power.deinit():
                models.clear()

    raises = sum(event.trigger is Trigger.RAISE for event in during)
    lowerings = sum(event.trigger is Trigger.LOWER for event in during)
    print(f"{len(sums)} inferences from {THREADS} threads: {raises} raise, {lowerings} lowering")
    for event in seen:
        print(f"  {event.trigger:<8} {event.source} -> {event.dest}: {event.cause}")
    if not np.allclose(sums, 1.0) or any(event.phase is Phase.DEINIT for event in during):
        raise RuntimeError("the model did not run as it should")


if __name__ == "__main__":
    main()

# ruff: noqa: T201 - what the example shows is printed
