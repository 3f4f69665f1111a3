"""The files of profiles and power states, as text, for settings that are read as profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.profiles.fields import vote_fields
from htppower.profiles.profile import PowerState
from htppower.profiles.yaml_text import comment, field_lines, state_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.votes.vote_set import VoteSet


def state_lines(name: str, summary: str, votes: VoteSet, *comments: str) -> str:
    """Return the lines of a power state's file, with comments first."""
    return "\n".join((*map(comment, comments), state_text(PowerState(name, summary, votes)))) + "\n"


def vote_lines(votes: VoteSet) -> Iterator[str]:
    """Yield the lines of votes in a file."""
    return (line for _, line in field_lines(vote_fields(votes)))
