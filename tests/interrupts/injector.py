"""Interrupts at a chosen place: a signal is made pending just before an instruction.

A trace function counts instructions. At the given instruction it makes the signal pending, without letting the
interpreter look for signals, and returns. The interpreter raises the exception the next time it looks for signals, as
if the signal came from outside. So the interrupt comes only at places that this version of CPython can interrupt: the
begin of a function, the end of a call, the end of a loop's body.
"""

from __future__ import annotations

import collections
import ctypes
import dis
import inspect
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

PACKAGE = Path(htppower.__file__).parent
# The interpreter does not look for signals at these instructions, and they run no other code. So an interrupt before
# one of them comes at the same place as an interrupt before the next instruction.
_INERT = frozenset(
    """
    CACHE COPY COPY_FREE_VARS DUP_TOP END_FOR EXTENDED_ARG GEN_START JUMP_FORWARD KW_NAMES LOAD_CLOSURE LOAD_CONST
    LOAD_DEREF LOAD_FAST LOAD_FAST_AND_CLEAR LOAD_FAST_BORROW LOAD_FAST_BORROW_LOAD_FAST_BORROW LOAD_FAST_CHECK
    LOAD_FAST_LOAD_FAST LOAD_GLOBAL LOAD_SMALL_INT MAKE_CELL MAKE_FUNCTION NOP POP_BLOCK POP_EXCEPT POP_TOP
    PRECALL PUSH_EXC_INFO PUSH_NULL RERAISE RETURN_CONST RETURN_GENERATOR RETURN_VALUE ROT_FOUR ROT_THREE ROT_TWO
    SETUP_FINALLY STORE_DEREF STORE_FAST STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST SWAP
    """.split()  # noqa: SIM905 - a list of literals takes 40 lines
)


@attrs.frozen
class Shot:
    """The place of an interrupt.

    Attributes:
        at: the number of the instruction right after the interrupt, from 1; 0 for no interrupt.
        kind: the class of the exception that the interrupt raises.
    """

    at: int = 0
    kind: type[BaseException] = KeyboardInterrupt


@attrs.define
class Result:
    """The result of an operation.

    Attributes:
        events: how many instructions were run, up to the interrupt if there was one.
        delivered: the exceptions that were raised, and the place of each.
        surfaced: the exception that the operation raised.
        lost: the exceptions that the interpreter dropped, as in a finalizer.
    """

    events: int = 0
    delivered: list[tuple[BaseException | None, str]] = attrs.Factory(list)
    surfaced: BaseException | None = None
    lost: list[str] = attrs.Factory(list)


class Injector:
    """Runs an operation in the main thread, and interrupts it.

    Args:
        folders: instructions of the code in these folders are counted.
    """

    def __init__(self, folders: tuple[Path, ...] = (PACKAGE,)) -> None:
        self._prefixes = tuple(f"{folder}/" for folder in folders)
        self._live: dict[CodeType, frozenset[int]] = {}
        self._shot = Shot()
        self._next = 0
        self._count = 0
        self._result = Result()
        self._here: FrameType | None = None

    def run(self, operation: Callable[[], object], shot: Shot) -> Result:
        """Run an operation; the result has its exception."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("signals come in the main thread only")
        self._shot, self._next, self._count = shot, shot.at, 0
        result = self._result = Result()
        hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        handler = signal.signal(signal.SIGINT, self._handle)
        self._make_pending = collections.defaultdict[int, object](_INTERRUPT)
        self._here = inspect.currentframe()
        try:
            try:
                sys.settrace(self._trace_calls)
                operation()
            finally:
                sys.settrace(None)
                # The interpreter looks for signals at the end of this call, so a pending signal comes here.
                self._settled()
        except BaseException as error:  # noqa: BLE001 - it is looked at by whoever asked
            result.surfaced = error
        finally:
            self._here = None
            signal.signal(signal.SIGINT, handler)
            sys.unraisablehook = hook
        result.events = result.events or self._count
        return result

    def _settled(self) -> None:
        """Do nothing: the end of this call is where a pending signal is raised."""

    def _unraisable(self, unraisable: Any) -> None:
        self._result.lost.append(f"{unraisable.exc_value!r} in {unraisable.object!r}")

    def _handle(self, _number: int, frame: FrameType | None) -> None:
        """Handle the signal: raise, unless the operation is over."""
        if frame is None or self._here is None or frame is self._here or frame.f_code is Injector._settled.__code__:
            return
        if self._is_of_asyncio(frame):
            sys.settrace(None)
            return
        self._result.events = self._count
        error = self._shot.kind("from outside")
        self._result.delivered.append((error, _place(frame, frame.f_lineno)))
        raise error

    def _is_of_asyncio(self, frame: FrameType | None) -> bool:
        """Return whether the signal interrupts asyncio itself, which may then lose a callback."""
        while frame is not None and not frame.f_code.co_filename.startswith(self._prefixes):
            if "/asyncio/" in frame.f_code.co_filename:
                return True
            frame = frame.f_back
        return False

    def _trace_calls(self, frame: FrameType, event: str, _arg: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if not code.co_filename.startswith(self._prefixes):
            return None
        frame.f_trace_opcodes = True
        return self._trace

    def _trace(self, frame: FrameType, event: str, _arg: object) -> Callable[..., Any]:
        if event != "opcode":
            return self._trace
        code = frame.f_code
        live = self._live.get(code)
        if live is None:
            live = self._live[code] = frozenset(
                each.offset for each in dis.get_instructions(code) if each.opname not in _INERT
            )
        if frame.f_lasti not in live:
            return self._trace
        self._count += 1
        if self._count == self._next:
            self._next = 0
            sys.settrace(None)
            # This makes no call: the interpreter would look for signals at its end, and raise the exception here.
            self._make_pending[self._count]
        return self._trace


_INTERRUPT = ctypes.pythonapi.PyErr_SetInterrupt
_INTERRUPT.restype = None


def _place(frame: FrameType, line: int) -> str:
    path = Path(frame.f_code.co_filename)
    shown = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.name
    return f"{shown}:{line} {frame.f_code.co_name}"
