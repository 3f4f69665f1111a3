"""Suggests what an author meant by a word that YAML parsers read differently, based on the field that contains it."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.field_limits import choices, fields_of
from htppower.profiles.file_format import ProfileFields, StateFields
from htppower.profiles.refused import word_of_vendor
from htppower.profiles.typed_fields import WHAT
from htppower.profiles.yaml_words import NUMBER, plain_kind, truth

if TYPE_CHECKING:
    from htppower.errors import KeyPath

_FILES = {"profile": ProfileFields, "state": StateFields}


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
    kinds: tuple[Any, ...] = (_FILES[file],) if file in _FILES else ()
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
