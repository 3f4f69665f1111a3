"""A trace is complete JSON at any moment, shows each session's states, and disturbs nothing."""

from __future__ import annotations

import io
import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from support.inside import replace_file

from htppower.subscribers.chrome_trace import ChromeTrace

if TYPE_CHECKING:
    from pathlib import Path

    from support.bench import Bench


def _read(path: Path) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads(path.read_text(encoding="ascii"))
    return read


def _slices(events: list[dict[str, Any]]) -> dict[int, list[tuple[str, int, int | None]]]:
    """Return name, begin and end of the state slices of each track; an open slice has the end None."""
    made: dict[int, list[tuple[str, int, int | None]]] = {}
    for event in events:
        track = made.setdefault(event["tid"], [])
        if event["ph"] == "B":
            assert all(end is not None for _, _, end in track), "states do not overlap"
            track.append((event["name"], event["ts"], None))
        elif event["ph"] == "E":
            name, begin_us, end = track.pop()
            assert (name, end) == (event["name"], None)
            track.append((name, begin_us, event["ts"]))
    return {tid: track for tid, track in made.items() if track}


def _tracks(events: list[dict[str, Any]]) -> dict[str, int]:
    return {event["args"]["name"]: event["tid"] for event in events if event["name"] == "thread_name"}


@pytest.mark.parametrize("name", ["trace.json", "trace.json.new", ".trace.json.new"])
@pytest.mark.parametrize("there", [True, False])
def test_no_link_is_followed(bench: Bench, tmp_path: Path, name: str, there: bool) -> None:
    """In a folder open to others, the target of a link at the path is neither written nor created."""
    folder, victim = tmp_path / "open", tmp_path / "victim"
    folder.mkdir()
    if there:
        victim.write_text("kept", encoding="ascii")
    (folder / name).symlink_to(victim)
    trace = ChromeTrace(folder / "trace.json")
    bench.controller.subscribe(trace)
    bench.controller.session("burst")
    trace.close()
    assert not (folder / "trace.json").is_symlink()
    assert "1 burst" in _tracks(_read(folder / "trace.json"))
    assert victim.read_text(encoding="ascii") == "kept" if there else not victim.exists()


def test_a_track_has_states_and_calls(bench: Bench, tmp_path: Path) -> None:
    """States follow each other to the microsecond, and calls with their results are on the same track."""
    trace = ChromeTrace(tmp_path / "trace.json")
    bench.controller.subscribe(trace)
    session = bench.controller.session("burst", owner="camera")
    bench.time.advance_us(500)
    bench.infer(session)
    bench.time.advance_us(300_000)
    session.close()
    trace.close()
    events = _read(tmp_path / "trace.json")
    track = _tracks(events)["1 camera"]
    assert _slices(events) == {track: [("UNVOTED", 0, 500), ("RAISED", 500, 301_500), ("LOWERED", 301_500, 301_500)]}
    calls = [event for event in events if event["ph"] == "X"]
    assert [call["name"] for call in calls] == [
        "createPowerConfigId",
        "setPowerConfig",
        "setPowerConfig",
        "setPowerConfig",
        "setPowerConfig",
        "destroyPowerConfigId",
    ]
    assert {call["tid"] for call in calls} == {track}
    assert {call["args"]["result"] for call in calls} == {"SUCCESS"}
    raised = [event["args"]["sessions"] for event in events if event["ph"] == "C"]
    assert raised == [0, 1, 0, 0]


def test_the_file_is_whole_after_every_event(bench: Bench, tmp_path: Path) -> None:
    """After each event the file is JSON, has the event, and ends with the bracket."""
    path = tmp_path / "trace.json"
    trace = ChromeTrace(path)
    sizes = [len(_read(path))]

    def read(_event: object) -> None:
        sizes.append(len(_read(path)))

    bench.controller.subscribe(trace)
    bench.controller.subscribe(read)
    session = bench.controller.session("burst", owner="ü\ud800\n")
    bench.infer(session)
    assert len(sizes) == 7
    assert sizes == sorted(set(sizes))
    session.close()
    trace.close()


def test_files_rotate_and_each_stands_alone(bench: Bench, tmp_path: Path) -> None:
    """No file exceeds its size or number, and each has the names of its tracks and their states throughout."""
    trace = ChromeTrace(tmp_path / "trace.json", max_bytes=5000, keep=2)
    bench.controller.subscribe(trace)
    session = bench.controller.session("high_performance", owner="camera")
    for _ in range(30):
        bench.infer(session)
    session.close()
    trace.close()
    names = ["trace.2.json", "trace.1.json", "trace.json"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
    ended = None
    for name in names:
        # The open slices are ended when a file is full, which takes a little more.
        assert (tmp_path / name).stat().st_size <= 5000 + 200
        events = _read(tmp_path / name)
        slices = _slices(events)[_tracks(events)["1 camera"]]
        assert ended in (None, slices[0][1])
        ended = slices[-1][2]
        assert ended is not None


def test_many_tracks_leave_room_for_events(bench: Bench, tmp_path: Path) -> None:
    """If the names of the tracks alone fill a file, the file grows; it is not rotated at every event."""
    trace = ChromeTrace(tmp_path / "trace.json", max_bytes=4096, keep=1000)
    sessions = [bench.controller.session("high_performance") for _ in range(30)]
    bench.controller.subscribe(trace)
    for session in sessions:
        bench.infer(session)
    before = len(list(tmp_path.iterdir()))
    for session in sessions[:5]:
        bench.infer(session)
    trace.close()
    # Each of them is seven events, and some events add others.
    assert len(list(tmp_path.iterdir())) - before <= 7


def test_what_an_earlier_run_left_is_kept(tmp_path: Path) -> None:
    """An existing trace is renamed, and the new one begins empty; with keep=0 the old trace is replaced."""
    path = tmp_path / "trace.json"
    path.write_text("[]", encoding="ascii")
    ChromeTrace(path, keep=1).close()
    assert _read(tmp_path / "trace.1.json") == []
    assert _read(path)
    ChromeTrace(path, keep=0).close()
    assert _read(tmp_path / "trace.1.json") == []


def test_a_trace_that_begins_late_has_the_sessions_from_their_next_state(bench: Bench, tmp_path: Path) -> None:
    """A session that was open before gets its track at its next event."""
    session = bench.controller.session("high_performance", owner="camera")
    trace = ChromeTrace(tmp_path / "trace.json")
    bench.controller.subscribe(trace)
    bench.infer(session)
    trace.close()
    events = _read(tmp_path / "trace.json")
    assert [name for name, _, _ in _slices(events)[_tracks(events)["1 camera"]]] == ["RAISED", "LOWERED"]


def test_other_events_are_moments(bench: Bench, tmp_path: Path) -> None:
    """Holds and caps are instant events with their details; a cap is on the controller's track."""
    trace = ChromeTrace(tmp_path / "trace.json")
    bench.controller.subscribe(trace)
    session = bench.controller.session("balanced", owner="camera")
    session.hold("burst", reason="capture")
    cap = bench.controller.cap("power_saver", reason="heat")
    trace.close()
    events = _read(tmp_path / "trace.json")
    moments = {event["name"]: event for event in events if event["ph"] == "i"}
    assert moments["HoldBegan"]["args"]["reason"] == "capture"
    assert moments["HoldBegan"]["tid"] == _tracks(events)["1 camera"]
    assert moments["CapSet"]["tid"] == _tracks(events)["controller"]
    cap.lift()


@pytest.mark.needs("open files")
def test_a_folder_that_vanished_is_logged_once_and_comes_back(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Without its folder the trace leaves events out and votes go on; once it is back, a new file begins."""
    folder = tmp_path / "traces"
    folder.mkdir()
    trace = ChromeTrace(folder / "trace.json")
    bench.controller.subscribe(trace)
    session = bench.controller.session("high_performance", owner="camera")
    shutil.rmtree(folder)
    bench.infer(session)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert str(folder / "trace.json") in caplog.text
    assert trace.left_out == 7
    folder.mkdir()
    bench.infer(session)
    trace.close()
    events = _read(folder / "trace.json")
    assert [name for name, _, _ in _slices(events)[_tracks(events)["1 camera"]]] == ["LOWERED", "RAISED", "LOWERED"]
    assert len(caplog.records) == 1


class _FullDisk(io.FileIO):
    """A file that accepts bytes up to a size, and then a part of a write, as a full disk does."""

    limit = 0

    def write(self, data: Any) -> int:
        room = max(0, self.limit - self.tell())
        if not room:
            raise OSError(28, "No space left on device")
        return super().write(bytes(data)[:room])


@pytest.mark.parametrize("taken", [0, 1, 7, 50])
def test_a_full_disk_leaves_a_whole_file(
    bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture, taken: int
) -> None:
    """After a partial write the file is as before; with room again, the next events are added."""
    path = tmp_path / "trace.json"
    trace = ChromeTrace(path)
    bench.controller.subscribe(trace)
    session = bench.controller.session("high_performance")
    before = _read(path)
    full = _FullDisk(path, "r+b")
    replace_file(trace, full)
    full.limit = path.stat().st_size + taken
    bench.infer(session)
    assert _read(path) == before
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    full.limit = 1_000_000
    bench.infer(session)
    after = _read(path)
    assert after[: len(before)] == before
    assert len(after) > len(before)
    trace.close()


def test_it_refuses_what_can_not_work(tmp_path: Path) -> None:
    """A missing folder and a too small size are refused, and nothing is left."""
    with pytest.raises(FileNotFoundError):
        ChromeTrace(tmp_path / "no" / "trace.json")
    with pytest.raises(ValueError, match="max_bytes is 100"):
        ChromeTrace(tmp_path / "trace.json", max_bytes=100)
    with pytest.raises(ValueError, match="keep is -1"):
        ChromeTrace(tmp_path / "trace.json", keep=-1)
    assert list(tmp_path.iterdir()) == []


def test_closed_it_writes_nothing(bench: Bench, tmp_path: Path) -> None:
    """Events after ``close`` are ignored, and closing twice is fine."""
    trace = ChromeTrace(tmp_path / "trace.json")
    bench.controller.subscribe(trace)
    trace.close()
    trace.close()
    before = _read(tmp_path / "trace.json")
    bench.controller.session("burst")
    assert _read(tmp_path / "trace.json") == before


def test_a_folder_is_left_where_it_is(tmp_path: Path) -> None:
    """A path that is a folder is refused; nothing is moved."""
    with pytest.raises(ValueError, match="not a file"):
        ChromeTrace(tmp_path)
    assert tmp_path.is_dir()


def test_a_file_that_is_emptied_is_begun_anew(bench: Bench, tmp_path: Path) -> None:
    """If logrotate copies and empties the file (``copytruncate``), a new trace with all states begins."""
    path = tmp_path / "trace.json"
    trace = ChromeTrace(path)
    bench.controller.subscribe(trace)
    session = bench.controller.session("burst", owner="camera")
    path.write_bytes(b"")
    bench.infer(session)
    trace.close()
    assert [name for name, _, _ in _slices(_read(path))[_tracks(_read(path))["1 camera"]]] == ["UNVOTED", "RAISED"]
    assert trace.left_out == 0
