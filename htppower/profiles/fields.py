"""The fields of a profile: by their keys, in the order of a file, and in its spelling."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.profiles.sustain import Adaptive, share_text
from htppower.votes.clock_votes import HMX_DEFAULT, ExpandedRange, VoltageRange
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile
    from htppower.votes.vote_set import VoteSet

CORNER_KEYS = ("min", "target", "max")
UNSET = "unset"
CPU_LATENCY: KeyPath = ("cpu_latency_us",)
# Fields that most files omit, with their defaults.
LEFT_OUT: Mapping[KeyPath, int | None] = MappingProxyType(
    {CPU_LATENCY: None, ("relax", "then"): None, ("relax", "raise_ahead_us"): 0}
)


def profile_fields(profile: Profile) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the fields of a profile's votes, its limit for the CPUs, and the fields of ``relax``; None if unset.

    Fields in ``LEFT_OUT`` are yielded only if they differ from their default.
    """
    yield from vote_fields(profile.votes)
    if profile.cpu_latency_us is not None:
        yield CPU_LATENCY, profile.cpu_latency_us
    if profile.relax is None:
        yield ("relax",), None
        return
    yield ("relax", "to"), profile.relax.to.name
    yield ("relax", "after_init_us"), profile.relax.after_init_us
    yield ("relax", "after_inference_us"), profile.relax.after_inference_us
    yield ("relax", "lowering"), profile.relax.lowering.value
    yield ("relax", "after_deinit_to"), profile.relax.after_deinit_to.name
    then = profile.relax.then
    if then is not None:
        yield ("relax", "then", "to"), then.to.name
        yield ("relax", "then", "after_us"), then.after_us
    if profile.relax.raise_ahead_us:
        yield ("relax", "raise_ahead_us"), profile.relax.raise_ahead_us


def vote_fields(votes: VoteSet) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the fields of a vote set: one by one for a vote that changes only the fields it sets, otherwise as a whole.

    An optional vote is yielded only if it is set.
    """
    if not votes:
        yield ("votes",), None
        return
    for name, about in BY_FIELD.items():
        vote = getattr(votes, name)
        if vote is not None and about.partial:
            for field in about.fields:
                yield ("votes", name, field.name), getattr(vote, field.name)
        elif vote is not None or not about.optional:
            yield ("votes", name), vote


def value_at(votes: VoteSet, at: KeyPath) -> Any:
    """Return the value at these keys of a vote set; None if it is unset."""
    value: Any = votes
    for name in at:
        value = None if value is None else getattr(value, name)
    return value


def limits(at: KeyPath, value: Any) -> Iterator[tuple[KeyPath, Any]]:
    """Yield the parts of a value one by one; any other value unchanged.

    The parts of a range are its corners; a vote on one clock has its perf mode in addition; a learnt time has the
    numbers below ``adaptive``.
    """
    if isinstance(value, Adaptive):
        yield from (((*at, "adaptive", name), part) for name, part in _learnt(value))
        return
    if not has_corners(value):
        yield at, value
        return
    for name in CORNER_KEYS:
        yield (*at, name), getattr(value, name)
    if hasattr(value, "perf_mode"):
        yield (*at, "perf_mode"), value.perf_mode


def _learnt(sustain: Adaptive) -> Iterator[tuple[str, int | str]]:
    if sustain.break_even_us is not None:
        yield "break_even_us", sustain.break_even_us
    if sustain.cold_starts_ppm is not None:
        yield "cold_starts", share_text(sustain.cold_starts_ppm)
    yield "least_us", sustain.least_us
    yield "most_us", sustain.most_us


def has_corners(value: Any) -> bool:
    """Return whether a value is a range of corners, or a vote on one clock with corners."""
    return hasattr(value, "target") and value != HMX_DEFAULT


def is_one_corner(value: Any) -> bool:
    """Return whether a value is a range with min = target = max, which a file may state as a single corner."""
    return isinstance(value, (VoltageRange, ExpandedRange)) and value.min == value.target == value.max


def spell(value: Any) -> str:
    """Return a value in the spelling of a file."""
    if value is None:
        return UNSET
    if isinstance(value, bool):
        return "true" if value else "false"
    if value == HMX_DEFAULT or is_one_corner(value):
        return "default" if value == HMX_DEFAULT else str(value.target.name)
    if has_corners(value):
        return f"{{{', '.join(f'{at[0]}: {spell(part)}' for at, part in limits((), value))}}}"
    if isinstance(value, Adaptive):
        return f"{{adaptive: {{{', '.join(f'{name}: {part}' for name, part in _learnt(value))}}}}}"
    return str(getattr(value, "name", value))
