"""What the JSON Schemas say of the classes of files and votes, and of their fields."""

from __future__ import annotations

from typing import Any

import attrs

from htppower.profiles.field_limits import wanted_of
from htppower.profiles.fields import UNSET
from htppower.review.explain.meanings import OF_LIMITS
from htppower.votes.options import BY_CLASS, BY_FIELD
from htppower.votes.vote_set import VoteSet


def said_of(kind: type[Any]) -> str:
    """Return what a class is, in a sentence."""
    if kind is VoteSet:
        return f"The votes of one setPowerConfig call. {UNSET}: no vote on that option."
    if kind in BY_CLASS:
        return BY_CLASS[kind].does
    said: str = getattr(kind, "SAYS", "The corners of one clock, core or bus.")
    return said


def said_of_fields(kind: type[Any]) -> dict[str, str]:
    """Return what the fields of a class are, by name."""
    if kind is VoteSet:
        return {name: about.does for name, about in BY_FIELD.items()}
    of_struct = {field.name: field.does for field in BY_CLASS[kind].fields} if kind in BY_CLASS else {}
    return {
        field.name: of_struct.get(field.name) or OF_LIMITS.get(field.name) or wanted_of(kind, field).says
        for field in attrs.fields(kind)
    }
