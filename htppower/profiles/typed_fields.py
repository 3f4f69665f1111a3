"""Reads plain values as the types of fields.

No value is converted (True is not 1, "12" is not 12). Reading continues after a finding, so that all findings of a file
are reported at once.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, get_args, get_origin

import attrs

from htppower.errors import Finding, KeyPath, shortened
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.field_limits import (
    ANYTHING,
    SHARE,
    WHAT,
    WHERE,
    Refused,
    Wanted,
    below,
    choices,
    fields_of,
    of_number,
    of_quoted,
    tags,
    unknown_keys,
    without_none,
    word_of_vendor,
    wrong,
    wrong_type,
)
from htppower.profiles.fields import CORNER_KEYS, UNSET
from htppower.profiles.yaml_words import in_us
from htppower.votes.clock_votes import ExpandedRange, HmxV2, VoltageRange
from htppower.votes.options import BY_CLASS, BY_FIELD
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    import enum
    from collections.abc import Callable, Iterable


@attrs.frozen
class StatedVotes:
    """The fields of a vote set that a file states.

    Attributes:
        fields: by their keys; one by one for a vote that changes only the fields it sets, otherwise the vote as a
            whole. None is the word unset.
    """

    fields: dict[KeyPath, Any]


# The descriptions of plain values in messages.
_PLAIN: dict[type[Any], str] = {int: "a whole number without a unit", bool: "true or false", str: "a word"}


def read(value: Any, kind: Any, name: str = "", wants: Wanted = ANYTHING) -> Any:
    """Read a value with the type and the limits of its field; the name is for messages.

    The type is int, float, str, bool, an enumeration, a class with fields, a list (``tuple[X, ...]``), or a union. A
    union holds classes that differ in their first field, and possibly one of int, str and bool.

    Raises:
        Refused: with every finding about the value.
    """
    if kind is str and type(value) is not str and (wants.words or wants.is_share):
        raise Refused(wrong_type(value, f"one of {', '.join(wants.words)}" if wants.words else SHARE))
    try:
        found = _reader_of(kind)(value, kind)
    except Refused as refused:
        number = in_us(value) if name.endswith("_us") and isinstance(value, str) else None
        if number is None:
            raise
        hinted = [attrs.evolve(each, hint=f"write {number}") for each in refused.findings]
        raise Refused(hinted, refused.partial) from None
    findings = wrong(found, name, wants)
    if findings:
        raise Refused(findings, found)
    return found


@functools.cache
def _reader_of(kind: Any) -> Callable[[Any, Any], Any]:
    if kind in READERS:
        return READERS[kind]
    if get_origin(kind) is tuple:
        return _items
    if type(None) in choices(kind):
        return _unset_or
    return _one_of if len(choices(kind)) > 1 else read_fields


def _plain(value: Any, kind: type[Any]) -> Any:
    if type(value) is kind:
        return value
    raise Refused(of_quoted(value, kind, _PLAIN[kind]))


def _number(value: Any, _kind: type[float]) -> float:
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return float(value)
    raise Refused(wrong_type(value, "a number without a unit"))


def _word(value: Any, kind: type[enum.Enum]) -> Any:
    if isinstance(value, str) and value in kind.__members__:
        return kind[value]
    what = WHAT[kind]
    if not isinstance(value, str):
        raise Refused(of_number(value, kind, what))
    name = word_of_vendor(value, kind)
    hint = did_you_mean(value, kind.__members__) if name is None else f"write {name}"
    raise Refused([Finding("VALUE-1", (), f"{shortened(value)!r} is not {what}", hint)])


def _unset_or(value: Any, kind: Any) -> Any:
    if value == UNSET and type(value) is str:
        return None
    if value is None:
        raise Refused([Finding("TYPE-1", (), "no value is stated", f"write {UNSET} for no vote")])
    stated = without_none(kind)
    return _reader_of(stated)(value, stated)


def _clock(value: Any, kind: Any) -> Any:
    """Read a range of corners, which may be stated as a single corner."""
    corner, _ = fields_of(kind)["target"]
    if isinstance(value, str):
        return kind.at(read(value, corner))
    if not isinstance(value, dict):
        raise Refused(of_number(value, corner, "a corner, or {min:, target:, max:}"))
    return _whole(value, kind)


def _vote_on_a_clock(value: Any, kind: type[Any]) -> Any:
    """Read corners and perf mode of one clock, or the word for the vote's default."""
    default = BY_CLASS[kind].default
    if default is not None and value == "default" and isinstance(value, str):
        return default
    if not isinstance(value, dict):
        words = "unset" if default is None else "default, unset"
        raise Refused(wrong_type(value, f"{words} or {{min:, target:, max:, perf_mode:}}"))
    try:
        return _whole(value, kind, without="pick_default")
    except Refused as refused:
        if kind is not HmxV2:
            raise
        raise Refused([_of_hmx(finding) for finding in refused.findings]) from None


def _of_hmx(finding: Finding) -> Finding:
    """Return a finding about an HMX vote; there, a word that is not an expanded corner breaks HMX-8."""
    is_corner = finding.rule == "VALUE-1" and finding.at[0] in CORNER_KEYS
    return attrs.evolve(finding, rule="HMX-8") if is_corner else finding


def _stated_votes(value: Any, _kind: type[Any]) -> StatedVotes:
    """Read the word unset as all votes unset, and a mapping as the votes that it states."""
    if value == UNSET and type(value) is str:
        return StatedVotes({(name,): None for name in BY_FIELD})
    partial = {
        name: vote
        for name, vote in (value.items() if isinstance(value, dict) else ())
        if isinstance(vote, dict) and name in BY_FIELD and BY_FIELD[name].partial
    }
    rest = {name: vote for name, vote in value.items() if name not in partial} if partial else value
    findings: list[Finding] = []
    found: dict[KeyPath, Any] = {}
    for name, vote in partial.items():
        try:
            stated = read_some(vote, type(BY_FIELD[name].taken_back))
            found.update({(name, field): each for field, each in stated.items()})
        except Refused as refused:
            findings += below(name, refused.findings)
    try:
        whole = {} if partial and not rest else read_some(rest, VoteSet)
        found.update({(name,): vote for name, vote in whole.items()})
    except Refused as refused:
        findings += refused.findings
    if findings:
        raise Refused(findings)
    return StatedVotes(found)


def _whole(value: Any, kind: type[Any], without: str = "") -> Any:
    """Read a mapping completely or not at all: the order of only some corners can't be checked."""
    try:
        return read_fields(value, kind, without=without)
    except Refused as refused:
        raise Refused(refused.findings) from None


def _items(value: Any, kind: Any) -> tuple[Any, ...]:
    if not isinstance(value, list):
        raise Refused(wrong_type(value, "a list"))
    found: dict[str, Any] = {}
    findings: list[Finding] = []
    for place, item in enumerate(value):
        findings += _read_field(item, str(place), get_args(kind)[0], ANYTHING, found)
    if findings:
        raise Refused(findings)
    return tuple(found.values())


def _one_of(value: Any, kind: Any) -> Any:
    """Read a mapping as the class that one of its keys indicates, and any other value as the union's plain type."""
    by_tag = tags(kind)
    if not isinstance(value, dict):
        plain = next((choice for choice in choices(kind) if choice in _PLAIN), None)
        if plain is None:
            raise Refused(wrong_type(value, f"a mapping with one of {', '.join(by_tag)}"))
        if type(value) is plain:
            return value
        wanted = f"{_PLAIN[plain]}, or {{{', '.join(f'{tag}: ...' for tag in by_tag)}}}"
        raise Refused(of_quoted(value, plain, wanted))
    stated = [name for name in value if name in by_tag]
    if len(stated) == 1:
        return read_fields(value, by_tag[stated[0]])
    known = {name: field for member in by_tag.values() for name, field in fields_of(member).items()}
    findings, _ = unknown_keys(value, tuple(known))
    if stated:
        message = f"{stated[1]} and {stated[0]} are both stated, but only one is allowed"
        findings.append(Finding("KEY-1", (stated[1],), message, "omit one of them", of_key=True))
        for name in (name for name in value if name in known):
            findings += _read_field(value[name], name, *known[name], {})
    if not findings:
        findings = [Finding("KEY-2", (), f"none of {', '.join(by_tag)} is stated", "state one of them")]
    raise Refused(findings)


def read_fields(value: Any, kind: Any, *, without: str = "", also: Iterable[str] = ()) -> Any:
    """Read a mapping into a class; every required field must be stated, and no unknown key.

    Files never state the field ``without``; the keys in ``also`` are known, too.

    Raises:
        Refused: with every finding, and the class with None for unreadable fields.
    """
    if not isinstance(value, dict):
        raise Refused(wrong_type(value, "a mapping of fields"))
    fields = {name: field for name, field in fields_of(kind).items() if name != without}
    findings, misspelt = unknown_keys(value, (*fields, *also))
    found: dict[str, Any] = {}
    for name, (stated, wants) in fields.items():
        if name in value:
            findings += _read_field(value[name], name, stated, wants, found)
        elif not wants.optional:
            found[name] = None
            if not misspelt & {name, "extends"}:
                hint = f"state it, or write '{name}: {UNSET}'" if type(None) in choices(stated) else "state it"
                findings.append(Finding("KEY-2", (), f"{WHERE}{name} is missing", hint, of_key=True))
    if findings:
        raise Refused(findings, kind(**found))
    return kind(**found)


def _read_field(value: Any, name: str, kind: Any, wants: Wanted, found: dict[str, Any]) -> list[Finding]:
    """Add a field of a class to ``found``, None if it can't be read; return the findings about it."""
    try:
        found[name] = read(value, kind, name, wants)
    except Refused as refused:
        found[name] = refused.partial
        return below(name, refused.findings)
    return []


def read_some(value: Any, kind: Any) -> dict[str, Any]:
    """Read the fields of a class that a mapping states, at least one.

    Raises:
        Refused: with every finding about the value.
    """
    if not isinstance(value, dict):
        raise Refused(wrong_type(value, f"{UNSET}, or a mapping of fields"))
    fields = fields_of(kind)
    findings, _ = unknown_keys(value, tuple(fields))
    found: dict[str, Any] = {}
    for name in (name for name in value if name in fields):
        findings += _read_field(value[name], name, *fields[name], found)
    if not value:
        findings.append(Finding("VALUE-1", (), "no field is stated", f"one of {', '.join(fields)}"))
    if findings:
        raise Refused(findings)
    return found


READERS: dict[Any, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(_PLAIN, _plain),
    float: _number,
    **dict.fromkeys(WHAT, _word),
    **dict.fromkeys((VoltageRange, ExpandedRange), _clock),
    **{kind: _vote_on_a_clock for kind, about in BY_CLASS.items() if not about.partial},
    StatedVotes: _stated_votes,
}
