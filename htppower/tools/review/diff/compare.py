"""A comparison of two sides: what was added, removed and changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import attrs

from htppower.profiles.loading import Known, examine_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.review.diff.change import ExtensionSource
from htppower.tools.review.diff.changes import changes_of_profile, changes_of_state
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.pairs import Rename, file_pairs, pairs_of, part_pairs, renames, with_new_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from htppower.errors import Place
    from htppower.profiles.loading import Examined
    from htppower.profiles.profile import Profile
    from htppower.tools.review.diff.change import Change
    from htppower.tools.review.diff.sides import Side, Tree
    from htppower.tools.review.dry_run.workload import Report

    RunPair: TypeAlias = "Pair[Report]"

_Side = TypeVar("_Side")


@attrs.frozen(repr=False, eq=False)
class Pair(Generic[_Side]):
    """Two profiles whose dry runs are compared, or the reports of these runs.

    Attributes:
        name: the name of the new profile.
        old, new: of a profile that differs between the sides, or of a new profile and the profile that it extends. The
            sources of profiles are written as in messages.
        old_is: the heading of the old profile's run.
    """

    name: str
    old: _Side
    new: _Side
    old_is: str = "old"


@attrs.frozen(repr=False, eq=False)
class Addition:
    """A profile that is on the new side only.

    Attributes:
        name: its name.
        extends: whether it extends the profile that it is compared with.
        changes: how it differs from that profile.
        old: that profile.
        new: the new profile.
    """

    name: str
    extends: bool
    changes: tuple[Change, ...]
    old: Profile
    new: Profile

    @property
    def says(self) -> str:
        """A sentence about the changes, as the heading of a list."""
        if self.extends:
            return f"{self.name} is new and extends {self.old.name}{'' if self.changes else ', without a change'}"
        of_nearest = f"{'is nearest to' if self.changes else 'votes like'} {self.old.name}"
        return f"{self.name} is new, extends no profile and {of_nearest}"


@attrs.frozen(repr=False, eq=False)
class Comparison:
    """The result of a comparison.

    Attributes:
        old, new: the two sides, as the user named them.
        added, removed: the names of profiles and power states on one side only, each with its file.
        renamed: the profiles and power states with another name on the new side.
        changes: every field that differs, sorted by effect, the largest effect first; without new profiles.
        additions: the new profiles, and how each differs from the profile that it extends.
        changed: the profiles with changes.
    """

    old: str
    new: str
    added: dict[str, str]
    removed: dict[str, str]
    renamed: tuple[Rename, ...]
    changes: tuple[Change, ...]
    additions: tuple[Addition, ...]
    changed: tuple[Pair[Profile], ...]

    @property
    def pairs(self) -> tuple[Pair[Profile], ...]:
        """The profiles whose dry runs are compared."""
        new = (Pair(each.name, each.old, each.new, each.old.name) for each in self.additions)
        return (*self.changed, *new)

    @property
    def adds_votes(self) -> bool:
        """Whether an added profile votes."""
        return any(each.new.votes for each in self.additions)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.added or self.removed or self.renamed or self.changes)

    def of_effect(self, effect: Effect) -> tuple[Change, ...]:
        """Return the changes with an effect, by profile and in the order of a file."""
        return tuple(change for change in self.changes if change.effect is effect)

    def shared(self, effect: Effect) -> tuple[tuple[Change, tuple[str, ...]], ...]:
        """Return the changes with an effect, each once, with the names of all profiles and power states that have it.

        They are in the order of the first.
        """
        alike: dict[Any, list[Change]] = {}
        for change in self.of_effect(effect):
            line = (change.cause.removed, change.cause.place[1:], os.path.realpath(change.cause.place.path))
            said = (change.when, change.field, change.old_field, change.old, change.new)
            alike.setdefault((line, said), []).append(change)
        return tuple((each[0], tuple(change.profile for change in each)) for each in alike.values())


def compare(
    names: tuple[str, str],
    old: tuple[Side, Tree],
    new: tuple[Side, Tree],
    *,
    files: bool,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Comparison:
    """Return what differs between two sides. Messages call the sides by the ``names``.

    Profiles are paired by their names. With ``files`` each side is one file, and the two are a pair whatever their
    names. ``progress`` is called with the number of pairs that are done, and the number of all.
    """
    before, after = old[0], new[0]
    moved = () if files else renames(before, after)
    before = with_new_names(before, moved)
    pairs = [*pairs_of(before.profiles, after.profiles, alone=files), *part_pairs(before, after, alone=files)]
    changes: list[Change] = []
    changed = []
    for done, (name, one, other) in enumerate(pairs):
        progress(done, len(pairs))
        found = changes_of_profile(one, other)
        changes += (attrs.evolve(change, profile=name) for change in found)
        changed += [Pair(name, _of_tree(one.value, old[1]), _of_tree(other.value, new[1]))] if found else []
    for file, called in file_pairs(before, after, alone=files):
        from htppower.tools.review.diff.extension_keys import changed_settings  # noqa: PLC0415 - only if there are such files

        changes += changed_settings(called, before.extensions[file], after.extensions[called])
    states = pairs_of(before.states, after.states, alone=files)
    for name, state, later in states:
        changes += (attrs.evolve(change, profile=name) for change in changes_of_state(state, later))
    order = list(Effect)
    paired = {id(each) for _, *both in (*pairs, *states) for each in both}
    alone = [(name, each) for name, each in sorted(after.all_profiles.items()) if id(each) not in paired]
    known = Known()
    return Comparison(
        *names,
        added=_alone(after, before, paired, new[1]),
        removed=_alone(before, after, paired, old[1]),
        renamed=tuple(attrs.evolve(each, path=new[1].shown(each.path)) for each in moved),
        changes=tuple(sorted(_with_places(changes, old[1], new[1]), key=lambda change: order.index(change.effect))),
        additions=tuple(_addition(name, each, new[1], known) for name, each in alone),
        changed=tuple(changed),
    )


def _with_places(changes: Iterable[Change], old: Tree, new: Tree) -> tuple[Change, ...]:
    """Return changes with their files as messages show them."""
    return tuple(
        attrs.evolve(
            change,
            place=_shown(change.place, new),
            old_place=_shown(change.old_place, old),
            cause=attrs.evolve(change.cause, place=_shown(change.cause.place, old if change.cause.removed else new)),
        )
        for change in changes
    )


def _alone(side: Side, other: Side, paired: set[int], tree: Tree) -> dict[str, str]:
    """Return the names that are on one side only, with their files.

    A power state is on one side only if the other side has no state of its name, used or not.
    """
    files = {name: each.file for name, each in side.all_profiles.items() if id(each) not in paired}
    in_use = {state.value.name for each in other.profiles.values() for state in each.states.values()}
    for name, each in side.states.items():
        if id(each) not in paired and name not in other.states and each.value.name not in in_use:
            files.setdefault(name, each.file)
    return {name: tree.shown(file.path) for name, file in sorted(files.items())}


def _of_tree(profile: Profile, tree: Tree) -> Profile:
    return attrs.evolve(profile, source=None if profile.source is None else tree.shown(str(profile.source)))


def _shown(place: Place, tree: Tree) -> Place:
    return place._replace(path=tree.shown(place.path))


def _addition(name: str, new: Examined[Profile], tree: Tree, known: Known) -> Addition:
    """Return the comparison of a new profile with the profile that it extends, or with the nearest one.

    Raises:
        ProfileError: the profile that it extends can't be read.
    """
    extends = not isinstance(new.file, ExtensionSource) and len(new.file.documents) > 1
    shipped = (tree.lookup.find(each, "profile") for each in SHIPPED_PROFILES)
    found = []
    for path in [new.file.documents[1].path] if extends else shipped:
        home = os.path.dirname(path)
        old = examine_profile(path, tree.folders(home, home), known)
        # The name and the summary are always new.
        changes = [each for each in changes_of_profile(old, new) if each.field not in ("profile", "summary")]
        found.append((changes, old.value))
    changes, nearest = min(found, key=lambda each: sum(change.effect is not Effect.WORDING for change in each[0]))
    named = (attrs.evolve(each, profile=name) for each in changes)
    return Addition(name, extends, _with_places(named, tree, tree), _of_tree(nearest, tree), _of_tree(new.value, tree))
