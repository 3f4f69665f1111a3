"""The runtimes by name; the module of a runtime is imported only when it is needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile
    from htppower.tools.runtimes.settings import Runtime, Settings

# The modules by name, in the order of the help text.
_MODULES = {
    "onnxruntime": "htppower.tools.runtimes.onnxruntime",
    "genai": "htppower.tools.runtimes.genai",
    "litert": "htppower.tools.runtimes.litert",
    "tflite": "htppower.tools.runtimes.tflite",
    "executorch": "htppower.tools.runtimes.executorch",
    "genie": "htppower.tools.runtimes.genie",
    "snpe": "htppower.tools.runtimes.snpe",
    "aihub": "htppower.tools.runtimes.aihub",
    "mlperf": "htppower.tools.runtimes.mlperf",
}
NAMES = tuple(_MODULES)


def runtime(name: str) -> Runtime:
    """Return a runtime by its name, one of ``NAMES``."""
    module: Runtime = importlib.import_module(_MODULES[name])
    return module


def settings(profile: Profile, name: str) -> Settings:
    """Return the settings of a runtime for a profile."""
    return runtime(name).write(profile)
