"""Metrics of several processes, the alert rules in promtool, and the dashboard's queries on a real Prometheus."""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, start_http_server
from support.checkout import ROOT, load_page_code

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.subscribers.prometheus import PrometheusMetrics

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Session

PROMETHEUS, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")
PANELS = load_page_code("dashboard.py").PANELS
MONITORING = ROOT / "docs" / "monitoring"
# Far longer than anything here takes, also on a busy machine.
LONG_S = 90.0

WORKER = """
    import sys
    from htppower import VoteController
    from htppower.backends import SimulatedHtp
    from htppower.subscribers.prometheus import PrometheusMetrics
    from prometheus_client import CollectorRegistry

    controller = VoteController(SimulatedHtp(arch=75), handle_sigterm=False)
    session = controller.session("burst")
    inference = session.inference()
    inference.__enter__()
    metrics = PrometheusMetrics(controller, CollectorRegistry())
    with controller.session("high_performance").inference():
        pass
    assert controller.flush_events(60)
    print("up", flush=True)
    sys.stdin.readline()
    inference.__exit__(None, None, None)
    metrics.close()
    controller.close()
"""
SCRAPE = """
    import json, sys
    from prometheus_client import CollectorRegistry, multiprocess
    for pid in sys.argv[1:]:
        multiprocess.mark_process_dead(int(pid))
    registry = CollectorRegistry()
    multiprocess.MultiProcessCollector(registry)
    print(json.dumps({
        f"{sample.name} {' '.join(sorted(sample.labels.values()))}".strip(): sample.value
        for family in registry.collect() for sample in family.samples
    }))
"""


def _python(code: str, folder: Path, *arguments: object) -> list[str]:
    code = f"import os; os.environ['PROMETHEUS_MULTIPROC_DIR'] = {str(folder)!r}\n{textwrap.dedent(code)}"
    return [sys.executable, "-c", code, *map(str, arguments)]


def _scrape(folder: Path, *dead: int) -> dict[str, float]:
    done = subprocess.run(_python(SCRAPE, folder, *dead), capture_output=True, check=True, text=True, timeout=LONG_S)
    values: dict[str, float] = json.loads(done.stdout)
    return values


def test_the_workers_of_a_server_are_one_in_a_scrape(tmp_path: Path) -> None:
    """Gauges and totals are sums over the workers; a dead worker counts only in the totals."""
    workers = [
        subprocess.Popen(_python(WORKER, tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline() == "up\n"
        values = _scrape(tmp_path)
        assert values["htppower_sessions RAISED"] == 2
        assert values["htppower_inferences_in_flight"] == 2
        assert values["htppower_cold_starts_total"] == 2
        assert values["htppower_cold_start_wait_seconds_count"] == 2
        raised_s = values["htppower_state_seconds_total RAISED"]
        assert raised_s > 0

        workers[0].kill()
        workers[0].wait(LONG_S)
        values = _scrape(tmp_path, workers[0].pid)
        assert values["htppower_sessions RAISED"] == 1
        assert values["htppower_inferences_in_flight"] == 1
        assert values["htppower_state_seconds_total RAISED"] >= raised_s

        workers[1].communicate("end\n", LONG_S)
        values = _scrape(tmp_path, workers[0].pid)
        assert values["htppower_sessions RAISED"] == 0
        assert values["htppower_inferences_in_flight"] == 0
        assert values["htppower_state_seconds_total RAISED"] > raised_s
        # The killed process had written its total before its second inference.
        assert values["htppower_inferences_total"] == 3
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
@pytest.mark.parametrize("command", [("check", "rules", "alerts.yaml"), ("test", "rules", "alerts_test.yaml")], ids=str)
def test_the_alert_rules_hold(command: tuple[str, ...]) -> None:
    """Each alert fires for its cases, and not for others."""
    assert PROMTOOL is not None
    done = subprocess.run(
        [PROMTOOL, *command], cwd=MONITORING, capture_output=True, check=False, text=True, timeout=LONG_S
    )
    assert done.returncode == 0, done.stdout + done.stderr


class Prometheus:
    """A real Prometheus that scrapes one target four times a second."""

    def __init__(self, folder: Path, target: int) -> None:
        assert PROMETHEUS is not None
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        config = folder / "prometheus.yaml"
        config.write_text(
            "global: {scrape_interval: 250ms, scrape_timeout: 250ms}\n"
            f"scrape_configs: [{{job_name: host, static_configs: [{{targets: ['127.0.0.1:{target}']}}]}}]\n",
            encoding="utf-8",
        )
        with (folder / "prometheus.log").open("wb") as log:
            self.process = subprocess.Popen(
                [
                    PROMETHEUS,
                    f"--config.file={config}",
                    f"--storage.tsdb.path={folder / 'data'}",
                    f"--web.listen-address=127.0.0.1:{self._port}",
                ],
                stdout=log,
                stderr=log,
            )

    def query(self, expression: str) -> list[float]:
        """Return the values of an expression now; without an answer, none."""
        url = f"http://127.0.0.1:{self._port}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        try:
            with urllib.request.urlopen(url, timeout=LONG_S) as answer:
                said = json.load(answer)
        except urllib.error.HTTPError as error:
            # urllib leaves this file open; Python 3.14 warns if it is collected open.
            with error:
                if error.code != 503:
                    raise AssertionError(f"{expression}: {error.read().decode()}") from error
            return []
        except OSError:
            return []
        assert said["status"] == "success", said
        return [float(result["value"][1]) for result in said["data"]["result"]]


def _work(controller: VoteController, simulated: SimulatedHtp, session: Session) -> None:
    """Use everything that a panel shows."""
    simulated.fail_next(13006)
    with session.inference():
        pass
    for profile in ("high_performance", "burst"):
        with session.inference(), session.hold("balanced", reason="a test"):
            session.use(profile)
    # The sustain time ends during the sleep, so the next round raises.
    time.sleep(0.4)
    assert controller.flush_events(LONG_S)


@pytest.mark.skipif(PROMETHEUS is None, reason="Prometheus is not installed")
def test_every_query_of_the_dashboard_has_an_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Prometheus understands each query, and finds numbers for it."""
    caplog.set_level("CRITICAL", "htppower")
    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, handle_sigterm=False)
    registry = CollectorRegistry()
    metrics = PrometheusMetrics(controller, registry)
    server, thread = start_http_server(0, "127.0.0.1", registry)
    prometheus = Prometheus(tmp_path, server.server_port)
    session = controller.session("burst", owner="camera")
    asked = {
        query.target(0)["expr"].replace("$__rate_interval", "10s").replace("$job", ".*").replace("$instance", ".*")
        for panel in PANELS
        for query in panel.queries
    }
    try:
        end_s = time.monotonic() + LONG_S
        while asked:
            assert time.monotonic() < end_s, f"no number: {asked}"
            _work(controller, simulated, session)
            asked -= {expression for expression in asked if any(map(math.isfinite, prometheus.query(expression)))}
    finally:
        prometheus.process.kill()
        prometheus.process.wait(LONG_S)
        server.shutdown()
        server.server_close()
        thread.join(LONG_S)
        metrics.close()
        controller.close()
