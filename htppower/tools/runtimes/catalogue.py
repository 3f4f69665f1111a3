"""The runtimes by name, in the order of the help text."""

from __future__ import annotations

from htppower.tools.runtimes.aihub import AIHUB
from htppower.tools.runtimes.genie import GENIE
from htppower.tools.runtimes.litert import EXECUTORCH, LITERT, TFLITE
from htppower.tools.runtimes.onnxruntime import GENAI, ONNXRUNTIME
from htppower.tools.runtimes.snpe import MLPERF, SNPE

RUNTIMES = {
    "onnxruntime": ONNXRUNTIME,
    "genai": GENAI,
    "litert": LITERT,
    "tflite": TFLITE,
    "executorch": EXECUTORCH,
    "genie": GENIE,
    "snpe": SNPE,
    "aihub": AIHUB,
    "mlperf": MLPERF,
}
