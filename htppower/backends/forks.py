"""Calls in every child that this process forks."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

_T = TypeVar("_T")

# The functions to call, by the object that each is called with. This is module state because forks are process state:
# os.register_at_fork keeps every function forever, so it gets only one.
_CALLS: weakref.WeakKeyDictionary[Any, Callable[[Any], None]] = weakref.WeakKeyDictionary()


def call_in_forked_children(call: Callable[[_T], None], concerned: _T) -> None:
    """Call a function with an object in every child that is forked from now on, while the object lives.

    An object has one such function. Objects that were given earlier are called earlier.
    """
    _CALLS[concerned] = call


def _call_all() -> None:
    for concerned, call in tuple(_CALLS.items()):
        call(concerned)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_call_all)
