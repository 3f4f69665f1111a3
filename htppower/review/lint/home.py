"""What the files of one folder share: where names are looked up, and the profiles beside which they are used."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from htppower.profiles.discovery import shipped_folder, yaml_files
from htppower.profiles.loading import Known, examine_profile
from htppower.profiles.names import LISTED_FIRST, LLM_DECODE_PROFILES
from htppower.profiles.paths import folder_of, stem_of
from htppower.review.file_kinds import named_on_a_line
from htppower.review.lint.review_rules import Shelf
from htppower.review.name_lookup import folders_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile


class Home:
    """A folder of profiles; each file is read once, and only when it is asked for.

    Names are looked up in the folders ``named``, too; ``within`` are those that are linted. Homes share what they have
    read: ``shipped`` and ``known``.
    """

    def __init__(
        self,
        folder: str,
        named: Iterable[str],
        within: tuple[str, ...],
        shipped: dict[str, Examined[Profile]],
        known: Known,
    ) -> None:
        self.folders = folders_of(folder, named)._replace(within=within)
        self.known = known
        self._examined: dict[str, Examined[Profile]] = {}
        self._shelves: dict[tuple[str, ...], Shelf] = {}
        self._shipped_folder = shipped_folder()
        # Where another folder stands in for the shipped one, the names in shipped files mean other files.
        self._shipped = shipped if self.folders.paths[0] == self._shipped_folder else {}

    def profile(self, path: str) -> Examined[Profile]:
        """Return the profile of a file and all that is wrong with it."""
        if folder_of(path) == self._shipped_folder:
            return self._shipped.get(path) or self._shipped.setdefault(path, self._examine(path))
        real = os.path.realpath(path)
        return self._examined.get(real) or self._examined.setdefault(real, self._examine(path))

    def shelf(self, table: tuple[str, ...]) -> Shelf:
        """Return the profiles here and the shipped ones that are of a table, but for those that are refused.

        A shipped one that is hidden by a file here is not among them.
        """
        if table not in self._shelves:
            examined = map(self.profile, self._files_of(table))
            sound = (each.value for each in examined if each.readable and not each.problems)
            self._shelves[table] = Shelf.of(table, sound)
        return self._shelves[table]

    @functools.cached_property
    def used_states(self) -> frozenset[str]:
        """The files of the power states to which a profile here relaxes."""
        used = {state.file.path for each in self.profiles for state in each.states.values()}
        return frozenset(map(os.path.realpath, used))

    @functools.cached_property
    def first_of_name(self) -> dict[str, str]:
        """The file to which each name leads."""
        first: dict[str, str] = {}
        for file in self._files():
            first.setdefault(stem_of(file), file)
        return first

    @functools.cached_property
    def profiles(self) -> tuple[Examined[Profile], ...]:
        """Every profile here, and the shipped ones."""
        return tuple({id(each): each for each in map(self.profile, self._files())}.values())

    def _files_of(self, table: tuple[str, ...]) -> Iterator[str]:
        """Yield the files that may be of a table; one whose name says that it is of another is not read further."""
        others = set(LISTED_FIRST).difference(table)
        # One that has a name of the first table, and extends one of the second, is of the second: no shipped one is.
        always = others.intersection(LLM_DECODE_PROFILES)
        real = os.path.realpath(self._shipped_folder)
        # The user may spell the shipped folder in another way.
        shipped = {folder for folder in self.folders.paths if os.path.realpath(folder) == real}
        for file in self._files():
            is_shipped = folder_of(file) in shipped
            hidden = is_shipped and self.first_of_name[stem_of(file)] != file
            if not hidden and named_on_a_line(file) not in (others if is_shipped else always):
                yield file

    def _examine(self, path: str) -> Examined[Profile]:
        return examine_profile(path, self.folders, self.known)

    def _files(self) -> Iterator[str]:
        for folder in self.folders.paths:
            yield from yaml_files(folder)
