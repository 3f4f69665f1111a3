"""Small breaks of the core, read from ``breaks.txt``."""

from __future__ import annotations

import enum
from pathlib import Path

import attrs


class Drawn(enum.Enum):
    """What may happen in the runs in which a break is looked for, as the command line says."""

    CALLS_FAIL = ("--no-restarts", "--learning", "never")
    RESTARTS = ("--learning", "never")
    LEARNING = ("--no-restarts", "--learning", "always")
    VARIED = ("--learning", "never", "--varied", "always")


@attrs.frozen
class Mutation:
    """A break.

    Attributes:
        name: what does not hold any more.
        file: in which file of ``htppower/control``.
        drawn: what may happen in the runs.
        seed: the first run.
        old, new: the text that is replaced, which is there once, and by what.
    """

    name: str
    file: str
    drawn: Drawn
    seed: int
    old: str
    new: str


def _read(line: str) -> Mutation:
    name, file, runs, text = line.split(" | ", 3)
    drawn, seed = runs.split()
    old, new = (each.encode().decode("unicode_escape") for each in text.split(" => "))
    return Mutation(name, file, Drawn[drawn], int(seed), old, new)


_LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
MUTATIONS = tuple(_read(line) for line in _LINES if line and not line.startswith("#"))
