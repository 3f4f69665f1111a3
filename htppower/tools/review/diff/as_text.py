"""A comparison as text: a line for each field, by effect, and in words if a side records the votes of a runtime.

A change that many profiles share is shown once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import printable
from htppower.profiles.discovery import shown_path
from htppower.profiles.fields import CORNER_KEYS, spell
from htppower.profiles.profile import is_held
from htppower.profiles.sustain import Adaptive
from htppower.tools.report.layout import WIDTH, aligned, flowed, shown_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.report.words import duration
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.sustain_words import sustain_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.errors import Place
    from htppower.profiles.profile import Profile
    from htppower.tools.review.diff.change import Cause, Change
    from htppower.tools.review.diff.compare import Addition, Comparison, Pair, RunPair
    from htppower.votes.vote_set import VoteSet

_BENEATH = "    "
# At most this many names are in the column of a change.
_MOST_NAMES = 3
_COLOURS = {Effect.RAISES_POWER: "red", Effect.LOWERS_POWER: "green", Effect.CHANGES_LATENCY: "yellow"}


def as_text(comparison: Comparison, runs: Sequence[RunPair] | None = None, width: int = WIDTH) -> str:
    """Return the comparison, styled."""
    groups = ["\n".join(group) for group in _groups(comparison, width)]
    groups += ["\n".join(_addition(each, width)) for each in comparison.additions]
    said = "\n".join(wrapped(summary(comparison), width))
    words = ["\n".join(wrapped(sentence, width, _BENEATH)) for sentence in in_words(comparison)]
    beside = []
    if runs:
        from htppower.tools.review.diff.runs import lines  # noqa: PLC0415 - only if there are dry runs

        beside = ["\n".join(lines(pair, width)) for pair in runs]
    return "\n\n".join((*filter(None, groups), *beside, *words, said))


def summary(comparison: Comparison) -> str:
    """Return the comparison in one line."""
    if comparison.same:
        return "nothing differs in what is resolved"
    counts = [(len(comparison.of_effect(effect)), effect.value) for effect in Effect]
    counts += [(len(getattr(comparison, word)), word) for word in ("added", "removed", "renamed")]
    return ", ".join(f"{word}: {count}" for count, word in counts if count)


def place_text(place: Place) -> str:
    """Return a place as ``file:line``. In JSON, which may be all in one line, it is ``file:line:column``."""
    path = printable(shown_path(place.path))
    if place.line and path.endswith(".json"):
        return f"{path}:{place.line}:{place.column}"
    return f"{path}:{place.line}" if place.line else path


def cause_text(cause: Cause) -> str:
    """Return the line that is the cause as ``file:line``. If the line was removed, return its old place."""
    return f"{place_text(cause.place)} removed" if cause.removed else place_text(cause.place)


def old_text(change: Change) -> str:
    """Return the old value, with its vote if that had another form."""
    return f"{change.old} ({change.old_field.partition('.')[0]})" if change.old_field else change.old


def _groups(comparison: Comparison, width: int) -> Iterator[list[str]]:
    for effect in Effect:
        rows: list[_Row] = []
        for change, profiles in comparison.shared(effect):
            many = len(profiles) > _MOST_NAMES
            first = printable(f"{len(profiles)} profiles" if many else ", ".join(profiles))
            rows.append(((first, *_cells(change)), f"({cause_text(change.cause)})", profiles if many else ()))
        yield _lines(rows, effect.value, _COLOURS.get(effect), width)
    renamed = {f"{each.old} -> {each.new}": each.path for each in comparison.renamed}
    for word, names in (("added", comparison.added), ("removed", comparison.removed), ("renamed", renamed)):
        alone = [((printable(name),), f"({printable(shown_path(path))})", ()) for name, path in names.items()]
        yield _lines(alone, word, None, width)


def _addition(new: Addition, width: int) -> Iterator[str]:
    """Yield how a new profile differs from the profile that it extends."""
    yield from wrapped(f"{new.says}{':' if new.changes else ''}", width, _BENEATH)
    for effect in Effect:
        changes = [change for change in new.changes if change.effect is effect]
        rows = [(_cells(change), f"({cause_text(change.cause)})", ()) for change in changes]
        yield from _lines(rows, effect.value, _COLOURS.get(effect), width)


# The cells of a line, its place, and the names that have no room in its cell.
_Row = tuple[tuple[str, ...], str, tuple[str, ...]]


def _lines(rows: Sequence[_Row], word: str, colour: str | None, width: int) -> list[str]:
    """Return each row of cells as a line with its meaning and its place, or as several lines if it is too long."""
    cells = aligned([row for row, *_ in rows])
    marked = styled(word, colour)
    fits = all(
        shown_width(f"{line}   {word}   {place}") <= width for line, (_, place, _) in zip(cells, rows, strict=True)
    )
    lines = []
    for line, (row, place, names) in zip(cells, rows, strict=True):
        if fits:
            lines.append(f"{line}   {marked}   {place}")
        else:
            first, *others = flowed((word, place), width, _BENEATH, _BENEATH * 2, "   ")
            lines += [*flowed(row, width, "", _BENEATH), first.replace(word, marked, 1), *others]
        if names:
            lines += flowed([*(f"{name}," for name in names[:-1]), names[-1]], width, _BENEATH, _BENEATH, " ")
    return lines


def _cells(change: Change) -> tuple[str, str, str]:
    return change.when, change.field, printable(f"{old_text(change)} -> {change.new}")


def in_words(comparison: Comparison) -> tuple[str, ...]:
    """Return a sentence for each side of every profile that changed and is a record on either side.

    For a profile with a learnt time on a side, a sentence reports how that time changes.
    """
    pairs = [pair for pair in comparison.changed if pair.old.provenance or pair.new.provenance]
    sides = [_sentence(profile) for pair in pairs for profile in (pair.old, pair.new)]
    return (*sides, *(sentence for pair in comparison.changed for sentence in _learnt(pair)))


def _learnt(pair: Pair[Profile]) -> Iterator[str]:
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
    return f"{name} {', '.join(_raised(profile.votes))}; {_lowered_in_words(profile)}{_ended(profile)}."


def _raised(votes: VoteSet) -> Iterator[str]:
    hvx = votes.hvx
    if hvx is None:
        yield "votes on no clock"
    else:
        dcvs = {None: "as it is", True: "on", False: "off"}[hvx.dcvs_enable]
        yield f"raises {_clocks(votes)} with DCVS {dcvs} in power mode {hvx.power_mode.name}"
        if hvx.sleep_latency_us is not None:
            yield f"a sleep latency of {duration(hvx.sleep_latency_us)}"
    latency_us = votes.rpc_control_latency_us
    yield f"a control latency of {duration(latency_us)}" if latency_us else "no control latency"
    yield _polling(votes)


def _lowered_in_words(profile: Profile) -> str:
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
    without = "no polling vote" if polling_us is None else "polling off"
    return f"polling for {duration(polling_us)}" if polling_us else without
