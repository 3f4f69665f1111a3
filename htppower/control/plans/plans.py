"""Plans: the votes of a profile on this platform.

Votes that the platform lacks are left out or replaced, and reported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError, RuleBreach
from htppower.events import Degradation
from htppower.profiles.made_in_code import wrong_values
from htppower.profiles.profile import NO_VOTES, Lowering, Profile, power_states
from htppower.profiles.sustain import Adaptive
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS
from htppower.votes.vote_set import first_equal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from htppower.profiles.sustain import Sustain
    from htppower.rules.platforms import Platform
    from htppower.votes.native import Option
    from htppower.votes.vote_set import VoteSet

_DEGRADING = rules.ids(lambda rule: rule.degrades)


@attrs.frozen
class Plan:
    """The votes and times that a session uses.

    Attributes:
        profile: the profile.
        raised: its votes, without those that the platform lacks; empty if the profile has none.
        casts: whether ``raised`` has votes. It is read often, and quicker than a test of the vote set.
        learns: whether the session needs ``Learning``: a time is learnt, votes are raised ahead, there is a second
            power state, or a limit for the CPUs is held.
        lowered: the votes of its power state, without those that the platform lacks.
        after_deinit: the votes of the power state after DE-INIT, without those that the platform lacks.
        after_init_us: how long votes stay up after INIT.
        after_inference_us: how long votes stay up after an inference, or how that time is learnt.
        lowering: which thread lowers the votes after an inference if after_inference_us is 0.
        raise_ahead_us: how long before a predicted inference the votes are raised; 0 for never.
        then: the votes of the second power state, without those that the platform lacks; None if the profile has none.
        then_after_us: how long after the first lowering the votes relax to the second power state, or how this time is
            learnt.
        cpu_latency_us: the limit on the latency of the CPUs while inferences run; None for none, and without hardware.
        degradations: the votes that are left out.
        missing: the value of ``Missing.changes`` when the plan was made.
    """

    profile: Profile
    raised: VoteSet
    lowered: VoteSet
    after_deinit: VoteSet
    after_init_us: int
    after_inference_us: Sustain
    lowering: Lowering
    raise_ahead_us: int
    then: VoteSet | None
    then_after_us: Sustain
    cpu_latency_us: int | None
    degradations: tuple[Degradation, ...]
    missing: int = attrs.field(eq=False)
    casts: bool = attrs.field(init=False, eq=False, repr=False)
    learns: bool = attrs.field(init=False, eq=False, repr=False)

    @casts.default
    def _(self) -> bool:
        return bool(self.raised)

    @learns.default
    def _(self) -> bool:
        learnt = isinstance(self.after_inference_us, Adaptive)
        return learnt or self.raise_ahead_us > 0 or self.then is not None or self.cpu_latency_us is not None

    def relaxed(self, *, after_deinit: bool) -> VoteSet:
        """Return the votes of a lowering; ``after_deinit``: whether the phase that ended last was a DE-INIT."""
        return self.after_deinit if after_deinit else self.lowered


class Missing:
    """The options that the library has answered to be missing on the platform. One engine has one such object.

    Attributes:
        options: the degradation of each missing option. The dictionary is replaced as a whole, so any thread may read
            it.
        changes: how often ``options`` was replaced.
    """

    def __init__(self) -> None:
        self.options: dict[Option, Degradation] = {}
        self.changes = 0
        self._refused: set[Option] = set()

    def add(self, lost: Degradation, *, refused: bool = False) -> None:
        """Add an option. With ``refused``, FastRPC refuses it now, and may accept it on a new device."""
        self.options = {**self.options, lost.option: lost}
        self.changes += 1
        if refused:
            self._refused.add(lost.option)

    def forget_refused(self) -> None:
        """Remove the options that FastRPC has refused, so that they are tried again."""
        if self._refused:
            self.options = {option: lost for option, lost in self.options.items() if option not in self._refused}
            self._refused.clear()
            self.changes += 1


# The cache has a limit, since a host may make any number of profiles.
_MOST_PLANS = 256


class Planner:
    """Makes plans, one for each profile, for the platform of one backend.

    Args:
        platform: the platform; None if it is not known.
        missing: the options that the platform lacks, as far as calls have shown.
        strict: whether a profile with a vote that the platform lacks is an error.
        hardware: whether votes reach hardware; if not, no limit for the CPUs is held either.
    """

    def __init__(self, platform: Platform | None, missing: Missing, *, strict: bool, hardware: bool = False) -> None:
        self.platform = platform
        self.missing = missing
        self._strict = strict
        self._hardware = hardware
        self._plans: dict[tuple[Profile, int], Plan] = {}

    def plan(self, profile: Profile) -> Plan:
        """Return the plan of a profile.

        Raises:
            ProfileError: the profile was made in code, and a value has the wrong type or is out of range.
            RuleBreach: a rule refuses the profile on this platform, or the platform lacks one of its votes and
                ``strict`` is set.
        """
        try:
            key = (profile, self.missing.changes)
            made = self._plans.get(key)
        except TypeError:
            _refuse_values(profile)  # a value without a hash has the wrong type
            raise
        if made is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            _refuse_values(profile)
            _refuse(profile, self.platform)
            made = _plan(profile, self.platform, self.missing, self._hardware)
            if self._strict and made.degradations:
                raise RuleBreach(
                    profile.problem(
                        Finding(lost.rule, ("votes", VOTE_OPTIONS[lost.option].field), lost.message, lost.hint)
                    )
                    for lost in made.degradations
                )
            self._plans[key] = made
        return made


def _plan(profile: Profile, platform: Platform | None, absent: Missing, hardware: bool) -> Plan:
    relax, missing = profile.relax, absent.options
    lowered, after_deinit = (NO_VOTES,) * 2 if relax is None else (relax.to.votes, relax.after_deinit_to.votes)
    then = None if relax is None else relax.then
    found: dict[Option, Degradation] = {}
    for votes in dict.fromkeys((profile.votes, lowered, after_deinit, NO_VOTES if then is None else then.to.votes)):
        for finding in rules.check(Case(votes, platform, lineage=profile.lineage), _DEGRADING):
            option = BY_FIELD[finding.at[-1]].option
            found.setdefault(option, Degradation(finding.rule, finding.message, option, finding.hint))
        for option, vote in votes.items():
            # A default vote has its effect even if it can't be sent (rule HMX-4), so leaving it out is not a
            # degradation.
            if option in missing and vote != VOTE_OPTIONS[option].default:
                found.setdefault(option, missing[option])
        found.update(_without_hvx(votes, _available(votes, platform, missing), found))
    return Plan(
        profile,
        _available(profile.votes, platform, missing),
        _available(lowered, platform, missing),
        _available(after_deinit, platform, missing),
        0 if relax is None else relax.after_init_us,
        0 if relax is None else relax.after_inference_us,
        Lowering.FOREGROUND if relax is None else relax.lowering,
        0 if relax is None else relax.raise_ahead_us,
        None if then is None else _available(then.to.votes, platform, missing),
        0 if then is None else then.after_us,
        profile.cpu_latency_us if hardware else None,
        tuple(found.values()),
        absent.changes,
    )


def _without_hvx(
    votes: VoteSet, available: VoteSet, found: Mapping[Option, Degradation]
) -> Iterator[tuple[Option, Degradation]]:
    """Yield the votes that are left out because they need an HVX vote and the platform lacks it."""
    if votes.hvx is None or available.hvx is not None:
        return
    lost = BY_FIELD[votes.hvx_field]
    for option, vote in votes.items():
        about = VOTE_OPTIONS[option]
        if about.needs_hvx and vote and vote != about.default and option not in found:
            message = f"{option.name} needs an HVX vote on the id, and this platform has no {lost.option.name}"
            yield option, Degradation(lost.rule_if_missing, message, option)


def _available(votes: VoteSet, platform: Platform | None, missing: Mapping[Option, Degradation]) -> VoteSet:
    absent = [
        option for option in VOTE_OPTIONS if option in missing or (platform is not None and not platform.has(option))
    ]
    # Equal vote sets become one object, so that the ledgers find them quickly. They come from several controllers, or
    # from profiles that were loaded twice.
    return first_equal(votes.where_absent(*absent) if absent else votes)


def _refuse_values(profile: Profile) -> None:
    """Raise an error if a value of a profile fits no option.

    Raises:
        ProfileError: with every such value.
    """
    wrong = tuple(wrong_values(profile))
    if wrong:
        raise ProfileError(profile.problem(finding) for finding in wrong)


def _refuse(profile: Profile, platform: Platform | None) -> None:
    """Raise an error if a profile breaks a rule on this platform.

    Raises:
        RuleBreach: with every breach, and its place in the file if the profile comes from a file.
    """
    broken = rules.errors(profile.case(platform))
    for _, state in power_states(profile):
        broken += rules.errors(Case(state.votes, platform))
    if broken:
        raise RuleBreach(profile.problem(finding) for finding in broken)
