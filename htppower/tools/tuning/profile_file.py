"""The advised profile as a file that extends a shipped one, with the reasons in comments."""

from __future__ import annotations

import itertools
import textwrap
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.sustain import Adaptive
from htppower.profiles.yaml_text import comment, profile_lines, profile_name
from htppower.tools.report.words import counted
from htppower.tools.tuning.holds import checked_in_words, holds_in_words
from htppower.tools.tuning.sensitivity import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.tune import Tuned, Tuning

_WIDTH = 110
_WHY_BACKGROUND = "an inference returns without waiting for the call that lowers"
_SUSTAIN = ("relax", "after_inference_us")
_LOWERING = ("relax", "lowering")
_POLLING = ("votes", "rpc_polling_time_us")


def tuned_name(session: str) -> str:
    """Return the name of the profile that is advised for a session."""
    return profile_name(f"{session}_tuned")


def tuned_profile(tuned: Tuned, best: Choice) -> Profile:
    """Return the profile that is advised for a session."""
    name = tuned_name(tuned.advice.session.name)
    base = best.variant.base
    summary = f"As {base.name}, tuned for {name.removesuffix('_tuned')} from a recording."
    return attrs.evolve(
        best.variant.under(best.sustain), name=name, summary=summary, lineage=(name, *base.lineage), source=None
    )


def profile_text(tuning: Tuning, tuned: Tuned) -> str:
    """Return the file of the profile that is advised for a session.

    Raises:
        ValueError: nothing is advised, since no choice keeps to the limits.
    """
    if tuned.best is None:
        raise ValueError(f"{tuned.advice.session.name}: no choice keeps to the limits, so no profile is advised")
    best = tuned.best
    reasons: dict[KeyPath, str] = {
        _SUSTAIN: _why_this_time(tuned, best),
        _POLLING: _why_polling(tuning, best),
        _LOWERING: _WHY_BACKGROUND,
    }
    said = (textwrap.wrap(each, _WIDTH, subsequent_indent="  ") for each in _head(tuning, tuned, best))
    lines = [*map(comment, itertools.chain.from_iterable(said))]
    for at, line in profile_lines(tuned_profile(tuned, best), best.variant.base):
        indent = line[: len(line) - len(line.lstrip())]
        why = reasons.pop(at[:2], None)
        if why is not None:
            lines.append(f"{indent}{comment(why)}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def _head(tuning: Tuning, tuned: Tuned, best: Choice) -> Iterator[str]:
    session, present = tuned.advice.session, tuned.advice.present
    inferences = counted(session.begins_us.size, "inference")
    yield f"Made by htppower tune from {inferences} of {session.name} in {tuning.trace.source}."
    yield f"Device model: {tuning.model.device}. Its values that were never measured are assumptions, see below."
    limits = ", ".join(map(str, tuning.question.limits))
    within = tuning.question.within
    least = f"Within {100 * within:g} % of the least" if within else "The least"
    if limits:
        yield f"{least} energy of all profiles and sustain times that keep to: {limits}."
    else:
        yield (
            f"{least} cost of all profiles and sustain times, energy and latency, at the price of latency that makes "
            f"{tuning.question.break_even_us} us the break-even time."
        )
    if within:
        yield "Of these, it tolerates the largest change of the gaps before it breaks a limit or costs more."
    yield f"{_line('This profile', best)}."
    yield f"{_line(f'{present.variant.name} as it is', present)}."
    if tuned.holds is not None:
        yield f"Holds {holds_in_words(tuned.holds, best.sustain)}."
    if tuned.checked is not None:
        yield f"Checked {checked_in_words(tuned.checked, tuning.question.limits, used=tuned.rest_used)}."
    others = len(tuning.sessions) - 1
    if tuning.together is not None and tuning.together.choices is not None:
        sessions = "1 other session that shares" if others == 1 else f"{others} other sessions that share"
        yield f"Settled together with {sessions} the core and the process."
    for said in in_words(tuned.assumptions):
        yield f"Assumed: {said}."


def _line(name: str, choice: Choice) -> str:
    latency = choice.latency
    return (
        f"{name}: {choice.energy_j:.4g} J, p50 {latency.p50} us, p99 {latency.p99} us, {latency.cold:.1%} cold starts, "
        f"{choice.calls} calls"
    )


def _why_this_time(tuned: Tuned, best: Choice) -> str:
    if isinstance(best.sustain, Adaptive):
        return "learnt from the gaps of each session: cheaper here than any fixed time that keeps to the limits"
    if not best.sustain:
        return "a sustain time never pays here: it costs more than a raise for each inference, in calls and latency"
    inferences = tuned.advice.session.begins_us.size
    return f"{inferences - best.cold} of {inferences} inferences find the votes up"


def _why_polling(tuning: Tuning, best: Choice) -> str:
    model = tuning.model
    power, saves = model.polling_w.value, model.polling_saves_us.value
    if best.variant.polls:
        return f"polling brings answers {saves:g} us sooner; here that is worth the {power:g} W of the CPU"
    return f"polling draws {power:g} W of the CPU; the {saves:g} us that it saves are not worth that here"
