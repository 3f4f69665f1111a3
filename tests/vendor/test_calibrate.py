"""A calibration on the vendor's library, of an ONNX model on its HTP."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from htppower.tools.tuning.models.file import load_device_model

if TYPE_CHECKING:
    from pathlib import Path

# The median of three, so that one slow inference on a busy machine does not matter.
QUICK = ("--count", "3", "--idle", "1ms", "--soc", "SM8650")
# An inference takes some milliseconds, so that a pause of the machine can't make it 100 times as slow as another.
WIDTH = 1024


@pytest.mark.usefixtures("vendors_library")
def test_an_onnx_model_is_an_inference(tmp_path: Path) -> None:
    """An ONNX model runs on the HTP under the votes of the calibration, and every step of an inference is measured."""
    onnx = pytest.importorskip("onnx")
    shape = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, WIDTH]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "relu", shape[:1], shape[1:])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, tmp_path / "relu.onnx")
    command = [sys.executable, "-m", "htppower", "calibrate", "-o", "x86.yaml", "--run", "relu.onnx", *QUICK]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["x86.yaml: written"]), done.stderr
    model = load_device_model(tmp_path / "x86.yaml")
    measured = {name for name, quantity in model.quantities().items() if quantity.count}
    assert {"raise_call_us", "raise_late_us", "wakes.40", "polling_saves_us", "speeds.balanced"} <= measured
    assert "libQnnHtp" in model.raise_call_us.of
