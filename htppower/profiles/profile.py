"""Performance profiles and power states as values."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.errors import located
from htppower.profiles.sustain import Adaptive, shortest_us
from htppower.rules.case import Case, Stay
from htppower.votes.options import PROCESS_WIDE
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.errors import Finding, KeyPath, Place
    from htppower.profiles.sustain import Sustain
    from htppower.rules.platforms import Platform

NO_VOTES = VoteSet()

# One second: votes that are up for longer before they are needed are a sustain time, not a raise ahead.
LONGEST_RAISE_AHEAD_US = 1_000_000
# One second: every idle state of a CPU wakes in less, so a larger limit would have no effect.
LONGEST_CPU_LATENCY_US = 1_000_000


def _path(source: str | os.PathLike[str] | None) -> Path | None:
    # The signatures of the classes show this type; that of ``attrs.converters.optional`` has none.
    return None if source is None else Path(source)


@attrs.frozen
class Provenance:
    """The source of the values of a profile that records the votes of another runtime.

    Attributes:
        how: ``measured`` (from the log of its library) or ``read`` (from its public source).
        of: what was measured or read, with its version.
        source: the place where it was found.
    """

    how: str
    of: str
    source: str

    def __str__(self) -> str:
        """Return all three attributes as one line."""
        return f"{self.how}: {self.of}; {self.source}"


@attrs.frozen(cache_hash=True)
class PowerState:
    """The votes that a profile relaxes to.

    Attributes:
        name: such as ``relaxed``.
        summary: one sentence.
        votes: its votes.
        source: its file, or None if it was built in code.
    """

    name: str
    summary: str
    votes: VoteSet
    source: Path | None = attrs.field(default=None, converter=_path)


class Lowering(str, enum.Enum):
    """The thread that lowers the votes after the last inference, for a profile whose sustain time is 0.

    Attributes:
        FOREGROUND: the caller's thread: the inference returns after the votes are lowered.
        BACKGROUND: the controller's own thread, soon afterwards: the inference returns without waiting for the native
            call. An inference that begins before this call is sent saves both the call and the raise. The votes stay up
            a little longer, and a failed call can't raise in the caller, whatever ``on_error`` says.
    """

    FOREGROUND = "foreground"
    BACKGROUND = "background"

    __str__ = str.__str__


@attrs.frozen
class Then:
    """The second power state of a profile, which follows the first.

    Attributes:
        to: the power state.
        after_us: how long the first power state lasts, in us, or how that is learnt; 0 skips the wait.
    """

    to: PowerState
    after_us: Sustain


@attrs.frozen
class Relax:
    """The power states that a profile relaxes to, and the times.

    Attributes:
        to: the power state.
        after_init_us: how long votes stay up after INIT, in us; 0 lowers at once.
        after_inference_us: the sustain time, in us, or how it is learnt; 0 lowers at once.
        lowering: the thread that lowers if the sustain time is 0; a sustain timer lowers on the controller's thread.
        after_deinit_to: the power state after DE-INIT; if omitted, ``to``.
        then: the second power state, or None.
        raise_ahead_us: how long before a predicted inference the votes are raised for it; 0 disables that.
    """

    to: PowerState
    after_init_us: int
    after_inference_us: Sustain
    lowering: Lowering = Lowering.FOREGROUND
    after_deinit_to: PowerState = attrs.field()
    then: Then | None = None
    raise_ahead_us: int = 0

    @after_deinit_to.default
    def _as_between_phases(self) -> PowerState:
        return self.to

    @property
    def lowers_in_background(self) -> bool:
        """Whether an inference may return before its votes are lowered at once in the background, without a timer."""
        return self.lowering is Lowering.BACKGROUND and shortest_us(self.after_inference_us) == 0


@attrs.frozen(cache_hash=True)
class Profile:
    """The votes of one performance mode.

    Attributes:
        name: such as ``burst``, or ``onnxruntime:burst`` for a record of what another runtime votes.
        summary: one sentence.
        votes: its votes; empty for system_settings.
        relax: the power states that it relaxes to, or None if it has no votes.
        source: its file, or None if it was built in code.
        lineage: its name, then the names of the profiles that it extends.
        origins: the file of each value, by its keys.
        provenance: the source of the values of a record; None for every other profile.
        cpu_latency_us: the longest time that a CPU may need to wake up while an inference runs, in us; None for no
            limit.
    """

    name: str
    summary: str
    votes: VoteSet
    relax: Relax | None
    source: Path | None = attrs.field(default=None, converter=_path)
    lineage: tuple[str, ...] = attrs.field()
    origins: dict[KeyPath, Place] = attrs.field(factory=dict, eq=False, hash=False, repr=False)
    provenance: Provenance | None = None
    cpu_latency_us: int | None = None

    @lineage.default
    def _only_itself(self) -> tuple[str, ...]:
        return (self.name,)

    def case(self, platform: Platform | None = None) -> Case:
        """Return the profile as input for the rules."""
        case = Case(self.votes, platform, lineage=self.lineage)
        relax = self.relax
        if relax is None:
            return case
        then = relax.then
        return attrs.evolve(
            case,
            lowered=tuple((at, state.votes) for at, state in power_states(self)),
            after_init=_stay(("relax", "after_init_us"), relax.after_init_us),
            after_inference=_stay(("relax", "after_inference_us"), relax.after_inference_us),
            in_background=relax.lowering is Lowering.BACKGROUND,
            then=None if then is None else then.to.votes,
            then_after=None if then is None else _stay(("relax", "then", "after_us"), then.after_us),
            raise_ahead_us=relax.raise_ahead_us,
        )

    def problem(self, finding: Finding) -> Finding:
        """Return a finding with its place in the profile's file, if it has one."""
        return located(finding, str(self.source or self.name), self.origins, {})


def file_of(value: Profile | PowerState) -> str | None:
    """Return the path of a value's file as a text; None if it was built in code."""
    return None if value.source is None else str(value.source)


def _stay(at: KeyPath, sustain: Sustain) -> Stay:
    """Return a time as input for the rules."""
    if isinstance(sustain, Adaptive):
        return Stay(at, sustain.least_us, sustain.most_us, sustain.break_even_us, is_learnt=True)
    return Stay(at, sustain, sustain)


def power_states(profile: Profile) -> tuple[tuple[KeyPath, PowerState], ...]:
    """Return the power states that a profile relaxes to, each once, by the keys of the first field that names it."""
    relax = profile.relax
    if relax is None:
        return ()
    named: list[tuple[KeyPath, PowerState]] = [(("relax", "to"), relax.to)]
    if relax.after_deinit_to != relax.to:
        named.append((("relax", "after_deinit_to"), relax.after_deinit_to))
    if relax.then is not None and relax.then.to not in (relax.to, relax.after_deinit_to):
        named.append((("relax", "then", "to"), relax.then.to))
    return tuple(named)


def with_states(relax: Relax, change: Callable[[PowerState], PowerState]) -> Relax:
    """Return a ``Relax`` with each power state changed."""
    then = relax.then
    return attrs.evolve(
        relax,
        to=change(relax.to),
        after_deinit_to=change(relax.after_deinit_to),
        then=None if then is None else attrs.evolve(then, to=change(then.to)),
    )


def without_process_settings(profile: Profile) -> Profile:
    """Return a profile without the votes that act only on the process that sends them, such as RPC polling.

    For a process that votes while another one runs the inferences: there they have no use, and polling costs CPU time.
    """
    if profile.relax is None:
        return profile
    relax = with_states(profile.relax, lambda state: attrs.evolve(state, votes=state.votes.without(*PROCESS_WIDE)))
    return attrs.evolve(profile, votes=profile.votes.without(*PROCESS_WIDE), relax=relax)


def is_held(profile: Profile) -> bool:
    """Return whether nothing is lowered between inferences, since all power states have the profile's own votes."""
    relax = profile.relax
    if relax is None or relax.to.votes != profile.votes:
        return False
    return relax.then is None or relax.then.to.votes == profile.votes
