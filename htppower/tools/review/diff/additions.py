"""New profiles: how each differs from the profile that it extends, or from the nearest shipped profile."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.loading import examine_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.review.diff.change import ExtensionSource
from htppower.tools.review.diff.changes import changes_of_part, changes_of_profile
from htppower.tools.review.diff.effects import Effect

if TYPE_CHECKING:
    from htppower.profiles.loading import Examined, Known
    from htppower.profiles.profile import Profile
    from htppower.tools.review.diff.change import Change
    from htppower.tools.review.diff.sides import Tree


@attrs.frozen(repr=False, eq=False)
class Addition:
    """A profile that is on the new side only.

    Attributes:
        name: its name.
        beside: the name of the profile that it is compared with.
        extends: whether it extends that profile.
        changes: how it differs from that profile.
        old: that profile.
        new: the new profile.
    """

    name: str
    beside: str
    extends: bool
    changes: tuple[Change, ...]
    old: Profile
    new: Profile

    @property
    def says(self) -> str:
        """A sentence about the changes, as the heading of a list."""
        if self.extends:
            return f"{self.name} is new and extends {self.beside}{'' if self.changes else ', without a change'}"
        of_nearest = f"{'is nearest to' if self.changes else 'votes like'} {self.beside}"
        return f"{self.name} is new, extends no profile and {of_nearest}"


def addition(name: str, new: Examined[Profile], tree: Tree, known: Known) -> Addition:
    """Return the comparison of a new profile with the profile that it extends, or with the nearest one.

    Raises:
        ProfileError: the profile that it extends can't be read.
    """
    extends = not isinstance(new.file, ExtensionSource) and len(new.file.documents) > 1
    bases = [new.file.documents[1].path] if extends else [_shipped(each, tree) for each in SHIPPED_PROFILES]
    found = []
    for path in bases:
        home = os.path.dirname(path)
        old = examine_profile(path, tree.folders(home, home), known)
        found.append((_changes(name, old, new), old.value))
    changes, beside = min(found, key=lambda each: sum(change.effect is not Effect.WORDING for change in each[0]))
    return Addition(name, beside.name, extends, changes, beside, new.value)


def _shipped(name: str, tree: Tree) -> str:
    return tree.lookup.find(name, "profile")


def _changes(name: str, old: Examined[Profile], new: Examined[Profile]) -> tuple[Change, ...]:
    """Return what differs, except the name and the summary, which are always new."""
    changes = (changes_of_part if isinstance(new.file, ExtensionSource) else changes_of_profile)(old, new)
    return tuple(attrs.evolve(each, profile=name) for each in changes if each.field not in ("profile", "summary"))
