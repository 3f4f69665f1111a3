"""Models with nodes that Genie runs."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.onnxsessions import Held, doubling, onnx

from htppower.hosts.context_nodes import has_dlc_context
from htppower.hosts.onnxruntime import load_model

if TYPE_CHECKING:
    from pathlib import Path

    from support.bench import Bench


def with_context(kind: str | None, embedded: bytes = b"") -> bytes:
    """Return a model with a node for a compiled context of a kind, which may be embedded."""
    helper, value = onnx.helper, onnx.TensorProto.FLOAT
    kinds = {} if kind is None else {"ep_context_type": kind}
    node = helper.make_node(
        "EPContext", ["x"], ["y"], domain="com.microsoft", ep_cache_context=embedded, source="QAIRTExport", **kinds
    )
    graph = helper.make_graph(
        [node],
        "compiled",
        [helper.make_tensor_value_info("x", value, [1])],
        [helper.make_tensor_value_info("y", value, [1])],
    )
    serialized: bytes = helper.make_model(graph).SerializeToString()
    return serialized


@pytest.mark.parametrize(
    ("kind", "found"), [("dlc", True), ("DLC", True), ("bin", False), ("dlcs", False), (None, False)]
)
def test_a_context_of_type_dlc_is_found(kind: str | None, found: bool, tmp_path: Path) -> None:
    """It is found in serialized models and in files; a text in other places is not enough."""
    model = with_context(kind, b"ep_context_type dlc")
    path = tmp_path / "model.onnx"
    path.write_bytes(model)
    assert has_dlc_context(model) is has_dlc_context(path) is has_dlc_context(str(path)) is found


def test_it_is_found_wherever_the_file_is_read_in_two(tmp_path: Path) -> None:
    """The attribute may lie across the border of two reads."""
    model = with_context("dlc")
    at = model.index(b"ep_context_type")
    path = tmp_path / "model.onnx"
    for shift in range(-8, 32):
        path.write_bytes(bytes((1 << 20) - at - shift) + model)
        assert has_dlc_context(path), shift


def test_what_can_not_be_read_has_none(tmp_path: Path) -> None:
    """ONNX Runtime reports a missing or empty file."""
    (tmp_path / "empty").touch()
    assert not has_dlc_context(tmp_path / "missing")
    assert not has_dlc_context(tmp_path / "empty")
    assert not has_dlc_context(tmp_path)
    assert not has_dlc_context("\0")


@pytest.mark.parametrize("kind", ["dlc", "bin"])
def test_loading_such_a_model_warns(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path, kind: str
) -> None:
    """The warning names the model, and says that Genie votes by itself."""
    votes = bench.controller.session("balanced")
    runtime: Any = pytest.importorskip("onnxruntime")
    monkeypatch.setattr(runtime, "get_available_providers", lambda: ["QNNExecutionProvider"])
    monkeypatch.setattr(runtime, "get_ep_devices", tuple)
    monkeypatch.setattr(runtime, "InferenceSession", lambda *_, **__: Held(votes))
    assert sys.modules["onnxruntime"] is runtime
    path = tmp_path / "model.onnx"
    path.write_bytes(with_context(kind))
    with caplog.at_level(logging.WARNING, "htppower"):
        load_model(path, votes).close()
        load_model(doubling(), votes).close()
    said = [record.getMessage() for record in caplog.records if "Genie" in record.getMessage()]
    assert len(said) == (kind == "dlc")
    assert all(line.startswith(f"{path} has EPContext nodes of type dlc") for line in said)
