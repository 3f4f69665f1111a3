"""The record of a vote option, with the records of the fields of its struct. The options are in ``options``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from htppower.votes.options import Option


@attrs.frozen
class Limits:
    """The range of a number.

    Attributes:
        low, high: the smallest and the largest valid number.
        rule: the id of the rule that checks it; empty if the reader of the file checks it.
    """

    low: int
    high: int
    rule: str = ""

    def hold(self, number: int) -> bool:
        """Return whether the range contains a number."""
        return self.low <= number <= self.high

    def __str__(self) -> str:
        """Return the range in the form that messages use."""
        return f"{self.low} to {self.high}"


@attrs.frozen
class VoteField:
    """One field of a vote that is a C struct.

    Attributes:
        name: as in the value and in YAML.
        native: the fields of the struct: a single one, or one each for min, target and max.
        flag: the set flag of the field; empty if the field is always set.
        does: its effect, in a sentence.
        limits: the range of its number.
    """

    name: str
    native: tuple[str, ...]
    flag: str = ""
    does: str = ""
    limits: Limits | None = None


def _corners(prefix: str) -> tuple[str, ...]:
    return tuple(f"{prefix}VoltageCorner{limit}" for limit in ("Min", "Target", "Max"))


def corners_of(name: str, does: str) -> VoteField:
    """Return the field of a clock that a vote may leave out."""
    return VoteField(name, _corners(name), f"set{name.capitalize()}Params", does)


def one_clock(prefix: str) -> tuple[VoteField, ...]:
    """Return the fields of a vote on a single clock."""
    fields = zip(("min", "target", "max"), _corners(prefix), strict=True)
    return (*(VoteField(name, (native,)) for name, native in fields), VoteField("perf_mode", (f"{prefix}PerfMode",)))


@attrs.frozen
class VoteOption:
    """One option.

    Attributes:
        option: its number and the vendor's name.
        field: its field in a vote set and in YAML.
        member: its member of the union in QnnHtpPerfInfrastructure_PowerConfig_t.
        does: its effect, in a sentence.
        section: the section of the vendor's documentation.
        fields: the fields of its struct in C's order, without contextId; empty for an option that is a number.
        has_context_id: its struct begins with the power config id of the call.
        taken_back: the vote that cancels an earlier vote; None if none exists, since 0 is not a vote.
        default: the vote that states the default explicitly: the word ``default`` in YAML.
        aggregate: combines the votes of all sessions into one for the whole process; None for a vote of one id.
        limits: the range of its number.
        since: the first measured version of the library that knows it; empty for all.
        first_arch: the first Hexagon architecture that has it; 0 for all.
        not_on_archs: later architectures without it.
        not_on_systems: operating systems without it.
        rule_if_missing: the rule under which a platform without it degrades; empty if no vote is possible there.
        other_form: the option for the same clock in the other kind of corners. A later vote of one form replaces an
            earlier vote of the other, and one list holds only one of them.
        needs: the option without which it has no effect.
        needs_hvx: the library accepts it only on an id with an HVX vote.
        optional: a file may omit its field; an omitted field counts as unset.
    """

    option: Option
    field: str
    member: str
    does: str
    section: str
    fields: tuple[VoteField, ...] = ()
    has_context_id: bool = False
    taken_back: Any = None
    default: Any = None
    aggregate: Callable[[Collection[int]], int] | None = None
    limits: Limits | None = None
    since: str = ""
    first_arch: int = 0
    not_on_archs: frozenset[int] = frozenset()
    not_on_systems: frozenset[str] = frozenset()
    rule_if_missing: str = ""
    other_form: Option | None = None
    needs: Option | None = None
    needs_hvx: bool = False
    optional: bool = False

    @property
    def process_wide(self) -> bool:
        """Whether it acts on the whole process, whichever id carries it."""
        return self.aggregate is not None

    @property
    def partial(self) -> bool:
        """Whether a vote changes only the fields that it sets, so that successive votes accumulate."""
        return any(field.flag for field in self.fields)

    @property
    def native_fields(self) -> tuple[str, ...]:
        """The fields of the option in C, in their order."""
        if not self.fields:
            return (self.member,)
        own = [name for field in self.fields for name in (field.flag, *field.native) if name]
        return ("contextId", *own) if self.has_context_id else tuple(own)
