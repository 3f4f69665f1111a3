"""The functions behind the rules of votes on the compression engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding
from htppower.rules.check_parts import both_forms, disorder, hvx_at, missing, resulting_hvx
from htppower.votes.native import Option
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.rules.case import Case
    from htppower.votes.clock_votes import Ceng, CengExp
    from htppower.votes.vote_set import VoteSet


def architecture(case: Case) -> Iterator[Finding]:
    """CENG-1."""
    yield from missing(case, "CENG-1", "the compression engine stays at its lowest corner")


def needs_hvx(case: Case) -> Iterator[Finding]:
    """CENG-2; like an HMX vote of corners, it means nothing beside an HVX vote of DISABLE."""
    hvx = resulting_hvx(case)
    for option, vote in ceng_votes(case.votes):
        name = VOTE_OPTIONS[option].field
        at = ("votes", name)
        if hvx is None:
            message = "a CENG vote without an HVX vote on the id"
            yield Finding("CENG-2", at, message, f"state dcvs_v3, or {name}: unset", also=(hvx_at(case),))
        elif not hvx.active and vote != VOTE_OPTIONS[option].taken_back:
            message = "a CENG vote while the HVX vote is DISABLE"
            hint = f"vote a core target, or {name}: unset"
            yield Finding("CENG-2", at, message, hint, also=((*hvx_at(case), "core"),))


def one_form(case: Case) -> Iterator[Finding]:
    """CENG-3."""
    yield from both_forms("CENG-3", case.votes, Option.CENG, "the CENG vote")


def order(case: Case) -> Iterator[Finding]:
    """CENG-4."""
    for option, vote in ceng_votes(case.votes):
        said, hint = disorder(vote)
        if said:
            yield Finding("CENG-4", ("votes", VOTE_OPTIONS[option].field), f"CENG {said}", hint)


def ceng_votes(votes: VoteSet) -> Iterator[tuple[Option, Ceng | CengExp]]:
    """Yield the CENG votes of a set, with their options; a set that keeps the rules has one at most."""
    for option, vote in ((Option.CENG, votes.ceng), (Option.CENG_EXP, votes.ceng_exp)):
        if vote is not None:
            yield option, vote
