"""What the files of one folder share: where names are looked up, and the profiles beside which they are used."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

from htppower.files import yaml_files
from htppower.lint.review_rules import Shelf
from htppower.lint.sources import folders_of
from htppower.profiles import examine_profile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path as FilePath

    from htppower.profiles import Examined, PowerState, Profile


class Home:
    """A folder of profiles; each file is read once, and only when it is asked for.

    Args:
        folder: the folder.
        named: folders in which names are looked up, too.
    """

    def __init__(self, folder: FilePath, named: Iterable[FilePath]) -> None:
        self.folders = folders_of(folder, named)
        self._examined: dict[str, Examined[Profile]] = {}
        self._states: dict[FilePath, Examined[PowerState]] = {}

    def profile(self, path: FilePath) -> Examined[Profile]:
        """Return the profile of a file and all that is wrong with it."""
        real = os.path.realpath(path)
        examined = self._examined.get(real)
        return examined or self._examined.setdefault(real, examine_profile(path, self.folders, self._states))

    @functools.cached_property
    def shelf(self) -> Shelf:
        """The profiles here and the shipped ones, as far as they can be read."""
        return Shelf.of(examined.value for examined in self._profiles if examined.readable)

    @functools.cached_property
    def used_states(self) -> frozenset[str]:
        """The files of the power states to which a profile here relaxes."""
        return frozenset(os.path.realpath(each.state.file.path) for each in self._profiles if each.state is not None)

    @functools.cached_property
    def _profiles(self) -> tuple[Examined[Profile], ...]:
        files = [file for folder in self.folders.paths for file in yaml_files(folder)]
        return tuple({os.path.realpath(file): self.profile(file) for file in files}.values())
