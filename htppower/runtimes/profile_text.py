"""Files of profiles and power states, as text, that settings read back are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.fields import vote_fields
from htppower.profiles.profile import PowerState
from htppower.profiles.yaml_text import comment, field_lines, state_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import Place
    from htppower.votes.vote_set import VoteSet


@attrs.frozen
class Imported:
    """A profile that a file of settings is.

    Attributes:
        name: its name.
        text: its file.
        place: where the setting stands that it is made of.
        states: the files of the power states beside it, by name.
    """

    name: str
    text: str
    place: Place
    states: dict[str, str] = attrs.field(factory=dict, hash=False)

    def texts(self) -> dict[str, str]:
        """Return its files, by path below the folder of profiles: its own, then those of its power states."""
        return {f"{self.name}.yaml": self.text, **{f"states/{name}.yaml": text for name, text in self.states.items()}}


def state_lines(name: str, summary: str, votes: VoteSet, *comments: str) -> str:
    """Return the file of a power state, with comments above it."""
    return "\n".join((*map(comment, comments), state_text(PowerState(name, summary, votes)))) + "\n"


def vote_lines(votes: VoteSet) -> Iterator[str]:
    """Yield the lines of votes, as a file has them."""
    return (line for _, line in field_lines(vote_fields(votes)))
