"""The voting settings of a host's own files: statements, each with its place."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Place
from htppower.tools.runtimes.mistaken import meant
from htppower.tools.runtimes.options import OPTIONS, Option, Where

if TYPE_CHECKING:
    from htppower.errors import Finding


_MODE = re.compile(r"perf(?:ormance)?_?mode", re.IGNORECASE)


@attrs.frozen
class Statement:
    """A setting and its value in a file.

    Attributes:
        where: the kind of setting.
        key: its key.
        value: its value in the spelling of the file, without quotes.
        key_place, place: the places of both.
        quoted: whether the value is a text; False for a number, true or false in JSON or code.
        group: identifies settings that belong together, such as those of one object.
        name: a name for its profile, such as the model with these options; may be empty.
    """

    where: Where
    key: str
    value: str
    key_place: Place
    place: Place
    quoted: bool = True
    group: tuple[str, ...] = ()
    name: str = ""

    @property
    def option(self) -> Option | None:
        """The setting in the table; None if no runtime reads the key there."""
        return OPTIONS.get((self.where, self.key))

    @property
    def meant(self) -> str | None:
        """The correct key instead of a wrong one; None if the key itself is read, or if it is not known."""
        return meant(self.where, self.key)

    @property
    def mode(self) -> str:
        """The mode of its value; empty if the runtime does not know the value."""
        option = self.option
        if option is None:
            return ""
        return option.modes.get(self.value.lower() if option.any_case else self.value, "")


@attrs.frozen
class Said:
    """The settings of a file.

    Attributes:
        statements: the settings, in the order of the file.
        problems: why the file, or its rest, can't be read.
        extensions: the extension files that Genie's dialogs name, with their places.
        refused: keys because of which Genie refuses a whole dialog, with their places.
        silent: the places of Genie's dialogs that name no extension file.
        unread: unknown keys of SNPE's perf config, each with its place and the most similar known key.
        unknown: unknown values there, each with its key first, then its place and the most similar known value.
        open_values: keys whose values are not literals, and so are unknown, with their places.
        without_mode: places where ONNX Runtime's provider is used with options that have no mode.
        no_texts: keys whose values are not texts although the runtime accepts only texts, with value and place.
        form: a description of the file; empty if unknown.
    """

    statements: tuple[Statement, ...] = ()
    problems: tuple[Finding, ...] = ()
    extensions: tuple[tuple[str, Place], ...] = ()
    refused: tuple[tuple[str, Place], ...] = ()
    silent: tuple[Place, ...] = ()
    unread: tuple[tuple[str, Place, str], ...] = ()
    unknown: tuple[tuple[str, str, Place, str], ...] = ()
    open_values: tuple[tuple[str, Place], ...] = ()
    without_mode: tuple[Place, ...] = ()
    no_texts: tuple[tuple[str, str, Place], ...] = ()
    form: str = ""


def is_unquoted(statement: Statement) -> bool:
    """Return whether a value is not a text although only texts are accepted."""
    return statement.where is Where.GENAI and not statement.quoted


class Text:
    """A text, with the places of its characters."""

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path

    def place(self, offset: int) -> Place:
        """Return the line and column of a character."""
        before = self._starts
        low, high = 0, len(before)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if before[middle] <= offset else (low, middle)
        return Place(self.path, low + 1, offset - before[low] + 1)

    @functools.cached_property
    def names_a_mode(self) -> bool:
        """Whether any mode is named: it may be the mode of a provider."""
        return _MODE.search(self.text) is not None

    @functools.cached_property
    def _starts(self) -> list[int]:
        """The offset of each line."""
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts
