"""An advice stays the best within a range of each assumed value of the model."""

from __future__ import annotations

import tracemalloc

import attrs
import numpy as np
from support.advising import BURST, MODEL, VARIANTS, advised, aim_of, periodic, recording

from htppower.tools.tuning.sensitivity import assumptions, in_words
from htppower.tools.tuning.session_advice import advise
from htppower.tools.tuning.traces.trace import SessionTrace
from htppower.tools.tuning.tune import Question, tune
from htppower.tools.tuning.variants import Variant


def test_the_advice_stands_up_to_what_is_said_and_not_beyond() -> None:
    """At the end of the range the advice is the best; 2 % beyond, another choice is better."""
    aim = aim_of(("p99 <= 12 ms",))
    session = periodic()
    advice = advised(session, aim)
    assert advice.best is not None
    found = assumptions(advice, advice.best, MODEL, aim)
    told = {each.name: each for each in found}
    assert {name for name, each in MODEL.quantities().items() if each.assumed and "speeds" not in name} <= set(told)
    moved = [(each, edge) for each in found for edge in (each.down, each.up) if edge is not None]
    assert moved
    for each, edge in moved:
        beyond = edge + (0.02 * (each.highest - each.lowest)) * (1 if edge > each.quantity.value else -1)
        if not each.lowest <= beyond <= each.highest:
            continue
        other = advise(session, VARIANTS, Variant(BURST, BURST), MODEL.with_value(each.name, beyond), aim)
        assert other.best is not None
        offer = other.offer(advice.best)
        same = offer.choice(advice.best.sustain)
        assert not same.keeps_to(aim.limits) or other.best.energy_j < 0.995 * same.energy_j, each.name
    said = "\n".join(in_words(found))
    assert all(each.name in said for each in found)


def test_a_value_that_is_measured_is_no_assumption() -> None:
    """A measured value has no range."""
    aim = aim_of(())
    advice = advised(periodic(), aim)
    assert advice.best is not None
    measured = attrs.evolve(MODEL.call_j, provenance="measured")
    model = MODEL.with_quantity("call_j", measured)
    assert "call_j" not in {each.name for each in assumptions(advice, advice.best, model, aim)}


def test_how_far_values_may_move_is_found_in_little_memory() -> None:
    """Each value needs its own arrays, and the arrays of earlier values are freed."""
    draw = np.random.default_rng(5)
    begins = np.cumsum(draw.integers(20_000, 300_000, 2_000))
    session = SessionTrace("camera", "burst", begins, begins + 2_000)
    tracemalloc.start()
    try:
        tune(recording(session), MODEL, Question(profiles=("burst", "balanced"), settings=1))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 20_000_000
