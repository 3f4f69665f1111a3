"""Finds the folders to look up the names in a folder's files, and the file that a name on the command line means."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower.errors import ProfileError
from htppower.profiles.discovery import Folders, holds_all, shipped_folder
from htppower.profiles.names import SHIPPED_PROFILES, above_records
from htppower.tools.review.file_kinds import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def find_either(name: str, folders: Folders) -> tuple[str, Kind]:
    """Return the file of a profile, or of a power state if no profile has the name, by name or path.

    Raises:
        ProfileError: neither exists.
    """
    try:
        path = folders.find(name, "profile")
    except ProfileError as error:
        if error.rule != "NAME-1":
            raise
        try:
            return folders.find(name, "state"), Kind.STATE
        except ProfileError:
            raise error from None
    return path, Kind.STATE if kind_of(path) is Kind.STATE else Kind.PROFILE


def folders_of(home: str, named: Iterable[str] = (), shipped: str | None = None) -> Folders:
    """Return the folders to look up names in the files of a folder; ``shipped`` replaces the shipped folder.

    The shipped folder is first, as when a profile is used, then the folder itself, then the named ones. A folder with a
    profile for every shipped name is a copy of the shipped folder, and replaces it. Records of a runtime's votes use
    the folder above theirs.
    """
    above = above_records(home)
    if above is not None:
        return folders_of(above, (home, *named), shipped)
    shipped = shipped_folder() if shipped is None else shipped
    if holds_all(home, SHIPPED_PROFILES):
        # The user may write the path of the shipped folder in another way. Its files are still read once.
        is_shipped = os.path.realpath(home) == os.path.realpath(shipped)
        return Folders((home, *named) if is_shipped else (home, *named, shipped))
    return Folders((shipped, home, *named))
