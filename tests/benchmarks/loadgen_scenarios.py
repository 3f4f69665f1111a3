"""A LoadGen test of a host: the scenario's settings, the host's answers, and the results in LoadGen's log."""

from __future__ import annotations

import contextlib
import json
import queue
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import mlperf_loadgen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCENARIOS = ("SingleStream", "MultiStream", "Server")
# MLPerf's own number of samples of a MultiStream query.
STREAMS = 8
_SAMPLES = 64
# Shorter than for any host: LoadGen makes the queries of a test in advance, and ends early if there are too few.
_LEAST_LATENCY_NS = 10_000
_LOG = "mlperf_log_detail.txt"
_TRACE = "mlperf_log_trace.json"
_PREFIX = ":::MLLOG "


@attrs.frozen
class Load:
    """The result of one LoadGen test.

    Attributes:
        p50_us, p90_us, p99_us: latency of a query as LoadGen measured it; in Server from when the query was due.
        issued: how many queries LoadGen counted.
        completed: how many queries the host answered, one inference each.
        duration_s: from the first query until LoadGen had issued the last one.
    """

    p50_us: float
    p90_us: float
    p99_us: float
    issued: int
    completed: int
    duration_s: float


class Host:
    """Answers each query by one inference of all its samples.

    LoadGen can't pass on an exception: the first one is kept, and the query completed, so that the test ends.
    """

    def __init__(self, infer: Callable[[int], object]) -> None:
        self._infer = infer
        self._lock = threading.Lock()
        self.completed = 0
        self.error: BaseException | None = None
        self.first_s: float | None = None
        self.last_s = 0.0

    def answer(self, samples: list[Any]) -> None:
        """Infer, and tell LoadGen that the samples are complete."""
        if self.first_s is None:
            self.first_s = time.perf_counter()
        try:
            self._infer(len(samples))
        except BaseException as error:  # noqa: BLE001 - raised when the test has ended
            self.error = self.error or error
        mlperf_loadgen.QuerySamplesComplete([mlperf_loadgen.QuerySampleResponse(sample.id, 0, 0) for sample in samples])
        with self._lock:
            self.completed += 1


def run_load(
    scenario: str,
    infer: Callable[[int], object],
    *,
    duration_s: float,
    qps: float = 200,
    threads: int = 4,
    at_end: Callable[[], object] = lambda: None,
    trace: Path | None = None,
) -> Load:
    """Run one performance test.

    Args:
        scenario: SingleStream, MultiStream or Server.
        infer: is called with the number of samples. In Server it is called from several threads, otherwise from
            LoadGen's own.
        duration_s: for how long LoadGen issues queries.
        qps: in Server, the queries a second, which arrive as a Poisson process.
        threads: in Server, how many threads of the host answer.
        at_end: is called when LoadGen has issued the last query; in Server some may be running.
        trace: where LoadGen's own trace of the queries is kept; without it none is written.
    """
    host = Host(infer)

    def end() -> None:
        at_end()
        host.last_s = time.perf_counter()

    with (
        tempfile.TemporaryDirectory() as folder,
        _answering(host, threads if scenario == "Server" else 0) as issue,
        _under_test(issue, end) as (system, library),
    ):
        mlperf_loadgen.StartTestWithLogSettings(
            system, library, _settings(scenario, duration_s, qps), _log_settings(folder, trace is not None), ""
        )
        found = _results(Path(folder) / _LOG)
        if trace is not None:
            shutil.move(Path(folder) / _TRACE, trace)
    if host.error is not None:
        raise host.error
    p50_us, p90_us, p99_us = (found[f"{percent}.00"] / 1000 for percent in (50, 90, 99))
    taken_s = host.last_s - (host.first_s or host.last_s)
    return Load(p50_us, p90_us, p99_us, int(found["query_count"]), host.completed, taken_s)


@contextlib.contextmanager
def _answering(host: Host, threads: int) -> Iterator[Callable[[list[Any]], None]]:
    """Yield what LoadGen is to call: it answers by itself, or hands on to so many threads, which are then ended."""
    waiting: queue.SimpleQueue[list[Any] | None] = queue.SimpleQueue()

    def serve() -> None:
        while (samples := waiting.get()) is not None:
            host.answer(samples)

    servers = [threading.Thread(target=serve, daemon=True) for _ in range(threads)]
    for server in servers:
        server.start()
    try:
        yield waiting.put if servers else host.answer
    finally:
        for _ in servers:
            waiting.put(None)
        for server in servers:
            server.join()


@contextlib.contextmanager
def _under_test(issue: Callable[[list[Any]], None], end: Callable[[], None]) -> Iterator[tuple[int, int]]:
    """Yield LoadGen's handles of the host and of a library of samples that need no loading."""
    system = mlperf_loadgen.ConstructSUT(issue, end)
    library = mlperf_loadgen.ConstructQSL(_SAMPLES, _SAMPLES, lambda _samples: None, lambda _samples: None)
    try:
        yield system, library
    finally:
        mlperf_loadgen.DestroyQSL(library)
        mlperf_loadgen.DestroySUT(system)


def _settings(scenario: str, duration_s: float, qps: float) -> Any:
    settings = mlperf_loadgen.TestSettings()
    settings.scenario = getattr(mlperf_loadgen.TestScenario, scenario)
    settings.mode = mlperf_loadgen.TestMode.PerformanceOnly
    settings.min_duration_ms = round(duration_s * 1000)
    settings.min_query_count = 1
    settings.single_stream_expected_latency_ns = _LEAST_LATENCY_NS
    settings.multi_stream_expected_latency_ns = _LEAST_LATENCY_NS
    settings.multi_stream_samples_per_query = STREAMS
    settings.server_target_qps = qps
    settings.server_target_latency_ns = 100_000_000
    return settings


def _log_settings(folder: str, traced: bool) -> Any:
    settings = mlperf_loadgen.LogSettings()
    settings.log_output.outdir = folder
    settings.log_output.copy_summary_to_stdout = False
    settings.enable_trace = traced
    return settings


def _results(path: Path) -> dict[str, float]:
    """Return the number of queries and the latencies in ns, by percentile, of LoadGen's detailed log."""
    found: dict[str, float] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith(_PREFIX + '{"key": "result_'):
            continue
        entry = json.loads(line.removeprefix(_PREFIX))
        name = entry["key"].removeprefix("result_")
        # In MultiStream the key says per_query_latency.
        if "percentile" in name and name.endswith("latency_ns"):
            found[name.split("_")[0]] = entry["value"]
        elif name == "query_count":
            found[name] = entry["value"]
    return found
