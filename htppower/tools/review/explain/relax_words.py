"""The meaning of the words of a profile that most profiles leave out, and of the words below those.

They are about a learnt time, a second power state, a raise ahead, and a limit for the CPUs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from htppower.profiles.field_limits import choices, fields_of
from htppower.profiles.file_format import (
    AdaptiveFields,
    BreakEvenFields,
    ColdStartsFields,
    ProfileFields,
    RelaxFields,
    ThenFields,
)
from htppower.tools.review.explain.meanings import meaning_of
from htppower.tools.review.explain.subject import Subject
from htppower.tools.review.lint.catalogue import CATALOGUE, rules_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath

_SUSTAIN: KeyPath = ("relax", "after_inference_us")
_FURTHER: KeyPath = ("relax", "then", "after_us")
_LEARNT = "relax: {after_inference_us: {adaptive: {break_even_us: 100000, least_us: 20000, most_us: 150000}}}"
_THEN = "relax: {then: {to: released, after_us: 1000000}}"


class _Word(NamedTuple):
    """One word.

    Attributes:
        places: the keys that lead to it, for each of its places.
        kinds: the classes of a file that have a field of that name.
        example: the lines of a profile that state it.
    """

    places: tuple[KeyPath, ...]
    kinds: tuple[type, ...]
    example: str


def _learnt(name: str, *kinds: type, example: str = _LEARNT) -> _Word:
    return _Word(((*_SUSTAIN, "adaptive", name), (*_FURTHER, "adaptive", name)), kinds, example)


_WORDS: Mapping[str, _Word] = {
    "adaptive": _Word(((*_SUSTAIN, "adaptive"), (*_FURTHER, "adaptive")), (), _LEARNT),
    "break_even_us": _learnt("break_even_us", BreakEvenFields),
    "cold_starts": _learnt(
        "cold_starts", ColdStartsFields, example="relax: {after_inference_us: {adaptive: {cold_starts: 5 %}}}"
    ),
    "least_us": _learnt("least_us", BreakEvenFields, ColdStartsFields),
    "most_us": _learnt("most_us", BreakEvenFields, ColdStartsFields),
    "then": _Word((("relax", "then"),), (RelaxFields,), _THEN),
    "to": _Word((("relax", "to"), ("relax", "then", "to")), (RelaxFields, ThenFields), _THEN),
    "after_us": _Word((_FURTHER,), (ThenFields,), _THEN),
    "raise_ahead_us": _Word((("relax", "raise_ahead_us"),), (RelaxFields,), "relax: {raise_ahead_us: 5000}"),
    "cpu_latency_us": _Word((("cpu_latency_us",),), (ProfileFields,), "cpu_latency_us: 44"),
}


def words() -> tuple[str, ...]:
    """Return the words."""
    return tuple(_WORDS)


def is_word(name: str) -> bool:
    """Return whether a name is a word: alone, with its place, or with the end of its place (``then.after_us``)."""
    parts = tuple(name.split("."))
    word = _WORDS.get(parts[-1])
    return word is not None and (len(parts) == 1 or any(place[-len(parts) :] == parts for place in word.places))


def word_subjects(name: str) -> tuple[Subject, ...]:
    """Return what a word means, even if the name includes its place; empty for any other name."""
    if not is_word(name):
        return ()
    word = name.rpartition(".")[2]
    found = _WORDS[word]
    meanings = {".".join(place): meaning_of(place) for place in found.places}
    facts = [("stands", ", ".join(map(".".join, found.places))), *_takes(found, word), ("example", found.example)]
    rules = rules_on(*found.places)
    if rules:
        facts.append(("rules", "; ".join(f"{rule}: {CATALOGUE[rule].says.rstrip('.')}" for rule in rules)))
    does = dict.fromkeys(meaning.does for meaning in meanings.values())
    sections = dict.fromkeys(meaning.section for meaning in meanings.values())
    if len(sections) > 1:
        sections = dict.fromkeys(f"{place}: {meaning.section}" for place, meaning in meanings.items())
    facts.append(("vendor", "; ".join(sections)))
    return (Subject("key", word, " ".join(does), tuple(facts)),)


def _takes(word: _Word, name: str) -> Iterator[tuple[str, str]]:
    """Yield what a file may have for a word: its range or form."""
    if not word.kinds:
        yield "takes", "{break_even_us: ...} or {cold_starts: ...}, each with least_us and most_us if wanted"
        return
    kind, wants = fields_of(word.kinds[0])[name]
    if wants.limits is not None:
        low, high = wants.limits
        yield "range", f"{low} to {high}"
        if AdaptiveFields in choices(kind):
            yield "or takes", "{adaptive: ...}, so that each session learns it"
    elif kind is str and not wants.is_share:
        yield "takes", wants.says.rstrip(".")
    elif wants.is_share:
        yield "takes", "a share of more than 0 and less than 100 %, such as 5 %"
    else:
        yield "takes", "{to: STATE, after_us: TIME}, or unset"
