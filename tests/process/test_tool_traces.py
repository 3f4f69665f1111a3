"""Traces of LoadGen and ONNX Runtime are read: each inference once, with the duration that the host saw."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

QUERIES = 40
# Times are rounded to whole us.
ROUNDED_US = 2


def now_us() -> float:
    """Return the time, by a clock that never goes back."""
    return time.perf_counter_ns() / 1000


def test_a_trace_of_loadgen_is_read(tmp_path: Path) -> None:
    """Every sample is an inference, at least as long as the host's work on it; they follow each other."""
    lg: Any = pytest.importorskip("mlperf_loadgen", reason="mlcommons-loadgen is not installed")
    worked_us: list[float] = []

    def issue(samples: list[Any]) -> None:
        for sample in samples:
            begun_us = now_us()
            while now_us() < begun_us + 100 * (1 + len(worked_us) % 3):
                pass
            worked_us.append(now_us() - begun_us)
            lg.QuerySamplesComplete([lg.QuerySampleResponse(sample.id, 0, 0)])

    settings, log = lg.TestSettings(), lg.LogSettings()
    settings.scenario, settings.mode = lg.TestScenario.SingleStream, lg.TestMode.PerformanceOnly
    settings.min_duration_ms, settings.min_query_count, settings.max_query_count = 0, QUERIES, QUERIES
    log.log_output.outdir, log.enable_trace = str(tmp_path), True
    system = lg.ConstructSUT(issue, lambda: None)
    library = lg.ConstructQSL(8, 8, lambda _: None, lambda _: None)
    try:
        lg.StartTestWithLogSettings(system, library, settings, log, "")
    finally:
        lg.DestroyQSL(library)
        lg.DestroySUT(system)
    trace = read_trace(tmp_path / "mlperf_log_trace.json")
    assert (trace.format, trace.notes, len(trace.sessions)) == ("loadgen", (), 1)
    session = trace.sessions[0]
    assert session.begins_us.size == len(worked_us) == QUERIES
    assert (session.ends_us - session.begins_us + ROUNDED_US >= np.array(worked_us)).all()
    assert session.gaps_us().size == QUERIES - 1


def test_a_profile_of_onnxruntime_is_read(tmp_path: Path) -> None:
    """Every run is an inference, no longer than the host's wait for it; an op is not an inference."""
    pytest.importorskip("onnx")
    ort: Any = pytest.importorskip("onnxruntime")
    from support.onnxsessions import CPU, X, doubling  # noqa: PLC0415 - only where the packages are

    options = ort.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "detector")
    model = ort.InferenceSession(doubling(), options, providers=CPU)
    begins_us, ends_us = np.zeros(QUERIES), np.zeros(QUERIES)
    for place in range(QUERIES):
        begins_us[place] = now_us()
        model.run(None, {"x": X})
        ends_us[place] = now_us()
    trace = read_trace(model.end_profiling())
    assert (trace.format, trace.notes, [each.name for each in trace.sessions]) == ("onnxruntime", (), ["detector"])
    session = trace.sessions[0]
    assert session.begins_us.size == QUERIES
    assert (session.ends_us - session.begins_us <= ends_us - begins_us + ROUNDED_US).all()
    # Between two runs the host waited at most as long as ONNX Runtime was idle.
    assert (session.gaps_us() + ROUNDED_US >= begins_us[1:] - ends_us[:-1]).all()
