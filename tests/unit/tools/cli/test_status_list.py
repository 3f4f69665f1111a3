"""``htppower status`` without a path: every controller of this user that serves a status, and its recent states."""

from __future__ import annotations

import datetime
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import Bench
from support.status_files import serve_below

from htppower.control.status.process_identity import Life
from htppower.tools.cli.status.command import Overview, Watch
from htppower.tools.cli.status.document import Seen, read_status
from htppower.tools.cli.status.history import COLUMNS, Histories, now_of
from htppower.tools.cli.status.served import find_served, overview
from htppower.tools.cli.status.wording import lasted_in_list
from htppower.tools.report.layout import shown_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.command import Command

S = 1_000_000


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """Yield a controller in virtual time that serves its status in its own runtime folder."""
    folder = serve_below(tmp_path / "run", monkeypatch)
    # Exclude other processes, which serve in the default folder.
    monkeypatch.setattr("htppower.tools.cli.status.served.runtime_folders", lambda: (folder,))
    made = Bench.make()
    yield made
    made.controller.close()


def test_without_any_it_is_said_who_serves_one(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty list is not an error, and says how to serve a status."""
    monkeypatch.setattr("htppower.tools.cli.status.served.runtime_folders", lambda: (tmp_path / "none",))
    assert "controller.serve_status()" in command.output("status")
    assert json.loads(command.output("status", "--format", "json")) == {"format_version": 1, "statuses": []}


def test_every_controller_is_listed(command: Command, bench: Bench) -> None:
    """Each controller has its process, its sessions, their states and the share of time raised."""
    camera = bench.controller.session("burst", owner="camera")
    other = Bench.make()
    with camera.inference():
        bench.time.advance_us(3 * S)
    bench.time.advance_us(S)
    files = [bench.controller.serve_status(), other.controller.serve_status()]
    said = command.output("status", columns=200)
    assert said.count(f"process      {os.getpid()}") == 2
    # The age of the file counts: some milliseconds, or more on a busy machine.
    assert re.search(r"session 1    camera: LOWERED for (\d{3} ms|\d\.\d s), burst; up \d\d% of \d\.\d s", said)
    assert "sessions     none is open" in said
    listed = json.loads(command.output("status", "--format", "json"))["statuses"]
    assert {Path(each["path"]) for each in listed} == {file.path for file in files}
    assert listed[0]["status"]["seen"]["process"] == "running"
    whole = command.output("status", str(os.getpid()))
    assert "session 1    camera" in whole
    assert re.search(r"share      up \d\d% of \d\.\d s", whole)
    other.controller.close()
    assert command.output("status").count("process ") == 1


def test_the_oldest_process_comes_first(tmp_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order does not depend on the last write, and a tenth controller comes after a ninth."""
    with bench.controller.serve_status() as file:
        document = json.loads(file.path.read_text(encoding="utf-8"))
    folder = tmp_path / "several"
    folder.mkdir(mode=0o700)
    monkeypatch.setattr("htppower.tools.cli.status.served.runtime_folders", lambda: (folder,))
    for name, ticks in (("30-1", 5), ("7-10", 9), ("7-9", 9), ("4-1", None)):
        (folder / f"{name}.json").write_text(json.dumps({**document, "started_ticks": ticks}), encoding="utf-8")
    (folder / "1-1.json").write_text("", encoding="utf-8")
    (folder / "2-1.json").write_text("{", encoding="utf-8")
    found = find_served(datetime.datetime.now(datetime.timezone.utc))
    assert [each.path.stem for each in found] == ["30-1", "7-9", "7-10", "2-1", "4-1"]


def test_the_list_says_what_decides_since_when_and_why(command: Command, bench: Bench) -> None:
    """A row has a cap or hold with its reason, the cause of the last transition, the votes, and inferences waited."""
    camera = bench.controller.session("burst", owner="camera")
    tracker = bench.controller.session("high_power_saver", owner="tracker")
    cap = bench.controller.cap("balanced", reason="battery at 12 %")
    hold = tracker.hold("balanced", reason="preview")
    bench.infer(camera)
    with tracker.inference():
        bench.controller.serve_status()
        said = command.output("status", columns=200)
    assert re.search(r"camera: LOWERED for .*, balanced \(capped from burst: battery at 12 %\)", said)
    assert re.search(r"tracker: RAISED .*, balanced \(held, in place of high_power_saver: preview\)", said)
    assert re.search(r"since      \d\d:\d\d:\d\d: inference ended; the cap since \d\d:\d\d:\d\d", said)
    assert re.search(r"since      \d\d:\d\d:\d\d: inference began; the hold since \d\d:\d\d:\d\d", said)
    assert "votes      core SVS, bus SVS" in said
    assert said.count("begun      1 inference, 1 (100%) waited for a call") == 2
    del cap, hold


@pytest.mark.parametrize("hardware", [True, False])
def test_the_running_come_first_and_the_gone_last(
    command: Command, bench: Bench, monkeypatch: pytest.MonkeyPatch, hardware: bool
) -> None:
    """A killed process with raised votes comes last; one that left no votes is listed only with --all or in JSON."""
    with bench.controller.session("burst").inference():
        path = bench.controller.serve_status().path
        document = json.loads(path.read_text(encoding="ascii"))
    for name, ticks in (("9-1", 1), ("8-1", 2)):
        backend = {**document["backend"], "hardware": hardware and name == "9-1"}
        changed = {**document, "pid": int(name[0]), "started_ticks": ticks, "backend": backend}
        (path.parent / f"{name}.json").write_text(json.dumps(changed), encoding="ascii")
    monkeypatch.setattr(
        "htppower.tools.cli.status.document.life", lambda pid, *_: Life.GONE if pid < 10 else Life.RUNNING
    )

    def pids(*options: str) -> list[str]:
        return re.findall(r"^process +(\d+)", command.output("status", *options, columns=200), re.MULTILINE)

    own = str(os.getpid())
    assert pids() == ([own, "9"] if hardware else [own])
    assert pids("--all") == [own, "9", "8"]
    said = command.output("status", columns=200)
    assert ("whether the driver has removed its votes" in said) is hardware
    assert f"gone         {'1 process' if hardware else '2 processes'}, which left no vote up" in said
    assert len(json.loads(command.output("status", "--format", "json"))["statuses"]) == 3


@pytest.mark.parametrize("width", [60, 80, 200])
def test_it_fits_the_width(command: Command, bench: Bench, width: int) -> None:
    """No line of the list or of one status is wider than the terminal, however long an owner's name is."""
    owner = "an owner with a name that is far longer than any terminal is wide " * 3
    session = bench.controller.session("burst", owner=owner)
    bench.controller.serve_status()
    for arguments in (("status",), ("status", str(os.getpid()))):
        lines = command.output(*arguments, columns=width).splitlines()
        assert max(map(shown_width, lines)) <= width
    session.close()


def test_a_process_that_serves_none_is_named_as_one(command: Command) -> None:
    """A number is a process id, so the error says that the process serves no status."""
    result = command.run("status", "999999999")
    assert (result.exit_code, "no process 999999999 of this user serves a status" in result.stderr) == (2, True)


def test_what_can_not_be_read_is_named(command: Command, bench: Bench) -> None:
    """The error names the file, and the other controllers are listed."""
    folder = bench.controller.serve_status().path.parent
    (folder / "1-1.json").write_text("[]", encoding="ascii")
    (folder / "2-1.json").write_text("", encoding="ascii")
    said = command.output("status", columns=400)
    assert f"unreadable   {folder / '1-1.json'} is not a status of htppower" in said
    assert "2-1.json" not in said
    assert f"process      {os.getpid()}" in said


@pytest.mark.skipif(sys.platform == "win32", reason="owners of POSIX")
def test_what_others_may_write_is_passed_over(command: Command, bench: Bench) -> None:
    """A folder that another user may write to is not read."""
    bench.controller.serve_status().path.parent.chmod(0o777)
    assert "none " in command.output("status")


def test_a_link_that_is_not_well_is_told(bench: Bench, command: Command) -> None:
    """The link's state appears once for each process, above its sessions."""
    session = bench.controller.session("burst", owner="camera")
    bench.simulated.fail_next(1011, "renew")
    bench.controller.link_lost(1011)
    bench.controller.serve_status()
    lines = command.output("status").splitlines()
    (place,) = [place for place, line in enumerate(lines) if line.startswith("link ")]
    assert lines[place].split()[1] == "DEAD:"
    assert lines[place - 1].startswith("backend")
    session.close()


def test_watching_on_a_pipe_prints_what_changed(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Each change is printed once; without a change, nothing is printed."""
    bench.controller.serve_status()
    watch = Overview("text", terminal=False)
    watch.look(0)
    assert "none is open" in capsys.readouterr().out
    watch.look(10)
    assert capsys.readouterr().out == ""
    session = bench.controller.session("burst", owner="camera")
    bench.time.advance_us(2 * S)
    watch.look(20)
    assert f"camera: {session.state}" in capsys.readouterr().out


def test_watching_a_terminal_has_colours_and_a_timeline(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """States are coloured, and each session has a timeline of its states."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    with bench.controller.session("burst").inference():
        bench.controller.serve_status()
        Overview("text", terminal=True).look(0)
    drawn = capsys.readouterr().out
    assert "\x1b[31mRAISED\x1b[0m" in drawn
    assert f"last {COLUMNS} s" in drawn


@pytest.mark.parametrize("width", [40, 60])
def test_a_timeline_is_as_long_as_a_narrow_terminal_allows(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    """The timeline takes one line, in the list and in one status, and shows how far it goes back."""
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", "100")
    session = bench.controller.session("burst")
    file = bench.controller.serve_status().path
    Overview("text", terminal=True).look(0)
    Watch(file, read_status(file), "text", terminal=True).look(0)
    timelines = [line for line in capsys.readouterr().out.split("\n") if "timeline" in line]
    assert len(timelines) == 2
    for line in timelines:
        assert re.search(rf"\|.{{{width - 25}}}\| last {width - 25} s", line)
    session.close()


def _view(time_us: int, raised_us: int, state: str, age_us: int = 0) -> Seen:
    session: dict[str, Any] = {"number": 1, "state": state, "time_in_state_us": {"RAISED": raised_us, "LOWERED": 0}}
    document = {"sessions": [session], "time_us": time_us, "closed": False}
    return Seen(document, age_us, Life.RUNNING)


def _strip(histories: Histories, now_us: int) -> str:
    return histories.strip(("x", 1), now_us).split("|")[1]


def test_the_timeline_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column is one second: full if raised all the time, empty if never, a dot if unknown."""
    monkeypatch.setattr("sys.stdout", type("Utf8", (), {"encoding": "utf-8"}))
    histories = Histories()
    assert set(_strip(histories, 0)) == {"\u00b7"}
    histories.see("x", _view(10 * S, 5 * S, "RAISED"))
    histories.see("x", _view(12 * S, 7 * S, "LOWERED"))
    histories.see("x", _view(13 * S, 7 * S + S // 2, "LOWERED"))
    histories.see("x", _view(14 * S, 7 * S + S // 2, "LOWERED"))
    strip = _strip(histories, 14 * S)
    assert strip.startswith("\u00b7" * (COLUMNS - 4))
    assert strip[-4:] == "\u2588\u2588\u2584 "
    assert _strip(histories, 16 * S)[-6:-2] == strip[-4:]


def test_what_still_holds_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """For an idle host, the seconds after the last write are known: nothing is raised, and no inference begins."""
    monkeypatch.setattr("sys.stdout", type("Ascii", (), {"encoding": "ascii"}))
    histories = Histories()
    histories.see("x", _view(10 * S, 0, "LOWERED"))
    assert _strip(histories, 13 * S)[-4:] == "????"
    idle = attrs.evolve(_view(10 * S, 0, "LOWERED", age_us=3 * S), holds=True)
    histories.see("x", idle)
    assert _strip(histories, now_of(idle))[-4:] == "?   "
    rate = histories.rate(("x", 1))
    assert (rate and rate.each_s, rate and rate.cold) == (0, None)


def test_rates_are_those_of_the_last_seconds() -> None:
    """The list has the inferences of the last seconds: their rate, the share that waited, and how long."""
    histories = Histories()
    assert histories.rate(("x", 1)) is None
    for second in range(20):
        view = _view(second * S, 0, "LOWERED")
        late = max(0, second - 10)
        cold = {"count": 1_000 + late, "wait_us": 9 * S + 2_000 * late}
        view.document["sessions"][0].update(inferences=5_000 + 4 * late, cold_starts=cold)
        histories.see("x", view)
        rate = histories.rate(("x", 1))
        assert (rate is None) is (second == 0)
    assert rate is not None
    assert (rate.each_s, rate.cold, rate.wait_us) == (4, 0.25, 2_000)


def test_a_session_without_votes_has_no_rate() -> None:
    """Inferences without votes do not cause a write of the file, so a rate of 0 would be wrong."""
    histories = Histories()
    for second in (1, 2):
        view = _view(second * S, 0, "UNVOTED")
        view.document["sessions"][0].update(inferences=second, power_config_ids=[])
        histories.see("x", view)
    assert histories.rate(("x", 1)) is None


@pytest.mark.parametrize(("age_us", "said"), [(549_000, "4 ms when written"), (1_000, "4 ms"), (2 * S, "2.0 s")])
def test_an_age_that_may_be_far_too_low_says_so(age_us: int, said: str) -> None:
    """4 ms in a state is misleading half a second after the writing, unless the state still holds."""
    view = Seen({"time_us": 10 * S}, age_us, Life.RUNNING, holds=age_us == 2 * S)
    assert lasted_in_list(view, 10 * S - 4_000) == said


def test_what_nobody_wrote_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds after the last write are unknown; the states of a session are drawn with the next write."""
    monkeypatch.setattr("sys.stdout", type("Ascii", (), {"encoding": "ascii"}))
    histories = Histories()
    histories.see("x", _view(9 * S, 0, "RAISED"))
    late = _view(10 * S, S, "RAISED", age_us=3 * S)
    histories.see("x", late)
    assert _strip(histories, now_of(late))[-5:] == "?@???"
    histories.see("x", _view(13 * S, 1 * S, "LOWERED"))
    assert _strip(histories, 13 * S)[-5:] == "?@   "


def test_a_new_controller_in_an_old_file_begins_anew() -> None:
    """If times go back, the history is dropped."""
    histories = Histories()
    histories.see("x", _view(100 * S, 50 * S, "RAISED"))
    histories.see("x", _view(1 * S, 0, "LOWERED"))
    histories.see("x", _view(3 * S, S, "LOWERED"))
    assert len(_strip(histories, 3 * S)) == COLUMNS


def test_a_list_of_nothing_has_a_width() -> None:
    """The empty list fits the width too, and names who sees the hosts of other users."""
    lines = overview((), 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert ("root sees those of all users" in " ".join(" ".join(lines).split())) == (os.name != "nt")
    assert isinstance(find_served(datetime.datetime.now(datetime.timezone.utc)), tuple)
