"""Qualcomm AI Hub: the options of a profile or inference job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.expressed import nearest
from htppower.tools.runtimes.litert import camel_case
from htppower.tools.runtimes.settings import MODES, Part, Runtime, Settings

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

KNOWN = "The votes of a job are not public: a QNN context is assumed to vote like the vendor's own tools, measured."
# A job accepts the nine modes, and votes burst without a mode. Source: AI Hub's API reference. There is no kHtp...
# name for the last one.
_TFLITE_MODES = MODES[:-1]
QNN_KEY = "context_htp_performance_mode"
OTHER_KEY = "qnn_htp_performance_mode"
_SILENT = "A job has no mode without votes: without this option it votes burst."


def _write(profile: Profile) -> Settings:
    of_qnn = nearest(profile, ("vendor",), only=MODES)
    of_onnx = nearest(profile, ("onnxruntime",), only=MODES)
    of_tflite = nearest(profile, ("litert",), only=_TFLITE_MODES)
    note = _SILENT if not profile.votes else "Jobs without it vote burst, and so do the published latencies."
    parts = (
        Part("QNN context or model library", f"--qnn_options {QNN_KEY}={of_qnn.mode.upper()}", "shell", note=note),
        Part("ONNX model", f"--onnx_options {OTHER_KEY}={of_onnx.mode}", "shell"),
        Part("TensorFlow Lite model", f"--tflite_options {OTHER_KEY}=kHtp{camel_case(of_tflite.mode)}", "shell"),
    )
    return Settings(parts, of_qnn.lost, KNOWN)


AIHUB = Runtime("Qualcomm AI Hub", _write)
