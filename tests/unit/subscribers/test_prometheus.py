"""Metrics count what happened, never go back, and name no session that is gone."""

from __future__ import annotations

import builtins
import importlib
import sys
import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from bench import Bench
from prometheus_client import CollectorRegistry, generate_latest

from htppower import load_profile
from htppower.subscribers.prometheus import PrometheusMetrics
from htppower.subscribers.snapshot import session_samples
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.control.status.controller_status import ControllerStatus

CALLS = "htppower_calls_total"


class Scraped:
    """A bench with metrics, and the values of a scrape by name and labels."""

    def __init__(self, bench: Bench, **options: Any) -> None:
        self.registry = CollectorRegistry()
        self.metrics = PrometheusMetrics(bench.controller, self.registry, **options)

    def __call__(self, name: str, **labels: str) -> float | None:
        """Return one value, None where there is no such series."""
        return self.registry.get_sample_value(name, labels)

    def samples(self) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
        """Return all of a scrape."""
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in self.registry.collect()
            for sample in family.samples
            if not sample.name.endswith("_created")
        }


@pytest.fixture
def scraped(bench: Bench) -> Iterator[Scraped]:
    """Yield metrics of the bench's controller, in a registry of their own."""
    made = Scraped(bench)
    yield made
    made.metrics.close()


def test_a_text_that_no_encoding_has_breaks_no_scrape(bench: Bench, scraped: Scraped) -> None:
    """An owner from the name of a file may hold half of a character; a scrape escapes it, and has all else."""
    profile = attrs.evolve(load_profile("burst"), name="b\udcff")
    session = bench.controller.session(profile, owner='caf\udce9\ud800 "quoted"\n\\')
    with session.inference():
        page = generate_latest(scraped.registry).decode("utf-8")
    assert "caf\\\\udce9\\\\ud800" in page
    assert 'htppower_sessions{state="RAISED"} 1.0' in page


def test_calls_are_counted_by_function_and_result(bench: Bench, scraped: Scraped) -> None:
    """Each call counts once under the vendor's name of its code, and its duration is in seconds."""
    session = bench.controller.session("high_performance")
    bench.infer(session)
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    assert scraped(CALLS, function="createPowerConfigId", result="SUCCESS") == 1
    assert scraped(CALLS, function="setPowerConfig", result="SUCCESS") == 3
    failed = "QNN_HTP_PERF_INFRASTRUCTURE_ERROR_FAILED"
    assert scraped(CALLS, function="setPowerConfig", result=failed) == 1
    assert scraped("htppower_call_duration_seconds_count", function="setPowerConfig") == 4


def test_the_duration_of_a_call_is_in_seconds() -> None:
    """A call of 20 ms is 0.02 in the sum, and in the bucket that ends at 0.025."""
    bench = Bench.make()
    bench.simulated._sleep = bench.time.sleep
    scraped = Scraped(bench)
    bench.simulated.delay_calls(20_000, "createPowerConfigId")
    bench.controller.session("burst")
    name = "htppower_call_duration_seconds"
    assert scraped(f"{name}_sum", function="createPowerConfigId") == 0.02
    assert scraped(f"{name}_bucket", function="createPowerConfigId", le="0.01") == 0
    assert scraped(f"{name}_bucket", function="createPowerConfigId", le="0.025") == 1
    bench.controller.close()
    scraped.metrics.close()


def test_time_in_state_runs_on_and_outlives_the_session(bench: Bench, scraped: Scraped) -> None:
    """A stay counts while it lasts; a closed session's series go, and the total over all sessions keeps its time."""
    session = bench.controller.session("burst", owner="camera")
    with session.inference():
        bench.time.advance_us(2_000_000)
        raised = {"session": "1", "owner": "camera", "state": "RAISED"}
        assert scraped("htppower_session_state_seconds_total", **raised) == 2
        assert scraped("htppower_state_seconds_total", state="RAISED") == 2
        assert scraped("htppower_inferences_in_flight") == 1
        assert scraped("htppower_session_inferences_in_flight", session="1", owner="camera") == 1
        assert scraped("htppower_sessions", state="RAISED") == 1
    session.close()
    assert scraped("htppower_state_seconds_total", state="RAISED") == 2
    assert scraped("htppower_inferences_in_flight") == 0
    assert [key for key in scraped.samples() if "htppower_session_" in key[0]] == []


def test_metrics_that_come_late_know_what_is_open() -> None:
    """Subscribed while a session is raised, the total has its stay so far."""
    bench = Bench.make()
    with bench.controller.session("burst").inference():
        bench.time.advance_us(1_000_000)
        scraped = Scraped(bench)
        assert scraped("htppower_state_seconds_total", state="RAISED") == 1
        bench.time.advance_us(1_000_000)
    bench.controller.close()
    assert scraped("htppower_state_seconds_total", state="RAISED") == 2
    scraped.metrics.close()


def test_saved_and_sent_calls(bench: Bench, scraped: Scraped) -> None:
    """Three inferences in a window save two pairs of calls, of the session and in total, at once and for good.

    A host that is busy within one long stay looks idle otherwise: nothing else changes there.
    """
    session = bench.controller.session("burst")
    for _ in range(3):
        bench.infer(session)
    named = {"session": "1", "owner": ""}
    assert scraped("htppower_session_calls_saved_total", **named) == 4
    assert scraped("htppower_session_calls_sent_total", **named) == 2
    assert scraped("htppower_calls_saved_total") == 4
    bench.time.advance_us(300_000)
    assert scraped("htppower_calls_saved_total") == 4
    bench.infer(session)
    bench.infer(session)
    assert scraped("htppower_calls_saved_total") == 6
    session.close()
    assert scraped("htppower_calls_saved_total") == 6
    other = bench.controller.session("burst")
    bench.infer(other)
    bench.infer(other)
    assert scraped("htppower_calls_saved_total") == 8
    bench.time.advance_us(300_000)
    assert scraped("htppower_lowering_lateness_seconds_count") == 2
    assert scraped("htppower_lowering_lateness_seconds_sum") == 0
    assert scraped("htppower_transitions_total", trigger="lower", cause="sustain expired") == 2


def test_calls_saved_before_are_not_counted() -> None:
    """Subscribed within a stay, the total begins at 0."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    for _ in range(3):
        bench.infer(session)
    scraped = Scraped(bench)
    assert scraped("htppower_calls_saved_total") == 0
    bench.infer(session)
    assert scraped("htppower_calls_saved_total") == 2
    scraped.metrics.close()


def test_a_lowering_that_is_late_is_measured(bench: Bench, scraped: Scraped) -> None:
    """A timer that something held up for 3 ms is 0.003 s late."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.sleep(0.303)
    bench.time.advance_us(0)
    assert scraped("htppower_lowering_lateness_seconds_sum") == pytest.approx(0.003)
    assert scraped("htppower_lowering_lateness_seconds_bucket", le="0.002") == 0


def test_failures_by_what_they_leave_and_recoveries(bench: Bench, scraped: Scraped) -> None:
    """A failed raise, a failed lowering, a lost link and a failed release are apart; recoveries count, timed."""
    session = bench.controller.session("high_performance")
    other = bench.controller.session("high_performance")
    bench.simulated.fail_next(FAILED)
    bench.infer(session, 2_000_000)
    bench.simulated.fail_next(FAILED, nth=2)
    bench.infer(session)
    with other.inference():
        bench.simulated.fail_next(SYSTEM_COMMUNICATION)
        bench.infer(session)
    session.close()
    bench.simulated.fail_next(FAILED, "destroyPowerConfigId")
    other.close()
    kinds = {kind: scraped("htppower_failures_total", kind=kind) for kind in ("raise", "lowering", "link", "release")}
    assert kinds == {"raise": 2, "lowering": 1, "link": 1, "release": 1}
    recovered = sum(value for (name, _), value in scraped.samples().items() if name == "htppower_recoveries_total")
    assert recovered == scraped("htppower_unknown_duration_seconds_count")
    assert recovered
    assert scraped("htppower_orphaned_power_config_ids") == 1
    bench.time.advance_us(60_000_000)


def test_holds_caps_and_the_profile_in_use(bench: Bench, scraped: Scraped) -> None:
    """Holds and caps are counted while they last, and the info series names the profile in use and the own one."""
    session = bench.controller.session("balanced")
    hold = session.hold("burst", reason="capture")
    info = {"session": "1", "owner": "", "own_profile": "balanced"}
    assert scraped("htppower_session_info", profile="burst", **info) == 1
    assert scraped("htppower_holds") == 1
    with bench.controller.cap("power_saver", reason="heat"):
        assert scraped("htppower_caps") == 1
        assert scraped("htppower_session_info", profile="power_saver", **info) == 1
        assert scraped("htppower_session_info", profile="burst", **info) is None
    hold.release()
    assert (scraped("htppower_holds"), scraped("htppower_caps")) == (0, 0)
    assert scraped("htppower_profile_changes_total", cause="cap set") == 1


def test_no_series_stay_behind_and_no_total_goes_back(bench: Bench, scraped: Scraped) -> None:
    """After many sessions there are as many series as after two, and every total that was there is as high at least."""
    before: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
    counts = []
    for number in range(12):
        with bench.controller.session("burst", owner=f"request {number}") as session:
            bench.infer(session)
            bench.infer(session)
        now = scraped.samples()
        counts.append(len(now))
        fallen = {key for key, value in before.items() if key[0].endswith("_total") and now[key] < value}
        assert fallen == set()
        before = now
    assert counts[-1] == counts[1]


def test_a_total_waits_for_events_that_are_under_way(bench: Bench) -> None:
    """Where a scrape is quicker than the event of a transition, the time in a state does not fall for a moment."""
    scraped = Scraped(bench)
    scraped.metrics._unsubscribe()
    session = bench.controller.session("burst")
    with session.inference():
        bench.time.advance_us(1_000_000)
        assert scraped("htppower_state_seconds_total", state="RAISED") == 1
    session.close()
    assert scraped("htppower_state_seconds_total", state="RAISED") == 1
    scraped.metrics.close()


@pytest.mark.parametrize("ends", ["before the status", "after the status"])
def test_a_stay_that_ends_during_a_scrape_counts_once_at_most(
    bench: Bench, scraped: Scraped, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """Votes that come down while a scrape is under way are not counted twice, and right at the next scrape."""
    name, status = "htppower_state_seconds_total", bench.controller.status
    phase = bench.controller.session("high_performance").inference()
    phase.__enter__()
    bench.time.advance_us(1_000_000)

    def meanwhile() -> ControllerStatus:
        before = status()
        phase.__exit__(None, None, None)
        return status() if ends == "before the status" else before

    with monkeypatch.context() as patched:
        patched.setattr(bench.controller, "status", meanwhile)
        assert scraped(name, state="RAISED") in (0, 1)
    assert scraped(name, state="RAISED") == 1


def test_an_owner_that_is_no_text_does_not_break_a_scrape(bench: Bench) -> None:
    """The label is the text of whatever the owner is, also of one that counts as false."""
    bench.controller.session("burst")
    status = bench.controller.status()
    status = attrs.evolve(status, sessions=(status.sessions[0]._replace(owner=0),))  # type: ignore[arg-type]
    assert {labels[:2] for sample in session_samples(status) for labels in sample.values} == {("1", "0")}


def test_series_of_sessions_can_be_left_out(bench: Bench) -> None:
    """For hosts that open a session by the request, only the totals are there."""
    scraped = Scraped(bench, per_session=False)
    bench.controller.session("burst")
    assert [key for key in scraped.samples() if "session" in dict(key[1])] == []
    assert scraped("htppower_sessions", state="UNVOTED") == 1
    scraped.metrics.close()


def test_a_scrape_and_an_event_do_not_wait_for_each_other(bench: Bench, scraped: Scraped) -> None:
    """A scrape on another thread while the lock of the controller is held and events are delivered comes to an end."""
    session = bench.controller.session("high_performance")
    done = threading.Event()

    def scrape() -> None:
        for _ in range(20):
            scraped.samples()
        done.set()

    thread = threading.Thread(target=scrape, daemon=True)
    thread.start()
    while not done.is_set() and thread.is_alive():
        bench.infer(session)
    thread.join(20)
    assert done.is_set()


def test_close_takes_everything_back(bench: Bench) -> None:
    """Closed, the registry is empty and takes another; closing twice is fine; a second one beside it is refused."""
    scraped = Scraped(bench)
    subscribed = len(bench.controller._events._subscriptions)
    with pytest.raises(ValueError, match="already"):
        PrometheusMetrics(bench.controller, scraped.registry)
    assert len(bench.controller._events._subscriptions) == subscribed
    scraped.metrics.close()
    scraped.metrics.close()
    assert generate_latest(scraped.registry) == b""
    PrometheusMetrics(bench.controller, scraped.registry).close()


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("prometheus", "prometheus_client", "metrics"), ("opentelemetry", "opentelemetry", "otel")],
)
def test_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str, extra: str
) -> None:
    """The error of the import names the extra."""
    real = builtins.__import__

    def refusing(name: str, *arguments: Any, **options: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *arguments, **options)

    importlib.import_module(f"htppower.subscribers.{module}")
    monkeypatch.delitem(sys.modules, f"htppower.subscribers.{module}")
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match=rf'pip install "htppower\[{extra}\]"'):
        importlib.import_module(f"htppower.subscribers.{module}")
