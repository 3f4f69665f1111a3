"""What several checks of votes ask of a case."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, KeyPath
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case
    from htppower.votes.clock_votes import DcvsV3, DcvsV3Exp
    from htppower.votes.option import Option, VoteOption
    from htppower.votes.vote_set import VoteSet


def in_any_form(votes: VoteSet, option: Option) -> Iterator[tuple[VoteOption, Any]]:
    """Yield the votes of a set on an option and on its other form; a set that keeps the rules has one at most."""
    forms = (option, VOTE_OPTIONS[option].other_form)
    for voted, vote in votes.items():
        if voted in forms:
            yield VOTE_OPTIONS[voted], vote


def hvx_at(case: Case) -> KeyPath:
    """Return where the HVX vote of a case is, or would be."""
    return ("votes", case.votes.hvx_field)


def hvx_to_state(case: Case) -> str:
    """Return the field of the HVX vote to state where there is none: the expanded form beside an expanded vote."""
    return "dcvs_v3" if case.votes.ceng_exp is None else "dcvs_v3_exp"


def both_forms(rule: str, votes: VoteSet, option: Option, what: str) -> Iterator[Finding]:
    """Yield that a vote is there in both forms, of which the library takes one."""
    plain = VOTE_OPTIONS[option]
    expanded = VOTE_OPTIONS[plain.other_form or option]
    if votes.get(plain.option) is not None and votes.get(expanded.option) is not None:
        message = f"{what} is there in both forms, {plain.field} and {expanded.field}"
        hint = f"{plain.field}: unset, or {expanded.field}: unset"
        yield Finding(rule, ("votes", expanded.field), message, hint, also=(("votes", plain.field),))


def missing(case: Case, rule: str, so: str) -> Iterator[Finding]:
    """Yield the votes that degrade under a rule, since the platform lacks their option."""
    for option in case.votes.options if case.platform is not None else ():
        about = VOTE_OPTIONS[option]
        if about.rule_if_missing == rule and case.platform is not None and not case.platform.has(option):
            message = f"no {option.name} votes on Hexagon V{case.platform.arch}: {so}"
            yield Finding(rule, ("votes", about.field), message, case.platform.needs(option))


def resulting_hvx(case: Case) -> DcvsV3 | DcvsV3Exp | None:
    """Return the HVX vote that the id has once the set is sent."""
    voted = case.votes.hvx
    in_force = None if case.in_force is None else case.in_force.hvx
    if voted is None:
        return in_force
    if voted.core is None and in_force is not None and type(in_force) is type(voted):
        left: dict[str, Any] = {"core": in_force.core}
        return attrs.evolve(voted, **left)
    return voted


def disorder(corners: Any) -> tuple[str, str]:
    """Return which corner is above which that it may not be above, and what to change, either way; DISABLE aside.

    Both are empty where the corners are in order.
    """
    limits = ((name, getattr(corners, name)) for name in ("min", "target", "max"))
    # A corner that can't be read, which is told besides, is None.
    voted = [(name, corner) for name, corner in limits if corner is not None and corner.name != "DISABLE"]
    wrong = [
        (low, below.name, high, above.name)
        for (low, below), (high, above) in itertools.pairwise(voted)
        if below > above
    ]
    said = ", ".join(f"{low} {below} is above {high} {above}" for low, below, high, above in wrong)
    return said, ", ".join(f"{low} {above} or lower, or {high} {below} or higher" for low, below, high, above in wrong)
