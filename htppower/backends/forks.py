"""Calls in every child that this process forks."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def call_in_forked_children(method: Callable[[], None]) -> None:
    """Call a bound method in every child that is forked from now on, while its object lives."""
    if hasattr(os, "register_at_fork"):
        # A registration can't be taken back, so it holds the object weakly.
        held = weakref.WeakMethod(method)
        os.register_at_fork(after_in_child=lambda: _call(held))


def _call(method: weakref.WeakMethod[Callable[[], None]]) -> None:
    bound = method()
    if bound is not None:
        bound()
