"""The rules about the power states that a profile relaxes to, and about the times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.errors import Finding, printable
from htppower.rules.power_order import rank
from htppower.rules.rule import OBJECT, UNSET, Breach, IfThen, Needs, mine, rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath
    from htppower.rules.case import Case, Stay
    from htppower.votes.vote_set import VoteSet

_AFTER_INIT = ("relax", "after_init_us")
_SUSTAIN = ("relax", "after_inference_us")
_THEN = ("relax", "then")
_THEN_TO = (*_THEN, "to")
_THEN_AFTER = (*_THEN, "after_us")
_AHEAD = ("relax", "raise_ahead_us")
# Under load, no timer can keep a time shorter than this.
SHORTEST_SUSTAIN_US = 20_000


def _learnt(*names: str) -> tuple[KeyPath, ...]:
    """Return the keys of fields under the times that may be learnt."""
    return tuple((*at, "adaptive", name) for at in (_SUSTAIN, _THEN_AFTER) for name in names)


def _stays(case: Case) -> Iterable[Stay]:
    return filter(None, (case.after_inference, case.then_after, case.after_init))


# The same timer ends the time after INIT and the time until the second power state.
@rule(
    "SUS-1",
    "A sustain time is 0, or 20000 us or more: a timer can't keep a shorter one under load.",
    Breach.WARNING,
    "measured: 19 ms late at p99 next to one busy thread",
    why=(
        "A timer is up to 19 ms late if another thread is busy. After a shorter sustain time the votes are lowered at "
        "a random time, and two runs of the same host differ."
    ),
    mend="State 0 to lower at once, or 20000 us and more.",
    wrong=mine("relax: {after_inference_us: 5000}"),
    right=mine("relax: {after_inference_us: 20000}"),
    needs=(Needs.PROFILE,),
    fields=(_AFTER_INIT, _SUSTAIN, _THEN_AFTER, *_learnt("least_us", "most_us")),
)
def _short_sustain(case: Case) -> Iterator[Finding]:
    hint = f"0 to lower at once, or {SHORTEST_SUSTAIN_US} and more"
    says = {
        _SUSTAIN: "a sustain time of {} us",
        _AFTER_INIT: "{} us after INIT",
        _THEN_AFTER: "{} us until the second power state",
    }
    for stay in _stays(case):
        stated = {stay.at: stay.most_us}
        if stay.is_learnt:
            stated = {(*stay.at, "adaptive", name): getattr(stay, name) for name in ("least_us", "most_us")}
        for at, time_us in stated.items():
            if 0 < time_us < SHORTEST_SUSTAIN_US:
                yield Finding("SUS-1", at, says.get(at, f"{at[-1]} is {{}}").format(time_us), hint)


@rule(
    "SUS-2",
    "A profile with votes names the state it relaxes to.",
    Breach.ERROR,
    "vendor, profiles table",
    why="Without a power state there is nothing to lower to, and the votes would stay up between inferences.",
    mend="Name a power state.",
    wrong=mine("relax: unset"),
    right=mine("relax: {to: relaxed}"),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(("relax",), ("relax", "to")),
    schema=(
        IfThen(
            {"votes": {**OBJECT, "not": {"additionalProperties": UNSET}}},
            {"relax": {"not": UNSET}},
            of_profile=True,
        ),
    ),
)
def _names_power_state(case: Case) -> Iterator[Finding]:
    if case.lineage and case.votes and not case.lowered:
        message = f"{printable(case.lineage[0])} votes, but names no power state"
        yield Finding("SUS-2", ("relax",), message, "state relax: {to: ...}", also=(("votes",),))


@rule(
    "SUS-3",
    "Lowering in the background acts only if the sustain time is 0: a timer never runs on the caller's thread.",
    Breach.NOTE,
    "the sustain timer runs on the controller's own thread",
    why="With a sustain time the timer's own thread lowers the votes anyway, never the caller's thread.",
    mend="Leave lowering out, or state a sustain time of 0.",
    wrong=mine("relax: {lowering: background}"),
    right=mine("relax: {lowering: background, after_inference_us: 0}"),
    lint=("--notes",),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(_SUSTAIN, ("relax", "lowering")),
)
def _background_lowering(case: Case) -> Iterator[Finding]:
    stay = case.after_inference
    if case.in_background and stay is not None and stay.least_us:
        least = "is at least" if stay.is_learnt else "is"
        message = f"lowering background has no effect while after_inference_us {least} {stay.least_us}"
        hint = f"lowering: foreground, or {'least_us' if stay.is_learnt else 'after_inference_us'}: 0"
        yield Finding("SUS-3", ("relax", "lowering"), message, hint, also=(_SUSTAIN,))


@rule(
    "SUS-4",
    "A break-even time is 20000 us or more: no timer keeps a shorter time, so 20000 us are used instead.",
    Breach.NOTE,
    "measured: 19 ms late at p99 next to one busy thread",
    why=(
        "No timer keeps a timeout between 0 and 20 ms, so a learnt time is 0, or 20 ms or more. To keep the bound on "
        "its cost it is chosen as if the break-even time were 20 ms."
    ),
    mend="State 20000 us or more. A smaller value is treated as 20000 us.",
    wrong=mine("relax: {after_inference_us: {adaptive: {break_even_us: 5000}}}"),
    right=mine("relax: {after_inference_us: {adaptive: {break_even_us: 20000}}}"),
    lint=("--notes",),
    needs=(Needs.PROFILE,),
    fields=_learnt("break_even_us"),
)
def _short_break_even(case: Case) -> Iterator[Finding]:
    for stay in _stays(case):
        if stay.break_even_us is not None and stay.break_even_us < SHORTEST_SUSTAIN_US:
            message = (
                f"a break-even time of {stay.break_even_us} us, instead of which {SHORTEST_SUSTAIN_US} us are used"
            )
            yield Finding("SUS-4", (*stay.at, "adaptive", "break_even_us"), message, f"{SHORTEST_SUSTAIN_US} and more")


@rule(
    "SUS-5",
    "The shortest time that may be learnt is not longer than the longest.",
    Breach.ERROR,
    "no time satisfies both",
    why=(
        "No time is as long as least_us and as short as most_us. If most_us is left out, it is twice the break-even "
        "time, and 10 s with cold_starts."
    ),
    mend="State a shorter least_us, or a longer most_us.",
    wrong=mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, least_us: 300000}}}"),
    right=mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, least_us: 50000}}}"),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=_learnt("least_us", "most_us"),
)
def _ordered_limits(case: Case) -> Iterator[Finding]:
    for stay in _stays(case):
        if stay.least_us > stay.most_us:
            least, most = ((*stay.at, "adaptive", name) for name in ("least_us", "most_us"))
            message = f"least_us is {stay.least_us}, and most_us {stay.most_us}"
            yield Finding("SUS-5", least, message, f"least_us: {stay.most_us} or less", also=(most,))


@rule(
    "SUS-6",
    "A break-even time is between the shortest and the longest time that may be learnt.",
    Breach.WARNING,
    "htppower, the proof of the bound on the cost of a learnt time",
    why=(
        "A learnt time costs at most twice the best possible cost, plus two break-even times. If limits keep it from "
        "the break-even time, there is no such bound: gaps just longer than it can then cost any multiple."
    ),
    mend="Let the limits enclose the break-even time.",
    wrong=mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, most_us: 50000}}}"),
    right=mine("relax: {after_inference_us: {adaptive: {break_even_us: 100000, most_us: 200000}}}"),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=_learnt("break_even_us", "least_us", "most_us"),
)
def _break_even_within(case: Case) -> Iterator[Finding]:
    for stay in _stays(case):
        if stay.break_even_us is None or stay.least_us > stay.most_us:
            continue
        worth_us = max(stay.break_even_us, SHORTEST_SUSTAIN_US)
        if not stay.least_us <= worth_us <= stay.most_us:
            name, hint = ("most_us", "or more") if worth_us > stay.most_us else ("least_us", "or less")
            message = f"a break-even time of {worth_us} us with {name} {getattr(stay, name)}: the cost has no bound"
            at = (*stay.at, "adaptive", name)
            yield Finding("SUS-6", at, message, f"{name}: {worth_us} {hint}", also=((*at[:-1], "break_even_us"),))


@rule(
    "SUS-7",
    "The second power state of a profile is lower than the first.",
    Breach.WARNING,
    "vendor, profiles table",
    why=(
        "A second power state saves what the first still draws. If it is not lower, it draws as much, and costs a call."
    ),
    mend="Relax to the higher of the two first, and then to the lower.",
    wrong=mine("relax: {to: released, then: {to: relaxed, after_us: 2000000}}"),
    right=mine("relax: {to: relaxed, then: {to: released, after_us: 2000000}}"),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(_THEN, _THEN_TO, ("relax", "to")),
)
def _lower_still(case: Case) -> Iterator[Finding]:
    to = _first_state(case)
    if case.then is not None and to is not None and case.then != to and rank(case.then) >= rank(to):
        message = "the second power state is not lower than the first"
        yield Finding("SUS-7", _THEN_TO, message, "a lower one, such as released", also=(("relax", "to"),))


@rule(
    "SUS-8",
    "In a profile with two power states, each of them lowers something.",
    Breach.NOTE,
    "votes that are in force already are not sent again",
    why=(
        "Only options that differ are sent, so a power state with the votes of the previous one makes no call and "
        "saves nothing. A first state with the profile's own votes keeps everything up until the second."
    ),
    mend="Name another power state, or leave then out.",
    wrong=mine("relax: {to: released, then: {to: released, after_us: 2000000}}"),
    right=mine("relax: {to: relaxed, then: {to: released, after_us: 2000000}}"),
    lint=("--notes",),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(_THEN, _THEN_TO, ("relax", "to")),
)
def _something_lowered(case: Case) -> Iterator[Finding]:
    to = _first_state(case)
    if case.then is None or to is None:
        return
    if case.then == to:
        message, hint = "both power states have the same votes, so the second does nothing", "leave then out"
        yield Finding("SUS-8", _THEN_TO, message, hint, also=(("relax", "to"),))
    elif to == case.votes:
        message = "the first power state has the profile's own votes, so only the second lowers anything"
        yield Finding("SUS-8", ("relax", "to"), message, "a lower one, or the second one at once", also=(_THEN_TO,))


@rule(
    "SUS-9",
    "A raise ahead acts only if something is lowered between inferences.",
    Breach.NOTE,
    "votes that are in force already are not sent again",
    why="A raise ahead hides the wait for a raise. If nothing is lowered between inferences, none waits.",
    mend="Leave it out, or relax to a power state that lowers something.",
    wrong=mine("votes: unset\nrelax: {raise_ahead_us: 5000}", "balanced"),
    right=mine("relax: {raise_ahead_us: 5000}", "balanced"),
    lint=("--notes",),
    needs=(Needs.FIELDS, Needs.PROFILE),
    fields=(_AHEAD,),
)
def _raises_something(case: Case) -> Iterator[Finding]:
    to = _first_state(case)
    if case.raise_ahead_us and to is not None and case.then in (None, to) and (not case.votes or to == case.votes):
        why = "the power state has the profile's own votes" if case.votes else "there are no votes"
        message = f"raise_ahead_us {case.raise_ahead_us} does nothing: {why}"
        yield Finding("SUS-9", _AHEAD, message, "leave it out, or relax to a lower power state")


def _first_state(case: Case) -> VoteSet | None:
    """Return the votes between the phases; None if the profile names no power state."""
    return case.lowered[0][1] if case.lowered else None
