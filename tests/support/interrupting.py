"""Ctrl-C at any call of the core, one after the other, or instead of a function that is replaced."""

from __future__ import annotations

import inspect
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htppower import control

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    import pytest

CORE = str(Path(control.__file__).parent)
# Where the interpreter looks for signals: at the begin of a function, and when one in C has returned.
LOOKS = frozenset({"call", "c_return"})


def interrupt_at(nth: int, action: Callable[[], object]) -> bool:
    """Run an action, and raise KeyboardInterrupt once in it; return whether it has come so far.

    Args:
        nth: at which of the places of the core where the interpreter looks for signals; 0 is the first.
        action: what to run.
    """
    left = nth

    def look(frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal left
        # An exception in a generator expression that is just given up is lost, to whoever raises it.
        lost = frame.f_code.co_flags & inspect.CO_GENERATOR
        if event in LOOKS and not lost and frame.f_code.co_filename.startswith(CORE):
            left -= 1
            if left < 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        action()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(before)
    return False


def interrupt_in(patched: pytest.MonkeyPatch, what: type, name: str, *, done: bool) -> None:
    """Let Ctrl-C come once, in this thread, as a function of a class begins, or once it is done."""
    thread, function = threading.get_ident(), getattr(what, name)

    def interrupted(*arguments: Any, **how: Any) -> Any:
        if threading.get_ident() != thread:
            return function(*arguments, **how)
        patched.setattr(what, name, function)
        if done:
            function(*arguments, **how)
        raise KeyboardInterrupt

    patched.setattr(what, name, interrupted)


def interrupted_once(patched: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return what raises KeyboardInterrupt once in the place of what was replaced, and puts that back."""

    def interrupted(*_: object) -> None:
        patched.undo()
        raise KeyboardInterrupt

    return interrupted
