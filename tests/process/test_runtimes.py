"""The recipes on the page about runtimes, with the real runtimes and small models on the CPU."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import core_target
from support.checkout import TESTS, load_page_code

from htppower import State

if TYPE_CHECKING:
    from pathlib import Path

    from support.bench import Bench

np: Any = pytest.importorskip("numpy")
VOCABULARY = 16


def recipe(name: str, runtime: str) -> Any:
    """Return the module of a recipe; skip if its runtime is not installed."""
    pytest.importorskip(runtime, reason=f"{runtime} is not installed", exc_type=ImportError)
    return load_page_code(f"examples/{name}.py")


def doubling() -> bytes:
    """Return a model for LiteRT that doubles two by three numbers."""
    flatbuffers: Any = importlib.import_module("flatbuffers")
    schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")

    def tensor(name: str) -> Any:
        made = schema.TensorT()
        made.name, made.shape, made.type = name, [2, 3], schema.TensorType.FLOAT32
        return made

    code = schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.ADD
    adding = schema.OperatorT()
    adding.inputs, adding.outputs = [0, 0], [1]
    adding.builtinOptionsType, adding.builtinOptions = schema.BuiltinOptions.AddOptions, schema.AddOptionsT()
    graph = schema.SubGraphT()
    graph.tensors, graph.inputs, graph.outputs, graph.operators = [tensor("x"), tensor("y")], [0], [1], [adding]
    model = schema.ModelT()
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], [schema.BufferT()]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())


def test_litert(bench: Bench) -> None:
    """A model is compiled within INIT, and its runs vote."""
    host = recipe("litert_host", "ai_edge_litert")
    votes = bench.controller.session("balanced")
    model, run = host.load(doubling(), votes, host.HardwareAccelerator.CPU)
    assert len(bench.sets) == 3, "INIT has raised and lowered"
    given, made = model.create_input_buffers(0), model.create_output_buffers(0)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    given[0].write(x)
    run(0, given, made)
    assert np.array_equal(made[0].read(6, np.float32).reshape(2, 3), x + x)
    assert (len(bench.sets), votes.state, votes.in_flight) == (6, State.LOWERED, 0)


def test_openvino(bench: Bench) -> None:
    """Requests with callbacks run with the votes up, and leave nothing in flight."""
    host = recipe("openvino_host", "openvino")
    openvino: Any = importlib.import_module("openvino")
    x = openvino.opset13.parameter([2, 3], np.float32, name="x")
    model = openvino.compile_model(openvino.Model([openvino.opset13.add(x, x)], [x], "double"), "CPU")
    votes = bench.controller.session("burst")
    results: list[Any] = []
    lock = threading.Lock()

    def tell(result: Any) -> None:
        with lock:
            results.append(result[0, 0])
            assert votes.state is State.RAISED

    inputs = [np.full((2, 3), number, dtype=np.float32) for number in range(20)]
    host.run_all(model, votes, inputs, tell)
    assert sorted(results) == [2 * number for number in range(20)]
    assert (votes.in_flight, len(bench.sets)) == (0, 2)
    bench.time.advance_us(300_000)
    assert votes.state is State.LOWERED


def test_a_model_of_openvino_can_be_freed_at_once() -> None:
    """If the model is freed when all requests have ended, the freeing thread does not wait for the interpreter."""
    pytest.importorskip("openvino", reason="openvino is not installed", exc_type=ImportError)
    command = [sys.executable, str(TESTS / "support" / "processes" / "freed_models.py"), "50"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stdout) == (0, "freed\n"), ran.stderr


def counting(folder: Path) -> str:
    """Write a model for onnxruntime-genai whose next token is the last one plus 1; return its folder."""
    onnx: Any = pytest.importorskip("onnx")
    helper, array, types = onnx.helper, onnx.numpy_helper.from_array, onnx.TensorProto

    def values(past: str, length: str) -> list[Any]:
        return [
            helper.make_tensor_value_info(f"{past}.0.{name}", types.FLOAT, ["b", 1, length, 4])
            for name in ("key", "value")
        ]

    ids, mask = (helper.make_tensor_value_info(name, types.INT64, ["b", "s"]) for name in ("input_ids", "mask"))
    logits = helper.make_tensor_value_info("logits", types.FLOAT, ["b", "s", VOCABULARY])
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["next", "input_ids"], ["logits"]),
            helper.make_node("Gather", ["nothing", "input_ids"], ["flat"]),
            helper.make_node("Unsqueeze", ["flat", "axis"], ["new"]),
            *(
                helper.make_node("Concat", [f"past.0.{name}", "new"], [f"present.0.{name}"], axis=2)
                for name in ("key", "value")
            ),
        ],
        "count",
        [ids, mask, *values("past", "p")],
        [logits, *values("present", "t")],
        [
            array(np.roll(np.eye(VOCABULARY, dtype=np.float32), 1, axis=1), "next"),
            array(np.zeros((VOCABULARY, 4), np.float32), "nothing"),
            array(np.array([1], np.int64), "axis"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(folder / "model.onnx"))
    decoder = {
        "session_options": {"provider_options": [{"qnn": {}}]},
        "filename": "model.onnx",
        "head_size": 4,
        "hidden_size": 4,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "num_hidden_layers": 1,
        "inputs": {
            "input_ids": "input_ids",
            "attention_mask": "mask",
            "past_key_names": "past.%d.key",
            "past_value_names": "past.%d.value",
        },
        "outputs": {
            "logits": "logits",
            "present_key_names": "present.%d.key",
            "present_value_names": "present.%d.value",
        },
    }
    tokens = {"bos_token_id": 0, "eos_token_id": VOCABULARY - 1, "pad_token_id": 0}
    config = {
        "model": {**tokens, "context_length": 64, "type": "llama", "vocab_size": VOCABULARY, "decoder": decoder},
        "search": {"max_length": 64, "do_sample": False},
    }
    (folder / "genai_config.json").write_text(json.dumps(config), encoding="utf-8")
    return str(folder)


def test_onnxruntime_genai(bench: Bench, tmp_path: Path) -> None:
    """An answer is one inference, with one change of the mode after the first token; it ends when its reader stops."""
    host = recipe("genai_host", "onnxruntime_genai")
    votes = bench.controller.session("burst")
    modes = votes.modes({"prompt": "burst", "decode": "balanced"})
    model = host.load(counting(tmp_path), votes, provider=None)
    bench.recorder.clear()
    stream = host.answer(model, modes, [1, 2, 3], 20)
    assert next(stream) == 4
    assert (votes.state, votes.in_flight, votes.profile.name) == (State.RAISED, 1, "balanced")
    assert list(stream) == list(range(5, VOCABULARY))
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)
    prompt, decode, lowered = (core_target(call) for call in bench.casts)
    assert (prompt, decode, lowered) == (160, 112, 64)

    stopped = host.answer(model, modes, [1], 20)
    assert next(stopped) == 2
    stopped.close()
    bench.time.advance_us(1)
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)


def test_two_answers_at_once(bench: Bench, tmp_path: Path) -> None:
    """While one answer is in its prompt, the other one decodes with the same clocks."""
    host = recipe("genai_host", "onnxruntime_genai")
    votes = bench.controller.session("burst")
    modes = votes.modes({"prompt": "burst", "decode": "balanced"})
    model = host.load(counting(tmp_path), votes, provider=None)
    first, second = (host.answer(model, modes, [1, 2, 3], 20) for _ in range(2))
    seen = []
    for stream in (first, second, first):
        bench.recorder.clear()
        next(stream)
        seen.append([core_target(call) for call in bench.casts])
    assert seen == [[160, 112], [160, 112], []]
    assert votes.in_flight == 2
    first.close()
    assert list(second) == list(range(5, VOCABULARY))
    bench.time.advance_us(1)
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)
