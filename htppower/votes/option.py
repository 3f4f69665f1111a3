"""A vote option: its number, the vendor's name, and everything else that is known about it.

Source of numbers and names: QnnHtpPerfInfrastructure.h, SDK 2.48.
"""

import enum
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

# No `from __future__ import annotations`: a named tuple would compile each field type again, which slows the start.


class Option(enum.IntEnum):
    """A power config option."""

    DCVS_V3 = 1
    RPC_CONTROL_LATENCY = 2
    RPC_POLLING_TIME = 3
    HMX_TIMEOUT_INTERVAL_US = 4
    HMX_V2 = 5
    ADAPTIVE_POLLING_TIME = 6
    DDR_PERF_MODE = 7
    CENG = 8
    DCVS_V3_EXP = 9
    CENG_EXP = 10


# Named tuples, since these classes are built at every start of the command: attrs takes longer.
class Limits(NamedTuple):
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


class VoteField(NamedTuple):
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


class VoteOption(NamedTuple):
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
        first_arch: the first Hexagon architecture that has it; 0 for all.
        not_on_archs: later architectures without it.
        not_on_systems: operating systems without it.
        rule_if_missing: the rule under which a platform without it degrades; empty if no vote is possible there.
        other_form: the option for the same clock in the other kind of corners. A later vote of one form replaces an
            earlier vote of the other, and one list holds only one of them.
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
    first_arch: int = 0
    not_on_archs: frozenset[int] = frozenset()
    not_on_systems: frozenset[str] = frozenset()
    rule_if_missing: str = ""
    other_form: Option | None = None
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
