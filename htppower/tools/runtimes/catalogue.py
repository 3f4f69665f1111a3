"""The runtimes by name, in the order of the help text, and Qualcomm AI Hub, whose jobs run on several of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.expressed import nearest
from htppower.tools.runtimes.genie import GENIE
from htppower.tools.runtimes.litert import EXECUTORCH, LITERT, TFLITE, camel_case
from htppower.tools.runtimes.onnxruntime import GENAI, ONNXRUNTIME
from htppower.tools.runtimes.settings import MODES, Part, Runtime, Settings
from htppower.tools.runtimes.snpe import MLPERF, SNPE
from htppower.tools.runtimes.voting_settings import AIHUB_KEY, AIHUB_QNN_KEY

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

_AIHUB_KNOWN = (
    "The votes of a job are not public: a QNN context is assumed to vote like the vendor's own tools, measured."
)
# A job accepts the nine modes, and votes burst without a mode. Source: AI Hub's API reference. There is no kHtp...
# name for the last one.
_TFLITE_MODES = MODES[:-1]
_SILENT = "A job has no mode without votes: without this option it votes burst."


def _write_aihub(profile: Profile) -> Settings:
    of_qnn = nearest(profile, ("vendor",), only=MODES)
    of_onnx = nearest(profile, ("onnxruntime",), only=MODES)
    of_tflite = nearest(profile, ("litert",), only=_TFLITE_MODES)
    note = _SILENT if not profile.votes else "Jobs without it vote burst, and so do the published latencies."
    parts = (
        Part(
            "QNN context or model library", f"--qnn_options {AIHUB_QNN_KEY}={of_qnn.mode.upper()}", "shell", note=note
        ),
        Part("ONNX model", f"--onnx_options {AIHUB_KEY}={of_onnx.mode}", "shell"),
        Part("TensorFlow Lite model", f"--tflite_options {AIHUB_KEY}=kHtp{camel_case(of_tflite.mode)}", "shell"),
    )
    return Settings(parts, of_qnn.lost, _AIHUB_KNOWN)


RUNTIMES = {
    "onnxruntime": ONNXRUNTIME,
    "genai": GENAI,
    "litert": LITERT,
    "tflite": TFLITE,
    "executorch": EXECUTORCH,
    "genie": GENIE,
    "snpe": SNPE,
    "aihub": Runtime("Qualcomm AI Hub", _write_aihub),
    "mlperf": MLPERF,
}
