"""What to set in a runtime for a profile, and what of the profile the runtime can't express."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from htppower.profiles.lost import Lost
    from htppower.profiles.profile import Profile


@attrs.frozen
class Part:
    """One text to paste.

    Attributes:
        where: where it goes, such as ``provider options``.
        text: the text, without a line break at its end.
        language: ``json``, ``toml``, ``yaml``, ``pbtxt``, ``python`` or ``shell``.
        file: the usual name of the file that it is, empty where it is a part of one.
        note: what there is to know of it, in a sentence or two; may be empty.
    """

    where: str
    text: str
    language: str
    file: str = ""
    note: str = ""


@attrs.frozen
class Settings:
    """A profile as settings of a runtime.

    Attributes:
        parts: what to paste, the most important first.
        lost: what that can't express, in the order of a file.
        known: where it is known from what the runtime votes, in a sentence.
    """

    parts: tuple[Part, ...]
    lost: tuple[Lost, ...]
    known: str


class Runtime(Protocol):
    """A module of this room.

    Attributes:
        TITLE: the runtime in words.
        write: returns a profile as settings of the runtime.
    """

    TITLE: str

    def write(self, profile: Profile) -> Settings:
        """Return a profile as settings of the runtime."""
        ...
