"""The meaning of a plain word in YAML, if all parsers agree on it.

YAML 1.1 (as PyYAML resolves it) and the core schema of YAML 1.2 read some words differently: ``on`` and ``yes`` are
booleans or text, ``010`` is 8 or 10, ``12:30:45`` is 45045 or text, ``09`` is text or 9. Such a word is refused.
"""

from __future__ import annotations

import functools
import re
from typing import Any, Final

import yaml


class Unreadable:
    """Marks a value that is reported as a problem."""


UNREADABLE: Final = Unreadable()
TOO_LARGE: Final = Unreadable()

_TAG: Final = "tag:yaml.org,2002:"
_RESOLVER = yaml.SafeLoader("")
# Patterns are compiled on first use: most files need none of them.
_FLOAT = r"-?(0|[1-9][0-9]*)\.[0-9]+"
_NOT_FINITE = r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
# YAML 1.1 reads these as text, YAML 1.2 as a number.
NUMBER = r"0o[0-7]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
_BEGIN_NUMBERS = frozenset("+-.0123456789")
# YAML 1.1 reads these as booleans, although PyYAML does not.
_LETTERS = frozenset("yYnN")
# "false" is the longest letter-only word that any YAML parser reads as something else. Longer words need no check.
_LONGEST_SPECIAL_WORD = 5
# No vote has a number with more digits, and converting them would be slow.
_LONGEST_NUMBER = 20
_UNITS_US = {"us": 1, "ms": 1_000, "s": 1_000_000}
# Files repeat about 30 words.
_MOST_KEPT_WORDS = 256


def read_word(text: str) -> Any:
    """Return bool, int, float, None or text; ``UNREADABLE`` if parsers disagree, or ``TOO_LARGE``."""
    if len(text) > _LONGEST_SPECIAL_WORD:
        return text if text.isidentifier() else _read(text)
    return _read_short(text)


def _read(text: str) -> Any:
    kind = plain_kind(text)
    if kind == "bool" and text in {"true", "false"}:
        return text == "true"
    if kind == "int" and _is_int(text):
        return int(text) if len(text) <= _LONGEST_NUMBER else TOO_LARGE
    # All parsers agree on .inf and .nan; the field's type then refuses them.
    if kind == "float" and (re.fullmatch(_FLOAT, text) or re.fullmatch(_NOT_FINITE, text)):
        return float(text.replace(".", "", 1)) if text[-1].isalpha() else float(text)
    if kind == "null" and text in {"", "~", "null"}:
        return None
    # Most texts need no pattern; compiling patterns takes long.
    begins_number = text[:1] in _BEGIN_NUMBERS
    is_text = text not in _LETTERS and not (begins_number and re.fullmatch(NUMBER, text))
    return text if kind == "str" and is_text else UNREADABLE


def _is_int(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits == "0" or (digits.isascii() and digits.isdecimal() and digits[0] != "0")


_read_short = functools.lru_cache(_MOST_KEPT_WORDS)(_read)


def truth(text: str) -> str | None:
    """Return ``true`` or ``false`` for a word that some YAML parser reads as such, like ``Yes``; None otherwise."""
    word = text.lower()
    return "true" if word in {"yes", "on", "true", "y"} else "false" if word in {"no", "off", "false", "n"} else None


def decimal(text: str) -> str | None:
    """Return the digits of a whole number in another YAML spelling, such as ``+1_000`` or ``0x10``.

    None if the number is not certain: ``010`` is 8 or 10.
    """
    if re.fullmatch(r"\+?(0|[1-9][0-9_]*)", text) and len(text) <= _LONGEST_NUMBER:
        return str(int(text.replace("_", "")))
    return str(int(text, 16)) if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", text) else None


def in_us(text: str) -> str | None:
    """Return the whole number of us of a time with a unit, such as ``300 ms``; None for any other word."""
    time = re.fullmatch(r"(?P<whole>[0-9]*)(\.(?P<part>[0-9]*))? ?(?P<unit>us|ms|s)", text)
    if time is None or len(text) > _LONGEST_NUMBER:
        return None
    part = time["part"] or ""
    if not time["whole"] + part:
        return None
    number_us, rest = divmod(int(time["whole"] + part) * _UNITS_US[time["unit"]], 10 ** len(part))
    return None if rest else str(number_us)


def plain_kind(text: str) -> str:
    """Return the type that YAML 1.1 gives a plain word, such as ``int``."""
    tag: str = _RESOLVER.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]
    return tag.removeprefix(_TAG)
