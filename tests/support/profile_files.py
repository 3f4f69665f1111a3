"""Files with profiles, and required parts of loaded profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.shipped import shipped_folder

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
    """Return the state that a profile relaxes to; it must be set."""
    assert profile.relax is not None
    return profile.relax


def hvx_vote(votes: VoteSet) -> DcvsV3:
    """Return the HVX vote of a set; it must be set."""
    assert votes.dcvs_v3 is not None
    return votes.dcvs_v3
