"""Tokens, one for each phase that runs, and what is made of a session by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import weakref

# When an inference began of which nobody has noted that; no clock of ours shows it.
NOT_TIMED = -1


class Token:
    """Stands for one phase that runs.

    Attributes:
        home: where it is put when no inference holds it.
        watch: the reference by which the gate is told that it is gone. The collector clears that first: what it runs
            may give the token back nevertheless.
        waited: whether the inference that holds it has waited for a call when it began.
        begun_ns: when that was, where begins are timed, or NOT_TIMED.
    """

    __slots__ = ("__weakref__", "begun_ns", "home", "waited", "watch")

    watch: weakref.ref[Token]

    def __init__(self, home: list[Token]) -> None:
        self.home = home
        self.waited = False
        self.begun_ns = NOT_TIMED


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
