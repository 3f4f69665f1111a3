"""What a field of a file must be besides its type: its range, its words, whether it may be left out.

The reader of files and the JSON Schemas both read it from here, so that they agree.
"""

import functools
import operator
import re
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Union, get_args, get_origin

import attrs

from htppower.errors import Finding, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.shares import is_share
from htppower.votes.options import BY_FIELD
from htppower.votes.vote_set import LIMITS, VoteSet

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

# The name of a profile, a power state or a test. It is printed, and may not control a terminal.
NAME_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"

# One line of text: no control character, and nothing invisible: other spaces, joiners, marks of direction.
ONE_LINE_PATTERN = (
    r"[^\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\ufeff\ufff9-\ufffb]*"
)

# What a share in per cent is called in a message.
SHARE = "a share of more than 0 and less than 100 %, such as 5 %"

_KEY = "wanted"
_UNIONS = (Union, type(int | None))


class Wanted(NamedTuple):
    """What the value of a field must be.

    Attributes:
        says: what the field is, as an editor and the documentation say it.
        limits: the smallest and largest number.
        words: the words that it may be; empty for any.
        only: the one value that it may be, or None for any.
        is_name: it is a name.
        one_line: it is one line of text.
        is_share: it is a share in per cent, such as 5 %.
        fewest: how many items a list has at least.
        exactly: how many items a list has; 0 for any number.
        each_once: a list has no item twice.
        optional: the field may be left out, and has a default then.
        may_be_unset: it may be the word unset, also where it may be left out, which says the same.
        default: what a field of ``FileFields`` is that is left out; an attrs class has its own defaults.
    """

    says: str = ""
    limits: tuple[int, int] | None = None
    words: tuple[str, ...] = ()
    only: Any = None
    is_name: bool = False
    one_line: bool = False
    is_share: bool = False
    fewest: int = 0
    exactly: int = 0
    each_once: bool = False
    optional: bool = False
    may_be_unset: bool = False
    default: Any = None


ANYTHING = Wanted()

# Ranges of votes that no rule guards, and votes that may be left out.
_OF_VOTES: dict[tuple[type[Any], str], Wanted] = {
    **{at: Wanted(limits=(limits.low, limits.high)) for at, limits in LIMITS.items() if not limits.rule},
    **{(VoteSet, name): Wanted(optional=True, may_be_unset=True) for name, about in BY_FIELD.items() if about.optional},
}


def wanted(says: str, **options: Any) -> dict[str, Wanted]:
    """Return the metadata of an attrs field: what it is, and other attributes of ``Wanted``."""
    return {_KEY: Wanted(says, **options)}


def field(says: str, **options: Any) -> Any:
    """Return what declares a field of ``FileFields``: what it is, and other attributes of ``Wanted``."""
    return Wanted(says, **options)


class FileFields:
    """What stands in a mapping of a file: a subclass annotates each field with its type, and declares it by ``field``.

    Every start of the command makes such classes, for which attrs would take 0.25 ms each.

    Attributes:
        SAYS: what the mapping is, in a sentence.
    """

    SAYS: ClassVar[str]

    def __init__(self, **stated: Any) -> None:
        """Take the fields that are stated; the others have their defaults."""
        kind: Any = type(self)
        for name, (_, wants) in fields_of(kind).items():
            setattr(self, name, stated.get(name, wants.default))


def has_fields(kind: Any) -> bool:
    """Return whether a type is a class with fields, into which a mapping is read."""
    return isinstance(kind, type) and (issubclass(kind, FileFields) or attrs.has(kind))


def declared(kind: type[Any]) -> Mapping[str, tuple[Any, Wanted]]:
    """Return the fields of a class: the type of each, and what it must be besides."""
    if issubclass(kind, FileFields):
        return {name: (of, vars(kind)[name]) for name, of in kind.__annotations__.items()}
    return {
        each.name: (each.type, each.metadata.get(_KEY) or _OF_VOTES.get((kind, each.name), ANYTHING))
        for each in attrs.fields(kind)
    }


@functools.cache
def fields_of(kind: type[Any]) -> Mapping[str, tuple[Any, Wanted]]:
    """Return the fields of a class: the type that each has where it is stated, and what it must be besides."""
    return {name: (stated_type(of, wants), wants) for name, (of, wants) in declared(kind).items()}


@functools.cache
def choices(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, and of any other type that itself."""
    return get_args(kind) if get_origin(kind) in _UNIONS else (kind,)


def stated_type(kind: Any, wants: Wanted) -> Any:
    """Return the type that a field has where it is stated: None is the word unset, but not where it may be left out."""
    return without_none(kind) if wants.optional and not wants.may_be_unset else kind


@functools.cache
def without_none(kind: Any) -> Any:
    """Return a union without None in it."""
    return functools.reduce(operator.or_, (choice for choice in choices(kind) if choice is not type(None)))


def tags(kind: Any) -> dict[str, Any]:
    """Return the classes in a union by the field that tells one from the others: the first of each."""
    return {next(iter(declared(member))): member for member in choices(kind) if has_fields(member)}


def wrong(value: Any, name: str, wants: Wanted) -> list[Finding]:
    """Return what is wrong with a field's value, which is of the right type, beside what the field wants."""
    if wants is ANYTHING or value is None:
        return []
    if wants.words:
        return _unknown_words(value, name, wants.words) + (_repeated(value) if wants.each_once else [])
    said: tuple[str, str] | None = None
    if wants.limits and type(value) is int and not wants.limits[0] <= value <= wants.limits[1]:
        low, high = wants.limits
        said = f"{name} is {value}", f"{low} to {high}"
    elif wants.only is not None and value != wants.only:
        said = f"{name} is {str(value).lower()}", f"{str(wants.only).lower()}, or leave it out"
    elif wants.is_name and not is_name(value):
        said = f"{shortened(value)!r} is no name", "letters, digits, '_', '-' and '.', such as camera_burst"
    elif wants.one_line and not _is_one_line(value):
        said = f"the {name} holds a line break, or a character that can't be seen", "one line, with plain spaces"
    elif wants.is_share and not is_share(value):
        said = f"{name} is {shortened(value)!r}", f"{SHARE}, with four decimals at most"
    elif wants.fewest and len(value) < wants.fewest:
        said = f"{name} is empty", "state at least one"
    elif wants.exactly and len(value) != wants.exactly:
        said = f"{name} has {len(value)} items", f"state {wants.exactly}"
    return [] if said is None else [Finding("VALUE-1", (), *said)]


def is_name(text: str) -> bool:
    """Return whether a text may be the name of a profile, a power state or a device model."""
    # Most names are such words, for which the pattern says the same.
    plain = text.isascii() and text.isidentifier()
    return plain or re.fullmatch(NAME_PATTERN, text) is not None


def _is_one_line(text: str) -> bool:
    # Most texts are plain ASCII, for which the pattern, which takes long to compile, says the same.
    plain = text.isascii() and text.isprintable()
    return plain or re.fullmatch(ONE_LINE_PATTERN, text) is not None


def _repeated(value: tuple[Any, ...]) -> list[Finding]:
    return [
        Finding("VALUE-1", (str(place),), f"{shortened(item)!r} is there twice", "state it once")
        for place, item in enumerate(value)
        if item in value[:place]
    ]


def _unknown_words(value: Any, name: str, words: tuple[str, ...]) -> list[Finding]:
    listed = {(str(place),): word for place, word in enumerate(value)} if isinstance(value, tuple) else {(): value}
    return [
        Finding("VALUE-1", at, f"{shortened(word)!r} is not known as {name}", did_you_mean(word, words))
        for at, word in listed.items()
        if word not in words
    ]
