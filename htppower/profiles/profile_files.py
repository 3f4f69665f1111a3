"""The files of a profile and its power states, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from htppower.errors import Place


@attrs.frozen
class ProfileFiles:
    """A profile and its power states, as the files to write.

    Attributes:
        name: the profile's name.
        text: its file.
        states: the files of the power states beside it, by name.
        place: where what it is made of stands; None where the file says it.
    """

    name: str
    text: str
    states: dict[str, str] = attrs.field(factory=dict, hash=False)
    place: Place | None = None

    def texts(self) -> dict[str, str]:
        """Return the files by path below the folder of profiles: the profile's, then those of its power states."""
        return {f"{self.name}.yaml": self.text, **{f"states/{name}.yaml": text for name, text in self.states.items()}}
