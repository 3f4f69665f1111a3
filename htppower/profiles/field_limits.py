"""The limits of a field besides its type, and the findings about a value that its field refuses.

The limits are its range, its words, and whether it is optional. Both the reader of files and the JSON Schemas use them,
so they agree.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import attrs

from htppower.errors import Finding, shortened
from htppower.profiles.did_you_mean import did_you_mean, nearest
from htppower.profiles.sustain import is_share
from htppower.profiles.yaml_words import UNREADABLE, decimal, read_word
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.options import BY_FIELD
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    import enum
    from collections.abc import Iterable, Mapping

    from htppower.votes.option import Limits

# The name of a profile, a power state or a test. It is printed, and must not control a terminal.
NAME_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"

# One line of text: no control characters and no invisible ones, such as special spaces, joiners or direction marks.
ONE_LINE_PATTERN = (
    r"[^\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\ufeff\ufff9-\ufffb]*"
)

# The description of a share in per cent in messages.
SHARE = "a share of more than 0 and less than 100 %, such as 5 %"

# The descriptions of an enumeration's values in messages.
WHAT: dict[type[enum.Enum], str] = {
    VoltageCorner: "a corner",
    ExpandedCorner: "an expanded corner",
    PowerMode: "a power mode",
    ClkPerfMode: "a perf mode",
}

# A placeholder in messages for the path of keys to the field: only the top of the tree knows these keys.
WHERE = "\0"
_KEY = "wanted"
_UNIONS = (Union, type(int | None))


@attrs.frozen
class Wanted:
    """The limits of the value of a field.

    Attributes:
        says: the description of the field in editors and in the documentation.
        limits: the smallest and largest number, or item of a list.
        words: the allowed words; empty for any.
        only: the only allowed value, or None for any.
        is_name: the value is a name.
        one_line: the value is one line of text.
        is_share: the value is a share in per cent, such as 5 %.
        fewest: the smallest number of items in a list, or of characters in a text.
        most: the greatest number of them; 0 for any number.
        exactly: the number of items in a list; 0 for any number.
        each_once: no item of a list occurs twice.
        optional: the field may be omitted, and then has a default.
        may_be_unset: the word unset is allowed even if the field is optional; it means the same as omitting the field.
    """

    says: str = ""
    limits: tuple[int, int] | None = None
    words: tuple[str, ...] = ()
    only: Any = None
    is_name: bool = False
    one_line: bool = False
    is_share: bool = False
    fewest: int = 0
    most: int = 0
    exactly: int = 0
    each_once: bool = False
    optional: bool = False
    may_be_unset: bool = False


ANYTHING = Wanted()


def _unchecked(limits: Limits | None) -> tuple[int, int] | None:
    """Return a range that no rule checks, so that the reader of the file does."""
    return None if limits is None or limits.rule else (limits.low, limits.high)


# The ranges of votes that no rule checks, and the votes that may be omitted.
_OF_VOTES: dict[tuple[type[Any], str], Wanted] = {
    **{at: Wanted(limits=_unchecked(limits)) for at, limits in LIMITS.items()},
    **{
        (VoteSet, name): Wanted(limits=_unchecked(about.limits), optional=True, may_be_unset=True)
        for name, about in BY_FIELD.items()
        if about.optional
    },
}


def wanted(says: str, **options: Any) -> dict[str, Wanted]:
    """Return the metadata of an attrs field: its description, and other attributes of ``Wanted``."""
    return {_KEY: Wanted(says, **options)}


def field(says: str, *, default: Any = None, **options: Any) -> Any:
    """Return an attrs field of a file: its description, and other attributes of ``Wanted``.

    Only an optional field has a ``default``.
    """
    if options.get("optional"):
        return attrs.field(default=default, metadata=wanted(says, **options))
    return attrs.field(metadata=wanted(says, **options))


def declared(kind: type[Any]) -> Mapping[str, tuple[Any, Wanted]]:
    """Return the fields of a class: the type of each, and its limits."""
    return {
        each.name: (each.type, each.metadata.get(_KEY) or _OF_VOTES.get((kind, each.name), ANYTHING))
        for each in attrs.fields(kind)
    }


@functools.cache
def fields_of(kind: type[Any]) -> Mapping[str, tuple[Any, Wanted]]:
    """Return the fields of a class: the type of each in a file, and its limits."""
    return {name: (stated_type(of, wants), wants) for name, (of, wants) in declared(kind).items()}


@functools.cache
def choices(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; for any other type, the type alone."""
    return get_args(kind) if get_origin(kind) in _UNIONS else (kind,)


def stated_type(kind: Any, wants: Wanted) -> Any:
    """Return the type of a field in a file: None is the word unset, but not for an optional field."""
    return without_none(kind) if wants.optional and not wants.may_be_unset else kind


@functools.cache
def without_none(kind: Any) -> Any:
    """Return a union without None in it."""
    return functools.reduce(operator.or_, (choice for choice in choices(kind) if choice is not type(None)))


def tags(kind: Any) -> dict[str, Any]:
    """Return the classes in a union by the field that distinguishes each: its first field."""
    return {next(iter(declared(member))): member for member in choices(kind) if attrs.has(member)}


def wrong(value: Any, name: str, wants: Wanted) -> list[Finding]:
    """Return the findings about a field's value that has the right type."""
    if wants is ANYTHING or value is None:
        return []
    if wants.words:
        return _unknown_words(value, name, wants.words) + (_repeated(value) if wants.each_once else [])
    said: tuple[str, str] | None = None
    if wants.limits and (outside := _outside(value, wants.limits)):
        low, high = wants.limits
        said = f"{name} is {outside[0]}", f"{low} to {high}"
    elif wants.only is not None and value != wants.only:
        said = f"{name} is {str(value).lower()}", f"{str(wants.only).lower()}{', or omit it' if wants.optional else ''}"
    elif wants.is_name and not is_name(value):
        said = f"{shortened(value)!r} is not a name", "letters, digits, '_', '-' and '.', such as camera_burst"
    elif wants.one_line and not _is_one_line(value):
        said = f"the {name} holds a line break or an invisible character", "one line, with plain spaces"
    elif wants.is_share and not is_share(value):
        said = f"{name} is {shortened(value)!r}", f"{SHARE}, with at most four decimals"
    else:
        return _wrong_count(value, name, wants)
    return [] if said is None else [Finding("VALUE-1", (), *said)]


def _wrong_count(value: Any, name: str, wants: Wanted) -> list[Finding]:
    """Return the findings about the number of items of a list, or of characters of a text."""
    is_list = isinstance(value, tuple)
    said: tuple[str, str] | None = None
    if wants.fewest and len(value) < wants.fewest:
        said = f"{name} is empty", "state at least one" if is_list else "state a text"
    elif wants.most and len(value) > wants.most:
        said = f"{name} has {len(value)} {'items' if is_list else 'characters'}", f"up to {wants.most}"
    elif wants.exactly and len(value) != wants.exactly:
        said = f"{name} has {len(value)} items", f"state {wants.exactly}"
    elif wants.each_once:
        return _repeated(value)
    return [] if said is None else [Finding("VALUE-1", (), *said)]


def _outside(value: Any, limits: tuple[int, int]) -> list[int]:
    numbers = value if isinstance(value, tuple) else (value,)
    return [each for each in numbers if type(each) is int and not limits[0] <= each <= limits[1]]


def is_name(text: str) -> bool:
    """Return whether a text may be the name of a profile, a power state or a device model."""
    # Most names pass this test, which accepts a subset of the pattern and is faster.
    plain = text.isascii() and text.isidentifier()
    return plain or re.fullmatch(NAME_PATTERN, text) is not None


def _is_one_line(text: str) -> bool:
    # Most texts are printable ASCII, which the pattern accepts as well; compiling the pattern takes long.
    plain = text.isascii() and text.isprintable()
    return plain or re.fullmatch(ONE_LINE_PATTERN, text) is not None


def _repeated(value: tuple[Any, ...]) -> list[Finding]:
    return [
        Finding("VALUE-1", (str(place),), f"{shortened(str(item))!r} is given twice", "state it once")
        for place, item in enumerate(value)
        if item in value[:place]
    ]


def _unknown_words(value: Any, name: str, words: tuple[str, ...]) -> list[Finding]:
    listed = {(str(place),): word for place, word in enumerate(value)} if isinstance(value, tuple) else {(): value}
    return [
        Finding("VALUE-1", at, f"{shortened(word)!r} is not a known value of {name}", did_you_mean(word, words))
        for at, word in listed.items()
        if word not in words
    ]


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
