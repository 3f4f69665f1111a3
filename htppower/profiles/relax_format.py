"""What stands below ``relax`` in the file of a profile, as attrs classes, and the values that are made of it."""

from typing import ClassVar

import attrs

from htppower.profiles.field_limits import wanted
from htppower.profiles.profile import LONGEST_RAISE_AHEAD_US, Lowering
from htppower.profiles.shares import is_share, share_ppm
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive, Sustain

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

_LOWERINGS = tuple(word.value for word in Lowering)
_TIME = (0, LONGEST_SUSTAIN_US)
_LEAST = wanted("the shortest time that may be chosen, in us; left out, it is 0.", limits=_TIME, optional=True)


@attrs.frozen(repr=False, eq=False, slots=False)
class BreakEvenFields:
    """What stands below ``adaptive`` where a break-even time says what a short time and a long one cost."""

    SAYS: ClassVar[str] = "A time that is chosen to cost least, by a break-even time."

    break_even_us: int = attrs.field(
        metadata=wanted(
            "the break-even time: how long votes that are up and idle cost as much as a raise and a lowering, in us.",
            limits=(1, LONGEST_SUSTAIN_US),
        )
    )
    least_us: int = attrs.field(default=0, metadata=_LEAST)
    most_us: int | None = attrs.field(
        default=None,
        metadata=wanted(
            "the longest time that may be chosen, in us; left out, it is twice the break-even time.",
            limits=_TIME,
            optional=True,
        ),
    )


@attrs.frozen(repr=False, eq=False, slots=False)
class ColdStartsFields:
    """What stands below ``adaptive`` where a share of inferences may wait for a raise."""

    SAYS: ClassVar[str] = "The shortest time that keeps to a share of cold starts."

    cold_starts: str = attrs.field(
        metadata=wanted(
            "the share of the inferences after a gap that may wait for a raise, such as 5 %.", is_share=True
        )
    )
    least_us: int = attrs.field(default=0, metadata=_LEAST)
    most_us: int | None = attrs.field(
        default=None,
        metadata=wanted(
            "the longest time that may be chosen, in us; left out, it is 10 s.", limits=_TIME, optional=True
        ),
    )


# Of the keys that tell the one from the other a mapping has one; a file that extends another replaces it.
LearntFields = BreakEvenFields | ColdStartsFields


@attrs.frozen(repr=False, eq=False, slots=False)
class AdaptiveFields:
    """A time that is learnt, in the place of a number."""

    SAYS: ClassVar[str] = "A time that each session learns from the gaps between its inferences."

    adaptive: LearntFields = attrs.field(
        metadata=wanted("how the time is learnt: by break_even_us, or by cold_starts.")
    )


SustainFields = int | AdaptiveFields


@attrs.frozen(repr=False, eq=False, slots=False)
class ThenFields:
    """What stands below ``then``."""

    SAYS: ClassVar[str] = "What a profile that has relaxed relaxes to further."

    to: str = attrs.field(metadata=wanted("a power state, by the name of its file in a folder states, or by path."))
    after_us: SustainFields = attrs.field(
        metadata=wanted("how long after it has relaxed, in us, or how that is learnt; 0 does it at once.", limits=_TIME)
    )


@attrs.frozen(repr=False, eq=False, slots=False)
class RelaxFields:
    """What stands below ``relax`` in a profile."""

    SAYS: ClassVar[str] = "What a profile relaxes to, and after how long."

    to: str = attrs.field(metadata=wanted("a power state, by the name of its file in a folder states, or by path."))
    after_init_us: int = attrs.field(
        metadata=wanted("how long the votes stay up after INIT, in us; 0 lowers at once.", limits=_TIME)
    )
    after_inference_us: SustainFields = attrs.field(
        metadata=wanted(
            "the sustain time: how long they stay up after the last inference, in us, or how that is learnt; 0 lowers "
            "at once.",
            limits=_TIME,
        )
    )
    lowering: str = attrs.field(
        default=Lowering.FOREGROUND.value,
        metadata=wanted(
            "where the sustain time is 0, foreground lowers the votes before the inference returns, background soon "
            "after, off the caller's thread; left out, it is foreground.",
            words=_LOWERINGS,
            optional=True,
        ),
    )
    after_deinit_to: str = attrs.field(
        default="",
        metadata=wanted("the power state in which DE-INIT ends, as in to; left out, it is that of to.", optional=True),
    )
    then: ThenFields | None = attrs.field(
        default=None,
        metadata=wanted(
            "what it relaxes to further, once it has relaxed; left out, nothing.", optional=True, may_be_unset=True
        ),
    )
    raise_ahead_us: int = attrs.field(
        default=0,
        metadata=wanted(
            "how long before a predicted inference the votes are raised for it, in us; 0, or left out: never.",
            limits=(0, LONGEST_RAISE_AHEAD_US),
            optional=True,
        ),
    )


def sustain_of(stated: SustainFields | None) -> Sustain:
    """Return the time that is stated; what can't be read of it, which is reported besides, is as if it were 0."""
    if not isinstance(stated, AdaptiveFields):
        return stated or 0
    learnt = stated.adaptive
    limits = {} if learnt is None or learnt.most_us is None else {"most_us": learnt.most_us}
    if isinstance(learnt, BreakEvenFields) and learnt.break_even_us:
        return Adaptive(break_even_us=learnt.break_even_us, least_us=learnt.least_us or 0, **limits)
    if isinstance(learnt, ColdStartsFields) and is_share(learnt.cold_starts or ""):
        return Adaptive(cold_starts_ppm=share_ppm(learnt.cold_starts), least_us=learnt.least_us or 0, **limits)
    return 0
