"""Checks the values of a profile that was built in code; for a profile from a file, the reader has checked them."""

from __future__ import annotations

import enum
import numbers
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding
from htppower.profiles.field_limits import choices
from htppower.profiles.fields import CPU_LATENCY
from htppower.profiles.profile import (
    LONGEST_CPU_LATENCY_US,
    LONGEST_RAISE_AHEAD_US,
    Lowering,
    PowerState,
    Relax,
    Then,
)
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, SHARE_LIMITS_PPM, Adaptive
from htppower.votes.option import Limits
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile

_TIME = Limits(0, LONGEST_SUSTAIN_US)
_AHEAD = Limits(0, LONGEST_RAISE_AHEAD_US)
_CPU = Limits(0, LONGEST_CPU_LATENCY_US)
# The goals of a learnt time; exactly one of them is stated.
_GOALS = {"break_even_us": Limits(1, LONGEST_SUSTAIN_US), "cold_starts_ppm": Limits(*SHARE_LIMITS_PPM)}


def wrong_values(profile: Profile) -> Iterator[Finding]:
    """Yield a finding for each value that has the wrong type or is out of its field's range.

    If a rule checks the range, only the type is checked here.
    """
    if not isinstance(profile.name, str):
        yield _wrong_type(profile.name, ("profile",), "a text")
    yield from _wrong_votes(profile.votes, ("votes",))
    if profile.cpu_latency_us is not None:
        yield from _wrong_number(profile.cpu_latency_us, CPU_LATENCY, _CPU, "a whole number, or None")
    if profile.relax is not None:
        yield from _wrong_relax(profile.relax)


def _wrong_relax(relax: Any) -> Iterator[Finding]:
    if type(relax) is not Relax:
        yield _wrong_type(relax, ("relax",), "a Relax, or None")
        return
    yield from _wrong_state(relax.to, ("relax", "to"))
    if relax.after_deinit_to != relax.to:
        yield from _wrong_state(relax.after_deinit_to, ("relax", "after_deinit_to"))
    yield from _wrong_number(relax.after_init_us, ("relax", "after_init_us"), _TIME)
    yield from wrong_sustain(relax.after_inference_us, ("relax", "after_inference_us"))
    if type(relax.lowering) is not Lowering:
        yield _wrong_type(relax.lowering, ("relax", "lowering"), "a Lowering")
    if type(relax.then) is Then:
        yield from _wrong_state(relax.then.to, ("relax", "then", "to"))
        yield from wrong_sustain(relax.then.after_us, ("relax", "then", "after_us"))
    elif relax.then is not None:
        yield _wrong_type(relax.then, ("relax", "then"), "a Then, or None")
    yield from _wrong_number(relax.raise_ahead_us, ("relax", "raise_ahead_us"), _AHEAD)


def _wrong_state(state: Any, at: KeyPath) -> Iterator[Finding]:
    if type(state) is not PowerState:
        yield _wrong_type(state, at, "a PowerState")
    else:
        yield from _wrong_votes(state.votes, at)


def wrong_sustain(sustain: Any, at: KeyPath) -> Iterator[Finding]:
    """Yield a finding for each wrong value of a sustain time."""
    if type(sustain) is not Adaptive:
        yield from _wrong_number(sustain, at, _TIME, "a whole number, or an Adaptive")
        return
    goals = {name: getattr(sustain, name) for name in _GOALS}
    stated = {name: goal for name, goal in goals.items() if goal is not None}
    if len(stated) != 1:
        said = f"{at[-1]} states {' and '.join(stated) or 'no goal'}"
        yield Finding("VALUE-1", at, said, f"one of {' and '.join(goals)}")
    limits = {name: _GOALS[name] for name in stated}
    for name, limit in {**limits, "least_us": _TIME, "most_us": _TIME}.items():
        yield from _wrong_number(getattr(sustain, name), (*at, "adaptive", name), limit)


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


def _wrong_number(value: Any, at: KeyPath, limits: Limits | None, wanted: str = "a whole number") -> Iterator[Finding]:
    if isinstance(value, (bool, enum.Enum)) or not isinstance(value, numbers.Integral):
        yield _wrong_type(value, at, wanted)
    elif limits is not None and not limits.rule and not limits.hold(int(value)):
        yield Finding("VALUE-1", at, f"{at[-1]} is {value}", str(limits))


def _wrong_type(value: Any, at: KeyPath, wanted: str) -> Finding:
    return Finding("TYPE-1", at, f"{at[-1]} is {value!r}", wanted)


def _wanted(kinds: tuple[Any, ...]) -> str:
    return " or ".join("None" if kind is type(None) else str(kind.__name__) for kind in kinds)
