"""A small break of the core: which text is put in the place of which."""

from __future__ import annotations

import enum

import attrs


class Drawn(enum.Enum):
    """What may happen in the runs that are to find a break, and the options of ``run.py`` for that."""

    CALLS_FAIL = ("--learning", "never", "--no-interrupts", "--no-restarts")
    RESTARTS = ("--learning", "never", "--no-interrupts")
    ALL = ("--learning", "never")
    SEQUENCES = ("--sequences", "4")
    LEARNING = ("--learning", "always", "--no-interrupts", "--no-restarts")
    VARIED = ("--varied", "always", "--learning", "never", "--no-interrupts", "--no-restarts")
    VARIED_RESTARTS = ("--varied", "always", "--learning", "never", "--no-interrupts")
    VARIED_ALL = ("--varied", "always", "--learning", "never")
    VARIED_LEARNING = ("--varied", "always", "--learning", "always", "--no-interrupts", "--no-restarts")
    # No runs are drawn: a small case in every order.
    TWO_CLOSES = ("--exhaustive", "--preemptions", "1", "--case", "a close and a close beside an inference")
    LEARNING_SEQUENCES = ("--learning", "always", "--sequences", "4")


@attrs.frozen
class Mutation:
    """A small break.

    Attributes:
        name: what is broken.
        file: in which file of ``htppower/control``, or, with ``../``, in which other one of ``htppower``.
        old: the text there, which stands there once.
        new: what takes its place.
        drawn: what may happen in the runs that are to find it.
        seed: the first of these runs.
        rare: whether more runs are needed than the checks have time for, or than the core passes as it is: it is left
            out unless it is named.
    """

    name: str
    file: str
    old: str
    new: str
    drawn: Drawn = Drawn.CALLS_FAIL
    seed: int = 0
    rare: bool = False
