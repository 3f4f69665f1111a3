"""The runtimes by name, in the order of the help text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.runtimes.aihub import AIHUB
from htppower.tools.runtimes.genie import GENIE
from htppower.tools.runtimes.litert import EXECUTORCH, LITERT, TFLITE
from htppower.tools.runtimes.mlperf import MLPERF
from htppower.tools.runtimes.onnxruntime import GENAI, ONNXRUNTIME
from htppower.tools.runtimes.snpe import SNPE

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile
    from htppower.tools.runtimes.settings import Settings

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


def settings(profile: Profile, name: str) -> Settings:
    """Return the settings of a runtime for a profile."""
    return RUNTIMES[name].write(profile)
