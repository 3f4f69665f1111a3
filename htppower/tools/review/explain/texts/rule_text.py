"""The form of a rule's text, and the parts that the examples share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

MINE = "mine.yaml"


class RuleText(NamedTuple):
    """Why a rule exists, an example of a breach, and the mend.

    Attributes:
        why: what happens if it is broken.
        mend: what to do, in a sentence.
        wrong: the files that break it, by name.
        right: the files that keep it, written over the wrong ones.
        lint: the options of ``htppower lint`` that find the breach.
        said: a description of the breach, if files can't show it.
    """

    why: str
    mend: str
    wrong: Mapping[str, str] = {}
    right: Mapping[str, str] = {}
    lint: tuple[str, ...] = ()
    said: str = ""


def mine(lines: str, base: str = "burst") -> dict[str, str]:
    """Return a profile ``mine.yaml`` that extends another and has these lines."""
    return {MINE: f"profile: mine\nextends: {base}\n{lines}\n"}


def votes(spelt: str, base: str = "burst") -> dict[str, str]:
    """Return a profile that extends another and has these votes, in braces."""
    return mine(f"votes: {{{spelt}}}", base)
