"""An inference host: ONNX Runtime runs a model on the HTP, and htppower votes through the same library.

On a Snapdragon device the model runs on the NPU and the votes move its clocks. On x86-64 Linux the vendor's library
simulates the NPU for the model, accepts the votes, and moves no clock.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper, numpy_helper

import htppower
from htppower.events import Event, Transition
from htppower.hosts.onnxruntime import load_model

INFERENCES = 100
THREADS = 4


def quantized_model() -> bytes:
    """Return a small model for the NPU: a MatMul of uint8, between quantize and dequantize."""
    weights = np.random.default_rng(0).integers(0, 255, (8, 4), dtype=np.uint8)
    constants = [
        numpy_helper.from_array(weights, "weights"),
        numpy_helper.from_array(np.float32(0.02), "scale"),
        numpy_helper.from_array(np.float32(0.1), "scale_of_y"),
        numpy_helper.from_array(np.uint8(128), "zero"),
    ]
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["x8"]),
        helper.make_node("DequantizeLinear", ["x8", "scale", "zero"], ["x_in"]),
        helper.make_node("DequantizeLinear", ["weights", "scale", "zero"], ["weights_in"]),
        helper.make_node("MatMul", ["x_in", "weights_in"], ["product"]),
        helper.make_node("QuantizeLinear", ["product", "scale_of_y", "zero"], ["y8"]),
        helper.make_node("DequantizeLinear", ["y8", "scale_of_y", "zero"], ["y"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [16, 4])
    graph = helper.make_graph(nodes, "matmul", [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    serialized: bytes = model.SerializeToString()
    return serialized


def main() -> None:
    """Run the model from four threads under burst, then under balanced, and show every change of the votes."""
    seen: list[Transition] = []

    def note(event: Event) -> None:
        # Called on a thread of its own: no vote waits for it.
        if isinstance(event, Transition):
            seen.append(event)

    backend = htppower.backends.QnnHtp(onnxruntime_qnn.get_qnn_htp_path())
    with htppower.VoteController(backend) as controller:
        controller.subscribe(note)
        votes = controller.session("burst", owner="matmul")
        options = onnxruntime.SessionOptions()
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")  # all of it on the NPU, or an error
        with load_model(quantized_model(), votes, session_options=options) as model:
            x = np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32)

            def infer(_number: int) -> np.ndarray:
                (y,) = model.run(None, {"x": x})  # the votes are in force while it runs
                return np.asarray(y)

            with ThreadPoolExecutor(THREADS) as pool:
                results = list(pool.map(infer, range(INFERENCES)))
            while votes.state is htppower.State.RAISED:  # burst sustains for 300 ms
                time.sleep(0.05)
            votes.use("balanced")
            results.append(infer(0))
    backend.close()

    same = all(np.array_equal(y, results[0]) for y in results)
    print(f"{len(results)} inferences from {THREADS} threads, {'all the same' if same else 'NOT the same'}")
    for event in seen:
        print(f"  {event.profile:<9} {event.trigger:<8} {event.source} -> {event.dest}: {event.cause}")


if __name__ == "__main__":
    main()

# ruff: noqa: T201 - what the example shows is printed
