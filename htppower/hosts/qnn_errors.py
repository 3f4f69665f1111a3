"""What a failed run of ONNX Runtime's QNN execution provider tells of the link to the DSP."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.votes.native_codes import LINK_LOST, SYSTEM_COMMUNICATION, code_name

if TYPE_CHECKING:
    from types import TracebackType

    from htppower.control.session import Session

# The words of the provider (qnn_model.cc of ONNX Runtime and of onnxruntime-qnn), and the vendor's names of the call.
# What stands before them names nodes and tensors of the model, which may be anything.
_EXECUTE = re.compile(r"\bQNN graph ?execut|\bgraphExecute\b|\bQnnGraph_execute\b", re.IGNORECASE)
# What onnxruntime-qnn 2.7.0 says where it has met 1007, and could not load the model's context again by itself.
_RESTART = re.compile(
    r"\bNPU crashed\. SSR detected\b|\bNPU crashed again\b|\bSSR recovery:|\bcontextCreateFromBinary failed\b"
)
_CODE = re.compile(r"\b(?:code|error|handle|status|failed|returned|with)\b\W{1,3}(0x[0-9a-f]+|[0-9]+)\b", re.IGNORECASE)
_NAMES = {code_name(code): code for code in LINK_LOST}
_NAME = re.compile(r"\b(?:" + "|".join(_NAMES) + r")\b")


def link_lost_code(message: str) -> int | None:
    """Return 1007 or 1011 where a run failed with it, by the message of its error; None for every other error.

    The code may be a decimal or a hexadecimal number, of which the low 16 bits count (QNN_GET_ERROR_CODE in the
    vendor's QnnCommon.h), or the vendor's name alone. Where the provider says that the DSP has restarted, it is 1007
    unless the message has 1011.
    """
    restart = _RESTART.search(message)
    if restart is not None:
        return _code_told(message[restart.end() :]) or SYSTEM_COMMUNICATION
    execute = _EXECUTE.search(message)
    return None if execute is None else _code_told(message[execute.end() :])


def _code_told(told: str) -> int | None:
    """Return 1007 or 1011 where it is the first code in a text; None for another one, and for none."""
    number = _CODE.search(told)
    if number is None:
        name = _NAME.search(told)
        return None if name is None else _NAMES[name[0]]
    code = int(number[1], 0 if number[1][:2].lower() == "0x" else 10) & 0xFFFF
    return code if code in LINK_LOST else None


class LinkWatch:
    """Tells the controller of a lost link where a run within it fails with one; may be entered many times at once.

    Args:
        votes: a session of the controller.
    """

    __slots__ = ("_votes",)

    def __init__(self, votes: Session) -> None:
        self._votes = votes

    def failed(self, message: str) -> None:
        """Tell of a lost link, where the message of a run's error does."""
        code = link_lost_code(message)
        if code is not None:
            self._votes.link_lost(code)

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self.failed(str(error))
