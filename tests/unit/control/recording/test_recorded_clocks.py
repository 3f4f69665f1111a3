"""Readings of the clock in a recording: a line each, with the voted corner, and no count as an inference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.bench import MAX_CORNER, SVS
from support.clocks import ScriptedClock
from support.recordings import events, inferences

from htppower import ClockReader
from htppower.control.recording.recorder import PERIOD_US

if TYPE_CHECKING:
    from pathlib import Path

    from support.bench import Bench


def test_each_reading_is_a_line_with_the_voted_corner(bench: Bench, path: Path) -> None:
    """A reading is a counter with the values of its source; the status counts only inferences."""
    session = bench.controller.session("burst")
    source = ScriptedClock("dsp", clock_khz=300_000, hmx_use_percent=1.5)
    with bench.controller.record(path), ClockReader(bench.controller, source, period_us=PERIOD_US):
        with session.inference():
            source.values["clock_khz"] = 1_401_000
            bench.time.advance_us(PERIOD_US)
        bench.time.advance_us(PERIOD_US)
        status = bench.controller.status().recording
        assert status is not None
        assert (status.written, status.lost) == (1, 0)
    clocks = [event for event in events(path) if event["name"] == "clock"]
    assert [(event["ph"], event["id"], event["ts"]) for event in clocks] == [
        ("C", "dsp", time_us) for time_us in (0, PERIOD_US, 2 * PERIOD_US)
    ]
    assert [event["args"] for event in clocks] == [
        {"voted_corner": corner, "clock_khz": khz, "hmx_use_percent": 1.5}
        for corner, khz in ((16, 300_000), (MAX_CORNER, 1_401_000), (SVS, 1_401_000))
    ]
    assert len(inferences(path)) == 1


def test_no_reading_is_kept_without_a_recording(bench: Bench, path: Path) -> None:
    """Readings before the recording and after it are in no file; without a session no corner is voted."""
    with ClockReader(bench.controller, ScriptedClock("dsp", clock_khz=1), period_us=PERIOD_US):
        with bench.controller.record(path):
            bench.time.advance_us(PERIOD_US)
        bench.time.advance_us(PERIOD_US)
    clocks = [event for event in events(path) if event["name"] == "clock"]
    assert [(event["ts"], event["args"]) for event in clocks] == [(PERIOD_US, {"clock_khz": 1})]
