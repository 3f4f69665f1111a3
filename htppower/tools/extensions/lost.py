"""The fields of a profile that an extension file can't express, or expresses differently."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Severity
from htppower.profiles.expressed import Lost
from htppower.profiles.fields import spell
from htppower.profiles.profile import Lowering, power_states
from htppower.profiles.sustain import VENDOR_SUSTAIN_US, Adaptive, first_us
from htppower.votes.clock_votes import DcvsV3

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import PowerState, Profile, Relax
    from htppower.votes.vote_set import VoteSet

# The votes that the vendor's voter sends only once, when the device is created.
_CAST_ONCE = ("rpc_control_latency_us", "rpc_polling_time_us", "adaptive_polling_time_us", "hmx_timeout_us")
_BESIDE = (*_CAST_ONCE, "ddr_perf_mode")


def written_states(profile: Profile) -> tuple[tuple[KeyPath, PowerState], ...]:
    """Return the power states that a file can express; it can't express the second one."""
    return tuple((at, state) for at, state in power_states(profile) if "then" not in at)


def sustains(relax: Relax) -> bool:
    """Return whether a sustain time is nearer to the 300 ms of the vendor's voter than to 0."""
    return first_us(relax.after_inference_us) >= VENDOR_SUSTAIN_US / 2


def lost_fields(profile: Profile) -> tuple[Lost, ...]:
    """Return the lost fields of a profile: warnings and notes, in the order of the fields."""
    votes, relax = profile.votes, profile.relax
    if relax is None:
        return ()
    found = [*_of_clocks(("votes",), votes), *_of_raised(votes)]
    for at, state in written_states(profile):
        found += _of_clocks(at, state.votes)
        found += _of_lowered(at, votes, state.votes)
    found += _taken_back([(("votes",), votes), *((at, state.votes) for at, state in written_states(profile))])
    found += _of_times(relax)
    if not _votes_on_clocks(profile):
        found = [each for each in found if each.field[-1] in _BESIDE]
        if not any(getattr(votes, name) for name in _CAST_ONCE) and votes.ddr_perf_mode is None:
            asks = "votes that ask for nothing"
            found += [_note(("votes",), asks, "nothing is voted"), _note(("relax",), asks, "nothing is lowered")]
        elif relax.after_inference_us or relax.after_init_us or relax.lowering is Lowering.BACKGROUND:
            found.append(_note(("relax",), "when the votes are lowered", "they are sent once, and stay"))
    return tuple(dict.fromkeys(found))


def _votes_on_clocks(profile: Profile) -> bool:
    states = (state.votes for _, state in written_states(profile))
    return any(votes.hvx is not None for votes in (profile.votes, *states))


def _of_clocks(at: KeyPath, votes: VoteSet) -> Iterator[Lost]:
    """Yield the lost fields among the votes on clocks."""
    hvx, field = votes.hvx, votes.hvx_field
    if hvx is None:
        yield _note((*at, field), "unset", "a vote that asks for nothing is sent, with all corners DISABLE")
    elif hvx.sleep_disable is not None:
        sleep = (*at, field, "sleep_disable")
        if isinstance(hvx, DcvsV3) and hvx.sleep_disable:
            yield Lost(sleep, "true", "the vendor's parser refuses sleep_disable, and false is voted")
        elif not hvx.sleep_disable:
            yield _note(sleep, "false", "the vendor's voter votes it whether it is unset or false")
    for name in ("dcvs_enable", "sleep_latency_us", "bus", "core") if hvx is not None else ():
        if hasattr(hvx, name) and getattr(hvx, name) is None:
            yield _note((*at, field, name), "unset", "the value that cancels an earlier vote is voted")
    if votes.hmx_v2 is None:
        yield _note((*at, "hmx_v2"), "unset", "the matrix unit follows the core, the same as without a vote")


def _of_raised(votes: VoteSet) -> Iterator[Lost]:
    """Yield the lost fields among the votes that are not on clocks."""
    if votes.rpc_control_latency_us is None:
        yield _note(("votes", "rpc_control_latency_us"), "unset", "0 is voted, which is not a vote")
    if votes.rpc_polling_time_us is None:
        yield _note(("votes", "rpc_polling_time_us"), "unset", "it is not voted, the same as for 0")
    if votes.adaptive_polling_time_us == 0:
        yield _note(("votes", "adaptive_polling_time_us"), "0 us", "it is not voted, the same as for unset")


def _of_lowered(at: KeyPath, raised: VoteSet, lowered: VoteSet) -> Iterator[Lost]:
    """Yield the lost fields among the votes of a power state that the vendor's voter sends only once, or by itself."""
    for name in _BESIDE:
        before, after = getattr(raised, name), getattr(lowered, name)
        says = "unset" if after is None else str(after).lower()
        if name == "ddr_perf_mode":
            if after is not None or before is not None:
                yield _note((*at, name), says, "the key of the core applies to all votes")
        elif after and after != before:
            yield Lost((*at, name), says, f"{before or 0}, which is voted once, stays")
        elif before or after is not None or name == "rpc_polling_time_us":
            yield _note((*at, name), says, f"{before or 0}, which is voted once, stays")


def _taken_back(sets: list[tuple[KeyPath, VoteSet]]) -> Iterator[Lost]:
    """Yield the votes on the compression engine that one set leaves unset and another one sets."""
    for name in ("ceng", "ceng_exp"):
        if any(getattr(votes, name) is not None for _, votes in sets):
            for at, votes in sets:
                if getattr(votes, name) is None:
                    yield _note((*at, name), "unset", "the vote that cancels it is sent")


def _of_times(relax: Relax) -> Iterator[Lost]:
    at = ("relax", "after_init_us")
    if relax.after_init_us:
        yield Lost(at, f"{relax.after_init_us} us", "the votes are lowered as soon as INIT has ended")
    if relax.after_inference_us not in (0, VENDOR_SUSTAIN_US):
        kept = f"{VENDOR_SUSTAIN_US} us" if sustains(relax) else "0 us"
        learnt = isinstance(relax.after_inference_us, Adaptive)
        says = f"{spell(relax.after_inference_us)}{'' if learnt else ' us'}"
        yield Lost(("relax", "after_inference_us"), says, f"{kept}: the voter knows only 0 and {VENDOR_SUSTAIN_US} us")
    if relax.lowering is Lowering.BACKGROUND:
        yield Lost(("relax", "lowering"), "background", "the voter lowers before the inference returns")
    if relax.then is not None:
        yield Lost(("relax", "then"), relax.then.to.name, "the voter relaxes once")
    if relax.raise_ahead_us:
        yield Lost(("relax", "raise_ahead_us"), f"{relax.raise_ahead_us} us", "the voter raises as an inference begins")


def _note(at: KeyPath, says: str, instead: str) -> Lost:
    return Lost(at, says, instead, Severity.NOTE)
