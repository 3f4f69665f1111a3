"""The clock reader: its period, its failures, its thread, and its end."""

from __future__ import annotations

import json
import logging
import math
import os
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.clocks import ScriptedClock
from support.hanging import until
from support.status_files import read

from htppower import ClockReader, SessionClosed
from htppower.control.clock import reader as clock_reader
from htppower.control.clock import reading as clock_reading
from htppower.control.clock.reader import DEFAULT_PERIOD_US, LONGEST_READ_US, SHORTEST_PERIOD_US
from htppower.control.clock.reading import ClockReading, ClockStatus
from htppower.control.status.document import problem, status_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.bench import Bench
    from support.hanging import Hang

    from htppower import VoteController

SECOND_US = 1_000_000


def test_it_reads_at_once_and_then_once_a_period(bench: Bench) -> None:
    """The status has each reading with its time; one alarm is armed; the source is opened once."""
    source = ScriptedClock(clock_khz=1_401_000, q6_use_percent=12.5)
    with ClockReader(bench.controller, source) as reader:
        assert reader.status().reading == ClockReading("scripted", 0, 1_401_000, 12.5)
        source.values["clock_khz"] = 300_000
        bench.time.advance_us(DEFAULT_PERIOD_US - 1)
        assert source.calls == ["open", "read"]
        bench.time.advance_us(1)
        (seen,) = bench.controller.status().clocks
        assert seen == reader.status() == ClockStatus("scripted", seen.reading)
        assert seen.reading == ClockReading("scripted", DEFAULT_PERIOD_US * 1000, 300_000, 12.5)
        assert (source.calls, bench.time.alarms) == (["open", "read", "read"], 1)
    assert (source.calls[-1], bench.time.alarms, bench.controller.status().clocks) == ("close", 0, ())


@pytest.mark.parametrize("method", ["open", "read"])
def test_a_failure_is_a_reason_and_one_warning(bench: Bench, caplog: pytest.LogCaptureFixture, method: str) -> None:
    """While a source fails, the status has the reason; it is opened again after 1 s and 2 s, and warned of once."""
    source = ScriptedClock(clock_khz=1)
    source.failing = (method, OSError("no DSP\nhere"))
    with caplog.at_level(logging.WARNING, "htppower.clock"), ClockReader(bench.controller, source, period_us=SECOND_US):
        bench.time.advance_us(3 * SECOND_US)
        (seen,) = bench.controller.status().clocks
        assert (seen.reading, seen.problem) == (None, r"no DSP\nhere")
        once = ["open", "read", "close"] if method == "read" else ["open"]
        assert source.calls == once * 3
        assert [record.getMessage() for record in caplog.records] == [
            r"no clock from scripted: no DSP\nhere; tried again, after 60 s at the latest"
        ]
        source.failing = None
        bench.time.advance_us(4 * SECOND_US)
        (seen,) = bench.controller.status().clocks
        assert (seen.problem, seen.reading is not None) == (None, True)
        source.failing = (method, OSError("again")) if method == "read" else None
        bench.time.advance_us(SECOND_US)
        assert len(caplog.records) == (2 if method == "read" else 1)


@pytest.mark.parametrize(
    ("period_s", "waits_s"),
    [(1, [1, 2, 4, 8, 16, 32, 60, 60]), (3, [3, 3, 4, 8, 16, 32, 60, 60]), (100, [100] * 8)],
)
def test_a_source_that_keeps_failing_is_tried_less_often(bench: Bench, period_s: int, waits_s: list[int]) -> None:
    """The waits double up to 60 s and are no shorter than the period; a reading ends them."""
    source = ScriptedClock(clock_khz=1)
    source.failing = ("open", OSError("no DSP"))
    with ClockReader(bench.controller, source, period_us=period_s * SECOND_US) as reader:
        for wait_s in waits_s:
            source.calls.clear()
            bench.time.advance_us(wait_s * SECOND_US - 1)
            assert source.calls == []
            bench.time.advance_us(1)
            assert source.calls == ["open"]
        source.failing = None
        bench.time.advance_us(max(period_s, 60) * SECOND_US)
        assert reader.status().reading is not None
        source.calls.clear()
        source.failing = ("read", OSError("no DSP"))
        bench.time.advance_us(2 * period_s * SECOND_US)
        assert source.calls == ["read", "close", "open", "read", "close"]


def test_sources_of_one_name_are_numbered(bench: Bench) -> None:
    """The status and the readings name each reader; a source that finds its name later is numbered by that name."""
    first, second, third = (ScriptedClock("dsp", clock_khz=khz) for khz in (1, 2, 3))
    second.before = lambda: setattr(second, "name", "dsp on V75")

    def named() -> dict[str, int | None]:
        readings = [clock.reading for clock in bench.controller.status().clocks]
        assert [reading and reading.source for reading in readings] == [
            clock.source for clock in bench.controller.status().clocks
        ]
        return {reading.source: reading.clock_khz for reading in readings if reading is not None}

    with ClockReader(bench.controller, first) as reader, ClockReader(bench.controller, second):
        assert named() == {"dsp": 1, "dsp on V75": 2}
        with ClockReader(bench.controller, third):
            assert named() == {"dsp": 1, "dsp on V75": 2, "dsp #3": 3}
            third.name = "dsp on V75"
            bench.time.advance_us(DEFAULT_PERIOD_US)
            assert named() == {"dsp": 1, "dsp on V75": 2, "dsp on V75 #2": 3}
        reader.close()
        with ClockReader(bench.controller, ScriptedClock("dsp", clock_khz=4)):
            assert named() == {"dsp on V75": 2, "dsp": 4}


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 2**53])
def test_a_value_that_no_clock_has_is_a_failure(bench: Bench, value: float) -> None:
    """A value that is negative or not finite never reaches the status."""
    with ClockReader(bench.controller, ScriptedClock(hmx_use_percent=value)) as reader:
        assert "is not a measurement" in (reader.status().problem or "")
        assert reader.status().reading is None


def test_a_source_that_fails_to_close_is_logged(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A close that fails raises nothing in the host."""
    source = ScriptedClock()
    source.failing = ("close", OSError("stuck"))
    ClockReader(bench.controller, source).close()
    assert "scripted can't be closed" in caplog.text


def test_a_read_that_hangs_is_a_reason_until_it_returns(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A read that takes longer than 5 s counts as failed meanwhile, and as a reading when it has returned."""
    source = ScriptedClock(clock_khz=5)
    seen: list[ClockStatus] = []

    def hang() -> None:
        bench.time.advance_us(LONGEST_READ_US)
        seen.extend(bench.controller.status().clocks)

    reader = ClockReader(bench.controller, source)
    source.before = hang
    bench.time.advance_us(DEFAULT_PERIOD_US)
    assert seen == [ClockStatus("scripted", None, "it has not answered for 5 s")]
    assert caplog.text.count("no clock from scripted") == 1
    assert reader.status().reading is not None
    reader.close()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"period_us": SHORTEST_PERIOD_US - 1}, ValueError),
        ({"period_us": 2.5}, TypeError),
        ({"source": "qcnpuperf"}, TypeError),
        ({"controller": "qnn"}, TypeError),
    ],
    ids=str,
)
def test_what_it_refuses(bench: Bench, options: dict[str, Any], error: type[Exception]) -> None:
    """If an argument is refused, nothing is read and no alarm is armed."""
    source = ScriptedClock()
    with pytest.raises(error):
        ClockReader(**{"controller": bench.controller, "source": source, **options})
    assert (source.calls, bench.time.alarms) == ([], 0)


def test_it_ends_with_the_controller(bench: Bench) -> None:
    """Closing the controller closes the source; a closed controller accepts no reader."""
    source = ScriptedClock()
    reader = ClockReader(bench.controller, source)
    bench.controller.close()
    assert (source.calls, bench.time.alarms) == (["open", "read", "close"], 0)
    reader.close()
    assert source.calls == ["open", "read", "close"]
    with pytest.raises(SessionClosed):
        ClockReader(bench.controller, source)
    assert source.calls == ["open", "read", "close"]


def test_all_calls_are_on_one_thread_of_its_own(controller: VoteController) -> None:
    """In real time a source is opened, read and closed by one thread, which is not the caller's."""
    threads: list[threading.Thread] = []

    class Noting(ScriptedClock):
        def _called(self, method: str) -> None:
            threads.append(threading.current_thread())
            super()._called(method)

    source = Noting(clock_khz=1)
    with ClockReader(controller, source, period_us=SHORTEST_PERIOD_US) as reader:
        until(lambda: source.calls.count("read") > 2)
        assert reader.status().reading is not None
    assert source.calls[-1] == "close"
    assert set(threads) == {threads[0]} != {threading.current_thread()}


def test_a_hanging_read_delays_nothing(controller: VoteController, hang: Callable[[], Hang]) -> None:
    """While a read hangs, votes are cast, the status is taken, and the controller is closed."""
    source, stuck = ScriptedClock(clock_khz=1), hang()
    source.before = stuck
    ClockReader(controller, source)
    assert stuck.begun.wait(30)
    with controller.session("burst") as session, session.inference():
        (seen,) = controller.status().clocks
        assert (session.state.value, seen) == ("RAISED", ClockStatus("scripted"))
    controller.close()
    assert (stuck.ended.is_set(), source.calls) == (False, ["open", "read"])


def test_a_source_that_hung_keeps_no_name(
    controller: VoteController, hang: Callable[[], Hang], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a reader is closed while its source hangs, and the source returns later, the next reader has the name."""
    monkeypatch.setattr(clock_reader, "LONGEST_CLOSE_S", 0.01)
    source, stuck = ScriptedClock("dsp", clock_khz=1), hang()
    source.before = stuck
    with ClockReader(controller, source):
        assert stuck.begun.wait(30)
    stuck.let_go.set()
    until(lambda: source.calls[-1] == "close")
    with ClockReader(controller, ScriptedClock("dsp", clock_khz=2)):
        until(lambda: controller.status().clocks[0].reading is not None)
        assert controller.status().clocks[0].source == "dsp"


def test_several_sources_that_hang_delay_the_close_together(
    controller: VoteController,
    hang: Callable[[], Hang],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The controller waits for all of them as long as for one, names each, and closes the others."""
    monkeypatch.setattr(clock_reading, "LONGEST_CLOSE_S", 0.5)
    sources = [ScriptedClock(f"{number}", clock_khz=1) for number in range(8)]
    stuck = {source.name: hang() for source in sources[:-1]}
    sources[-1].name = "well"
    for source in sources:
        source.before = stuck.get(source.name, source.before)
        ClockReader(controller, source)
    assert all(each.begun.wait(30) for each in stuck.values())
    until(lambda: controller.status().clocks[-1].reading is not None)
    begun_s = time.monotonic()
    controller.close()
    assert 0.5 <= time.monotonic() - begun_s < 3
    assert sources[-1].calls[-1] == "close"
    assert [record.getMessage() for record in caplog.records] == [
        f"{name} is not closed: it has not answered for 1 s" for name in stuck
    ]
    assert controller.status().clocks == ()
    for each in stuck.values():
        each.let_go.set()
    until(lambda: all(source.calls[-1] == "close" for source in sources))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
def test_a_forked_child_leaves_the_source_to_its_parent(bench: Bench) -> None:
    """In a child nothing is read or closed, and the status has no reader."""
    source = ScriptedClock(clock_khz=1)
    with ClockReader(bench.controller, source) as reader:
        child = os.fork()
        if child == 0:
            bench.time.advance_us(10 * SECOND_US)
            reader.close()
            os._exit(0 if (source.calls, bench.controller.status().clocks) == (["open", "read"], ()) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert reader.status().reading is not None


def test_the_status_file_has_the_reading_only_with_a_reader(bench: Bench, tmp_path: Path) -> None:
    """Without a reader the document has no field for it; with one the file has each new reading."""
    path = tmp_path / "status.json"
    assert "clocks" not in status_document(bench.controller.status(), closed=False)
    source = ScriptedClock(clock_khz=1_401_000, hmx_use_percent=80.0)
    with ClockReader(bench.controller, source), bench.controller.serve_status(path):
        document = read(path)
        assert document["clocks"][0]["reading"]["time_us"] == 0
        source.values["clock_khz"] = 300_000
        bench.time.advance_us(3 * SECOND_US)
        document = read(path)
    (clock,) = document["clocks"]
    assert (clock["source"], clock["problem"]) == ("scripted", None)
    reading = {
        "time_us": DEFAULT_PERIOD_US,
        "clock_khz": 300_000,
        "q6_use_percent": None,
        "hvx_use_percent": None,
        "hmx_use_percent": 80.0,
        "power_mw": None,
    }
    assert (clock["reading"], problem(document)) == (reading, None)
    # Other writers of JSON write a whole float without a point.
    assert problem(json.loads(json.dumps(document).replace("80.0", "80"))) is None
    assert problem(json.loads(json.dumps(document).replace("80.0", '"80"'))) is not None
