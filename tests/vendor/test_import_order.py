"""The vendor's library with other C++ libraries: exceptions are caught in either order of loading."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

# For each package, code that makes its library throw a C++ exception, which Python must get as its own.
_THROWS = {
    "onnxruntime": "import onnxruntime; throw = lambda: onnxruntime.InferenceSession('/nope.onnx')",
    "onnx": "import onnx.checker; throw = lambda: onnx.checker.check_model(onnx.ModelProto())",
    "openvino": "import openvino; throw = lambda: openvino.Core().read_model('/nope.xml')",
    "ai_edge_litert": (
        "from ai_edge_litert.interpreter import Interpreter; throw = lambda: Interpreter(model_content=b'nope' * 9)"
    ),
}
_VOTES = "import htppower; htppower.VoteController()"
_CATCHES = """
try:
    throw()
except Exception as error:
    print("caught")
"""


def _catches(*lines: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "\n".join((*lines, _CATCHES))], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    # A library may print a message at the end of the process.
    assert "caught" in done.stdout.splitlines()


@pytest.mark.usefixtures("vendors_library")
@pytest.mark.parametrize("package", _THROWS)
def test_a_controller_made_first_leaves_the_exceptions_of_others_alone(package: str) -> None:
    """The process does not die at the next exception of another library."""
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    _catches(_VOTES, _THROWS[package])


@pytest.mark.usefixtures("vendors_library")
def test_a_controller_made_last_does_so_too() -> None:
    """The process does not die if another library was loaded before."""
    _catches(_THROWS["onnxruntime"], _VOTES)
