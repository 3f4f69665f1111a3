"""Interrupts at a place: a signal, or an exception from another thread, is made pending just before an instruction.

A trace function counts the instructions of the package. At the one that is asked for it makes the interrupt pending
by an operation at which the interpreter itself looks for none, and returns. From there on all is the interpreter's:
it raises the exception where it looks for interrupts next, as it would if the signal came from outside. So what is
hit are just the places that CPython of this version can interrupt: the begin of a function, the end of a call, the
end of a loop's body. Places that it can't interrupt, such as that between taking a lock by ``with`` and the
statements in it, are never hit.
"""

from __future__ import annotations

import collections
import ctypes
import dis
import enum
import functools
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
# Instructions at which nothing is looked for and no other code runs: an interrupt before one of these comes where one
# before the next instruction does.
_INERT = frozenset(
    {
        "CACHE",
        "COPY",
        "COPY_FREE_VARS",
        "DUP_TOP",
        "END_FOR",
        "EXTENDED_ARG",
        "GEN_START",
        "JUMP_FORWARD",
        "KW_NAMES",
        "LOAD_CLOSURE",
        "LOAD_CONST",
        "LOAD_DEREF",
        "LOAD_FAST",
        "LOAD_FAST_AND_CLEAR",
        "LOAD_FAST_BORROW",
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
        "LOAD_FAST_CHECK",
        "LOAD_FAST_LOAD_FAST",
        "LOAD_GLOBAL",
        "LOAD_SMALL_INT",
        "MAKE_CELL",
        "MAKE_FUNCTION",
        "NOP",
        "POP_BLOCK",
        "POP_EXCEPT",
        "POP_TOP",
        "PRECALL",
        "PUSH_EXC_INFO",
        "PUSH_NULL",
        "RERAISE",
        "RETURN_CONST",
        "RETURN_GENERATOR",
        "RETURN_VALUE",
        "ROT_FOUR",
        "ROT_THREE",
        "ROT_TWO",
        "SETUP_FINALLY",
        "STORE_DEREF",
        "STORE_FAST",
        "STORE_FAST_LOAD_FAST",
        "STORE_FAST_STORE_FAST",
        "SWAP",
    }
)


class Way(enum.Enum):
    """How an interrupt comes."""

    SIGNAL = "signal"
    ASYNC_EXC = "PyThreadState_SetAsyncExc"


class Unit(enum.Enum):
    """Before what it may come."""

    LINE = "line"
    OPCODE = "opcode"


@attrs.frozen
class Shot:
    """Where interrupts come.

    Attributes:
        at: before which of the lines or instructions, from 1; 0 for none.
        then: before which of them after that one has come there is another, from 1; 0 for none.
        kind: the exception.
        way: how it comes.
        unit: what is counted.
    """

    at: int = 0
    then: int = 0
    kind: type[BaseException] = KeyboardInterrupt
    way: Way = Way.SIGNAL
    unit: Unit = Unit.OPCODE


@attrs.define
class Result:
    """What came of an operation.

    Attributes:
        events: how many lines or instructions were run; up to the last interrupt, where there were any.
        delivered: the exceptions that came, and the place of each.
        surfaced: what the operation raised.
        value: what it returned.
        lost: what the interpreter could raise nowhere, as in a finalizer.
    """

    events: int = 0
    delivered: list[tuple[BaseException | None, str]] = attrs.Factory(list)
    surfaced: BaseException | None = None
    value: object = None
    lost: list[str] = attrs.Factory(list)


class Injector:
    """Runs an operation in the main thread, and interrupts it.

    Args:
        folders: the code of which folders is counted.
    """

    def __init__(self, folders: tuple[Path, ...] = (PACKAGE,)) -> None:
        self._prefixes = tuple(f"{folder}/" for folder in folders)
        self._counted: dict[CodeType, bool] = {}
        self._live: dict[CodeType, frozenset[int]] = {}
        self._shot = Shot()
        self._next = 0
        self._count = 0
        self._result = Result()
        self._running: FrameType | None = None
        self._here: FrameType | None = None

    def run(self, operation: Callable[[], object], shot: Shot) -> Result:
        """Run an operation; what it raises is in the result."""
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("signals come in the main thread only")
        self._shot, self._next, self._count = shot, shot.at, 0
        result = self._result = Result()
        hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        handler = signal.signal(signal.SIGINT, self._handle)
        self._make_pending = _pending_by(shot)
        self._here = sys._getframe()
        try:
            try:
                sys.settrace(self._trace_calls)
                result.value = operation()
            finally:
                sys.settrace(None)
                # What is pending still comes here: a call at the end of which the interpreter looks for it.
                self._settled()
        except BaseException as error:  # noqa: BLE001 - it is looked at by whoever asked
            result.surfaced = error
        finally:
            self._here = None
            signal.signal(signal.SIGINT, handler)
            sys.unraisablehook = hook
        result.events = result.events or self._count
        if shot.way is Way.ASYNC_EXC:
            self._take_in_async(result)
        return result

    def _settled(self) -> None:
        """Do nothing."""

    def _take_in_async(self, result: Result) -> None:
        """Note where an exception came that no handler of ours has raised."""
        error = result.surfaced
        if error is None or type(error) is not self._shot.kind or error.__traceback__ is None:
            return
        below = error.__traceback__
        while below.tb_next is not None:
            below = below.tb_next
        if below.tb_frame.f_code in (Injector.run.__code__, Injector._settled.__code__):
            result.surfaced = None
            return
        result.delivered.append((error, _place(below.tb_frame, below.tb_lineno)))

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
        if self._shot.then and len(self._result.delivered) == 1:
            self._next, self._count = self._shot.then, 0
            # The frames that were traced are again.
            sys.settrace(self._trace_calls)
        raise error

    def _is_of_asyncio(self, frame: FrameType | None) -> bool:
        """Return whether asyncio is interrupted itself, which may lose a callback of its own by that."""
        while frame is not None and not frame.f_code.co_filename.startswith(self._prefixes):
            if "/asyncio/" in frame.f_code.co_filename:
                return True
            frame = frame.f_back
        return False

    def _trace_calls(self, frame: FrameType, event: str, _arg: object) -> Callable[..., Any] | None:
        code = frame.f_code
        counted = self._counted.get(code)
        if counted is None:
            counted = self._counted[code] = code.co_filename.startswith(self._prefixes)
        if not counted:
            return None
        if self._shot.unit is Unit.OPCODE:
            frame.f_trace_opcodes = True
        return self._trace

    def _trace(self, frame: FrameType, event: str, _arg: object) -> Callable[..., Any]:
        if event == "line" and self._shot.unit is Unit.LINE:
            self._count += 1
        elif event == "opcode":
            code = frame.f_code
            live = self._live.get(code)
            if live is None:
                live = self._live[code] = frozenset(
                    each.offset for each in dis.get_instructions(code) if each.opname not in _INERT
                )
            if frame.f_lasti not in live:
                return self._trace
            self._count += 1
        else:
            return self._trace
        if self._count == self._next:
            self._next = 0
            sys.settrace(None)
            # No call: the interpreter would look for interrupts at its end, and raise this one here.
            self._make_pending[self._count]
        return self._trace


def _pending_by(shot: Shot) -> collections.defaultdict[int, object]:
    """Return what makes an interrupt pending when it is asked for a key that it does not have."""
    if shot.way is Way.SIGNAL:
        return collections.defaultdict(_INTERRUPT)
    identity, kind = ctypes.c_ulong(threading.get_ident()), ctypes.py_object(shot.kind)
    return collections.defaultdict(functools.partial(_ASYNC_EXC, identity, kind))


_INTERRUPT = ctypes.PyDLL(None).PyErr_SetInterrupt
_INTERRUPT.restype = None
_ASYNC_EXC = ctypes.pythonapi.PyThreadState_SetAsyncExc


def _place(frame: FrameType, line: int) -> str:
    path = Path(frame.f_code.co_filename)
    shown = path.relative_to(PACKAGE) if path.is_relative_to(PACKAGE) else path.name
    return f"{shown}:{line} {frame.f_code.co_name}"
