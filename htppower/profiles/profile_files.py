"""The files of a profile and its power states as texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from htppower.errors import Place


@attrs.frozen
class ProfileFiles:
    """A profile and its power states as files to be written.

    Attributes:
        name: the profile's name.
        text: the content of its file.
        states: the contents of the files of its power states, by name.
        place: the place of the source that it was made from; None if the file contains it.
    """

    name: str
    text: str
    states: dict[str, str] = attrs.field(factory=dict, hash=False)
    place: Place | None = None

    def texts(self) -> dict[str, str]:
        """Return the contents by path below the profile folder: first the profile, then its power states."""
        return {f"{self.name}.yaml": self.text, **{f"states/{name}.yaml": text for name, text in self.states.items()}}
