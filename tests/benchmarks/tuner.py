"""The tuner, with every inference under every time-out on one core, compared with gap by gap and the controller."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure

from htppower.tools.tuning.cost.blocks import Blocks
from htppower.tools.tuning.cost.exact import ExactTimeOuts
from htppower.tools.tuning.cost.stepwise import Fixed, run_stepwise
from htppower.tools.tuning.cost.workload import Timing, Workload
from htppower.tools.tuning.replay import replay
from htppower.tools.tuning.traces.trace import SessionTrace
from htppower.tools.tuning.variants import variants

if TYPE_CHECKING:
    from collections.abc import Iterator

_INFERENCES = 10_000_000
_TIME_OUTS = 1_000
_LATE_US = 2_000
_FEW = 200_000
_REPLAYED = 20_000
# The budget: 5e8 inferences times settings in a second.
_BUDGET_NS = 2.0
_BUDGET_S = 20.0


def _session(count: int) -> SessionTrace:
    """Return inferences of 1 to 4 ms after gaps that are exponential, of 80 ms in the mean."""
    draw = np.random.default_rng(1)
    gaps = draw.exponential(80_000, count).astype(np.int64)
    takes = draw.integers(1_000, 4_000, count)
    ends = np.cumsum(gaps + takes)
    return SessionTrace("camera", None, ends - takes, ends)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield how long tuning takes, including sorting, and the time for each inference and setting."""
    count, settings = (_INFERENCES // 100, _TIME_OUTS // 10) if smoke else (_INFERENCES, _TIME_OUTS)
    session, timing = _session(count), Timing(late_us=_LATE_US)
    time_outs = np.linspace(20_000, 1_000_000, settings).astype(np.int64)
    began = time.process_time()
    found = ExactTimeOuts(Blocks.of(Workload.of(session, timing))).outcomes(time_outs)
    took_s = time.process_time() - began
    assert (found.cold >= 1).all()
    each_ns = 1e9 * took_s / (count * settings)

    few = Workload.of(_session(min(_FEW, count)), timing)
    began = time.process_time()
    run_stepwise(few, Fixed(20_000))
    stepwise_ns = 1e9 * (time.process_time() - began) / few.count

    profile = variants(("burst",))[0][0].under(20_000)
    replayed = Workload.of(_session(min(_REPLAYED, count // 100)), timing)
    began = time.process_time()
    replay([(profile, replayed)])
    replay_ns = 1e9 * (time.process_time() - began) / replayed.count

    what = f"tuner, {count:,} inferences x {settings:,} time-outs, sorted first"
    yield Figure(what, took_s, None if smoke else _BUDGET_S, "s", "processor time, lateness of raises exact")
    yield Figure(
        "tuner, an inference under a time-out",
        each_ns,
        None if smoke else _BUDGET_NS,
        "ns",
        f"{1e9 / each_ns:.2g} a second; gap by gap {1e9 / stepwise_ns:,.0f}, the controller {1e9 / replay_ns:,.0f}",
    )
