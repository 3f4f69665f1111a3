"""Tokens, one for each phase that runs, and what is made of a session by them.

The tokens that no phase holds are idle; where all are, the session is. A phase whose end never runs, since an exception
such as Ctrl-C hit it in the wrong place, or since it was dropped, loses its token when it is collected.
"""

from __future__ import annotations

import types
import weakref
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.time.base import Time
    from htppower.events import Phase

# Phases of INIT and DE-INIT that run, with their tokens.
Preparing: TypeAlias = "tuple[tuple[Phase, weakref.ref[Token]], ...]"

# When an inference began of which nobody has noted that; no clock of ours shows it.
NOT_TIMED = -1
# In the place of whether one has waited: it has not, as far as is known, but its votes went up ahead of it.
AHEAD: Literal["ahead"] = "ahead"
Waited: TypeAlias = "bool | Literal['ahead']"


class Token:
    """Stands for one phase that runs.

    Attributes:
        home: where it is put when no inference holds it.
        watch: of an inference, the reference by which the gate is told that it is gone. The collector clears that
            first: what it runs may give the token back nevertheless.
        waited: whether the inference that holds it has waited for a call when it began, or AHEAD: it saves none then.
        begun_ns: when that was, where begins are timed, or NOT_TIMED.
        within: where they are, the INIT and DE-INIT phases within which it began.
    """

    __slots__ = ("__weakref__", "begun_ns", "home", "waited", "watch", "within")

    watch: weakref.ref[Token]

    def __init__(self, home: list[Token]) -> None:
        self.home = home
        self.waited: Waited = False
        self.begun_ns = NOT_TIMED
        self.within: Preparing = ()


class Tokens:
    """The tokens of one session: which there are, which phases hold them, and which are gone.

    The lock of its gate is held, except that a phase takes an idle token without it.

    Args:
        time: runs ``count`` soon after a token is gone.
        count: counts those that are gone; the gate.

    Attributes:
        idle: the tokens that no inference holds; the home of every token that is not gone.
        made: how many tokens of inferences there are.
        preparing: the INIT and DE-INIT phases that run, with their tokens.
    """

    __slots__ = ("_count", "_count_soon", "_time", "_watched", "idle", "made", "preparing")

    def __init__(self, time: Time, count: Callable[[], object]) -> None:
        self._time = time
        self._count = count
        self.idle: list[Token] = []
        self.made = 0
        self.preparing: Preparing = ()
        # What has a token that is gone counted, made with the first one; and the references that watch for that.
        self._count_soon: Callable[[weakref.ref[Token]], object] | None = None
        self._watched: tuple[weakref.ref[Token], ...] = ()

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
        """Return the one that began first of the inferences that run and are timed; None where there is none."""
        timed = (token for token in self.running() if token.begun_ns != NOT_TIMED)
        return min(timed, key=lambda token: (token.begun_ns, bool(token.within)), default=None)

    def make(self) -> Token:
        """Return a new token; the inference that holds it is counted from now on."""
        made = Token(self.idle)
        made.watch = self._watch(made)
        self._watched = (*self._watched, made.watch)
        self.made += 1
        return made

    def prepare(self, phase: Phase) -> Token:
        """Return a new token for INIT or DE-INIT; it is counted from now on."""
        made = Token([])
        # Nothing else refers to its watch: once the phase has ended, nobody is told that it is gone.
        self.preparing = (*self.preparing, (phase, self._watch(made)))
        return made

    def drop(self, token: Token) -> None:
        """Take back the token of an inference that does not begin."""
        self._watched = tuple(watch for watch in self._watched if watch is not token.watch)
        self.made = len(self._watched)

    def drop_preparation(self, token: Token) -> None:
        """Take back the token of an INIT or DE-INIT that does not begin, or has ended."""
        self.preparing = tuple(other for other in self.preparing if other[1]() is not token)

    def count_lost(self) -> int:
        """Count no more the inferences whose tokens are gone; return how many there were."""
        before, live = self.made, list(self._live())
        self._watched = tuple(watch for watch in self._watched if watch() is not None)
        self.made = len(live)
        # A phase that begins may take a token from the one list or from the other, and each only once.
        earlier, self.idle = self.idle, []
        for token in live:
            token.home = self.idle
        while (taken := _pop(earlier)) is not None:
            if taken.home is self.idle:
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
        return (token for watch in self._watched if (token := watch()) is not None)

    def _watch(self, token: Token) -> weakref.ref[Token]:
        if self._count_soon is None:
            # C functions from end to end: no exception can hit them, nor be lost in them. A partial weighs twice as
            # much.
            self._count_soon = types.MethodType(self._time.call_soon, self._count)
        return weakref.ref(token, self._count_soon)


def _pop(tokens: list[Token]) -> Token | None:
    """Return the last of some tokens; None where a phase that begins has taken that."""
    try:
        return tokens.pop()
    except IndexError:
        return None


class Use(NamedTuple):
    """What is made of a session.

    Attributes:
        closing: whether it is being closed.
        busy: whether a phase runs.
        deadline_us: when its votes come down; where a phase runs, and it is not being closed, neither this nor the rest
            says anything.
        after_deinit: whether a DE-INIT was the last phase to end.
        expected: whether its votes are up until the deadline for an inference that is predicted to begin.
    """

    closing: bool
    busy: bool
    deadline_us: int
    after_deinit: bool = False
    expected: bool = False
