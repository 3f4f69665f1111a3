"""What is wrong with the values of a profile that was made in code; of one from a file, its reader has said it."""

from __future__ import annotations

import enum
import numbers
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding
from htppower.profiles.field_limits import choices
from htppower.profiles.file_format import LONGEST_SUSTAIN_US
from htppower.votes.option import Limits
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile

_SUSTAIN = Limits(0, LONGEST_SUSTAIN_US)


def wrong_values(profile: Profile) -> Iterator[Finding]:
    """Yield a finding for each value that is of the wrong type, or out of its field's range.

    A range that a rule guards is left to the rule, once the value is a number at all.
    """
    yield from _wrong_votes(profile.votes, ("votes",))
    if profile.relax is not None:
        yield from _wrong_votes(profile.relax.to.votes, ("relax", "to"))
        for name in ("after_init_us", "after_inference_us"):
            yield from _wrong_number(getattr(profile.relax, name), ("relax", name), _SUSTAIN)


def _wrong_votes(votes: Any, at: KeyPath) -> Iterator[Finding]:
    if type(votes) is not VoteSet:
        yield Finding("TYPE-1", at, f"{at[-1]} is {votes!r}", "a VoteSet")
        return
    yield from _wrong_fields(votes, at)


def _wrong_fields(holder: Any, at: KeyPath) -> Iterator[Finding]:
    for field in attrs.fields(type(holder)):
        value = getattr(holder, field.name)
        kinds = choices(field.type)
        if value is None and type(None) in kinds:
            continue
        below = (*at, field.name)
        if type(value) in kinds and attrs.has(type(value)):
            yield from _wrong_fields(value, below)
        elif int in kinds:
            yield from _wrong_number(value, below, LIMITS.get((type(holder), field.name)))
        elif type(value) not in kinds:
            yield Finding("TYPE-1", below, f"{field.name} is {value!r}", _wanted(kinds))


def _wrong_number(value: Any, at: KeyPath, limits: Limits | None) -> Iterator[Finding]:
    if isinstance(value, (bool, enum.Enum)) or not isinstance(value, numbers.Integral):
        yield Finding("TYPE-1", at, f"{at[-1]} is {value!r}", "a whole number")
    elif limits is not None and not limits.rule and not limits.hold(int(value)):
        yield Finding("VALUE-1", at, f"{at[-1]} is {value}", str(limits))


def _wanted(kinds: tuple[Any, ...]) -> str:
    return " or ".join("None" if kind is type(None) else str(kind.__name__) for kind in kinds)
