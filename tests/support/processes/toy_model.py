"""Make a toy language model for the vendor's dialogs, as a context binary for the HTP: toy_model.py FOLDER.

One layer of attention, 64 wide, over a cache of 63 tokens and a vocabulary of 3. Its answers have no meaning, but its
tensors have the names, shapes and types that a dialog needs. ONNX Runtime's provider makes the binary.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import onnxruntime
import onnxruntime_qnn
from onnx import TensorProto, helper

WIDTH, CACHED, WORDS = 64, 63, 3
BYTE, SHORT, FLOAT = TensorProto.UINT8, TensorProto.UINT16, TensorProto.FLOAT
INPUTS = {
    "input_ids": [1, 1],
    "attention_mask": [1, 1, 1, CACHED + 1],
    "position_ids_cos": [1, 1, 1, WIDTH // 2],
    "position_ids_sin": [1, 1, 1, WIDTH // 2],
    "past_key_0_in": [1, 1, WIDTH, CACHED],
    "past_value_0_in": [1, 1, CACHED, WIDTH],
}
OUTPUTS = {"past_key_0_out": [1, 1, WIDTH, 1], "past_value_0_out": [1, 1, 1, WIDTH], "logits": [1, 1, WORDS]}


class Graph:
    """Nodes and constants, every value quantized."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operation: str, inputs: list[str], output: str, **attributes: Any) -> str:
        """Add a node; return its output."""
        domain = "com.microsoft" if "Quantize" in operation or "Dequantize" in operation else ""
        self.nodes.append(helper.make_node(operation, inputs, [output], domain=domain, **attributes))
        return output

    def quantized(self, value: str, kind: int = SHORT, output: str = "") -> str:
        """Quantize a value and back; return the result."""
        scale = self._scale(value, kind)
        integers = self.add("QuantizeLinear", [value, *scale], f"{value}_integers")
        return self.add("DequantizeLinear", [integers, *scale], output or f"{value}_quantized")

    def weights(self, name: str, *shape: int) -> str:
        """Add a matrix of some numbers."""
        rows, columns = shape
        numbers = bytes(index % 251 for index in range(rows * columns))
        self.constants.append(helper.make_tensor(name, BYTE, shape, numbers, raw=True))
        return self.add("DequantizeLinear", [name, *self._scale(name, BYTE)], f"{name}_quantized")

    def shape(self, name: str, *shape: int) -> str:
        """Add a shape."""
        self.constants.append(helper.make_tensor(name, TensorProto.INT64, [len(shape)], shape))
        return name

    def _scale(self, name: str, kind: int) -> list[str]:
        parts = ((f"{name}_scale", FLOAT, 0.01), (f"{name}_zero", kind, 0))
        self.constants += [helper.make_tensor(part, of, [], [value]) for part, of, value in parts]
        return [part for part, *_ in parts]


def model() -> bytes:
    """Return the model in ONNX."""
    graph = Graph()
    mask, cosines, sines = (graph.quantized(name) for name in list(INPUTS)[1:4])
    keys, values = (graph.quantized(name, BYTE) for name in list(INPUTS)[4:])
    embedded = graph.quantized(graph.add("Gather", [graph.weights("table", WORDS, WIDTH), "input_ids"], "word"), BYTE)
    token = graph.quantized(graph.add("Reshape", [embedded, graph.shape("row", 1, 1, 1, WIDTH)], "token"))
    scores = graph.quantized(graph.add("MatMul", [token, keys], "scores"))
    mixed = graph.quantized(graph.add("MatMul", [scores, values], "mixed"))
    masked = graph.quantized(graph.add("Add", [mixed, mask], "masked"))
    position = graph.quantized(graph.add("Concat", [cosines, sines], "position", axis=3))
    state = graph.quantized(graph.add("Add", [masked, position], "state"))
    value = graph.add("MatMul", [state, graph.weights("to_value", WIDTH, WIDTH)], "value")
    graph.quantized(value, BYTE, "past_value_0_out")
    key = graph.quantized(graph.add("MatMul", [state, graph.weights("to_key", WIDTH, WIDTH)], "key"))
    graph.quantized(graph.add("Transpose", [key], "column", perm=[0, 1, 3, 2]), BYTE, "past_key_0_out")
    logits = graph.quantized(graph.add("MatMul", [state, graph.weights("to_words", WIDTH, WORDS)], "flat"))
    graph.quantized(graph.add("Reshape", [logits, graph.shape("words", 1, 1, WORDS)], "likely"), output="logits")
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    made = helper.make_graph(graph.nodes, "toy", tensors(INPUTS), tensors(OUTPUTS), graph.constants)
    serialized: bytes = helper.make_model(made, opset_imports=versions, ir_version=9).SerializeToString()
    return serialized


def tensors(shapes: dict[str, list[int]]) -> list[Any]:
    """Return what the model takes or gives."""
    kinds = {name: TensorProto.INT32 if name == "input_ids" else FLOAT for name in shapes}
    return [helper.make_tensor_value_info(name, kinds[name], shape) for name, shape in shapes.items()]


def main(folder: Path) -> None:
    """Write the binary, ``toy_ctx_qnn.bin``."""
    onnx = folder / "toy.onnx"
    onnx.write_bytes(model())
    onnxruntime.register_execution_provider_library("qnn", onnxruntime_qnn.get_library_path())
    device = next(each for each in onnxruntime.get_ep_devices() if each.ep_name == "qnn")
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    entries = {"enable": "1", "embed_mode": "0", "file_path": str(folder / "toy_ctx.onnx")}
    for name, value in entries.items():
        options.add_session_config_entry(f"ep.context_{name}", value)
    options.add_provider_for_devices([device], {"backend_path": onnxruntime_qnn.get_qnn_htp_path()})
    onnxruntime.InferenceSession(str(onnx), options)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
