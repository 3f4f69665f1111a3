"""The results of tuning as JSON, format version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.profile_file import profile_text

if TYPE_CHECKING:
    from htppower.profiles.sustain import Sustain
    from htppower.tools.tuning.choices import Choice
    from htppower.tools.tuning.holds import Checked, Holds
    from htppower.tools.tuning.sensitivity import Assumption
    from htppower.tools.tuning.tune import Tuned, Tuning, Verified

FORMAT_VERSION = 1


def as_json(tuning: Tuning) -> str:
    """Return the results. Keys keep their order from one version to the next. Times are in us, energies in J."""
    together = tuning.together
    document = {
        "format_version": FORMAT_VERSION,
        "recording": {"source": tuning.trace.source, "format": tuning.trace.format, "notes": list(tuning.trace.notes)},
        "device": tuning.model.device,
        "limits": [str(each) for each in tuning.question.limits],
        "within": tuning.question.within,
        "break_even_us": tuning.question.break_even_us,
        "sessions": [_session(tuning, each) for each in tuning.sessions],
        "together": None
        if together is None
        else {
            "settled": together.choices is not None,
            "energy_j": None if together.choices is None else together.energy_j,
            "alone_j": None if together.choices is None else together.alone_j,
            "now_j": together.present_j,
            "kept": list(together.kept),
            "tried": together.tried,
            "all_tried": together.all_tried,
            "replayed": [_verified(each) for each in tuning.verified],
        },
    }
    return json.dumps(document, indent=2)


def _session(tuning: Tuning, tuned: Tuned) -> dict[str, Any]:
    advice = tuned.advice
    return {
        "name": advice.session.name,
        "inferences": int(advice.session.begins_us.size),
        "price_of_latency_w": tuned.aim.price_w,
        "now": _choice(advice.present),
        "advised": None if tuned.best is None else _choice(tuned.best),
        "least": None if advice.cheapest is None else _choice(advice.cheapest),
        "holds": None if tuned.best is None or tuned.holds is None else _holds(tuned.best, tuned.holds),
        "checked": None if tuned.checked is None else _checked(tuned, tuned.checked),
        "best_alone": None if advice.best is None else _choice(advice.best),
        "nearest": [{"limit": str(limit), "choice": _choice(choice)} for limit, choice in advice.nearest],
        "profile": None if tuned.best is None else profile_text(tuning, tuned),
        "front": [_choice(each) for each in advice.front],
        "tried": advice.tried,
        "of": advice.of,
        "assumptions": [_assumption(each) for each in tuned.assumptions],
        "replayed": [_verified(each) for each in tuned.verified],
        "notes": list(advice.notes),
    }


def _holds(best: Choice, holds: Holds) -> dict[str, Any]:
    def inference_us(factor: float | None) -> int | None:
        return None if factor is None else round(factor * holds.inference_us)

    return {
        "gaps_up_to_us": None if holds.gap_us is None else best.sustain,
        "gaps_now_us": holds.gap_us,
        "gaps_factor": holds.longer_gaps,
        "inferences_from_us": inference_us(holds.shorter),
        "inferences_up_to_us": inference_us(holds.longer),
        "inferences_now_us": holds.inference_us,
    }


def _checked(tuned: Tuned, checked: Checked) -> dict[str, Any]:
    return {
        "part": "last third",
        "used_to_tune": tuned.rest_used,
        "choice": _choice(checked.choice),
        "costs_more": checked.loss,
        "broken": [str(each) for each in checked.broken],
    }


def _choice(choice: Choice) -> dict[str, Any]:
    latency = choice.latency
    return {
        "profile": choice.variant.name,
        "polling": choice.variant.polls,
        "sustain": _sustain(choice.sustain),
        "energy_j": choice.energy_j,
        "p50_us": latency.p50,
        "p90_us": latency.p90,
        "p95_us": latency.p95,
        "p99_us": latency.p99,
        "p99_9_us": latency.p99_9,
        "max_us": latency.max,
        "mean_us": latency.mean,
        "cold_share": latency.cold,
        "cold": choice.cold,
        "calls": choice.calls,
        "raised_us": choice.raised_us,
    }


def _sustain(sustain: Sustain) -> int | dict[str, Any]:
    if not isinstance(sustain, Adaptive):
        return sustain
    kind = {"break_even_us": sustain.break_even_us, "cold_starts_ppm": sustain.cold_starts_ppm}
    stated = {name: value for name, value in kind.items() if value is not None}
    return {"adaptive": {**stated, "least_us": sustain.least_us, "most_us": sustain.most_us}}


def _assumption(each: Assumption) -> dict[str, Any]:
    return {
        "name": each.name,
        "value": each.quantity.value,
        "of": each.quantity.of,
        "range": [each.lowest, each.highest],
        "stands_down_to": each.down,
        "stands_up_to": each.up,
    }


def _verified(verified: Verified) -> dict[str, Any]:
    return {
        "choice": _choice(verified.choice),
        "equal": not verified.differences,
        "calls": verified.replayed.calls,
        "raised_us": verified.replayed.raised_us,
        "cold": len(verified.replayed.cold),
        "differences": list(verified.differences),
    }
