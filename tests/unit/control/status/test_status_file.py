"""A status file: written as a whole after changes, at most once a second, and never after its end."""

from __future__ import annotations

import functools
import logging
import os
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, Bench
from support.clocks import ScriptedClock
from support.hardware import SimulatedHardware
from support.learning import learning
from support.status_files import read

from docs.control_parts import json_fields
from htppower import ClockReader, SessionClosed, load_profile
from htppower.control.gate import cpu_latency
from htppower.control.status.document import STATUS, problem
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from pathlib import Path


SECOND_US = 1_000_000
CORE_PARTS = ("core", "bus", "hmx", "decided_by")


def states(path: Path) -> list[str]:
    """Return the states of the sessions in a file."""
    return [session["state"] for session in read(path)["sessions"]]


def test_it_is_written_at_once(bench: Bench, path: Path) -> None:
    """When ``serve_status`` returns, the file is there with this process's pid, and no other file is in its folder."""
    bench.controller.session("burst", owner="camera")
    bench.controller.serve_status(path)
    document = read(path)
    assert (document["pid"], document["closed"], document["sessions"][0]["owner"]) == (os.getpid(), False, "camera")
    assert [file.name for file in path.parent.iterdir()] == ["status.json"]


def test_changes_are_written_at_most_once_a_second(bench: Bench, path: Path) -> None:
    """Changes within a second are written together, a second after the last write."""
    session = bench.controller.session("high_performance")
    bench.time.advance_us(5 * SECOND_US)
    bench.controller.serve_status(path)
    bench.infer(session)
    bench.time.advance_us(SECOND_US - 1_001)
    assert states(path) == ["UNVOTED"]
    bench.time.advance_us(1)
    assert (states(path), read(path)["time_us"]) == (["LOWERED"], 6 * SECOND_US)


def test_a_change_after_a_quiet_time_is_written_at_once(bench: Bench, path: Path) -> None:
    """A change more than a second after the last write is written at once."""
    session = bench.controller.session("burst")
    bench.controller.serve_status(path)
    bench.time.advance_us(10 * SECOND_US)
    with session.inference():
        bench.time.advance_us(0)
        assert states(path) == ["RAISED"]


def test_while_a_session_is_raised_it_is_refreshed(bench: Bench, path: Path) -> None:
    """Numbers that change without an event, such as inferences in flight, are at most a second old."""
    session = bench.controller.session("burst")
    bench.controller.serve_status(path)
    with session.inference():
        bench.time.advance_us(SECOND_US)
        with session.inference():
            bench.time.advance_us(SECOND_US)
            assert (read(path)["sessions"][0]["in_flight"], read(path)["time_us"]) == (2, 2 * SECOND_US)
            bench.time.advance_us(SECOND_US)
            assert read(path)["time_us"] == 3 * SECOND_US


def test_how_a_recording_goes_is_told_to_its_end(bench: Bench, path: Path, tmp_path: Path) -> None:
    """The file shows a recording that waits for its disk until it is written, even after the votes were lowered."""
    session = bench.controller.session("high_performance")
    bench.time.advance_us(SECOND_US)
    bench.controller.serve_status(path)
    folder = tmp_path / "recordings"
    folder.mkdir()
    bench.controller.record(folder / "trace.json")
    bench.infer(session)
    bench.time.advance_us(SECOND_US // 2)
    folder.rename(tmp_path / "gone")
    bench.time.advance_us(3 * SECOND_US)
    recording = read(path)["recording"]
    assert (states(path), recording["pending"], recording["error"] is None) == (["LOWERED"], 1, False)
    (tmp_path / "gone").rename(folder)
    bench.time.advance_us(3 * SECOND_US)
    recording = read(path)["recording"]
    assert (recording["written"], recording["pending"], recording["error"]) == (1, 0, None)
    assert bench.time.alarms == 0


def test_once_all_is_lowered_nothing_is_armed_or_written(bench: Bench, path: Path) -> None:
    """When all votes are lowered, the last state is written; then no timer runs, and the file is not written again."""
    session = bench.controller.session("burst")
    bench.controller.serve_status(path)
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US + SECOND_US)
    assert (states(path), bench.time.alarms) == (["LOWERED"], 0)
    before = path.stat().st_mtime_ns, path.stat().st_ino
    bench.time.advance_us(100 * SECOND_US)
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == before


def test_events_that_change_nothing_rewrite_nothing(bench: Bench, path: Path) -> None:
    """A cap that is set and lifted within a second changes nothing, so the file is not written."""
    session = bench.controller.session("balanced")
    bench.controller.serve_status(path)
    inode = path.stat().st_ino
    with bench.controller.cap("burst", reason="a limit that limits nothing"):
        pass
    bench.time.advance_us(SECOND_US)
    assert (path.stat().st_ino, bench.time.alarms, session.profile.name) == (inode, 0, "balanced")


@pytest.mark.parametrize("what", ["controller", "file"])
def test_closing_writes_the_last_state(path: Path, what: str) -> None:
    """Closing the controller or the file marks the file as closed, and nothing is written after that."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    served = bench.controller.serve_status(path)
    (bench.controller if what == "controller" else served).close()
    assert (read(path)["closed"], served.closed) == (True, True)
    assert len(read(path)["sessions"]) == (0 if what == "controller" else 1)
    path.unlink()
    if what == "file":
        bench.infer(session)
        bench.time.advance_us(10 * SECOND_US)
        bench.controller.close()
    served.close()
    assert not path.exists()


def test_a_closed_controller_serves_nothing(path: Path) -> None:
    """``serve_status`` raises, and makes no file."""
    bench = Bench.make()
    bench.controller.close()
    with pytest.raises(SessionClosed):
        bench.controller.serve_status(path)
    assert not path.exists()


def test_a_failure_is_logged_once_and_tried_again(bench: Bench, path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """While the folder is missing, each change is tried and one warning is logged; then the file is written again."""
    session = bench.controller.session("high_performance")
    folder = path.parent / "run"
    folder.mkdir()
    bench.controller.serve_status(folder / "status.json")
    folder.rename(path.parent / "away")
    with caplog.at_level(logging.WARNING, "htppower"):
        for _ in range(3):
            bench.infer(session)
            bench.time.advance_us(2 * SECOND_US)
    assert [str(folder / "status.json") in record.getMessage() for record in caplog.records] == [True]
    (path.parent / "away").rename(folder)
    bench.infer(session)
    bench.time.advance_us(SECOND_US)
    assert read(folder / "status.json")["sessions"][0]["calls_sent"] == 17


def test_the_document_has_the_form_that_is_documented(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The document with every part filled has exactly the documented fields, of the documented kinds."""
    monkeypatch.setattr(cpu_latency, "PATH", str(path.with_name("missing")))
    bench = Bench.make(SimulatedHardware(arch=75, platform="qnx"))
    profile = learning("power_saver", break_even_us=100_000)
    assert profile.relax is not None
    then = Then(profile.relax.after_deinit_to, Adaptive(break_even_us=1_000_000))
    failing, held = (
        bench.controller.session(attrs.evolve(profile, relax=attrs.evolve(profile.relax, then=then)), owner="camera"),
        bench.controller.session(attrs.evolve(load_profile("balanced"), cpu_latency_us=44)),
    )
    bench.simulated.fail_next(1009)
    with (
        held.hold("burst", reason="preview"),
        held.pace(fps=30),
        bench.controller.cap("balanced", reason="hot"),
        failing.inference(),
        held.inference(),
    ):
        ticket = held.begin(timeout_us=1_000_000)
        bench.controller.record(path.with_name("trace.json"))
        reading = ClockReader(bench.controller, ScriptedClock(clock_khz=1_401_000))
        bench.recorder.set_power_config = functools.partial(_served, bench, path)  # type: ignore[method-assign]
        bench.infer(bench.controller.session("power_saver"))
        document = read(path)
        ticket.end()
    reading.close()
    bench.controller.close()
    assert problem(document) is None
    # The page has no row for each key of a dictionary, such as ``time_in_state_us``.
    keyed = ("fields", "symbols", "time_in_state_us", "versions", *(f"cores[].{name}" for name in CORE_PARTS))
    held_fields = {name for name in _fields(document) if not any(f"{each}." in name for each in keyed)}
    assert held_fields == {name for name, _ in json_fields(STATUS)}


def _served(bench: Bench, path: Path, *_vote: object) -> None:
    """Serve the status during a call."""
    del bench.recorder.set_power_config
    bench.controller.serve_status(path)


def _fields(document: dict[str, Any], at: str = "") -> set[str]:
    found = set()
    for name, value in document.items():
        where = f"{at}{name}{'[]' if isinstance(value, list) else ''}"
        found.add(where)
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                found |= _fields(each, f"{where}.")
    return found
