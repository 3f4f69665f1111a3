"""What is wrong with the values of a profile that was made in code; of one from a file, its reader has said it."""

from __future__ import annotations

import enum
import numbers
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding
from htppower.profiles.field_limits import choices
from htppower.profiles.profile import Lowering, PowerState, Relax
from htppower.profiles.sustain import LONGEST_SUSTAIN_US
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
    if not isinstance(profile.name, str):
        yield _wrong_type(profile.name, ("profile",), "a text")
    yield from _wrong_votes(profile.votes, ("votes",))
    if profile.relax is not None:
        yield from _wrong_relax(profile.relax)


def _wrong_relax(relax: Any) -> Iterator[Finding]:
    if type(relax) is not Relax:
        yield _wrong_type(relax, ("relax",), "a Relax, or None")
        return
    for name in ("to", "after_deinit_to"):
        state = getattr(relax, name)
        if type(state) is not PowerState:
            yield _wrong_type(state, ("relax", name), "a PowerState")
        elif name == "to" or state != relax.to:
            yield from _wrong_votes(state.votes, ("relax", name))
    for name in ("after_init_us", "after_inference_us"):
        yield from _wrong_number(getattr(relax, name), ("relax", name), _SUSTAIN)
    if type(relax.lowering) is not Lowering:
        yield _wrong_type(relax.lowering, ("relax", "lowering"), "a Lowering")


def _wrong_votes(votes: Any, at: KeyPath) -> Iterator[Finding]:
    if type(votes) is not VoteSet:
        yield _wrong_type(votes, at, "a VoteSet")
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
            yield _wrong_type(value, below, _wanted(kinds))


def _wrong_number(value: Any, at: KeyPath, limits: Limits | None) -> Iterator[Finding]:
    if isinstance(value, (bool, enum.Enum)) or not isinstance(value, numbers.Integral):
        yield _wrong_type(value, at, "a whole number")
    elif limits is not None and not limits.rule and not limits.hold(int(value)):
        yield Finding("VALUE-1", at, f"{at[-1]} is {value}", str(limits))


def _wrong_type(value: Any, at: KeyPath, wanted: str) -> Finding:
    return Finding("TYPE-1", at, f"{at[-1]} is {value!r}", wanted)


def _wanted(kinds: tuple[Any, ...]) -> str:
    return " or ".join("None" if kind is type(None) else str(kind.__name__) for kind in kinds)
