"""What to set in a runtime for a profile, and what of the profile the runtime can't express."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from htppower.profiles.lost import Lost
    from htppower.profiles.profile import Profile


LANGUAGES = ("json", "python", "kotlin", "java", "cpp", "csharp", "shell", "toml", "yaml", "pbtxt")


@attrs.frozen
class Part:
    """One text to paste.

    Attributes:
        where: where it goes, such as ``provider options``.
        text: the text, without a line break at its end.
        language: one of ``LANGUAGES``.
        file: the usual name of the file that it is, empty where it is a part of one.
        note: what there is to know of it, in a sentence or two; may be empty.
        lost: what of the profile it can't express; None if that is the same as for the first text.
    """

    where: str
    text: str
    language: str
    file: str = ""
    note: str = ""
    lost: tuple[Lost, ...] | None = None


@attrs.frozen
class Settings:
    """A profile as settings of a runtime.

    Attributes:
        parts: what to paste, the most important first.
        in_code: the same in the languages of hosts; each part by itself, or with others of its language.
        lost: what that can't express, in the order of a file.
        known: where it is known from what the runtime votes, in a sentence.
    """

    parts: tuple[Part, ...]
    lost: tuple[Lost, ...]
    known: str
    in_code: tuple[Part, ...] = ()

    def only(self, language: str) -> tuple[Part, ...]:
        """Return what to paste in one language."""
        return tuple(part for part in (*self.parts, *self.in_code) if part.language == language)

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that there are, in the order of ``LANGUAGES``."""
        there = {part.language for part in (*self.parts, *self.in_code)}
        return tuple(each for each in LANGUAGES if each in there)


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
