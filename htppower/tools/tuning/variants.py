"""The profiles to try for a session: each unchanged, and with polling switched on or off if that is valid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.loading import load_profile
from htppower.profiles.names import LLM_DECODE_PROFILES, SHIPPED_PROFILES, SYSTEM_SETTINGS
from htppower.profiles.profile import Lowering, Profile, is_held
from htppower.rules import table as rules
from htppower.votes.options import Option, needing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.profiles.sustain import Sustain

# The vendor's own profiles poll this long; it is the longest valid time (rule RPC-1).
POLLING_US = 9999
_DECODE = frozenset(LLM_DECODE_PROFILES)


@attrs.frozen
class Variant:
    """A profile, and whether it polls.

    Attributes:
        base: the profile that its name stands for.
        profile: the same profile with polling as it is tried here.
    """

    base: Profile
    profile: Profile

    @property
    def name(self) -> str:
        """The name of the profile."""
        return self.base.name

    @property
    def polls(self) -> bool:
        """Whether the CPU polls for the answer of an inference."""
        return bool(self.profile.votes.rpc_polling_time_us)

    @property
    def changed(self) -> bool:
        """Whether polling is on here and off in the base profile, or the reverse."""
        return self.polls != bool(self.base.votes.rpc_polling_time_us)

    def __str__(self) -> str:
        """Return the name of the profile, and its polling if that is changed."""
        return f"{self.name}, polling {'on' if self.polls else 'off'}" if self.changed else self.name

    def under(self, sustain: Sustain) -> Profile:
        """Return the profile with a sustain time. With 0 it lowers in the background: no inference waits for that."""
        relax = self.profile.relax
        if relax is None:
            raise ValueError(f"{self.name} sends no votes, so nothing is lowered")
        lowering = Lowering.BACKGROUND if sustain == 0 else Lowering.FOREGROUND
        return attrs.evolve(
            self.profile,
            relax=attrs.evolve(relax, after_inference_us=sustain, lowering=lowering, then=None, raise_ahead_us=0),
        )


def candidates_beside(measured_under: Profile) -> tuple[str, ...]:
    """Return the names of the profiles to try for a session: the decode profiles if it was recorded under one."""
    names = LLM_DECODE_PROFILES if _DECODE & set(measured_under.lineage) else SHIPPED_PROFILES
    return tuple(name for name in names if name != SYSTEM_SETTINGS)


def variants(names: Iterable[str], folders: Iterable[str] = ()) -> tuple[tuple[Variant, ...], tuple[str, ...]]:
    """Return the variants of some profiles, and why others are left out.

    Raises:
        ProfileError: a profile can't be found or read.
    """
    found: list[Variant] = []
    notes: list[str] = []
    for name in dict.fromkeys(names):
        profile = load_profile(name, folders=folders)
        if not profile.votes or profile.relax is None:
            notes.append(f"{profile.name} is left out: it sends no votes, so its cost is not known")
        elif is_held(profile):
            notes.append(f"{profile.name} is left out: it never lowers its votes")
        else:
            found.extend(_with_polling(profile))
    return tuple(found), tuple(notes)


def _with_polling(profile: Profile) -> Iterator[Variant]:
    """Yield a profile unchanged, and with polling switched on or off unless a rule warns about that."""
    yield Variant(profile, profile)
    votes = profile.votes
    if votes.rpc_polling_time_us:
        changed = attrs.evolve(votes.without(*needing(Option.RPC_POLLING_TIME)), rpc_polling_time_us=0)
    else:
        changed = attrs.evolve(votes, rpc_polling_time_us=POLLING_US)
    other = attrs.evolve(profile, votes=changed)
    warned = {finding.rule for finding in rules.check(profile.case())}
    if all(finding.rule in warned for finding in rules.check(other.case())):
        yield Variant(profile, other)
