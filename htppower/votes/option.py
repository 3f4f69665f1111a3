"""A vote option: its number and the vendor's name, and what there is to know of it.

Source of numbers and names: QnnHtpPerfInfrastructure.h, SDK 2.48.
"""

import enum
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

# No postponed annotations here: a named tuple would compile each of its types anew, which costs start-up.


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


# Named tuples, since they are made at every start of the command, faster than attrs makes a class.
class Limits(NamedTuple):
    """The range of a number.

    Attributes:
        low, high: the smallest and the largest.
        rule: the id of the rule that guards it; empty where reading the file does.
    """

    low: int
    high: int
    rule: str = ""

    def hold(self, number: int) -> bool:
        """Return whether a number is in the range."""
        return self.low <= number <= self.high

    def __str__(self) -> str:
        """Return the range as a message names it."""
        return f"{self.low} to {self.high}"


class VoteField(NamedTuple):
    """One field of a vote that is a struct in C.

    Attributes:
        name: as in the value and in YAML.
        native: the fields of the struct that it becomes: one, or those of min, target and max.
        flag: the field that says whether it is set; empty where it always is.
        does: what it does, in a sentence.
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
        does: what it does, in a sentence.
        section: where the vendor documents it.
        fields: those of its struct, in C's order but for contextId; empty for an option of one number.
        has_context_id: its struct begins with the power config id of the call.
        taken_back: the vote that takes an earlier one back; None where nothing does, since 0 is no vote.
        default: the vote that says what holds where none is cast, and is the word ``default`` in YAML.
        aggregate: what the whole process gets of the wishes of all sessions; None for a vote of one id.
        limits: the range of its number.
        first_arch: the first Hexagon architecture that has it; 0 for all.
        not_on_archs: later architectures without it.
        not_on_systems: operating systems without it.
        rule_if_missing: the rule under which a platform without it degrades; empty where nothing can be voted there.
        other_form: the option that votes on the same in other corners. The later vote supersedes the earlier, and one
            list holds only one of them.
        needs_hvx: it is taken only on an id with an HVX vote.
        optional: a file may leave its field out, which is as if it were unset.
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
        """Whether it acts on the whole process, whichever id it is set with."""
        return self.aggregate is not None

    @property
    def partial(self) -> bool:
        """Whether a vote changes only those fields that it sets, so that votes on it add up."""
        return any(field.flag for field in self.fields)

    @property
    def native_fields(self) -> tuple[str, ...]:
        """The fields of the option in C, in their order."""
        if not self.fields:
            return (self.member,)
        own = [name for field in self.fields for name in (field.flag, *field.native) if name]
        return ("contextId", *own) if self.has_context_id else tuple(own)
