"""The advice for a session that was recorded under burst, and all possible choices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from htppower.profiles.loading import load_profile
from htppower.tools.tuning.limits import parse_limit
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.session_advice import Aim, SessionAdvice, advise, price_of_latency_w
from htppower.tools.tuning.traces.trace import SessionTrace, Trace
from htppower.tools.tuning.variants import Variant, variants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.tuning.choices import Choice

MODEL = load_device_model()
BURST = load_profile("burst")
VARIANTS, _ = variants(("burst", "balanced", "low_power_saver"))


def aim_of(texts: Sequence[str], settings: int = 1_000) -> Aim:
    """Return the aim, with the price of latency that gives a break-even time of 100 ms."""
    price_w = price_of_latency_w(MODEL, BURST, 100_000)
    return Aim(tuple(map(parse_limit, texts)), price_w, 400_000, settings)


def advised(session: SessionTrace, aim: Aim) -> SessionAdvice:
    """Return the advice for a session that was recorded under burst."""
    return advise(session, VARIANTS, Variant(BURST, BURST), MODEL, aim)


def everything(advice: SessionAdvice) -> list[Choice]:
    """Return every choice: time-outs at the edges of gaps and next to them, 0, and learnt sustain times."""
    found = []
    for offer in advice.offers:
        edges = offer.trial.time_outs_us
        near = np.unique(np.concatenate((edges, edges + 1, np.maximum(edges - 1, 20_000), [20_000, 300_000])))
        sustains = [0, *near.tolist(), *offer.learnt]
        found += [offer.choice(each) for each in sustains]
    return found


def periodic(count: int = 60) -> SessionTrace:
    """Return inferences of 5 ms that begin every 90 to 110 ms, with some pauses of 2 s."""
    draw = np.random.default_rng(1)
    gaps = np.where(draw.random(count) < 0.1, 2_000_000, draw.integers(90_000, 110_000, count))
    ends = np.cumsum(gaps + 5_000).astype(np.int64)
    return SessionTrace("camera", "burst", ends - 5_000, ends)


def recording(*sessions: SessionTrace) -> Trace:
    """Return a recording of sessions."""
    return Trace("recording.json", "htppower", sessions)
