"""Questions that several checks share."""

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
    from htppower.votes.option import VoteOption
    from htppower.votes.options import Option
    from htppower.votes.vote_set import VoteSet


def in_any_form(votes: VoteSet, option: Option) -> Iterator[tuple[VoteOption, Any]]:
    """Yield the votes of a set on an option and on its other form. A valid set has only one of them."""
    forms = (option, VOTE_OPTIONS[option].other_form)
    for voted, vote in votes.items():
        if voted in forms:
            yield VOTE_OPTIONS[voted], vote


def hvx_at(case: Case) -> KeyPath:
    """Return the keys of the HVX vote of a case; without one, the keys that it would have."""
    return ("votes", case.votes.hvx_field)


def hvx_to_state(case: Case) -> str:
    """Return the field for the HVX vote that a case lacks: the expanded form if another vote is expanded."""
    return "dcvs_v3" if case.votes.ceng_exp is None else "dcvs_v3_exp"


def both_forms(rule: str, votes: VoteSet, option: Option, what: str) -> Iterator[Finding]:
    """Yield a finding if a vote is present in both forms; the library accepts only one."""
    plain = VOTE_OPTIONS[option]
    expanded = VOTE_OPTIONS[plain.other_form or option]
    if votes.get(plain.option) is not None and votes.get(expanded.option) is not None:
        message = f"{what} is given in both forms, {plain.field} and {expanded.field}"
        hint = f"{plain.field}: unset, or {expanded.field}: unset"
        yield Finding(rule, ("votes", expanded.field), message, hint, also=(("votes", plain.field),))


def missing(case: Case, rule: str, so: str) -> Iterator[Finding]:
    """Yield a finding for each vote that degrades under a rule, because the platform lacks its option."""
    for option in case.votes.options if case.platform is not None else ():
        about = VOTE_OPTIONS[option]
        if about.rule_if_missing == rule and case.platform is not None and not case.platform.has(option):
            message = f"no {option.name} votes on Hexagon V{case.platform.arch}: {so}"
            yield Finding(rule, ("votes", about.field), message, case.platform.needs(option))


def resulting_hvx(case: Case) -> DcvsV3 | DcvsV3Exp | None:
    """Return the HVX vote that the id has after the set is sent."""
    voted = case.votes.hvx
    in_force = None if case.in_force is None else case.in_force.hvx
    if voted is None:
        return in_force
    if voted.core is None and in_force is not None and type(in_force) is type(voted):
        left: dict[str, Any] = {"core": in_force.core}
        return attrs.evolve(voted, **left)
    return voted


def disorder(corners: Any) -> tuple[str, str]:
    """Return two texts: which corners are in the wrong order, and what to change (two ways). DISABLE is ignored.

    Both texts are empty if the corners are in order.
    """
    limits = ((name, getattr(corners, name)) for name in ("min", "target", "max"))
    # A corner is None if it can't be read; another finding reports that.
    voted = [(name, corner) for name, corner in limits if corner is not None and corner.name != "DISABLE"]
    wrong = [
        (low, below.name, high, above.name)
        for (low, below), (high, above) in itertools.pairwise(voted)
        if below > above
    ]
    said = ", ".join(f"{low} {below} is above {high} {above}" for low, below, high, above in wrong)
    return said, ", ".join(f"{low} {above} or lower, or {high} {below} or higher" for low, below, high, above in wrong)
