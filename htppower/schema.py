"""From a plain tree to the fields of a profile or power state, by the types of their attrs classes.

Nothing is taken for anything else (no True for 1, no "12" for 12), and reading goes on after a problem, so that all
problems of a file are reported at once.
"""

import enum
import re
from collections.abc import Callable, Iterable
from typing import Any, Union, get_args, get_origin

import attrs

from htppower.cases import Path
from htppower.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes import HMX_DEFAULT, HmxV2, VoltageRange, VoteSet
from htppower.words import UNREADABLE

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

UNSET = "unset"
LARGEST_UINT32 = 2**32 - 1
# An hour. A vote held up longer than that by a timer alone is a mistake, not a profile.
LONGEST_SUSTAIN_US = 3_600_000_000


@attrs.frozen(repr=False, eq=False)
class RelaxFields:
    """The relax part of a profile file."""

    to: str
    after_init_us: int
    after_inference_us: int


@attrs.frozen(repr=False, eq=False)
class ProfileFields:
    """A profile file."""

    profile: str
    summary: str
    votes: VoteSet | None
    relax: RelaxFields | None


@attrs.frozen(repr=False, eq=False)
class StateFields:
    """A power state file."""

    state: str
    summary: str
    votes: VoteSet | None


@attrs.frozen(repr=False, eq=False)
class Mistake:
    """One thing wrong with a tree.

    Attributes:
        at: the keys that lead to it.
        rule, message, hint: as in a Problem.
        of_key: the key is wrong, not its value.
        also: other values at which it can be mended.
    """

    at: Path
    rule: str
    message: str
    hint: str = ""
    of_key: bool = False
    also: tuple[Path, ...] = ()

    @property
    def candidates(self) -> tuple[Path, ...]:
        """Where the mistake can be mended, the best place first."""
        return (self.at, *self.also)


class _Refused(Exception):  # noqa: N818 - never leaves this file
    """A value that does not fit, with what could be made of it."""

    def __init__(self, mistakes: list[Mistake], partial: Any = None) -> None:
        super().__init__()
        self.mistakes = mistakes
        self.partial = partial


# Stands in a message for the fields that lead to it, which only the top of the tree knows.
_WHERE = "\0"

_NAME = re.compile(r"\w[\w.-]*", re.ASCII)

# Ranges of values that no rule of the votes bounds.
_RANGES: dict[Path, tuple[int, int]] = {
    ("votes", "rpc_control_latency_us"): (0, LARGEST_UINT32),
    ("votes", "adaptive_polling_time_us"): (0, LARGEST_UINT32),
    ("relax", "after_init_us"): (0, LONGEST_SUSTAIN_US),
    ("relax", "after_inference_us"): (0, LONGEST_SUSTAIN_US),
}


def structure(tree: Any, kind: type[Any]) -> tuple[Any, tuple[Mistake, ...]]:
    """Return the fields that could be read (None for those that could not), and every mistake."""
    try:
        fields, mistakes = _read(tree, kind), []
    except _Refused as refused:
        fields, mistakes = refused.partial, refused.mistakes
    placed = [
        attrs.evolve(mistake, message=mistake.message.replace(_WHERE, "".join(f"{key}." for key in mistake.at)))
        for mistake in mistakes
    ]
    return fields, (*placed, *_out_of_range(tree), *_misnamed(tree))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known word, or with all of them."""
    known = list(known)
    near = _nearest(word, known)
    return f"did you mean {near}?" if near else f"one of {', '.join(known)}"


def _nearest(word: str, known: Iterable[str]) -> str | None:
    import difflib  # noqa: PLC0415 - only for a wrong word

    by_case = {name.casefold(): name for name in known}
    near = difflib.get_close_matches(word.casefold(), by_case, n=1)
    return by_case[near[0]] if near else None


def _misnamed(tree: Any) -> list[Mistake]:
    """Return what is wrong with the texts: they are printed, so they may not do anything to a terminal."""
    mistakes = []
    for name in ("profile", "state", "summary"):
        value = tree.get(name) if isinstance(tree, dict) else None
        if not isinstance(value, str):
            continue
        if name == "summary" and not value.isprintable():
            mistakes.append(Mistake((name,), "VALUE-1", "the summary is not one line of text", "one sentence"))
        elif name != "summary" and not _NAME.fullmatch(value):
            message = f"{value!r} is no name"
            mistakes.append(
                Mistake((name,), "VALUE-1", message, "letters, digits, '_', '-' and '.', such as camera_burst")
            )
    return mistakes


def _out_of_range(tree: Any) -> list[Mistake]:
    mistakes = []
    for at, (low, high) in _RANGES.items():
        part, name = at
        section = tree.get(part) if isinstance(tree, dict) else None
        value = section.get(name) if isinstance(section, dict) else None
        if type(value) is int and not low <= value <= high:
            mistakes.append(Mistake(at, "VALUE-1", f"{name} is {value}", f"{low} to {high}"))
    return mistakes


def _read(value: Any, kind: Any) -> Any:
    """Read a value as what a field's type says.

    Raises:
        _Refused: with every mistake in it.
    """
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(value, kind)
    if type(None) in get_args(kind):
        return _unset_or(value, kind)
    return _fields(value, kind)


def _plain(value: Any, kind: type[Any]) -> Any:
    if type(value) is kind:
        return value
    words = {int: "a whole number, without a unit", bool: "true or false", str: "a word"}
    raise _Refused(_wrong_type(value, words[kind]))


def _word(value: Any, kind: type[enum.Enum]) -> Any:
    if isinstance(value, str) and value in kind.__members__:
        return kind[value]
    what = _WHAT[kind]
    if not isinstance(value, str):
        raise _Refused(_wrong_type(value, what))
    rule = "HMX-8" if kind is ExpandedCorner else "VALUE-1"
    raise _Refused([Mistake((), rule, f"{value!r} is not {what}", did_you_mean(value, kind.__members__))])


_WHAT: dict[type[enum.Enum], str] = {
    VoltageCorner: "a corner",
    ExpandedCorner: "an expanded corner",
    PowerMode: "a power mode",
    ClkPerfMode: "a perf mode",
}


def _unset_or(value: Any, kind: Any) -> Any:
    if value == UNSET and type(value) is str:
        return None
    if value is None:
        raise _Refused([Mistake((), "TYPE-1", "no value is stated", f"write {UNSET} for no vote")])
    (inner,) = (arg for arg in get_args(kind) if arg is not type(None))
    return _read(value, inner)


def _voltage_range(value: Any, kind: type[Any]) -> VoltageRange:
    if isinstance(value, str):
        return VoltageRange.at(_read(value, VoltageCorner))
    if not isinstance(value, dict):
        raise _Refused(_wrong_type(value, "a corner, or {min:, target:, max:}"))
    fields: VoltageRange = _whole(value, kind)
    return fields


def _hmx(value: Any, kind: type[Any]) -> HmxV2:
    if value == "default" and isinstance(value, str):
        return HMX_DEFAULT
    if not isinstance(value, dict):
        raise _Refused(_wrong_type(value, "default, unset or {min:, target:, max:, perf_mode:}"))
    fields: HmxV2 = _whole(value, kind, without="pick_default")
    return fields


def _whole(value: Any, kind: type[Any], without: str = "") -> Any:
    """Read a mapping of which a part alone means nothing: corners without their order can't be checked."""
    try:
        return _fields(value, kind, without)
    except _Refused as refused:
        raise _Refused(refused.mistakes) from None


def _fields(value: Any, kind: type[Any], without: str = "") -> Any:
    """Read a mapping into a class, every field stated and none unknown."""
    if not isinstance(value, dict):
        raise _Refused(_wrong_type(value, "a mapping of fields"))
    wanted = {field.name: field.type for field in attrs.fields(kind) if field.name != without}
    mistakes, misspelt = _unknown_keys(value, (*wanted, "extends") if kind in _FILES else tuple(wanted))
    found: dict[str, Any] = {}
    for name, field_type in wanted.items():
        found[name] = None
        if name not in value:
            if not misspelt & {name, "extends"}:
                unset = get_origin(field_type) in _UNIONS
                hint = f"state it, or write '{name}: {UNSET}'" if unset else "state it"
                mistakes.append(Mistake((), "KEY-2", f"{_WHERE}{name} is missing", hint, of_key=True))
            continue
        try:
            found[name] = _read(value[name], field_type)
        except _Refused as refused:
            found[name] = refused.partial
            mistakes += [attrs.evolve(mistake, at=(name, *mistake.at)) for mistake in refused.mistakes]
    if mistakes:
        raise _Refused(mistakes, kind(**found))
    return kind(**found)


def _unknown_keys(value: dict[str, Any], known: tuple[str, ...]) -> tuple[list[Mistake], set[str]]:
    """Return a mistake for every unknown key, and the fields that they misspell, which are not missing besides."""
    mistakes, misspelt = [], set()
    for name in value:
        if name not in known:
            mistakes.append(Mistake((name,), "KEY-1", f"unknown key {name!r}", did_you_mean(name, known), of_key=True))
            misspelt.add(_nearest(name, known) or "")
    return mistakes, misspelt


_READERS: dict[Any, Callable[[Any, Any], Any]] = {
    **dict.fromkeys((int, str, bool), _plain),
    **dict.fromkeys(_WHAT, _word),
    VoltageRange: _voltage_range,
    HmxV2: _hmx,
}
_FILES = (ProfileFields, StateFields)
_UNIONS = (Union, type(int | None))


def _wrong_type(value: Any, wanted: str) -> list[Mistake]:
    """Return the mistake, none where the value is already reported as unreadable."""
    if value is UNREADABLE:
        return []
    if value is None:
        return [Mistake((), "TYPE-1", "no value is stated", f"write {wanted}")]
    words = {bool: "true or false", int: "a number", float: "a fraction", str: "a word", list: "a list"}
    said = words.get(type(value), "a mapping")
    shown = f"{value!r}, " if isinstance(value, (str, int, float)) else ""
    return [Mistake((), "TYPE-1", f"{shown}{said}, where {wanted} is needed", f"write {wanted}")]
