"""The inference that a calibration runs: a Python function, or an ONNX model on the HTP."""

from __future__ import annotations

import contextlib
import os
import pkgutil
import re
import sys
from typing import TYPE_CHECKING, Any

from htppower.errors import printable
from htppower.tools.tuning.models.calibration.settings import CalibrationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.session import Session
    from htppower.tools.tuning.models.calibration.run import MakeInference

ONNX = ".onnx"
_NAMED = re.compile(r"[\w.]+:[\w.]+")
_HINT = "give a Python function as module:function, or a file that ends in .onnx"


def find_inference(said: str) -> MakeInference:
    """Return a maker of the inference ``said``: ``module:function``, or the path of an ONNX model.

    A function is imported from the current folder or the Python path. It is called without arguments for each
    inference.

    Raises:
        CalibrationFailed: ``said`` is neither, or can't be found.
    """
    if said.endswith(ONNX):
        if not os.path.isfile(said):  # noqa: PTH113 - as everywhere where a path may be anything
            raise CalibrationFailed(f"{said} is not a file")
        return _of_onnx(said)
    return _of_function(find_function(said))


def find_function(said: str, hint: str = _HINT) -> Callable[[], Any]:
    """Return the Python function ``module:function``, imported from the current folder or the Python path.

    ``hint`` is what to do instead, for messages.

    Raises:
        CalibrationFailed: it can't be found.
    """
    if not _NAMED.fullmatch(said):
        raise CalibrationFailed(f"{said!r} is not a function: {hint}")
    here = str(os.getcwd())  # noqa: PTH109 - a text for sys.path
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = pkgutil.resolve_name(said)
    except AttributeError as error:
        raise CalibrationFailed(f"{said}: {printable(str(error))}; {hint}") from error
    except Exception as error:
        raise CalibrationFailed(f"{said} can't be imported: {type(error).__name__}: {printable(str(error))}") from error
    if not callable(found):
        raise CalibrationFailed(f"{said} is not a function, but {type(found).__name__}; {hint}")
    function: Callable[[], Any] = found
    return function


def _of_function(function: Callable[[], object]) -> MakeInference:
    @contextlib.contextmanager
    def make(session: Session) -> Iterator[Callable[[], object]]:
        with session.init():
            function()  # the first call may load a model
        yield function

    return make


def _of_onnx(path: str) -> MakeInference:
    @contextlib.contextmanager
    def make(session: Session) -> Iterator[Callable[[], object]]:
        from htppower.hosts.onnxruntime import load_model  # noqa: PLC0415 - only for an ONNX model

        try:
            model = load_model(path, session)
        except Exception as error:
            raise CalibrationFailed(f"{path} can't be loaded: {printable(str(error))}") from error
        with model:
            feed = {each.name: _zeros(each.shape, each.type) for each in model.get_inputs()}
            yield lambda: model.run(None, feed)

    return make


def _zeros(shape: list[Any], kind: str) -> Any:
    """Return an input of zeros; a dimension without a fixed size is 1.

    Raises:
        CalibrationFailed: numpy does not have the type.
    """
    import numpy as np  # noqa: PLC0415 - only for an ONNX model

    name = kind.removeprefix("tensor(").removesuffix(")")
    name = {"float": "float32", "double": "float64"}.get(name, name)
    try:
        of = np.dtype(name)
    except TypeError:
        raise CalibrationFailed(f"an input of the model is {kind}: give a function that runs the model") from None
    return np.zeros([each if isinstance(each, int) else 1 for each in shape], of)
