"""The tuner: reading a recording, a whole tuning, and every inference under every time-out.

Compared with gap by gap and the controller.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import resource
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from figures import Figure
from support.trace_files import own_header

from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.tools.tuning.cost.blocks import Blocks
from htppower.tools.tuning.cost.exact import ExactTimeOuts
from htppower.tools.tuning.cost.stepwise import Fixed, run_stepwise
from htppower.tools.tuning.cost.workload import Timing, Workload
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.replay import replay
from htppower.tools.tuning.traces.read import read_trace
from htppower.tools.tuning.traces.trace import SessionTrace, Trace
from htppower.tools.tuning.tune import Question, tune
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
# The budgets of a whole tuning of ``_INFERENCES``.
_BUDGET_TUNING_S = 60.0
_BUDGET_GB = 1.5
_BYTES_OF_RSS = 1 if sys.platform == "darwin" else 1024


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
    yield from _whole(_INFERENCES // 5_000 if smoke else _INFERENCES, smoke=smoke)
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


def _whole(count: int, *, smoke: bool) -> Iterator[Figure]:
    """Yield the processor time and the peak memory of a tuning over all shipped profiles, in a process of its own."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        took_s, wall_s, peak_gb = pool.submit(_tuning, count).result()
    detail = f"processor time; {wall_s:.1f} s by the clock, load of the machine {os.getloadavg()[0]:.1f}"
    yield Figure(f"tuning {count:,} inferences", took_s, None if smoke else _BUDGET_TUNING_S, "s", detail)
    yield Figure(f"tuning {count:,} inferences, peak memory", peak_gb, None if smoke else _BUDGET_GB, "GB")


def _tuning(count: int) -> tuple[float, float, float]:
    """Return the processor time and the time of a tuning, in s, and the peak memory of this process, in GB."""
    trace = Trace("trace.json", "htppower", (_session(count),))
    began, began_s = time.process_time(), time.perf_counter()
    assert tune(trace, load_device_model(DEFAULT_DEVICE), Question()).sessions[0].best is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _BYTES_OF_RSS
    return time.process_time() - began, time.perf_counter() - began_s, peak / 1e9
