"""Two profiles in words, if one of them records the votes of a runtime: why burst is not burst."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.profiles.fields import CORNER_KEYS, spell
from htppower.profiles.profile import is_held
from htppower.profiles.sustain import Adaptive
from htppower.tools.report.words import duration
from htppower.tools.review.words import sustain_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.profiles.profile import Profile
    from htppower.tools.review.diff.compare import Comparison, Pair
    from htppower.votes.vote_set import VoteSet


def in_words(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence for each side of every profile that changed and is a record on either side.

    For a profile with a learnt time on a side, a sentence reports how that time changes.
    """
    pairs = [pair for pair in comparison.changed if pair.old.provenance or pair.new.provenance]
    sides = [_sentence(profile) for pair in pairs for profile in (pair.old, pair.new)]
    return (*sides, *(sentence for pair in comparison.changed for sentence in _learnt(pair)))


def _learnt(pair: Pair) -> Iterator[str]:
    """Yield how each time that is learnt on a side changes."""
    relaxes = (pair.old.relax, pair.new.relax)
    times = {
        "sustain time": [None if relax is None else relax.after_inference_us for relax in relaxes],
        "time until the second power state": [
            None if relax is None or relax.then is None else relax.then.after_us for relax in relaxes
        ],
    }
    for name, (old, new) in times.items():
        if old != new and (isinstance(old, Adaptive) or isinstance(new, Adaptive)):
            said = ("none" if each is None else sustain_in_words(each) for each in (old, new))
            yield f"{printable(pair.name)}: {name} {' -> '.join(said)}."


def _sentence(profile: Profile) -> str:
    known = profile.provenance
    name = profile.name if known is None else f"{profile.name} ({known.how}: {known.of})"
    if not profile.votes:
        return f"{name} sends no votes."
    return f"{name} {', '.join(_raised(profile.votes))}; {_lowered(profile)}{_ended(profile)}."


def _raised(votes: VoteSet) -> Iterator[str]:
    hvx = votes.hvx
    if hvx is None:
        yield "votes on no clock"
    else:
        dcvs = {None: "as it is", True: "on", False: "off"}[hvx.dcvs_enable]
        yield f"raises {_clocks(votes)} with DCVS {dcvs} in power mode {hvx.power_mode.name}"
        if hvx.sleep_latency_us is not None:
            yield f"a sleep latency of {duration(hvx.sleep_latency_us)}"
    yield (
        f"a control latency of {duration(votes.rpc_control_latency_us)}"
        if votes.rpc_control_latency_us
        else ("no control latency")
    )
    yield _polling(votes)


def _lowered(profile: Profile) -> str:
    relax = profile.relax
    if relax is None:
        return "it is never lowered"
    if is_held(profile):
        return "nothing is lowered until the model is released"
    after_us = relax.after_inference_us
    when = f"{sustain_in_words(after_us)} after the last inference" if after_us else "after each inference"
    if isinstance(after_us, Adaptive):
        when = f"after a time that is {sustain_in_words(after_us)},"
    if not relax.to.votes:
        return f"nothing is voted {when}"
    hvx = relax.to.votes.hvx
    sleep = (
        "" if hvx is None or hvx.sleep_latency_us is None else f", a sleep latency of {duration(hvx.sleep_latency_us)}"
    )
    return f"{when} {_clocks(relax.to.votes)}{sleep}, {_polling(relax.to.votes)}"


def _ended(profile: Profile) -> str:
    """Return the state at the end of DE-INIT, if it is another state than the one between inferences."""
    relax = profile.relax
    if relax is None or relax.after_deinit_to == relax.to:
        return ""
    return f"; after DE-INIT {_clocks(relax.after_deinit_to.votes)}"


def _clocks(votes: VoteSet) -> str:
    hvx = votes.hvx
    core, bus = (None, None) if hvx is None else (hvx.core, hvx.bus)
    if core == bus:
        return f"core and bus to {_corners(core)}"
    return f"core to {_corners(core)}, bus to {_corners(bus)}"


def _corners(clock: object) -> str:
    """Return the corners of a clock in words: one corner, or ``SVS2 / SVS / SVS``."""
    if clock is None:
        return "what they were"
    names = [spell(getattr(clock, limit)) for limit in CORNER_KEYS]
    return names[0] if len(set(names)) == 1 else " / ".join(names)


def _polling(votes: VoteSet) -> str:
    polling_us = votes.rpc_polling_time_us
    return (
        f"polling for {duration(polling_us)}" if polling_us else "polling off" if polling_us == 0 else "no polling vote"
    )
