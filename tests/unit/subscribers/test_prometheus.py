"""Metrics count events and their durations."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest
from support.bench import Bench
from support.learning import learning
from support.scraped import Scraped

from htppower.events import LinkState
from htppower.subscribers.prometheus import PrometheusMetrics
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL

CALLS = "htppower_calls_total"


def test_calls_are_counted_by_function_and_result(bench: Bench, scraped: Scraped) -> None:
    """Each call is counted once, under the vendor's name of its code, with its duration in seconds."""
    session = bench.controller.session("high_performance")
    bench.infer(session)
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    assert scraped(CALLS, function="createPowerConfigId", result="SUCCESS") == 1
    assert scraped(CALLS, function="setPowerConfig", result="SUCCESS") == 5
    failed = "QNN_HTP_PERF_INFRASTRUCTURE_ERROR_FAILED"
    assert scraped(CALLS, function="setPowerConfig", result=failed) == 1
    assert scraped("htppower_call_duration_seconds_count", function="setPowerConfig") == 6


def test_the_duration_of_a_call_is_in_seconds() -> None:
    """A call of 20 ms adds 0.02 to the sum, and counts in the bucket up to 0.025."""
    bench = Bench.make()
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
    """A stay counts while it lasts; a closed session's series are removed, and the total keeps their time."""
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
    """If metrics are added while a session is raised, the total includes the stay so far."""
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
    """Three inferences in a window save two pairs of calls, at once, for the session and in total.

    Without this, a host that is busy within one long stay would look idle.
    """
    session = bench.controller.session("burst")
    for _ in range(3):
        bench.infer(session)
    named = {"session": "1", "owner": ""}
    assert scraped("htppower_session_calls_saved_total", **named) == 4
    assert scraped("htppower_session_calls_sent_total", **named) == 3
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
    """If metrics are added within a stay, the total begins at 0."""
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
    """A timer that is delayed by 3 ms is 0.003 s late."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.time.sleep(0.303)
    bench.time.advance_us(0)
    assert scraped("htppower_lowering_lateness_seconds_sum") == pytest.approx(0.003)
    assert scraped("htppower_lowering_lateness_seconds_bucket", le="0.002") == 0


def test_failures_by_what_they_leave_and_recoveries(bench: Bench, scraped: Scraped) -> None:
    """Failed raises, failed lowerings, lost links and failed releases are counted apart; recoveries have a duration."""
    session = bench.controller.session("high_performance")
    other = bench.controller.session("high_performance")
    bench.simulated.fail_next(FAILED)
    bench.infer(session, 2_000_000)
    bench.simulated.fail_next(FAILED, nth=3)
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


def test_the_state_of_the_link_and_its_losses(bench: Bench, scraped: Scraped) -> None:
    """The state of the link has the value 1, the others 0; each loss is counted by its kind, from 0."""

    def link() -> dict[str, float | None]:
        return {str(state): scraped("htppower_link", state=str(state)) for state in LinkState}

    well: dict[str, float | None] = {"WELL": 1, "LOST": 0, "SUSPECT": 0, "DEAD": 0, "HELD": 0}
    session = bench.controller.session("burst")
    with session.inference():
        assert link() == well
        assert [scraped("htppower_link_losses_total", state=state) for state in ("LOST", "DEAD")] == [0, 0]
        bench.controller.link_lost(SYSTEM_COMMUNICATION)
        bench.simulated.fail_next(SYSTEM_COMMUNICATION_FATAL, "renew")
        bench.controller.link_lost(SYSTEM_COMMUNICATION_FATAL)
        assert link() == {**well, "WELL": 0, "DEAD": 1}
        assert [scraped("htppower_link_losses_total", state=state) for state in ("LOST", "DEAD")] == [1, 1]
        bench.time.advance_us(2_000_000)
        assert link() == well


def test_holds_caps_and_the_profile_in_use(bench: Bench, scraped: Scraped) -> None:
    """Holds and caps are counted while they last, and the info series has the used and the own profile."""
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


def test_what_is_no_controller_is_refused_by_name() -> None:
    """The error names the argument and the type it needs, such as for a controller that is None."""
    with pytest.raises(TypeError, match=r"controller is None, which has no status\(\): a VoteController"):
        PrometheusMetrics(None)  # type: ignore[arg-type]


def test_every_session_has_inferences_and_cold_starts(bench: Bench, scraped: Scraped) -> None:
    """Also with a plain profile, inferences, cold starts and waits are counted, by session and in total."""
    bench.simulated.delay_calls(2_000, "setPowerConfig")
    session = bench.controller.session("burst", owner="camera")
    for _ in range(4):
        bench.infer(session)
    bench.time.advance_us(300_000)
    bench.infer(session)
    named = {"session": "1", "owner": "camera"}
    for prefix, labels in (("htppower_", {}), ("htppower_session_", named)):
        assert scraped(f"{prefix}inferences_total", **labels) == 5
        assert scraped(f"{prefix}cold_starts_total", **labels) == 2
        waits = f"{prefix}cold_start_wait_seconds"
        assert scraped(f"{waits}_sum", **labels) == pytest.approx(0.008)
        buckets = [scraped(f"{waits}_bucket", le=le, **labels) for le in ("0.0025", "0.005", "1.0", "+Inf")]
        assert buckets == [0, 2, 2, 2]
    session.close()
    assert scraped("htppower_inferences_total") == 5
    assert scraped("htppower_session_inferences_total", **named) is None


def test_no_metric_has_a_help_text_alone(bench: Bench, scraped: Scraped) -> None:
    """The metrics of a learnt sustain time are exported only if a session learns."""
    bench.infer(bench.controller.session("burst"))
    learnt = b"# HELP htppower_session_learnt_cold_starts_total"
    assert learnt not in generate_latest(scraped.registry)
    bench.infer(bench.controller.session(learning(break_even_us=100_000)))
    assert learnt in generate_latest(scraped.registry)
