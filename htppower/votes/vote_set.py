"""A vote set: the ordered list of one setPowerConfig call, each vote one option set on one power config id.

The values check nothing: the rules do (``htppower.rules``).
"""

import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.clock_votes import Ceng, CengExp, DcvsV3, DcvsV3Exp, HmxV2, as_plain
from htppower.votes.field_repr import field_repr
from htppower.votes.option import Limits, Option
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.votes.native import NativeConfig

# No postponed annotations here: the loader reads the types of the fields, and resolving them would cost it start-up.


# The same few sets are sent again and again, so what follows from one is computed once. Without slots: attrs would make
# its own cached property for a class with them, which takes 0.3 ms at every start of the command.
@attrs.frozen(cache_hash=True, slots=False)
class VoteSet:
    """The votes of one setPowerConfig call. None: no vote on that option.

    Attributes:
        dcvs_v3: the HVX vote.
        dcvs_v3_exp: the HVX vote in expanded corners, in the place of dcvs_v3 (V85 and later).
        hmx_v2: the HMX vote.
        ceng: the vote on the compression engine (V75 and later).
        ceng_exp: the vote on it in expanded corners, in the place of ceng (V85 and later).
        rpc_control_latency_us: tolerated CPU wake-up latency of a remote call; 0 is no vote.
        rpc_polling_time_us: how long the CPU polls for an answer, 0 to 9999 us; 0 is off. Process-wide.
        adaptive_polling_time_us: inference time above which polling turns adaptive; 0 is off. Process-wide.
        hmx_timeout_us: how long the HMX stays powered when idle, 100 to 1000000 us.
        ddr_perf_mode: True asks for the DDR's performance mode (V81 and later).
    """

    dcvs_v3: DcvsV3 | None = None
    dcvs_v3_exp: DcvsV3Exp | None = attrs.field(default=None, kw_only=True)
    hmx_v2: HmxV2 | None = None
    ceng: Ceng | None = attrs.field(default=None, kw_only=True)
    ceng_exp: CengExp | None = attrs.field(default=None, kw_only=True)
    rpc_control_latency_us: int | None = None
    rpc_polling_time_us: int | None = None
    adaptive_polling_time_us: int | None = None
    hmx_timeout_us: int | None = None
    ddr_perf_mode: bool | None = None

    __repr__ = field_repr

    @classmethod
    def of(cls, votes: Mapping[Option, Any]) -> "VoteSet":
        """Return the set of the given votes."""
        return cls(**{VOTE_OPTIONS[option].field: value for option, value in votes.items()})

    def get(self, option: Option) -> Any:
        """Return the vote on an option, None where there is none."""
        return getattr(self, VOTE_OPTIONS[option].field)

    def items(self) -> Iterator[tuple[Option, Any]]:
        """Return the votes in the order in which they are sent."""
        return iter(self._items)

    @functools.cached_property
    def _items(self) -> tuple[tuple[Option, Any], ...]:
        values = ((about.option, getattr(self, name)) for name, about in BY_FIELD.items())
        return tuple((option, value) for option, value in values if value is not None)

    @property
    def hvx(self) -> DcvsV3 | DcvsV3Exp | None:
        """The HVX vote, in whichever form it is."""
        return self.dcvs_v3_exp if self.dcvs_v3 is None else self.dcvs_v3

    @property
    def hvx_field(self) -> str:
        """The field of the HVX vote; ``dcvs_v3`` where there is none."""
        return self.voted_field(Option.DCVS_V3)

    def voted_field(self, option: Option) -> str:
        """Return the field of the vote on an option: that of its other form, where only that is voted."""
        about = VOTE_OPTIONS[option]
        if about.other_form is not None and self.get(option) is None and self.get(about.other_form) is not None:
            return VOTE_OPTIONS[about.other_form].field
        return about.field

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that are voted on, in the order in which they are sent."""
        return tuple([option for option, _ in self._items])

    def without(self, *options: Option) -> "VoteSet":
        """Return the set without the votes on these options."""
        if not options:
            return self
        return attrs.evolve(self, **{VOTE_OPTIONS[option].field: None for option in options})

    def where_absent(self, *options: Option) -> "VoteSet":
        """Return what can be cast on a platform without these options.

        An HVX vote in expanded corners becomes the nearest plain one. What needs an HVX vote goes where there is none.
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
        """Return whether there is any vote."""
        return bool(self._items)

    def __str__(self) -> str:
        """Return the votes in the order in which they are sent: the options, and the values of the simple ones."""
        parts = [
            f"{option.name} {int(value)}" if isinstance(value, int) else option.name for option, value in self.items()
        ]
        return ", ".join(parts) or "no votes"


@functools.lru_cache(maxsize=256)
def first_equal(votes: VoteSet) -> VoteSet:
    """Return the first of all that are equal: what is looked up by the same object is not compared vote by vote."""
    return votes


@functools.lru_cache(maxsize=256)
def _native(votes: VoteSet, power_config_id: int) -> "tuple[NativeConfig, ...]":
    from htppower.votes.native import native_config  # noqa: PLC0415 - most commands cast nothing

    return tuple(native_config(VOTE_OPTIONS[option], vote, power_config_id) for option, vote in votes.items())


# The range of every number of a vote, by the class and the field that hold it.
LIMITS: Mapping[tuple[type[Any], str], Limits] = {
    (kind, name): limits
    for about in VOTE_OPTIONS.values()
    for kind, name, limits in (
        (VoteSet, about.field, about.limits),
        *((type(about.taken_back), field.name, field.limits) for field in about.fields),
    )
    if limits is not None
}
