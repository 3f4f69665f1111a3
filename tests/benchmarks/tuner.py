"""The tuner on one core: reading a recording, every inference under every time-out, and a learnt time-out.

Compared with gap by gap and the controller.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure
from support.trace_files import own_header

from htppower.profiles.sustain import Adaptive
from htppower.tools.tuning.cost.blocks import Blocks
from htppower.tools.tuning.cost.exact import ExactTimeOuts
from htppower.tools.tuning.cost.learnt import run_lanes
from htppower.tools.tuning.cost.stepwise import Fixed, run_stepwise
from htppower.tools.tuning.cost.workload import Timing, Workload
from htppower.tools.tuning.replay import replay
from htppower.tools.tuning.traces.read import read_trace
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
# 200 MB/s.
_BUDGET_NS_A_BYTE = 5.0
_READ = 1_000_000
_LANES = 1_024


def _session(count: int) -> SessionTrace:
    """Return inferences of 1 to 4 ms after gaps that are exponential, of 80 ms in the mean."""
    draw = np.random.default_rng(1)
    gaps = draw.exponential(80_000, count).astype(np.int64)
    takes = draw.integers(1_000, 4_000, count)
    ends = np.cumsum(gaps + takes)
    return SessionTrace("camera", None, ends - takes, ends)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield how long reading and tuning take, and the time for each inference and setting."""
    yield _reading(_READ // 100 if smoke else _READ, None if smoke else _BUDGET_NS_A_BYTE)
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

    learnt_ns = 0.0
    workload = Workload.of(session, timing)
    for sustain in (Adaptive(break_even_us=100_000), Adaptive(cold_starts_ppm=50_000)):
        began = time.process_time()
        run_lanes(workload, sustain, min(_LANES, count // 100))
        learnt_ns = max(learnt_ns, 1e9 * (time.process_time() - began) / count)
    yield Figure("tuner, an inference under a learnt time-out", learnt_ns, None, "ns", f"{_LANES} parts at once")

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


def _reading(count: int, budget: float | None) -> Figure:
    """Return how long it takes to read a byte of a recording; the best of three runs."""
    session = _session(count)
    times = zip(session.begins_us.tolist(), (session.ends_us - session.begins_us).tolist(), strict=True)
    args = '"args":{"session":"camera","profile":"burst","cold":false}},'
    lines = (f'{{"name":"inference","ph":"X","pid":71,"tid":1,"ts":{at},"dur":{takes},{args}\n' for at, takes in times)
    content = (own_header() + "".join(lines)).encode()
    took_ns = []
    for _ in range(3):
        began = time.process_time_ns()
        assert read_trace("trace.json", stream=io.BytesIO(content)).sessions[0].begins_us.size == count
        took_ns.append(time.process_time_ns() - began)
    each_ns = min(took_ns) / len(content)
    return Figure("reading a recording, a byte", each_ns, budget, "ns", f"{1e3 / each_ns:.0f} MB/s of processor time")
