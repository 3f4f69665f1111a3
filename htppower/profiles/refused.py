"""Values of a file that are refused: the exception, and the findings about them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, shortened
from htppower.profiles.did_you_mean import did_you_mean, nearest
from htppower.profiles.yaml_words import UNREADABLE, decimal, read_word

if TYPE_CHECKING:
    import enum
    from collections.abc import Iterable

# A placeholder in messages for the path of keys to the field: only the top of the tree knows these keys.
WHERE = "\0"


class Refused(Exception):  # noqa: N818 - never leaves the reading of a file
    """A value that does not fit, with its readable parts."""

    def __init__(self, findings: list[Finding], partial: Any = None) -> None:
        super().__init__()
        self.findings = findings
        self.partial = partial


def below(name: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return findings about a value as findings about the mapping or list that contains it."""
    return [attrs.evolve(finding, at=(name, *finding.at)) for finding in findings]


def unknown_keys(value: dict[str, Any], known: tuple[str, ...]) -> tuple[list[Finding], set[str]]:
    """Return a finding for every unknown key, and the fields that they misspell, which need no separate finding."""
    findings, misspelt = [], set()
    for name in value:
        if name not in known:
            message = f"unknown key {shortened(name)!r}"
            findings.append(Finding("KEY-1", (name,), message, did_you_mean(name, known), of_key=True))
            misspelt.add(nearest(name, known) or "")
    return findings, misspelt


def wrong_type(value: Any, wanted: str) -> list[Finding]:
    """Return the finding about a type; empty if the value is already reported as unreadable."""
    if value is UNREADABLE:
        return []
    if value is None:
        return [Finding("TYPE-1", (), "no value is stated", f"write {wanted}")]
    words = {bool: "true or false", int: "a number", float: "a fraction", str: "a word", list: "a list"}
    said = words.get(type(value), "a mapping")
    if isinstance(value, float) and not math.isfinite(value):
        said = "not a finite number"
    word = shortened(value) if isinstance(value, str) else value
    shown = f"{word!r}, " if isinstance(value, (str, int, float)) else ""
    return [Finding("TYPE-1", (), f"{shown}{said}, where {wanted} is needed", f"write {wanted}")]


def of_quoted(value: Any, kind: type[Any], wanted: str) -> list[Finding]:
    """Return the finding about a value of another type; for a quoted number or truth value, the hint unquotes it."""
    findings = wrong_type(value, wanted)
    if type(value) is not str or kind is str or type(read_word(value.strip())) is not kind:
        return findings
    return [attrs.evolve(each, hint=f"write {value.strip()} without quotes") for each in findings]


def word_of_vendor(text: str, kind: type[enum.Enum]) -> str | None:
    """Return the word for a number or an enumerator of the vendor's header; None for any other text.

    The word NOM_PLUS is returned for 112, 0x70 and DCVS_VOLTAGE_VCORNER_NOM_PLUS.
    """
    number = decimal(text)
    for name, word in kind.__members__.items():
        if str(word.value) == number or getattr(word, "enumerator", None) == text:
            return name
    return None


def of_number(value: Any, kind: type[enum.Enum], wanted: str) -> list[Finding]:
    """Return the finding about a value that is not a word; for a native number, the hint names its word."""
    name = word_of_vendor(str(value), kind)
    findings = wrong_type(value, wanted)
    return findings if name is None else [attrs.evolve(each, hint=f"write {name}") for each in findings]
