"""What stands below ``relax`` in the file of a profile, as classes, and the values that are made of it."""

from htppower.profiles.field_limits import FileFields, field
from htppower.profiles.profile import LONGEST_RAISE_AHEAD_US, Lowering
from htppower.profiles.shares import is_share, share_ppm
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, Adaptive, Sustain

# No postponed annotations here: the types of the fields are read, and resolving them would cost start-up.

_LOWERINGS = tuple(word.value for word in Lowering)
_TIME = (0, LONGEST_SUSTAIN_US)
_LEAST = field(
    "the shortest time that may be chosen, in us; left out, it is 0.", limits=_TIME, optional=True, default=0
)


class BreakEvenFields(FileFields):
    """What stands below ``adaptive`` where a break-even time says what a short time and a long one cost."""

    SAYS = "A time that is chosen to cost least, by a break-even time."

    break_even_us: int = field(
        "the break-even time: how long votes that are up and idle cost as much as a raise and a lowering, in us.",
        limits=(1, LONGEST_SUSTAIN_US),
    )
    least_us: int = _LEAST
    most_us: int | None = field(
        "the longest time that may be chosen, in us; left out, it is twice the break-even time.",
        limits=_TIME,
        optional=True,
    )


class ColdStartsFields(FileFields):
    """What stands below ``adaptive`` where a share of inferences may wait for a raise."""

    SAYS = "The shortest time that keeps to a share of cold starts."

    cold_starts: str = field(
        "the share of the inferences after a gap that may wait for a raise, such as 5 %.", is_share=True
    )
    least_us: int = _LEAST
    most_us: int | None = field(
        "the longest time that may be chosen, in us; left out, it is 10 s.", limits=_TIME, optional=True
    )


# Of the keys that tell the one from the other a mapping has one; a file that extends another replaces it.
LearntFields = BreakEvenFields | ColdStartsFields


class AdaptiveFields(FileFields):
    """A time that is learnt, in the place of a number."""

    SAYS = "A time that each session learns from the gaps between its inferences."

    adaptive: LearntFields = field("how the time is learnt: by break_even_us, or by cold_starts.")


SustainFields = int | AdaptiveFields


class ThenFields(FileFields):
    """What stands below ``then``."""

    SAYS = "What a profile that has relaxed relaxes to further."

    to: str = field("a power state, by the name of its file in a folder states, or by path.")
    after_us: SustainFields = field(
        "how long after it has relaxed, in us, or how that is learnt; 0 does it at once.", limits=_TIME
    )


class RelaxFields(FileFields):
    """What stands below ``relax`` in a profile."""

    SAYS = "What a profile relaxes to, and after how long."

    to: str = field("a power state, by the name of its file in a folder states, or by path.")
    after_init_us: int = field("how long the votes stay up after INIT, in us; 0 lowers at once.", limits=_TIME)
    after_inference_us: SustainFields = field(
        "the sustain time: how long they stay up after the last inference, in us, or how that is learnt; 0 lowers "
        "at once.",
        limits=_TIME,
    )
    lowering: str = field(
        "where the sustain time is 0, foreground lowers the votes before the inference returns, background soon "
        "after, off the caller's thread; left out, it is foreground.",
        words=_LOWERINGS,
        optional=True,
        default=Lowering.FOREGROUND.value,
    )
    after_deinit_to: str = field(
        "the power state in which DE-INIT ends, as in to; left out, it is that of to.", optional=True, default=""
    )
    then: ThenFields | None = field(
        "what it relaxes to further, once it has relaxed; left out, nothing.", optional=True, may_be_unset=True
    )
    raise_ahead_us: int = field(
        "how long before a predicted inference the votes are raised for it, in us; 0, or left out: never.",
        limits=(0, LONGEST_RAISE_AHEAD_US),
        optional=True,
        default=0,
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
