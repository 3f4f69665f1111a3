"""Tokens: each running phase of a session holds one.

A session is idle if no phase holds a token. A phase may never be ended: its object was dropped, or an exception such as
Ctrl-C interrupted its end. Then its token is garbage collected, and this ends the phase.
"""

from __future__ import annotations

import types
import weakref
from typing import TYPE_CHECKING, TypeAlias

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.time.base import Time
    from htppower.events import Phase

# The INIT and DE-INIT phases that run, each with a reference to its token.
Preparing: TypeAlias = "tuple[tuple[Phase, weakref.ref[Token]], ...]"

# Stands for the begin of an inference that was not timed. No clock here has a negative time.
NOT_TIMED = -1


class Token:
    """A token: the phase that holds it is running.

    Attributes:
        idle_list: the list that holds the token when no inference does.
        reference: the weak reference whose callback reports to the gate that the token is gone; only tokens of
            inferences have it. The garbage collector clears it first: a finalizer may still give the token back.
        waited: whether the inference has waited for a call at its begin.
        begun_ns: when the inference began, if begins are timed; else NOT_TIMED.
        within: if begins are timed, the INIT and DE-INIT phases that were running when the inference began.
    """

    __slots__ = ("__weakref__", "begun_ns", "idle_list", "reference", "waited", "within")

    reference: weakref.ref[Token]

    def __init__(self, idle_list: list[Token]) -> None:
        self.idle_list = idle_list
        self.waited = False
        self.begun_ns = NOT_TIMED
        self.within: Preparing = ()


class Tokens:
    """The tokens of one session, and which phases hold them.

    The lock of the session's gate is held. Only taking an idle token needs no lock.

    Args:
        time: calls ``count`` soon after a token was garbage collected.
        count: counts the tokens that are gone: the gate of the session.

    Attributes:
        idle: the tokens that no inference holds. An inference that ends puts its token back here.
        made: how many tokens for inferences exist, idle or held.
        preparing: the INIT and DE-INIT phases that run, with their tokens.
    """

    __slots__ = ("_count", "_count_soon", "_references", "_time", "idle", "made", "preparing")

    def __init__(self, time: Time, count: Callable[[], object]) -> None:
        self._time = time
        self._count = count
        self.idle: list[Token] = []
        self.made = 0
        self.preparing: Preparing = ()
        self._references: tuple[weakref.ref[Token], ...] = ()
        # The callback of every reference; it is made with the first token.
        self._count_soon: Callable[[weakref.ref[Token]], object] | None = None

    @property
    def in_flight(self) -> int:
        """How many inferences are running."""
        return self.made - len(self.idle)

    def busy(self) -> bool:
        """Return whether a phase runs."""
        return len(self.idle) < self.made or bool(self.preparing)

    def running(self) -> Iterator[Token]:
        """Yield the tokens that inferences hold."""
        idle = {id(token) for token in self.idle}
        return (token for token in self._live() if id(token) not in idle)

    def first(self) -> Token | None:
        """Return the token of the timed inference that began first; None if none runs."""
        timed = (token for token in self.running() if token.begun_ns != NOT_TIMED)
        return min(timed, key=lambda token: token.begun_ns, default=None)

    def make(self) -> Token:
        """Return a new token. From now on the inference that holds it counts as running."""
        made = Token(self.idle)
        made.reference = self._refer(made)
        self._references = (*self._references, made.reference)
        self.made += 1
        return made

    def prepare(self, phase: Phase) -> Token:
        """Return a new token for INIT or DE-INIT. From now on that phase counts as running."""
        made = Token([])
        # This tuple has the only reference to the weak reference. So once the phase has ended, the callback does not
        # run any more.
        self.preparing = (*self.preparing, (phase, self._refer(made)))
        return made

    def drop(self, token: Token) -> None:
        """Forget the token of an inference that does not begin."""
        self._references = tuple(each for each in self._references if each is not token.reference)
        self.made = len(self._references)

    def drop_preparation(self, token: Token) -> None:
        """Forget the token of an INIT or DE-INIT that does not begin, or has ended."""
        self.preparing = tuple(other for other in self.preparing if other[1]() is not token)

    def count_lost(self) -> int:
        """Forget the tokens of inferences that are gone; return how many there were."""
        before, live = self.made, list(self._live())
        self._references = tuple(each for each in self._references if each() is not None)
        self.made = len(live)
        # While this runs, a phase that begins may take a token from the old list or the new one. No token is taken
        # twice, since each token is in one list at a time.
        earlier, self.idle = self.idle, []
        for token in live:
            token.idle_list = self.idle
        while (taken := _pop(earlier)) is not None:
            if taken.idle_list is self.idle:
                self.idle.append(taken)
        return before - self.made

    def end_lost_preparations(self, end: Callable[[Phase], object]) -> bool:
        """End the INIT and DE-INIT phases whose tokens are gone; return whether there are any."""
        lost = [each for each in self.preparing if each[1]() is None]
        for phase, _ in lost:
            end(phase)
        self.preparing = tuple(each for each in self.preparing if each not in lost)
        return bool(lost)

    def _live(self) -> Iterator[Token]:
        return (token for reference in self._references if (token := reference()) is not None)

    def _refer(self, token: Token) -> weakref.ref[Token]:
        if self._count_soon is None:
            # Only C functions, so that no exception can interrupt the callback. A partial would take twice the memory.
            self._count_soon = types.MethodType(self._time.call_soon, self._count)
        return weakref.ref(token, self._count_soon)


def _pop(tokens: list[Token]) -> Token | None:
    """Return the last token; None if a phase that begins has taken it."""
    try:
        return tokens.pop()
    except IndexError:
        return None


@attrs.frozen
class Use:
    """How a session is used at one moment.

    Attributes:
        closing: whether the session is being closed.
        busy: whether a phase runs. If so, and the session is not being closed, the other fields have no meaning.
        deadline_us: when its votes come down.
        after_deinit: whether a DE-INIT was the last phase to end.
        expected: whether its votes stay up for a predicted inference.
    """

    closing: bool
    busy: bool
    deadline_us: int
    after_deinit: bool = False
    expected: bool = False
