"""Faults of a test file that reading its fields one by one does not find."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, shortened
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.options import BY_FIELD
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.tools.review.vote_tests.cases import Expectation
    from htppower.tools.review.vote_tests.fields import CaseFields

# Rules that check a single value. A profile that breaks them is never voted.
_OF_ONE_VALUE = rules.ids(lambda rule: rule.refuses and not rule.needs)


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
    """Yield a finding for every vote that no profile can cast."""
    stated = expectation.votes or {}
    votes: dict[str, Any] = {at[0]: vote for at, vote in stated.items() if len(at) == 1}
    for name in {at[0] for at in stated if len(at) > 1}:
        kind = type(BY_FIELD[name].taken_back)
        votes[name] = kind(**{field.name: stated.get((name, field.name)) for field in BY_FIELD[name].fields})
    for finding in rules.check(Case(VoteSet(**votes)), _OF_ONE_VALUE):
        yield attrs.evolve(finding, at=(*expectation.at, *finding.at))
