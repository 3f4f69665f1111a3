"""Profiles that are read once, and again when one of their files has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.discovery import Folders, folder_list
from htppower.profiles.loading import examine_profile
from htppower.profiles.paths import folder_of, joined
from htppower.profiles.profile import Profile
from htppower.profiles.regular_file import FileVersion, file_version

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

# A host that makes up paths must not fill the memory.
MOST_PROFILES = 256


@attrs.frozen(repr=False, eq=False)
class _Entry:
    """A profile, and the versions of what it was read from: its files, and the folders in which names were found."""

    profile: Profile
    versions: Mapping[str, FileVersion | None]

    def is_current(self) -> bool:
        return all(file_version(path) == version for path, version in self.versions.items())


class ProfileCache:
    """Loads profiles as ``load_profile`` does, and opens no file again while none of a profile's files has changed.

    Args:
        folders: where names are looked up, after the shipped ones.

    Raises:
        ProfileError: FILE-1, a folder can't be read.
        TypeError: the folders are no list of paths.
    """

    def __init__(self, folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._folders = folder_list(folders)
        Folders.of(self._folders)  # it reads each, and refuses a wrong one now rather than with the first session
        self._entries: dict[str, _Entry] = {}

    def load(self, profile: str | os.PathLike[str] | Profile) -> Profile:
        """Return a profile by name or by path; one that is a profile already is returned as it is.

        A change is seen of its file, of a file that it extends, of its power states, and of their folders. An invalid
        file is read each time.

        Raises:
            ProfileError, RuleBreach: as for ``load_profile``.
        """
        if isinstance(profile, Profile):
            return profile
        where = Folders.of(self._folders)
        path = where.find(profile, "profile")
        entry = self._entries.get(path)
        if entry is not None and entry.is_current():
            return entry.profile
        # The versions are taken before the files are read, so that a change meanwhile is seen the next time.
        folders = _versions({*where.paths, folder_of(path)})
        examined = examine_profile(path, where)
        loaded = examined.accepted()
        read = (examined.file, *(state.file for state in examined.states.values()))
        files = {document.path: document.version for file in read for document in file.documents}
        if len(self._entries) >= MOST_PROFILES:
            self._entries.clear()
        self._entries[path] = _Entry(loaded, {**_versions(set(map(folder_of, files))), **folders, **files})
        return loaded


def _versions(folders: Iterable[str]) -> dict[str, FileVersion | None]:
    """Return the versions of folders, and of those of the power states in them: each changes as files come and go."""
    return {each: file_version(each) for folder in folders for each in (folder, joined(folder, "states"))}
