"""A scrape has no closed session, lets no total fall, and does not block."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from prometheus_client import generate_latest
from support.inside import subscription_count, unsubscribe
from support.scraped import Scraped

from htppower import load_profile
from htppower.control.phases.blocks import Phases
from htppower.subscribers.prometheus import PrometheusMetrics
from htppower.subscribers.snapshot import session_samples

if TYPE_CHECKING:
    from support.bench import Bench

    from htppower.control.status.controller_status import ControllerStatus


def test_a_text_that_no_encoding_has_breaks_no_scrape(bench: Bench, scraped: Scraped) -> None:
    """An owner with a lone surrogate, as from a file name, is escaped, and the scrape has everything else."""
    profile = attrs.evolve(load_profile("burst"), name="b\udcff")
    session = bench.controller.session(profile, owner='caf\udce9\ud800 "quoted"\n\\')
    with session.inference():
        page = generate_latest(scraped.registry).decode("utf-8")
    assert "caf\\\\udce9\\\\ud800" in page
    assert 'htppower_sessions{state="RAISED"} 1.0' in page


def test_no_series_stay_behind_and_no_total_goes_back(bench: Bench, scraped: Scraped) -> None:
    """After many sessions there are as many series as after two, and no total has fallen."""
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
    """If a scrape is faster than the event of a transition, the time in a state still does not fall."""
    scraped = Scraped(bench)
    unsubscribe(scraped.metrics)
    session = bench.controller.session("burst")
    with session.inference():
        bench.time.advance_us(1_000_000)
        assert scraped("htppower_state_seconds_total", state="RAISED") == 1
    session.close()
    assert scraped("htppower_state_seconds_total", state="RAISED") == 1
    scraped.metrics.close()


def test_no_counter_of_a_session_falls(bench: Bench, scraped: Scraped, monkeypatch: pytest.MonkeyPatch) -> None:
    """A begin that must wait counts as a saved call until it waits, and the counter still does not fall."""
    session = bench.controller.session("burst", owner="camera")
    seen: list[float | None] = []

    def scrape() -> None:
        seen.append(scraped("htppower_session_calls_saved_total", session="1", owner="camera"))

    bench.infer(session)
    bench.infer(session)
    bench.time.advance_us(1_000_000)
    scrape()
    waits = Phases.waits

    def wait(*given: Any) -> int:
        scrape()
        return waits(*given)

    monkeypatch.setattr(Phases, "waits", wait)
    bench.infer(session)
    scrape()
    assert seen == sorted(seen, key=lambda value: value or 0)
    session.close()
    scrape()
    assert seen[-1] is None


@pytest.mark.parametrize("ends", ["before the status", "after the status"])
def test_a_stay_that_ends_during_a_scrape_counts_once_at_most(
    bench: Bench, scraped: Scraped, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    """If votes come down during a scrape, their stay is counted once at most, and exactly once at the end."""
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
    """The label is the owner's text, also for an owner that is false."""
    bench.controller.session("burst")
    status = bench.controller.status()
    status = attrs.evolve(status, sessions=(status.sessions[0]._replace(owner=0),))  # type: ignore[arg-type]
    assert {labels[:2] for sample in session_samples(status) for labels in sample.values} == {("1", "0")}


def test_series_of_sessions_can_be_left_out(bench: Bench) -> None:
    """For hosts that open a session for each request, ``per_session=False`` leaves only the totals."""
    scraped = Scraped(bench, per_session=False)
    bench.controller.session("burst")
    assert [key for key in scraped.samples() if "session" in dict(key[1])] == []
    assert scraped("htppower_sessions", state="UNVOTED") == 1
    scraped.metrics.close()


def test_a_scrape_and_an_event_do_not_wait_for_each_other(bench: Bench, scraped: Scraped) -> None:
    """A scrape on another thread ends, even while the controller's lock is held and events are delivered."""
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
    """``close`` empties the registry, also twice; a second set of metrics in a registry is refused."""
    scraped = Scraped(bench)
    subscribed = subscription_count(bench.controller)
    with pytest.raises(ValueError, match="already"):
        PrometheusMetrics(bench.controller, scraped.registry)
    assert subscription_count(bench.controller) == subscribed
    scraped.metrics.close()
    scraped.metrics.close()
    assert generate_latest(scraped.registry) == b""
    PrometheusMetrics(bench.controller, scraped.registry).close()
