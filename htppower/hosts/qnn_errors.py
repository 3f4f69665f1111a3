"""Finds a lost link to the DSP in the error of a failed run of ONNX Runtime's QNN execution provider."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.votes.native_codes import LINK_LOST, SYSTEM_COMMUNICATION, code_name

if TYPE_CHECKING:
    from types import TracebackType

    from htppower.control.session import Session

# The provider's words (qnn_model.cc of ONNX Runtime and of onnxruntime-qnn), and the vendor's names of the call. The
# text before them names nodes and tensors of the model, which may be anything.
_EXECUTE = re.compile(r"\bQNN graph ?execut|\bgraphExecute\b|\bQnnGraph_execute\b", re.IGNORECASE)
# The messages of onnxruntime-qnn 2.7.0 after 1007, if it could not load the model's context again by itself.
_RESTART = re.compile(
    r"\bNPU crashed\. SSR detected\b|\bNPU crashed again\b|\bSSR recovery:|\bcontextCreateFromBinary failed\b"
)
_CODE = re.compile(r"\b(?:code|error|handle|status|failed|returned|with)\b\W{1,3}(0x[0-9a-f]+|[0-9]+)\b", re.IGNORECASE)
_NAMES = {code_name(code): code for code in LINK_LOST}
_NAME = re.compile(r"\b(?:" + "|".join(_NAMES) + r")\b")


def link_lost_code(message: str) -> int | None:
    """Return 1007 or 1011 if the message of a run's error reports it; None for every other error.

    The message has the code as a decimal or a hexadecimal number, whose low 16 bits count (QNN_GET_ERROR_CODE in the
    vendor's QnnCommon.h), or only the vendor's name. If the provider reports that the DSP restarted, the code is 1007
    unless the message contains 1011.
    """
    restart = _RESTART.search(message)
    if restart is not None:
        return _code_told(message[restart.end() :]) or SYSTEM_COMMUNICATION
    execute = _EXECUTE.search(message)
    return None if execute is None else _code_told(message[execute.end() :])


def _code_told(told: str) -> int | None:
    """Return 1007 or 1011 if it is the first code in a text; None for another code or no code."""
    number = _CODE.search(told)
    if number is None:
        name = _NAME.search(told)
        return None if name is None else _NAMES[name[0]]
    code = int(number[1], 0 if number[1][:2].lower() == "0x" else 10) & 0xFFFF
    return code if code in LINK_LOST else None


class LinkWatch:
    """Reports a lost link if a run in its ``with`` block fails because of it; several runs may use it at once.

    Args:
        votes: a session of the controller.
    """

    __slots__ = ("_votes",)

    def __init__(self, votes: Session) -> None:
        self._votes = votes

    def failed(self, message: str) -> None:
        """Report a lost link if the message of a run's error shows one."""
        code = link_lost_code(message)
        if code is not None:
            self._votes.link_lost(code)

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self.failed(str(error))
