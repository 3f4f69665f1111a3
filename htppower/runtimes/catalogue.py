"""The runtimes by name; the module of a runtime is imported only when it is needed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile
    from htppower.runtimes.settings import Runtime, Settings

# The modules by name, in the order of the help text.
_MODULES = {
    "onnxruntime": "htppower.runtimes.onnxruntime",
    "genai": "htppower.runtimes.genai",
    "litert": "htppower.runtimes.litert",
    "tflite": "htppower.runtimes.tflite",
    "executorch": "htppower.runtimes.executorch",
    "genie": "htppower.runtimes.genie",
    "snpe": "htppower.runtimes.snpe",
    "aihub": "htppower.runtimes.aihub",
    "mlperf": "htppower.runtimes.mlperf",
}
NAMES = tuple(_MODULES)


def runtime(name: str) -> Runtime:
    """Return a runtime by its name, one of ``NAMES``."""
    module: Runtime = importlib.import_module(_MODULES[name])
    return module


def settings(profile: Profile, name: str) -> Settings:
    """Return the settings of a runtime for a profile."""
    return runtime(name).write(profile)
