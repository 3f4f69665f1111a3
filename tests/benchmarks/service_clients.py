"""The cost of an inference whose votes a service sends, in C and in Python, against a host's own session."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure
from hot_path import time_inferences
from support.service_process import environment, served
from support.told_service import told_service

import htppower.client
from htppower import VoteController
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.client import Lease

PAIR_BUDGET_US = 60
GONE_BUDGET_MS = 100
WINDOW_US = 60_000_000
# The default holds back a client that does nothing but begin and end.
LIMITS = "service: benchmark\nusers:\n  - {user: default, messages_per_s: 1000000}\n"


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the figures."""
    batches = 20 if smoke else 400
    with tempfile.TemporaryDirectory() as folder:
        place, file = Path(folder) / "socket", Path(folder) / "limits.yaml"
        file.write_text(LIMITS, encoding="utf-8")
        with served(place, str(file)):
            yield from _in_c(Path(folder), place, batches)
            yield from _in_python(place, batches)
        with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as controller:
            session = controller.session("burst")
            yield _figure("begin and end of a host's own session", lambda: time_inferences(session, 500), batches, None)
        yield _gone(place, 3 if smoke else 30)


def _in_c(folder: Path, place: Path, batches: int) -> Iterator[Figure]:
    compiler = shutil.which("cc")
    if compiler is None:
        yield Figure("begin and end through the service in C: no compiler", 0.0, None, "us")
        return
    program, source = folder / "pairs", Path(__file__).with_name("pairs.c")
    include = ("-I", htppower.client.include_folder())
    subprocess.run([compiler, "-std=c99", "-O2", *include, str(source), "-o", str(program)], check=True)
    for what, window_us, budget in (("in C", 0, PAIR_BUDGET_US), ("in C, in a window", WINDOW_US, 1)):
        command = [str(program), str(batches), "50" if window_us == 0 else "1000", str(window_us)]
        done = subprocess.run(command, env=environment(place), stdout=subprocess.PIPE, text=True, check=True)
        least, median = map(float, done.stdout.split())
        yield Figure(f"begin and end through the service {what}", least, budget, "us", f"median {median:.3f} us")


def _in_python(place: Path, batches: int) -> Iterator[Figure]:
    with htppower.client.connect("benchmark", path=str(place)) as client:
        lease = client.hold("burst", reason="benchmark")
        yield _figure("begin and end through the service in Python", lambda: _pairs(lease, 50), batches, None)
        lease.release()
        lease = client.hold("burst", reason="benchmark", window_us=WINDOW_US)
        what = "begin and end through the service in Python, in a window"
        yield _figure(what, lambda: _pairs(lease, 500), batches, None)


def _pairs(lease: Lease, pairs: int) -> float:
    """Return seconds for each pair."""
    start = time.perf_counter()
    for _ in range(pairs):
        lease.end(lease.begin())
    return (time.perf_counter() - start) / pairs


def _figure(what: str, pairs: Callable[[], float], batches: int, budget: float | None) -> Figure:
    pairs()
    times_us = [pairs() * 1e6 for _ in range(batches)]
    return Figure(what, min(times_us), budget, "us", f"median {statistics.median(times_us):.3f} us")


def _gone(place: Path, times: int) -> Figure:
    """Return how long the votes of a killed client stay up, at most."""
    code = "import sys, htppower.client as c; k = c.connect('k').hold('burst', reason='k'); k.begin(); sys.stdin.read()"
    gone_ms = []
    with told_service(place) as service:
        for _ in range(times):
            # Until the ids of the one before are destroyed.
            time.sleep(0.1)
            begun_ns, low = time.monotonic_ns(), service.clock
            command = [sys.executable, "-c", code]
            with subprocess.Popen(command, env=environment(place), stdin=subprocess.PIPE) as host:
                service.changed(low, begun_ns)
                time.sleep(0.05)
                killed_ns, high = time.monotonic_ns(), service.clock
                host.kill()
                gone_ms.append((service.changed(high, killed_ns) - killed_ns) / 1e6)
    detail = f"median {statistics.median(gone_ms):.1f} ms of {times}"
    return Figure("votes of a client after SIGKILL, longest", max(gone_ms), GONE_BUDGET_MS, "ms", detail)
