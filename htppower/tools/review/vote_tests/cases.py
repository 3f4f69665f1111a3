"""A vote test as values: its cases, with their profiles loaded and each moment of the sequence at its time.

Also the faults of a test file that reading its fields one by one does not find.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, shortened
from htppower.events import Phase
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.tools.review.vote_tests.fields import DeinitStep, IdleStep, InferenceStep, InitStep, RestartStep, UseStep
from htppower.votes.options import BY_FIELD
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile
    from htppower.profiles.strict_yaml import Document
    from htppower.rules.platforms import Platform
    from htppower.tools.review.vote_tests.fields import CaseFields

_PHASES = {
    InitStep: (Phase.INIT, "init_us"),
    InferenceStep: (Phase.INFERENCE, "inference_us"),
    DeinitStep: (Phase.DEINIT, "deinit_us"),
}
# Rules that check a single value. A profile that breaks them is never voted.
_OF_ONE_VALUE = rules.ids(lambda rule: rule.refuses and not rule.needs)


class Happens(enum.Enum):
    """What happens to a session at a moment."""

    BEGIN = "a phase begins"
    END = "a phase ends"
    USE = "the profile changes"
    RESTART = "the subsystem restarts"


@attrs.frozen(eq=False)
class Moment:
    """One moment of a sequence.

    Attributes:
        at_us: the time, from the start of the case.
        happens: the kind of moment.
        step: the place of its step in the sequence. The end of a phase belongs to the beginning in the same step.
        phase: the phase that begins or ends.
        profile: the profile that is used from now on.
    """

    at_us: int
    happens: Happens
    step: int
    phase: Phase | None = None
    profile: Profile | None = None


@attrs.frozen(eq=False)
class Timeline:
    """The moments of a sequence, its end, and faults in its times."""

    moments: tuple[Moment, ...]
    end_us: int
    findings: tuple[Finding, ...]


@attrs.frozen(eq=False)
class Expectation:
    """What a test expects at one time. A field that is None is not checked.

    Attributes:
        at: the keys that lead to it in the test file.
        at_us: the time since the start of the case. What is due at that time happens before the check.
        state: the session's state.
        votes: the votes in force, by the keys that lead to them below ``votes``.
        calls: the number of native calls since the previous expectation.
        sent: the options that those calls carried.
        degraded: the rules that leave out votes of the profile.
    """

    at: KeyPath
    at_us: int
    state: str | None
    votes: dict[KeyPath, Any] | None
    calls: int | None
    sent: tuple[str, ...] | None
    degraded: tuple[str, ...] | None


@attrs.frozen(eq=False)
class VoteCase:
    """A fresh session on a platform, what happens to it until the end of the sequence, and the expectations."""

    name: str
    profile: Profile
    platform: Platform
    moments: tuple[Moment, ...]
    end_us: int
    expectations: tuple[Expectation, ...]

    @property
    def profiles(self) -> tuple[Profile, ...]:
        """Every profile that the case uses."""
        return (self.profile, *(moment.profile for moment in self.moments if moment.profile is not None))

    def with_profiles(self, replace: Callable[[Profile], Profile]) -> VoteCase:
        """Return the case with other profiles, including those that it changes to."""
        moments = (
            moment if moment.profile is None else attrs.evolve(moment, profile=replace(moment.profile))
            for moment in self.moments
        )
        return attrs.evolve(self, profile=replace(self.profile), moments=tuple(moments))


@attrs.frozen(eq=False)
class VoteTest:
    """A test file. Its ``document`` knows the place of every value."""

    path: str
    name: str
    cases: tuple[VoteCase, ...]
    document: Document


def timeline(steps: Sequence[Any], used: Sequence[Profile | None], at: KeyPath) -> Timeline:
    """Return the moments of a sequence.

    At the same time, phases of earlier steps end before later steps begin.

    Args:
        steps: the steps as in the file.
        used: for each step, the profile that it changes to.
        at: the keys that lead to the sequence.
    """
    moments: list[Moment] = []
    findings: list[Finding] = []
    earliest_us = end_us = 0
    for number, step in enumerate(steps):
        stated_us = getattr(step, "at_us", None)
        begin_us = end_us if stated_us is None else stated_us
        if begin_us < earliest_us:
            message = f"the step begins at {begin_us} us, before the step above it, or within its idle time"
            hint = f"{earliest_us} or more; sort steps by the time when they begin"
            findings.append(Finding("VALUE-1", (*at, str(number), "at_us"), message, hint))
        made = _moments(step, number, begin_us, used[number])
        duration_us = step.idle_us if isinstance(step, IdleStep) else made[-1].at_us - begin_us
        end_us = max(end_us, begin_us + duration_us)
        earliest_us = end_us if isinstance(step, IdleStep) else begin_us
        moments += made
    moments.sort(key=lambda moment: (moment.at_us, moment.step))  # stable: a phase begins before it ends
    return Timeline(tuple(moments), end_us, tuple(findings))


def _moments(step: Any, number: int, begin_us: int, used: Profile | None) -> list[Moment]:
    if isinstance(step, IdleStep):
        return []
    if isinstance(step, UseStep):
        return [Moment(begin_us, Happens.USE, number, profile=used)]
    if isinstance(step, RestartStep):
        return [Moment(begin_us, Happens.RESTART, number)]
    phase, duration = _PHASES[type(step)]
    begin = Moment(begin_us, Happens.BEGIN, number, phase)
    return [begin, attrs.evolve(begin, at_us=begin_us + getattr(step, duration), happens=Happens.END)]


def same_names(cases: Iterable[CaseFields]) -> Iterator[Finding]:
    """Yield a finding for every case with the name of a case above it."""
    seen = set()
    for number, case in enumerate(cases):
        if case.case in seen:
            message = f"another case is called {shortened(case.case)!r}, too"
            yield Finding("VALUE-1", ("cases", str(number), "case"), message, "name what is different about this one")
        seen.add(case.case)


def findings_of(expectations: Sequence[Expectation], end_us: int) -> Iterator[Finding]:
    """Yield faults in the expectations of a case whose sequence ends at this time."""
    before_us = 0
    for expectation in expectations:
        at = (*expectation.at, "at_us")
        if expectation.at_us < before_us:
            message = f"the expectation at {expectation.at_us} us is below one at {before_us} us"
            yield Finding("VALUE-1", at, message, "sort expectations by time")
        if expectation.at_us > end_us:
            message = f"at {expectation.at_us} us the sequence is over: it ends at {end_us} us"
            yield Finding("VALUE-1", at, message, "let time pass with a step idle_us")
        before_us = expectation.at_us
        stated = (expectation.state, expectation.votes, expectation.calls, expectation.sent, expectation.degraded)
        if all(part is None for part in stated):
            yield Finding("KEY-2", expectation.at, "nothing is expected", "state, votes, calls, sent or degraded")
        yield from _impossible(expectation)


def _impossible(expectation: Expectation) -> Iterator[Finding]:
    """Yield a finding for every vote that no profile can send."""
    stated = expectation.votes or {}
    votes: dict[str, Any] = {at[0]: vote for at, vote in stated.items() if len(at) == 1}
    for name in {at[0] for at in stated if len(at) > 1}:
        kind = type(BY_FIELD[name].taken_back)
        votes[name] = kind(**{field.name: stated.get((name, field.name)) for field in BY_FIELD[name].fields})
    for finding in rules.check(Case(VoteSet(**votes)), _OF_ONE_VALUE):
        yield attrs.evolve(finding, at=(*expectation.at, *finding.at))
