"""The trace has the form that Perfetto needs, and the votes."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from support.dry_runs import dry_run, hostile
from support.helpers import hmx

from htppower.profiles.loading import load_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.review.dry_run.drawn import as_trace

Event = dict[str, Any]


def _document(*work: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(as_trace(dry_run(*work)))
    return document


def _events(*work: Any) -> list[Event]:
    events: list[Event] = _document(*work)["traceEvents"]
    return events


def _track(events: list[Event], thread: str) -> list[Event]:
    (tid,) = (event["tid"] for event in events if event["name"] == "thread_name" and event["args"]["name"] == thread)
    return [event for event in events if event["tid"] == tid and event["ph"] != "M"]


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
@pytest.mark.parametrize("inferences", [0, 3, 200])
def test_every_profile_is_what_perfetto_needs(profile: str, inferences: int) -> None:
    """Events are sorted and complete; counters hold only numbers; every used track has a name."""
    document = _document(profile, inferences)
    assert list(document) == ["displayTimeUnit", "otherData", "traceEvents"]
    assert document["displayTimeUnit"] == "ms"
    events = document["traceEvents"]
    assert [event["ts"] for event in events] == sorted(event["ts"] for event in events)
    assert {event["ph"] for event in events} <= {"M", "X", "C", "i"}
    (process,) = {event["pid"] for event in events}
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    for event in events:
        assert list(event)[:7] == ["ph", "name", "cat", "ts", "pid", "tid", "args"]
        assert isinstance(event["ts"], int)
        assert event["ph"] != "X" or event["dur"] >= 0
        assert event["ph"] != "i" or event["s"] == "t"
        if event["ph"] == "C":
            assert all(type(value) is int for value in event["args"].values())
        elif event["ph"] != "M":
            assert event["tid"] in named
    assert process not in named


def test_slices_of_a_track_do_not_overlap() -> None:
    """On each track a slice begins after the end of another: Perfetto drops slices that overlap without nesting."""
    events = _events("burst", 20)
    for thread in ("phases", "state", "core votes", "bus votes", "HMX votes"):
        end_us = 0
        for event in _track(events, thread):
            assert event["ts"] >= end_us, thread
            end_us = event["ts"] + event["dur"]


def test_phases_windows_and_states_are_slices() -> None:
    """The slices are the phases, the sustain windows between them, and the states."""
    events = _events("burst", 1)
    assert [(event["name"], event["ts"], event["dur"]) for event in _track(events, "phases")] == [
        ("INIT", 0, 5000),
        ("INFERENCE", 15_000, 5000),
        ("sustain", 20_000, 300_000),
        ("DE-INIT", 330_000, 5000),
    ]
    assert [(event["name"], event["ts"]) for event in _track(events, "state")][:4] == [
        ("UNVOTED", 0), ("RAISED", 0), ("LOWERED", 5000), ("RAISED", 15_000),
    ]  # fmt: skip


def test_the_window_after_init_is_named_in_the_trace() -> None:
    """Votes kept up after INIT are not a sustain window."""
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    kept_up = attrs.evolve(balanced, relax=attrs.evolve(balanced.relax, after_init_us=8000))
    names = [event["name"] for event in _track(_events(kept_up, 1), "phases")]
    assert names == ["INIT", "after INIT", "INFERENCE", "DE-INIT"]


def test_corners_are_counters_in_numbers_and_slices_by_name() -> None:
    """The counters hold the vendor's numbers; the slices have the names of the corners."""
    events = _events("burst", 0)
    counters = [(event["ts"], event["args"]) for event in events if event["name"] == "core corner"]
    assert counters[:3] == [
        (0, {"min": 0, "target": 0, "max": 0}),
        (0, {"min": 160, "target": 160, "max": 160}),
        (5000, {"min": 48, "target": 64, "max": 64}),
    ]
    assert counters[-1] == (320_000, {"min": 0, "target": 0, "max": 0})
    slices = _track(events, "core votes")
    assert [event["name"] for event in slices[:2]] == ["MAX_VOLTAGE_CORNER", "SVS2 / SVS / SVS"]
    assert slices[1]["args"] == {"min": "SVS2 (48)", "target": "SVS (64)", "max": "SVS (64)"}


def test_disable_is_no_corner_of_a_counter() -> None:
    """A vote of DISABLE is 0 on the counter; its slice says "no vote", and keeps the number."""
    events = _events("extreme_power_saver", 1)
    values = [event["args"] for event in events if event["name"] == "core corner"]
    assert values
    assert all(value == {"min": 0, "target": 0, "max": 0} for value in values)
    (first, *_) = _track(events, "core votes")
    assert first["name"] == "no vote (DISABLE)"
    assert first["args"] == dict.fromkeys(("min", "target", "max"), "DISABLE (16)")


def test_events_of_one_moment_are_in_order() -> None:
    """At one time slices come first, then counters, then calls, each in the order of the tracks and the run."""
    events = [event for event in _events("burst", 1) if event["ts"] == 5000 and event["ph"] != "M"]
    assert [(event["ph"], event["name"]) for event in events] == [
        ("X", "LOWERED"),
        ("X", "SVS2 / SVS / SVS"),
        ("X", "SVS2 / SVS / SVS"),
        ("C", "core corner"),
        ("C", "bus corner"),
        ("i", "setPowerConfig"),
        ("i", "setPowerConfig"),
    ]
    start = [event["name"] for event in _events("burst", 1) if event["ts"] == 0 and event["ph"] == "i"]
    assert start == ["createPowerConfigId", "setPowerConfig", "setPowerConfig"]


def test_hmx_has_counters_only_where_it_is_voted() -> None:
    """A slice says that HMX follows the core clock; an explicit vote has a counter, 0 while HMX follows."""
    assert not [event for event in _events("burst") if event["name"] == "HMX corner"]
    assert {event["name"] for event in _track(_events("burst"), "HMX votes")} == {"follows the core clock"}
    burst = load_profile("burst")
    explicit = attrs.evolve(burst, votes=attrs.evolve(burst.votes, hmx_v2=hmx()))
    values = [event["args"]["target"] for event in _events(explicit, 0) if event["name"] == "HMX corner"]
    assert values == [0, 640, 0, 640, 0, 0]


def test_calls_carry_their_native_lists() -> None:
    """Each native call is an event with its cause and the fields that it sent."""
    report = dry_run("burst")
    calls = _track(json.loads(as_trace(report))["traceEvents"], "native calls")
    assert [event["name"] for event in calls] == [row.call.function for row in report.rows]
    clocks, settings = calls[1]["args"], calls[2]["args"]
    for raised in (clocks, settings):
        assert (raised["cause"], raised["state"], raised["code"]) == ("INIT began", "RAISED", 0)
    assert clocks["DCVS_V3"]["coreVoltageCornerTarget"] in (160, "DCVS_VOLTAGE_VCORNER_MAX_VOLTAGE_CORNER")
    assert settings["RPC_POLLING_TIME"] == {"rpcPollingTimeConfig": 9999}


def test_a_profile_without_votes_has_its_phases() -> None:
    """system_settings has phases and a state, and no track of votes."""
    events = _events("system_settings")
    threads = [event["args"]["name"] for event in events if event["name"] == "thread_name"]
    assert threads == ["phases", "state"]
    assert not [event for event in events if event["ph"] in "Ci"]


@pytest.mark.parametrize("text", ['"},{"ph":"X', "</script>", "\x00\u202e\ud800"])
def test_texts_stay_texts(text: str) -> None:
    """A hostile name and summary are strings in the JSON, which is plain ASCII."""
    made = as_trace(dry_run(hostile(text)))
    assert made.isascii()
    assert json.loads(made)["otherData"]["summary"] == text
