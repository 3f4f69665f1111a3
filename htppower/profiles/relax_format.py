"""The mapping ``relax`` of a profile's file: its classes, and the values made from them."""

import attrs

from htppower.profiles.field_limits import field
from htppower.profiles.profile import LONGEST_RAISE_AHEAD_US, Lowering
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive, Sustain, is_share, share_ppm

# No `from __future__ import annotations`: the field types are read, and resolving strings slows the start.

_LOWERINGS = tuple(word.value for word in Lowering)
_TIME = (0, LONGEST_SUSTAIN_US)
_LEAST = field("the shortest time that may be chosen, in us; default: 0.", limits=_TIME, optional=True, default=0)


@attrs.frozen(repr=False, eq=False)
class BreakEvenFields:
    """The mapping ``adaptive`` with a break-even time, which compares the costs of a short and a long time."""

    SAYS = "A time that is chosen to cost least, based on a break-even time."

    break_even_us: int = field(
        "the break-even time: how long idle votes that are up cost as much as a raise and a lowering, in us.",
        limits=(1, LONGEST_SUSTAIN_US),
    )
    least_us: int = _LEAST
    most_us: int | None = field(
        "the longest time that may be chosen, in us; default: twice the break-even time.",
        limits=_TIME,
        optional=True,
    )


@attrs.frozen(repr=False, eq=False)
class ColdStartsFields:
    """The mapping ``adaptive`` with a share of inferences that may wait for a raise."""

    SAYS = "The shortest time that keeps a share of cold starts."

    cold_starts: str = field(
        "the share of the inferences after a gap that may wait for a raise, such as 5 %.", is_share=True
    )
    least_us: int = _LEAST
    most_us: int | None = field(
        "the longest time that may be chosen, in us; default: 10 s.", limits=_TIME, optional=True
    )


# A mapping has exactly one of these two keys; a file that extends another may replace one by the other.
LearntFields = BreakEvenFields | ColdStartsFields


@attrs.frozen(repr=False, eq=False)
class AdaptiveFields:
    """A learnt time, instead of a number."""

    SAYS = "A time that each session learns from the gaps between its inferences."

    adaptive: LearntFields = field("how the time is learnt: by break_even_us, or by cold_starts.")


SustainFields = int | AdaptiveFields


@attrs.frozen(repr=False, eq=False)
class ThenFields:
    """The mapping ``then``."""

    SAYS = "The second power state of a profile, which follows the first."

    to: str = field("a power state, by the name of its file in a folder states, or by path.")
    after_us: SustainFields = field(
        "how long the first power state lasts, in us, or how that is learnt; 0 skips the wait.", limits=_TIME
    )


@attrs.frozen(repr=False, eq=False)
class RelaxFields:
    """The mapping ``relax`` of a profile."""

    SAYS = "The power states that a profile relaxes to, and the times."

    to: str = field("a power state, by the name of its file in a folder states, or by path.")
    after_init_us: int = field("how long the votes stay up after INIT, in us; 0 lowers at once.", limits=_TIME)
    after_inference_us: SustainFields = field(
        "the sustain time: how long they stay up after the last inference, in us, or how that is learnt; 0 lowers "
        "at once.",
        limits=_TIME,
    )
    lowering: str = field(
        "if the sustain time is 0: foreground lowers the votes before the inference returns, background soon "
        "afterwards, outside the caller's thread; default: foreground.",
        words=_LOWERINGS,
        optional=True,
        default=Lowering.FOREGROUND.value,
    )
    after_deinit_to: str = field(
        "the power state after DE-INIT, stated like to; default: the same as to.", optional=True, default=""
    )
    then: ThenFields | None = field(
        "the second power state, which follows the first; default: none.", optional=True, may_be_unset=True
    )
    raise_ahead_us: int = field(
        "how long before a predicted inference the votes are raised for it, in us; 0, the default, disables that.",
        limits=(0, LONGEST_RAISE_AHEAD_US),
        optional=True,
        default=0,
    )


def sustain_of(stated: SustainFields | None) -> Sustain:
    """Return the stated time; parts that can't be read, which are reported elsewhere, count as 0."""
    if not isinstance(stated, AdaptiveFields):
        return stated or 0
    learnt = stated.adaptive
    limits = {} if learnt is None or learnt.most_us is None else {"most_us": learnt.most_us}
    if isinstance(learnt, BreakEvenFields) and learnt.break_even_us:
        return Adaptive(break_even_us=learnt.break_even_us, least_us=learnt.least_us or 0, **limits)
    if isinstance(learnt, ColdStartsFields) and is_share(learnt.cold_starts or ""):
        return Adaptive(cold_starts_ppm=share_ppm(learnt.cold_starts), least_us=learnt.least_us or 0, **limits)
    return 0
