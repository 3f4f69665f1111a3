"""A recording has each inference once, in a complete line, about a second after its end."""

from __future__ import annotations

import asyncio
import gc
import os
import re
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, Bench
from support.inside import end_record_late, gate_of
from support.recordings import events, inferences, lost
from support.slashes import WINDOWS, as_said

from htppower import SessionClosed, load_profile
from htppower.control.recording.recorder import PERIOD_US
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from pathlib import Path


def test_a_file_begins_with_its_process_and_clocks(bench: Bench, path: Path) -> None:
    """When ``record`` returns, the file has its header: version, process, controller, and the time by both clocks."""
    bench.time.advance_us(77)
    bench.controller.record(path, name="front door")
    (first,) = events(path)
    assert (first["name"], first["ph"], first["pid"], first["tid"]) == ("htppower", "M", os.getpid(), 0)
    said = first["args"]
    assert (said["version"], said["controller"], said["clock_us"]) == (1, "front door", 77)
    assert said["wall_ns"] > 1_600_000_000 * 10**9


def test_an_inference_is_a_line(bench: Bench, path: Path) -> None:
    """The line has session, profile, begin, duration, and whether the inference waited for a call; INIT has no line."""
    session = bench.controller.session("burst", owner='a "camera"')
    bench.controller.record(path)
    with session.init():
        bench.time.advance_us(500)
    bench.infer(session, 2_100)
    session.use("balanced")
    bench.infer(session, 10)
    bench.infer(bench.controller.session("system_settings"), 1)
    bench.time.advance_us(PERIOD_US)
    made = [(each["tid"], each["ts"], each["dur"], each["args"]) for each in events(path)[1:]]
    assert made == [
        (1, 500, 2_100, {"session": 'a "camera"', "profile": "burst", "cold": True}),
        (1, 2_600, 10, {"session": 'a "camera"', "profile": "balanced", "cold": True}),
        (2, 2_610, 1, {"session": "2", "profile": "system_settings", "cold": False}),
    ]
    assert all((each["ph"], each["pid"]) == ("X", os.getpid()) for each in events(path)[1:])


def test_inside_a_window_it_is_not_cold(bench: Bench, path: Path) -> None:
    """Inferences whose votes are up are recorded, too, without a call; overlapping inferences have a line each."""
    session = bench.controller.session("burst")
    bench.controller.record(path)
    bench.infer(session)
    calls = len(bench.recorder.calls)
    with session.inference():
        bench.time.advance_us(5)
        with session.inference():
            bench.time.advance_us(7)
        bench.time.advance_us(9)
    bench.time.advance_us(PERIOD_US - BURST_SUSTAIN_US)
    assert (
        len(bench.recorder.calls) == calls + 2
    )  # These are the calls of the lowering after the sustain time, and of its settings of the process.
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert inferences(path) == [(1, 0, 1000), (1, 1005, 1012), (1, 1000, 1021)]
    assert [each["args"]["cold"] for each in events(path)[1:]] == [True, False, False]


def test_every_kind_of_inference_is_recorded(bench: Bench, path: Path) -> None:
    """Coroutines, tickets, streams, decorated functions, a block that raises, and an expired ticket are recorded."""
    session = bench.controller.session("system_settings")
    bench.controller.record(path)

    async def infer() -> None:
        async with session.ainference():
            bench.time.advance_us(1)

    asyncio.run(infer())
    ticket = session.begin()
    bench.time.advance_us(2)
    ticket.end()
    for _ in session.stream(range(2)):
        bench.time.advance_us(3)
    session.votes(bench.time.advance_us)(4)
    with pytest.raises(KeyError), session.inference():
        raise KeyError
    timed = session.begin(timeout_us=5)
    bench.time.advance_us(PERIOD_US)
    assert inferences(path) == [(1, 0, 1), (1, 1, 3), (1, 3, 9), (1, 9, 13), (1, 13, 13), (1, 13, 18)]
    assert not timed.active


def test_a_collected_ticket_counts_as_lost(bench: Bench, path: Path) -> None:
    """An inference that is garbage collected before its end counts as lost, in the file and in the handle."""
    session = bench.controller.session("burst")
    recording = bench.controller.record(path)
    bench.infer(session)
    ticket = session.begin()
    del ticket
    gc.collect()
    bench.time.advance_us(0)
    bench.infer(session)
    bench.time.advance_us(PERIOD_US)
    assert (len(inferences(path)), lost(path), recording.lost) == (2, 1, 1)


def test_an_inference_that_does_not_begin_is_not_recorded(path: Path) -> None:
    """An inference whose raise was refused has not begun, so it has no line."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("burst")
    bench.controller.record(path)
    bench.simulated.fail_next(1005)
    with pytest.raises(Exception, match="setPowerConfig"):
        bench.infer(session)
    bench.controller.close()
    assert inferences(path) == []


def test_it_begins_with_the_next_begin(bench: Bench, path: Path) -> None:
    """An inference that runs when the recording begins is not recorded, and neither is one that runs at its end."""
    session = bench.controller.session("burst")
    with session.inference():
        with session.inference():
            recording = bench.controller.record(path)
            bench.time.advance_us(1)
        bench.infer(session, 5)
        bench.time.advance_us(1)
    running = session.begin()
    recording.close()
    running.end()
    assert (inferences(path), lost(path)) == ([(1, 1, 6)], 0)
    learning = gate_of(session).learning
    assert learning is not None
    assert learning.gaps.record is None


def test_a_second_recording_has_no_old_begin(bench: Bench, path: Path) -> None:
    """An inference that begins between two recordings and ends in the second is recorded with its true begin."""
    session = bench.controller.session("burst")
    bench.controller.record(path).close()
    bench.infer(session, 3)
    between = session.begin()
    bench.infer(session, 10)
    bench.controller.record(path.with_name("second.json"))
    bench.infer(session, 20)
    between.end()
    bench.controller.close()
    assert inferences(path) == []
    assert inferences(path.with_name("second.json")) == [(1, 13, 33), (1, 3, 33)]


def test_a_session_that_learns_is_recorded_at_once(bench: Bench, path: Path) -> None:
    """The recording is right from the first line, even if the session has not learnt from its earlier gaps yet."""
    burst = load_profile("burst")
    assert burst.relax is not None
    relax = attrs.evolve(burst.relax, after_inference_us=Adaptive(break_even_us=100_000))
    session = bench.controller.session(attrs.evolve(burst, relax=relax))
    for _ in range(3):
        bench.infer(session)
    recording = bench.controller.record(path)
    for _ in range(3):
        bench.infer(session)
    recording.close()
    bench.infer(session)
    assert inferences(path) == [(1, begin_us, begin_us + 1000) for begin_us in (3000, 4000, 5000)]


@pytest.mark.parametrize("what", ["controller", "recording", "session"])
def test_nothing_that_ended_before_closing_is_lost(path: Path, what: str) -> None:
    """Closing the controller or the recording writes the rest, including the inferences of closed sessions."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    recording = bench.controller.record(path)
    bench.infer(session)
    if what == "session":
        session.close()
        bench.time.advance_us(PERIOD_US)
    else:
        (bench.controller if what == "controller" else recording).close()
    assert len(inferences(path)) == 1
    assert recording.closed is (what != "session")
    recording.close()
    bench.controller.close()
    bench.controller.close()
    assert len(inferences(path)) == 1


def test_it_ends_with_its_block(bench: Bench, path: Path) -> None:
    """The end of the ``with`` block closes the recording; a second recording can follow, and the old file is kept."""
    session = bench.controller.session("burst")
    with bench.controller.record(path) as recording:
        assert recording.path == path
        bench.infer(session)
    bench.infer(session)
    assert (len(inferences(path)), bench.controller.status().recording) == (1, None)
    with bench.controller.record(path):
        pass
    assert (len(inferences(path.with_name("trace.json.1"))), inferences(path)) == (1, [])


def test_sessions_opened_later_are_recorded(bench: Bench, path: Path) -> None:
    """Sessions opened before and after the recording began are recorded, each with its number."""
    early = bench.controller.session("burst")
    bench.controller.record(path)
    late = bench.controller.session("balanced")
    bench.infer(early)
    bench.infer(late)
    bench.controller.close()
    assert [number for number, _, _ in inferences(path)] == [1, 2]


def test_what_can_not_be_recorded_is_refused(bench: Bench, path: Path) -> None:
    """If something can't be recorded, the error names reason and file; the file is unchanged, nothing is recorded."""
    session = bench.controller.session("burst")
    with pytest.raises(FileNotFoundError, match=f"folder is missing.*{as_said(path.parent / 'none' / 't')}"):
        bench.controller.record(path.parent / "none" / "t")
    with pytest.raises(IsADirectoryError, match=as_said(path.parent)):
        bench.controller.record(path.parent)
    if not WINDOWS:
        with pytest.raises(ValueError, match="/dev/null is a device: name a file for the recording"):
            bench.controller.record("/dev/null")
    for name in ("trace.json", "trace.json.1"):
        victim = path.with_name(name)
        victim.write_text("[my own", encoding="ascii")
        with pytest.raises(ValueError, match=re.escape(f"{victim} holds something else")):
            bench.controller.record(path)
        assert victim.read_text(encoding="ascii") == "[my own"
        victim.unlink()
    numbers: tuple[tuple[str, Any], ...] = (("most_bytes", 4096), ("files", 1), ("most_pending", 1))
    for option, least in numbers:
        with pytest.raises(ValueError, match=f"{option} is {least - 1}: at least {least}"):
            bench.controller.record(path, **{option: least - 1})
        with pytest.raises(TypeError, match=f"{option} is {least + 0.5}"):
            bench.controller.record(path, **{option: least + 0.5})
    with pytest.raises(TypeError, match="name is 7"):
        bench.controller.record(path, name=7)  # type: ignore[arg-type]
    bench.infer(session)
    bench.time.advance_us(0)
    assert (list(path.parent.iterdir()), bench.controller.status().recording) == ([], None)


def test_a_closed_controller_is_not_recorded(path: Path) -> None:
    """``record`` raises, and makes no file."""
    bench = Bench.make()
    bench.controller.close()
    with pytest.raises(SessionClosed):
        bench.controller.record(path)
    assert not path.exists()


def test_one_recording_at_a_time(bench: Bench, path: Path) -> None:
    """A second recording is refused with the path of the first; another controller can't record to the same file."""
    other = Bench.make()
    bench.controller.record(path)
    with pytest.raises(ValueError, match=re.escape(f"recorded to {path}")):
        bench.controller.record(path.with_name("second.json"))
    (path.parent / "link").symlink_to(path.parent, target_is_directory=True)
    for name in (path, path.parent / "link" / "trace.json"):
        with pytest.raises(ValueError, match="another controller"):
            other.controller.record(name)
    bench.infer(bench.controller.session("burst"))
    bench.time.advance_us(PERIOD_US)
    assert (len(inferences(path)), path.with_name("trace.json.1").exists()) == (1, False)
    bench.controller.close()
    other.controller.record(path)
    other.controller.close()
    assert len(inferences(path.with_name("trace.json.1"))) == 1


def test_closing_a_recording_late_does_not_end_the_next(bench: Bench, tmp_path: Path) -> None:
    """Closing a recording late does not end the next one, which another thread has begun meanwhile."""
    session = bench.controller.session("burst")
    first = bench.controller.record(tmp_path / "first.json")
    first.close()
    second = bench.controller.record(tmp_path / "second.json")
    end_record_late(bench.controller, first)
    bench.infer(session)
    second.close()
    status = (tmp_path / "second.json").read_text(encoding="ascii")
    assert status.count('"name":"inference"') == 1
