"""A cache of profiles: a profile is read again only after one of its files has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.discovery import Folders, folder_list
from htppower.profiles.loading import examine_profile
from htppower.profiles.paths import folder_of, joined
from htppower.profiles.profile import Profile
from htppower.profiles.regular_file import FileVersion, file_version
from htppower.profiles.speeds import read_device_speeds

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from htppower.profiles.speeds import DeviceSpeeds

# A limit, in case a host generates paths.
MOST_PROFILES = 256


@attrs.frozen(repr=False, eq=False)
class _Entry:
    """A profile, and the versions of its files and of the folders where names were found."""

    profile: Profile
    versions: Mapping[str, FileVersion | None]

    def is_current(self) -> bool:
        return all(file_version(path) == version for path, version in self.versions.items())


class ProfileCache:
    """Loads profiles as ``load_profile`` does, but opens no file while a profile's files are unchanged.

    Args:
        folders: the folders where names are looked up after the shipped ones.

    Raises:
        ProfileError: FILE-1, a folder can't be read.
        TypeError: ``folders`` is not a list of paths.
    """

    def __init__(self, folders: Iterable[str | os.PathLike[str]] = ()) -> None:
        self._folders = folder_list(folders)
        Folders.of(self._folders)  # reads each folder, so that a wrong one is refused now, not with the first session
        self._entries: dict[str, _Entry] = {}

    def device_speeds(self, device: str | os.PathLike[str]) -> DeviceSpeeds:
        """Return the speeds of a device model, by name or by path.

        Raises:
            ProfileError: the model can't be found or read, or states no speeds.
        """
        return read_device_speeds(device, self._folders)

    def load(self, profile: str | os.PathLike[str] | Profile) -> Profile:
        """Return a profile by name or by path; a ``Profile`` is returned unchanged.

        A change is noticed in the profile's file, in files that it extends, in its power states, and in their folders.
        An invalid file is read each time.

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
        # The versions are taken before the files are read, so that a change in between is noticed the next time.
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
    """Return the versions of folders and of their power state folders; a version changes when files come and go."""
    return {each: file_version(each) for folder in folders for each in (folder, joined(folder, "states"))}
