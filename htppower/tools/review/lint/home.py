"""A folder of profiles: the folders to look up their names, and the profiles to compare them with."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.discovery import shipped_folder, yaml_files
from htppower.profiles.loading import Known, examine_profile
from htppower.profiles.names import LISTED_FIRST, LLM_DECODE_PROFILES
from htppower.profiles.paths import folder_of, stem_of
from htppower.tools.review.file_kinds import named_first
from htppower.tools.review.file_selection import folders_of
from htppower.tools.review.lint.review_rules import Shelf

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile


class Home:
    """A folder of profiles. Each file is read once, and only when it is needed.

    Names are looked up in the folders ``named``, too; ``within`` are the folders that are linted. Homes share
    ``shipped`` and ``known``, which hold the files that were read.
    """

    def __init__(
        self,
        folder: str,
        named: Iterable[str],
        within: tuple[str, ...],
        shipped: dict[str, Examined[Profile]],
        known: Known,
    ) -> None:
        self.folders = attrs.evolve(folders_of(folder, named), within=within)
        self.known = known
        self._examined: dict[str, Examined[Profile]] = {}
        self._shelves: dict[tuple[str, ...], Shelf] = {}
        self._shipped_folder = shipped_folder()
        # If another folder replaces the shipped one, the names in shipped files mean other files.
        self._shipped = shipped if self.folders.paths[0] == self._shipped_folder else {}

    def profile(self, path: str) -> Examined[Profile]:
        """Return the profile of a file and all its problems."""
        if folder_of(path) == self._shipped_folder:
            return self._shipped.get(path) or self._shipped.setdefault(path, self._examine(path))
        real = os.path.realpath(path)
        return self._examined.get(real) or self._examined.setdefault(real, self._examine(path))

    def shelf(self, table: tuple[str, ...]) -> Shelf:
        """Return the profiles of a table, from here and from the shipped ones, except those that are refused.

        A shipped profile is left out if an earlier folder has a profile of its name.
        """
        if table not in self._shelves:
            self._shelves[table] = Shelf.of(table, self._sound(table))
        return self._shelves[table]

    @functools.cached_property
    def used_states(self) -> frozenset[str]:
        """The files of the power states that a profile in this folder relaxes to."""
        used = {state.file.path for each in self.profiles for state in each.states.values()}
        return frozenset(map(os.path.realpath, used))

    @functools.cached_property
    def first_of_name(self) -> dict[str, str]:
        """The file of each name."""
        first: dict[str, str] = {}
        for file in self._files():
            first.setdefault(stem_of(file), file)
        return first

    @functools.cached_property
    def profiles(self) -> tuple[Examined[Profile], ...]:
        """Every profile here, and the shipped ones."""
        return tuple({id(each): each for each in map(self.profile, self._files())}.values())

    def _sound(self, table: tuple[str, ...]) -> Iterator[Profile]:
        """Yield the profiles that may be in the table. Files that can't be in it are not read.

        A shipped file has the name of its profile.
        """
        others = set(LISTED_FIRST).difference(table)
        # A profile with a name of the first table may extend a profile of the second. Then it is in the second.
        second = others.intersection(LLM_DECODE_PROFILES)
        shipped = os.path.realpath(self._shipped_folder)
        named: set[str] = set()
        for folder in self.folders.paths:
            # The user may write the path of the shipped folder in another way.
            if os.path.realpath(folder) == shipped:
                unread = others | named
                files = [file for file in yaml_files(folder) if stem_of(file) not in unread]
            else:
                files = [file for file in yaml_files(folder) if self._named_first(file) not in second]
            examined = map(self.profile, files)
            sound = [each.value for each in examined if each.readable and not each.problems]
            named.update(profile.name for profile in sound)
            yield from sound

    def _named_first(self, file: str) -> str:
        return named_first(file, self.known.texts.get(os.path.realpath(file)))

    def _examine(self, path: str) -> Examined[Profile]:
        return examine_profile(path, self.folders, self.known)

    def _files(self) -> Iterator[str]:
        for folder in self.folders.paths:
            yield from yaml_files(folder)
