"""LiteRT: every run of a compiled model votes through htppower, and LiteRT itself sends no votes.

How a host calls it::

compiled, run = load(Path("model.tflite").read_bytes(), session)
inputs, outputs = compiled.create_input_buffers(0), compiled.create_output_buffers(0)
inputs[0].write(frame)
run(0, inputs, outputs)
answer = outputs[0].read(1000, numpy.float32)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ai_edge_litert.compiled_model import CompiledModel
from ai_edge_litert.hardware_accelerator import HardwareAccelerator
from ai_edge_litert.options import Options
from ai_edge_litert.qualcomm_options import QualcommHtpPerformanceMode, QualcommOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session


def load(
    model: bytes, votes: Session, accelerator: HardwareAccelerator = HardwareAccelerator.NPU
) -> tuple[CompiledModel, Callable[..., Any]]:
    """Compile a model within INIT; return it, and its ``run_by_index``; each call of that is an inference."""
    # In this mode LiteRT's dispatch library sends no votes. In any other it votes by itself.
    quiet = QualcommOptions(htp_performance_mode=QualcommHtpPerformanceMode.DEFAULT)
    options = Options(hardware_accelerators=accelerator, qualcomm_options=quiet)
    with votes.init():
        compiled = CompiledModel.from_buffer(model, options=options)
    return compiled, votes.votes(compiled.run_by_index)
