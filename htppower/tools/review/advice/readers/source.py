"""A profiler's file: its lines as text, its whole content, or JSON as nodes that know their places."""

from __future__ import annotations

import itertools
import json
import math
import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors.root import UnreadableFile
from htppower.tools.readers.limits import JSON_BYTES, LINES, TooMuch, check_json, raised
from htppower.tools.readers.opening import LONGEST_LINE, OpenFile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.advice.measurement import Event

_BUFFER_BYTES = 65_536
_SAVE_AS_TEXT = "save it as UTF-8 text"
_LARGEST = 1e18
_KINDS = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
_PLAIN = re.compile(r"[\w-]+")


class Source(OpenFile):
    """A profiler's file that is open for reading."""

    @property
    def is_text(self) -> bool:
        """Whether it looks like text."""
        return b"\0" not in self.head

    def lines(self) -> Iterator[str]:
        """Yield the lines, without their line ends.

        Raises:
            UnreadableFile: a line is not UTF-8, or too long.
            TooMuch: it has too many lines.
        """
        most = raised(LINES)
        reader = self.from_begin(_BUFFER_BYTES)
        for self.line in itertools.count(1):
            line = reader.readline(LONGEST_LINE)
            if not line:
                return
            if self.line > most:
                raise TooMuch(f"has more than {most} lines")
            if len(line) == LONGEST_LINE:
                raise self.wrong(f"the line is longer than {LONGEST_LINE} bytes", "name a file of a profiler")
            try:
                yield line.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise self.wrong("is not UTF-8", _SAVE_AS_TEXT, error.start + 1) from None

    def content(self) -> bytes:
        """Return the whole content as bytes.

        Raises:
            TooMuch: it is too large.
        """
        most = raised(JSON_BYTES)
        content = self.from_begin(_BUFFER_BYTES).read(most + 1)
        if len(content) > most:
            raise TooMuch(f"is larger than {most // 2**20} MiB")
        return content

    def whole(self) -> str:
        """Return the whole content, which is JSON.

        Raises:
            UnreadableFile: it is not UTF-8.
            TooMuch: it is too large, or holds too many values.
        """
        content = self.content()
        check_json(content)
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            self.line = content.count(b"\n", 0, error.start) + 1
            column = error.start - content.rfind(b"\n", 0, error.start)
            raise self.wrong("is not UTF-8", _SAVE_AS_TEXT, column) from None

    def wrong(self, message: str, hint: str = "", column: int = 1) -> UnreadableFile:
        """Return an error about the line that was read last."""
        return UnreadableFile(self.path, f"{self.line}:{column}", message, hint)


@attrs.frozen(repr=False, eq=False)
class Node:
    """A value in a JSON file.

    Attributes:
        value: as the ``json`` module has read it.
        file: the file.
        at: the path of keys, such as ``components[0].events[1]``; empty for the whole file.
    """

    value: Any
    file: str
    at: str = ""

    def get(self, key: str) -> Node | None:
        """Return the value of a key; None if the key is missing.

        Raises:
            UnreadableFile: this value is not an object.
        """
        if not isinstance(self.value, dict):
            raise self.wrong(f"is {self.kind}, not an object")
        if key not in self.value:
            return None
        name = f".{key}" if _PLAIN.fullmatch(key) else f"[{json.dumps(key)}]"
        return Node(self.value[key], self.file, f"{self.at}{name}".removeprefix("."))

    def items(self, key: str) -> Iterator[Node]:
        """Yield the items of the array at a key; none if the key is missing.

        Raises:
            UnreadableFile: the value of the key is not an array.
        """
        found = self.get(key)
        if found is None:
            return
        if not isinstance(found.value, list):
            raise found.wrong(f"is {found.kind}, not an array")
        for place, value in enumerate(found.value):
            yield Node(value, self.file, f"{found.at}[{place}]")

    def text(self, key: str) -> str:
        """Return the text at a key; empty if the key is missing.

        Raises:
            UnreadableFile: the value of the key is not a text.
        """
        found = self.get(key)
        if found is None or found.value is None:
            return ""
        if not isinstance(found.value, str):
            raise found.wrong(f"is {found.kind}, not a text")
        return found.value

    def number(self) -> float:
        """Return the value as a number.

        Raises:
            UnreadableFile: the value is not a number, is negative, or is not finite.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong(f"is {self.kind}, not a number")
        if not 0 <= self.value <= _LARGEST or math.isnan(self.value):
            raise self.wrong("is not a measured number", "a number, 0 or more")
        return float(self.value)

    def amount(self, event: Event, unit: str) -> float:
        """Return the value as the number of an event, converted to the unit of its kind.

        Raises:
            UnreadableFile: the value is not a number, or the unit does not fit the event.
        """
        from htppower.tools.review.advice.measurement import WrongUnit, in_kept_unit  # noqa: PLC0415 - only for a file that has numbers

        try:
            return in_kept_unit(event, self.number(), unit)
        except WrongUnit as error:
            raise self.wrong(str(error)) from None

    def wrong(self, message: str, hint: str = "") -> UnreadableFile:
        """Return an error about this value."""
        return UnreadableFile(self.file, self.at, message, hint)

    @property
    def kind(self) -> str:
        """The kind of the value, in words."""
        return _KINDS.get(type(self.value), "a number")


def read_tree(source: Source) -> Node:
    """Return the root node of a file.

    Raises:
        UnreadableFile: the file is not JSON.
    """
    try:
        return Node(json.loads(source.whole()), source.path)
    except json.JSONDecodeError as error:
        source.line = error.lineno
        raise source.wrong(f"is not JSON: {error.msg}", "the file may be cut off", error.colno) from None
    except RecursionError:
        raise UnreadableFile(source.path, "", "is nested too deeply", "name a file of a profiler") from None
    except ValueError:
        # The ``json`` module refuses numbers with very many digits.
        raise UnreadableFile(source.path, "", "has a number that is too long", "name a file of a profiler") from None
