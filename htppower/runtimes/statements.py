"""What a host's own files say of settings that vote: statements, each with its place."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Place
from htppower.runtimes.mistaken import meant
from htppower.runtimes.options import OPTIONS, Option, Where

if TYPE_CHECKING:
    from htppower.errors import Finding


_MODE = re.compile(r"perf(?:ormance)?_?mode", re.IGNORECASE)


@attrs.frozen
class Statement:
    """A setting and its value, as they stand in a file.

    Attributes:
        where: what it is a setting of.
        key: its key.
        value: its value as it is spelt, without quotes.
        key_place, place: where both stand.
        quoted: whether the value is a text; False for a number, true or false in JSON or code.
        group: what tells the settings that belong together, such as those of one object.
        name: what a profile of it may be called, such as the model whose options these are; may be empty.
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
        """The setting of the table; None for a key that nothing reads there."""
        return OPTIONS.get((self.where, self.key))

    @property
    def meant(self) -> str | None:
        """The key that is read in its place; None where the key itself is read, or nothing is known of it."""
        return meant(self.where, self.key)

    @property
    def mode(self) -> str:
        """The mode that its value means; empty for one that the runtime does not know."""
        option = self.option
        if option is None:
            return ""
        return option.modes.get(self.value.lower() if option.any_case else self.value, "")


@attrs.frozen
class Said:
    """What a file says.

    Attributes:
        statements: its settings, in the order of the file.
        problems: why it can't be read, or not to its end.
        extensions: the extension files that Genie's dialogs name, each with its place.
        refused: keys of Genie's dialogs that make Genie refuse all of the file, with their places.
        silent: the places of Genie's dialogs that name no extension file.
        unread: keys of SNPE's perf config that it does not have, each with its place and the nearest that it has.
        unknown: values there that it does not have, each with its key before it, and its place and nearest likewise.
        open_values: keys whose values are not literals, and so are unknown, with their places.
        without_mode: where ONNX Runtime's provider is used with options that have no mode.
        no_texts: keys with values that are not texts although the runtime takes only texts, each with value and place.
        form: what the file is, in words; empty if unknown.
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
    """Return whether a value is no text where only texts are taken."""
    return statement.where is Where.GENAI and not statement.quoted


class Text:
    """A text, and where its characters stand."""

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
        """Whether a mode is named anywhere: it may be the one of a provider."""
        return _MODE.search(self.text) is not None

    @functools.cached_property
    def _starts(self) -> list[int]:
        """Where each line begins."""
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts
