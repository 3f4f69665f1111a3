"""The files that people write, as classes, and functions that read a plain tree into such a class.

The types of the fields determine how they are read (``typed_fields.py``); ``field`` describes them. The JSON Schemas
are generated from both, and so are the hints for a word that YAML parsers read differently. The sentence about a class
is its ``SAYS``, since ``python -OO`` removes docstrings.
"""

import enum
import re
from typing import Any

import attrs

from htppower.errors import Finding, KeyPath
from htppower.profiles.field_limits import WHAT, WHERE, Refused, choices, field, fields_of, tags, word_of_vendor
from htppower.profiles.profile import LONGEST_CPU_LATENCY_US, LONGEST_RAISE_AHEAD_US, Lowering
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive, Sustain, is_share, share_ppm
from htppower.profiles.typed_fields import read_fields
from htppower.profiles.yaml_words import NUMBER, plain_kind, truth
from htppower.votes.vote_set import VoteSet

# No `from __future__ import annotations`: the types of the fields are read.

_HOW = ("measured", "read")
_LOWERINGS = tuple(word.value for word in Lowering)
_TIME = (0, LONGEST_SUSTAIN_US)
_LEAST = field("the shortest time that may be chosen, in us; default: 0.", limits=_TIME, optional=True, default=0)


@attrs.frozen(repr=False, eq=False)
class BreakEvenFields:
    """The mapping ``adaptive`` with a break-even time, which compares the costs of a short and a long time."""

    SAYS = "A time that is chosen to cost least, based on a break-even time."

    break_even_us: int = field(
        "the break-even time: how long idle votes that are up cost as much as a raise and a lowering, in us.",
        limits=(1, LONGEST_SUSTAIN_US),
    )
    least_us: int = _LEAST
    most_us: int | None = field(
        "the longest time that may be chosen, in us; default: twice the break-even time.",
        limits=_TIME,
        optional=True,
    )


@attrs.frozen(repr=False, eq=False)
class ColdStartsFields:
    """The mapping ``adaptive`` with a share of inferences that may wait for a raise."""

    SAYS = "The shortest time that keeps a share of cold starts."

    cold_starts: str = field(
        "the share of the inferences after a gap that may wait for a raise, such as 5 %.", is_share=True
    )
    least_us: int = _LEAST
    most_us: int | None = field(
        "the longest time that may be chosen, in us; default: 10 s.", limits=_TIME, optional=True
    )


# A mapping has exactly one of these two keys; a file that extends another may replace one by the other.
LearntFields = BreakEvenFields | ColdStartsFields


@attrs.frozen(repr=False, eq=False)
class AdaptiveFields:
    """A learnt time, instead of a number."""

    SAYS = "A time that each session learns from the gaps between its inferences."

    adaptive: LearntFields = field("how the time is learnt: by break_even_us, or by cold_starts.")


SustainFields = int | AdaptiveFields


@attrs.frozen(repr=False, eq=False)
class ThenFields:
    """The mapping ``then``."""

    SAYS = "The second power state of a profile, which follows the first."

    to: str = field("a power state, by the name of its file in a folder states, or by path.")
    after_us: SustainFields = field(
        "how long the first power state lasts, in us, or how that is learnt; 0 skips the wait.", limits=_TIME
    )


@attrs.frozen(repr=False, eq=False)
class RelaxFields:
    """The mapping ``relax`` of a profile."""

    SAYS = "The power states that a profile relaxes to, and the times."

    to: str = field("a power state, by the name of its file in a folder states, or by path.")
    after_init_us: int = field("how long the votes stay up after INIT, in us; 0 lowers at once.", limits=_TIME)
    after_inference_us: SustainFields = field(
        "the sustain time: how long they stay up after the last inference, in us, or how that is learnt; 0 lowers "
        "at once.",
        limits=_TIME,
    )
    lowering: str = field(
        "if the sustain time is 0: foreground lowers the votes before the inference returns, background soon "
        "afterwards, outside the caller's thread; default: foreground.",
        words=_LOWERINGS,
        optional=True,
        default=Lowering.FOREGROUND.value,
    )
    after_deinit_to: str = field(
        "the power state after DE-INIT, stated like to; default: the same as to.", optional=True, default=""
    )
    then: ThenFields | None = field(
        "the second power state, which follows the first; default: none.", optional=True, may_be_unset=True
    )
    raise_ahead_us: int = field(
        "how long before a predicted inference the votes are raised for it, in us; 0, the default, disables that.",
        limits=(0, LONGEST_RAISE_AHEAD_US),
        optional=True,
        default=0,
    )


def sustain_of(stated: SustainFields | None) -> Sustain:
    """Return the stated time; parts that can't be read, which are reported elsewhere, count as 0."""
    if not isinstance(stated, AdaptiveFields):
        return stated or 0
    learnt = stated.adaptive
    limits = {} if learnt is None or learnt.most_us is None else {"most_us": learnt.most_us}
    if isinstance(learnt, BreakEvenFields) and learnt.break_even_us:
        return Adaptive(break_even_us=learnt.break_even_us, least_us=learnt.least_us or 0, **limits)
    if isinstance(learnt, ColdStartsFields) and is_share(learnt.cold_starts or ""):
        return Adaptive(cold_starts_ppm=share_ppm(learnt.cold_starts), least_us=learnt.least_us or 0, **limits)
    return 0


@attrs.frozen(repr=False, eq=False)
class ProvenanceFields:
    """The mapping ``provenance`` of a profile."""

    SAYS = "The source of the values, for a profile that records the votes of another runtime."

    how: str = field("measured: from the log of its library; read: from its public source.", words=_HOW)
    of: str = field("what was measured or read, with its version.", one_line=True)
    source: str = field("the place where it was found.", one_line=True)


@attrs.frozen(repr=False, eq=False)
class ProfileFields:
    """The file of a profile."""

    SAYS = "A profile: the votes of one performance mode, the power states that it relaxes to, and the times."

    profile: str = field("its name, as shown in status, events and logs.", is_name=True)
    summary: str = field("one sentence.", one_line=True)
    votes: VoteSet | None = field("its votes; unset for no votes, no power config id and no call.")
    relax: RelaxFields | None = field("what follows after a raise; unset only if the profile has no votes.")
    provenance: ProvenanceFields | None = field(
        "the source of the values, for a record of the votes of another runtime.", optional=True
    )
    cpu_latency_us: int | None = field(
        "the longest time that a CPU may need to wake up while an inference runs, in us; default: no limit.",
        limits=(0, LONGEST_CPU_LATENCY_US),
        optional=True,
        may_be_unset=True,
    )


@attrs.frozen(repr=False, eq=False)
class StateFields:
    """The file of a power state."""

    SAYS = "A power state: the votes that a profile relaxes to."

    state: str = field("its name.", is_name=True)
    summary: str = field("one sentence.", one_line=True)
    votes: VoteSet | None = field("its votes.")


FILES: dict[str, type[Any]] = {"profile": ProfileFields, "state": StateFields}
# Files that may extend another file of the same kind. The key is not a field, since it is resolved before reading.
EXTENDING = tuple(FILES.values())

# Keys that exclude each other: if a file that extends another states one of them, it replaces the others.
ONE_OF = (frozenset(tags(LearntFields)),)


def structure(tree: Any, kind: type[Any]) -> tuple[Any, tuple[Finding, ...]]:
    """Return the fields, with None for unreadable ones, and all findings."""
    try:
        return read_fields(tree, kind, also=("extends",) if kind in EXTENDING else ()), ()
    except Refused as refused:
        return refused.partial, tuple(_placed(finding) for finding in refused.findings)


def _placed(finding: Finding) -> Finding:
    """Return a finding whose message names the path of fields to it, beginning after the last list."""
    lists = [place for place, key in enumerate(finding.at) if key.isdecimal()]
    keys = finding.at[lists[-1] + 1 :] if lists else finding.at
    return attrs.evolve(finding, message=finding.message.replace(WHERE, "".join(f"{key}." for key in keys)))


def meant(text: str, file: str, at: KeyPath) -> str:
    """Return a hint for a word in the field of a profile, state or test with these keys.

    The suggestion fits the type of the field; if the field is unknown, the hint states the type that it fits.
    """
    kinds = _kinds_at(file, at)
    if kinds:
        return _of_type(text, kinds)
    word = truth(text)
    if word is not None:
        return f"write {word}; if a text is meant, quote it"
    if plain_kind(text) in {"int", "float"} or re.fullmatch(NUMBER, text):
        return "write a decimal number; if a text is meant, quote it"
    return "quote the word"


def _of_type(word: str, kinds: tuple[Any, ...]) -> str:
    if bool in kinds:
        return f"write {truth(word) or 'true or false'}"
    if int in kinds:
        return "write a decimal number"
    if str in kinds:
        return "quote the word"
    words = filter(None, (_words_of(kind) for kind in kinds))
    name = next(filter(None, (word_of_vendor(word, each) for each in words)), None)
    return f"write {name or _named(kinds)}{', or unset' if type(None) in kinds and name is None else ''}"


def _kinds_at(file: str, at: KeyPath) -> tuple[Any, ...]:
    """Return the types that a field's value may have; empty if the field does not exist."""
    if at == ("extends",):
        return (str,)
    kinds: tuple[Any, ...] = (FILES[file],) if file in FILES else ()
    for key in at:
        holders = [fields_of(kind) for kind in kinds if attrs.has(kind)]
        found = next((fields[key][0] for fields in holders if key in fields), None)
        kinds = () if found is None else choices(found)
    return kinds


def _named(kinds: tuple[Any, ...]) -> str:
    """Return a description of the values of these types: a word, a corner for a range, or fields."""
    return next((WHAT[words] for words in map(_words_of, kinds) if words is not None), "its fields")


def _words_of(kind: Any) -> type[enum.Enum] | None:
    """Return the words that are allowed for a type: an enumeration, or the corners that a range may be stated as."""
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind
    target = fields_of(kind).get("target") if attrs.has(kind) else None
    return None if target is None else target[0]
