"""The settings of a runtime for a profile, and the fields of the profile that the runtime can't express."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from htppower.profiles.expressed import Lost
    from htppower.profiles.profile import Profile


LANGUAGES = ("json", "python", "kotlin", "java", "cpp", "csharp", "shell", "toml", "yaml", "pbtxt")


@attrs.frozen
class Part:
    """A text to paste.

    Attributes:
        where: the place to paste it, such as ``provider options``.
        text: the text, without a line break at its end.
        language: one of ``LANGUAGES``.
        file: the usual name of the file; empty if the text is only a part of a file.
        note: remarks, in a sentence or two; may be empty.
        lost: the fields of the profile that it can't express; None if they are the same as for the first text.
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
        parts: the texts to paste, the most important first.
        in_code: the same in the languages of hosts; each text alone, or with others of its language.
        lost: the fields that can't be expressed, in the order of a file.
        known: the source of the runtime's votes, in a sentence.
    """

    parts: tuple[Part, ...]
    lost: tuple[Lost, ...]
    known: str
    in_code: tuple[Part, ...] = ()

    def only(self, language: str) -> tuple[Part, ...]:
        """Return the texts to paste in one language."""
        return tuple(part for part in (*self.parts, *self.in_code) if part.language == language)

    @property
    def languages(self) -> tuple[str, ...]:
        """The available languages, in the order of ``LANGUAGES``."""
        there = {part.language for part in (*self.parts, *self.in_code)}
        return tuple(each for each in LANGUAGES if each in there)


class Runtime(Protocol):
    """The module of a runtime.

    Attributes:
        TITLE: the name of the runtime for people.
        write: returns a profile as settings of the runtime.
    """

    TITLE: str

    def write(self, profile: Profile) -> Settings:
        """Return a profile as settings of the runtime."""
        ...
