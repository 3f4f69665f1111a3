"""A vote set: the ordered list of one setPowerConfig call. Each vote sets one option on one power config id.

The values validate nothing; the rules do (``htppower.rules``).
"""

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.clock_votes import DcvsV3, DcvsV3Exp, as_plain
from htppower.votes.option import Limits
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS, Option, Votes

if TYPE_CHECKING:
    from htppower.votes.native import NativeConfig

# No `from __future__ import annotations`: the loader reads the field types, and resolving strings slows the start.


# The same few sets are sent again and again, so values derived from a set are cached. Without slots: with them, attrs
# would build its own cached property, which takes 0.3 ms at every start of the command.
@attrs.frozen(cache_hash=True, slots=False)
class VoteSet(Votes):
    """The votes of one setPowerConfig call: the fields of ``Votes``. None means no vote on that option."""

    @classmethod
    def of(cls, votes: Mapping[Option, Any]) -> "VoteSet":
        """Return a set of these votes."""
        return cls(**{VOTE_OPTIONS[option].field: value for option, value in votes.items()})

    def get(self, option: Option) -> Any:
        """Return the vote on an option, or None."""
        return getattr(self, VOTE_OPTIONS[option].field)

    def items(self) -> Iterator[tuple[Option, Any]]:
        """Return the votes in sending order."""
        return iter(self._items)

    @functools.cached_property
    def _items(self) -> tuple[tuple[Option, Any], ...]:
        values = ((about.option, getattr(self, name)) for name, about in BY_FIELD.items())
        return tuple((option, value) for option, value in values if value is not None)

    @property
    def hvx(self) -> DcvsV3 | DcvsV3Exp | None:
        """The HVX vote in either form."""
        return self.dcvs_v3_exp if self.dcvs_v3 is None else self.dcvs_v3

    @property
    def hvx_field(self) -> str:
        """The field of the HVX vote; ``dcvs_v3`` if there is no HVX vote."""
        return self.voted_field(Option.DCVS_V3)

    def voted_field(self, option: Option) -> str:
        """Return the field of the vote on an option, or the field of the other form if only that form is voted."""
        about = VOTE_OPTIONS[option]
        if about.other_form is not None and self.get(option) is None and self.get(about.other_form) is not None:
            return VOTE_OPTIONS[about.other_form].field
        return about.field

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that are voted on, in sending order."""
        return tuple([option for option, _ in self._items])

    def without(self, *options: Option) -> "VoteSet":
        """Return the set without the votes on these options."""
        if not options:
            return self
        return attrs.evolve(self, **{VOTE_OPTIONS[option].field: None for option in options})

    def where_absent(self, *options: Option) -> "VoteSet":
        """Return the votes that a platform without these options can take.

        A plain HVX vote replaces one in expanded corners. Without an HVX vote, votes that need one are dropped.
        """
        if not options:
            return self
        left = self.without(*options)
        if self.dcvs_v3_exp is not None and left.hvx is None and Option.DCVS_V3 not in options:
            left = attrs.evolve(left, dcvs_v3=as_plain(self.dcvs_v3_exp))
        if self.hvx is None or left.hvx is not None:
            return left
        return left.without(*(option for option in left.options if VOTE_OPTIONS[option].needs_hvx))

    def native(self, power_config_id: int) -> "tuple[NativeConfig, ...]":
        """Return the native list for a call on this id."""
        return _native(self, power_config_id)

    def __bool__(self) -> bool:
        """Return whether the set has any vote."""
        return bool(self._items)

    def __str__(self) -> str:
        """Return the options in sending order, with the values of those that are numbers."""
        parts = [
            f"{option.name} {int(value)}" if isinstance(value, int) else option.name for option, value in self.items()
        ]
        return ", ".join(parts) or "no votes"


# The API page lists the fields from here.
VoteSet.__doc__ = f"{VoteSet.__doc__ or ''}\n\nAttributes:\n" + "".join(
    f"    {name}: {about.does}\n" for name, about in BY_FIELD.items()
)


@functools.lru_cache(maxsize=256)
def first_equal(votes: VoteSet) -> VoteSet:
    """Return the first set that was equal to this one, so that caches find it by identity and skip the comparison."""
    return votes


@functools.lru_cache(maxsize=256)
def _native(votes: VoteSet, power_config_id: int) -> "tuple[NativeConfig, ...]":
    from htppower.votes.native import native_config  # noqa: PLC0415 - most commands send no votes

    return tuple(native_config(VOTE_OPTIONS[option], vote, power_config_id) for option, vote in votes.items())


# The range of each number in a vote, by the class and the field that hold it.
LIMITS: Mapping[tuple[type[Any], str], Limits] = {
    (kind, name): limits
    for about in VOTE_OPTIONS.values()
    for kind, name, limits in (
        (VoteSet, about.field, about.limits),
        *((type(about.taken_back), field.name, field.limits) for field in about.fields),
    )
    if limits is not None
}
