"""Files with profiles, and the parts that a profile which is loaded must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shipped import shipped_folder

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Profile, Relax
    from htppower.votes.clock_votes import DcvsV3
    from htppower.votes.vote_set import VoteSet

SHIPPED = shipped_folder()


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file, and the folders on the way, and return its path."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def relaxing(profile: Profile) -> Relax:
    """Return what a profile relaxes to, which it must name."""
    assert profile.relax is not None
    return profile.relax


def hvx_vote(votes: VoteSet) -> DcvsV3:
    """Return the HVX vote of a set, which it must have."""
    assert votes.dcvs_v3 is not None
    return votes.dcvs_v3
