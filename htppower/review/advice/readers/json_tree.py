"""A JSON file as nodes that know the path of keys to them, for errors that say where something is wrong."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.review.advice.measurement import UnreadableMeasurement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.review.advice.events import Event
    from htppower.review.advice.readers.source import Source

_LARGEST = 1e18
_KINDS = {dict: "an object", list: "an array", str: "a text", bool: "true or false", type(None): "null"}
_PLAIN = re.compile(r"[\w-]+")


@attrs.frozen(repr=False, eq=False)
class Node:
    """A value in a JSON file.

    Attributes:
        value: as the standard library has read it.
        file: the file.
        at: the path of keys, such as ``components[0].events[1]``; empty for the whole.
    """

    value: Any
    file: str
    at: str = ""

    def get(self, key: str) -> Node | None:
        """Return the value of a key; None where there is none.

        Raises:
            UnreadableMeasurement: this is no object.
        """
        if not isinstance(self.value, dict):
            raise self.wrong(f"is {self.kind}, not an object")
        if key not in self.value:
            return None
        name = f".{key}" if _PLAIN.fullmatch(key) else f"[{json.dumps(key)}]"
        return Node(self.value[key], self.file, f"{self.at}{name}".removeprefix("."))

    def items(self, key: str) -> Iterator[Node]:
        """Yield the items of the array that a key has; none where there is no such key.

        Raises:
            UnreadableMeasurement: it is no array.
        """
        found = self.get(key)
        if found is None:
            return
        if not isinstance(found.value, list):
            raise found.wrong(f"is {found.kind}, not an array")
        for place, value in enumerate(found.value):
            yield Node(value, self.file, f"{found.at}[{place}]")

    def text(self, key: str) -> str:
        """Return the text of a key; empty where there is none.

        Raises:
            UnreadableMeasurement: it is no text.
        """
        found = self.get(key)
        if found is None or found.value is None:
            return ""
        if not isinstance(found.value, str):
            raise found.wrong(f"is {found.kind}, not a text")
        return found.value

    def number(self) -> float:
        """Return it as a number.

        Raises:
            UnreadableMeasurement: it is none, is negative, or is not finite.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.wrong(f"is {self.kind}, not a number")
        if not 0 <= self.value <= _LARGEST or math.isnan(self.value):
            raise self.wrong("is no number that was measured", "a number, 0 or more")
        return float(self.value)

    def amount(self, event: Event, unit: str) -> float:
        """Return it as the number of an event, in the unit in which that is kept.

        Raises:
            UnreadableMeasurement: it is no number, or the unit is none of such an event.
        """
        from htppower.review.advice.events import WrongUnit, in_kept_unit  # noqa: PLC0415 - only where there is one

        try:
            return in_kept_unit(event, self.number(), unit)
        except WrongUnit as error:
            raise self.wrong(str(error)) from None

    def wrong(self, message: str, hint: str = "") -> UnreadableMeasurement:
        """Return the error of this value."""
        return UnreadableMeasurement(self.file, self.at, message, hint)

    @property
    def kind(self) -> str:
        """What it is, in words."""
        return _KINDS.get(type(self.value), "a number")


def read_tree(source: Source) -> Node:
    """Return the whole of a file.

    Raises:
        UnreadableMeasurement: it is no JSON.
    """
    try:
        return Node(json.loads(source.whole()), source.path)
    except json.JSONDecodeError as error:
        source.line_number = error.lineno
        raise source.wrong(f"is no JSON: {error.msg}", "the file may be cut off", error.colno) from None
    except RecursionError:
        raise UnreadableMeasurement(source.path, "", "is nested too deeply", "name a file of a profiler") from None
    except ValueError:
        # The standard library refuses numbers of very many digits.
        raise UnreadableMeasurement(
            source.path, "", "has a number that is too long", "name a file of a profiler"
        ) from None
