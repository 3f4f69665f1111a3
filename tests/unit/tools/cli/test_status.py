"""``htppower status``: the votes of another process, live or from its last file."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

import attrs
import freezegun
import pytest
from support.bench import Bench
from support.inside import leave_behind
from support.learning import learning
from support.slashes import in_one_line, no_such_file

from htppower.backends import SimulatedHtp
from htppower.control.status.process_identity import place, started
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive
from htppower.tools.cli.status.command import Watch
from htppower.tools.cli.status.document import read_status
from htppower.tools.cli.status.wording import profile_in_use
from htppower.tools.report.words import rough_duration

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.command import Command

SECOND_US = 1_000_000
WRITTEN = "2026-01-01T12:00:00.000+00:00"


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Yield a status with a value in every part, as written on another machine."""
    monkeypatch.chdir(tmp_path)
    bench = Bench.make(SimulatedHtp(arch=75, cores=2, platform="qnx"))
    camera = bench.controller.session("burst", owner="camera", core_ids=(0, 1))
    tracker = bench.controller.session("balanced", owner="tracker")
    failing = bench.controller.session("burst")
    tracker.hold("burst", reason="camera preview", timeout_us=60 * SECOND_US)
    cap = bench.controller.cap("high_performance", reason="battery low")
    bench.infer(camera)
    with tracker.inference(), tracker.inference():
        bench.infer(camera, 20_000)
        bench.simulated.fail_next(1009)
        bench.infer(failing)
        bench.time.advance_us(SECOND_US)
        leave_behind(bench.controller.serve_status("status.json"))
    del cap
    bench.controller.close()
    path = tmp_path / "status.json"
    calls = [{"session": 3, "function": "setPowerConfig", "power_config_id": 4, "since_us": SECOND_US}]
    rewrite(path, calls_under_way=calls)
    rewrite(path, written=WRITTEN, pid=4242, started_ticks=1, place="another boot", htppower="0.1.0")
    return path


@pytest.fixture
def _noon() -> Iterator[None]:
    """Fix the wall clock at 400 ms after the file was written."""
    # pytest times the fixture with its own clock.
    with freezegun.freeze_time("2026-01-01 12:00:00.4", ignore=["_pytest.timing"]):
        yield


def rewrite(path: Path, **fields: object) -> None:
    """Write a status again with other values."""
    document = {**json.loads(path.read_text(encoding="ascii")), **fields}
    path.write_text(json.dumps(document), encoding="ascii")


@pytest.mark.usefixtures("served", "_noon")
def test_text(command: Command) -> None:
    """The text equals the golden file: votes, since when and why, in 80 columns."""
    command.assert_golden("status.txt", "status", "status.json")
    assert max(map(len, command.output("status", "status.json").splitlines())) <= 80


def test_both_times_that_are_learnt_are_shown(command: Command, tmp_path: Path) -> None:
    """The sustain time and the time until votes relax further are shown, each with its cost next to the vendor's."""
    bench = Bench.make()
    profile = learning(break_even_us=100_000)
    assert profile.relax is not None
    then = Then(profile.relax.after_deinit_to, Adaptive(break_even_us=SECOND_US))
    session = bench.controller.session(attrs.evolve(profile, relax=attrs.evolve(profile.relax, then=then)))
    for _ in range(3):
        bench.infer(session)
        bench.time.advance_us(9 * SECOND_US)
    bench.infer(session)
    path = tmp_path / "status.json"
    bench.controller.serve_status(path)
    lines = [" ".join(line.split()) for line in command.output("status", str(path)).splitlines()]
    assert "further learnt: 0 us after 3 gaps" in lines
    assert sum(line.startswith("with 300 ms") for line in lines) == 2
    assert "with 300 ms relaxed for 900 ms, 3 cold starts" in lines
    bench.controller.close()


def test_an_inference_that_waits_for_its_end_shows_its_age(command: Command, tmp_path: Path) -> None:
    """The text has the number of open tickets and the age of the oldest."""
    bench = Bench.make()
    session = bench.controller.session("burst")
    tickets = [session.begin()]
    bench.time.advance_us(7 * SECOND_US)
    tickets.append(session.begin())
    bench.time.advance_us(5 * SECOND_US)
    path = tmp_path / "status.json"
    leave_behind(bench.controller.serve_status(path))
    bench.controller.close()
    rewrite(path, place="another boot")
    assert re.search(r"tickets +2 not ended, the oldest for 12\.0 s", command.output("status", str(path)))
    del tickets


@pytest.mark.parametrize(("sharing", "words"), [(1, "another controller"), (2, "2 other controllers")])
def test_who_shares_the_settings_of_the_process(command: Command, served: Path, sharing: int, words: str) -> None:
    """The controller's number is shown only if another controller uses the same backend."""
    assert "controller " not in command.output("status", str(served))
    rewrite(served, number=3, sharing=sharing)
    said = in_one_line(command.output("status", str(served)))
    assert f"controller 3: shares the settings of the process with {words}" in said


@pytest.mark.usefixtures("_noon")
def test_json(command: Command, served: Path) -> None:
    """The JSON is that file, with its age and the state of the process."""
    shown = json.loads(command.output("status", "status.json", "--format", "json"))
    assert shown.pop("seen") == {"age_us": 400_000, "process": "elsewhere", "holds": False, "until_us": 1_022_000}
    assert shown == json.loads(served.read_text(encoding="ascii"))


def test_durations_in_words() -> None:
    """Each duration has a suitable unit."""
    spans = [rough_duration(each) for each in (0, 999, 1_000, 210_400, 1_500_000, 300_000_000, 9_000_000_000, 10**12)]
    assert spans == ["0 us", "999 us", "1 ms", "210 ms", "1.5 s", "5 min", "2.5 h", "12 days"]


def test_a_pid_that_was_given_again_is_another_process(command: Command, tmp_path: Path) -> None:
    """A live process with the same pid but another start time is not the writer."""
    bench = Bench.make()
    path = tmp_path / "status.json"
    leave_behind(bench.controller.serve_status(path))
    bench.controller.close()
    assert f"by process {os.getpid()}, which is running" in _unwrapped(command.output("status", str(path)))
    rewrite(path, started_ticks=1)
    assert f"process {os.getpid()} is gone" in _unwrapped(command.output("status", str(path)))


def _unwrapped(text: str) -> str:
    return text.replace("\n" + 13 * " ", " ")


def test_ages_move_where_the_file_still_holds(command: Command, tmp_path: Path) -> None:
    """An idle host writes nothing because nothing changes: ages and shares run up to now, even hours later."""
    bench = Bench.make()
    path = tmp_path / "status.json"
    session = bench.controller.session("high_performance", owner="idle")
    bench.infer(session)
    leave_behind(bench.controller.serve_status(path))
    session.close()
    bench.controller.close()
    rewrite(path, written=WRITTEN)
    shown = []
    for time in ("2026-01-01 12:00:10", "2026-01-01 15:00:00", "2026-01-03 12:00:00"):
        with freezegun.freeze_time(time):
            shown.append(_unwrapped(command.output("status", str(path))))
    assert "state      LOWERED for 10.0 s, since 12:00:00: inference ended" in shown[0]
    assert "states     UNVOTED 0 us, RAISED 1 ms, LOWERED 10.0 s" in shown[0]
    assert "share      up 0% of 10.0 s" in shown[0]
    assert "state      LOWERED for 3.0 h, since 12:00:00" in shown[1]
    assert "state      LOWERED for 48.0 h, since 2026-01-01 12:00:00" in shown[2]
    assert all("\nstill so" in text and "\nnot known" not in text for text in shown)


@pytest.mark.parametrize("moves", ["just written", "recording", "call", "closed", "gone"])
def test_ages_stand_where_the_file_may_not_hold(command: Command, tmp_path: Path, moves: str) -> None:
    """Ages stop if a change may not be written yet, during a call or recording, and after the process has ended."""
    bench = Bench.make()
    path = tmp_path / "status.json"
    session = bench.controller.session("high_performance")
    bench.infer(session)
    bench.time.advance_us(4 * SECOND_US)
    leave_behind(bench.controller.serve_status(path))
    session.close()
    bench.controller.close()
    recording = {"path": "x", "written": 0, "pending": 1, "lost": 0, "error": None}
    call = {"session": 1, "function": "setPowerConfig", "power_config_id": 1, "since_us": 0}
    changes: dict[str, dict[str, object]] = {
        "just written": {},
        "recording": {"recording": recording},
        "call": {"calls_under_way": [call]},
        "closed": {"closed": True},
        "gone": {"started_ticks": 1},
    }
    rewrite(path, written=WRITTEN, **changes[moves])
    with freezegun.freeze_time("2026-01-01 12:00:01" if moves == "just written" else "2026-01-01 12:01:00"):
        said = _unwrapped(command.output("status", str(path)))
        seen_now = json.loads(command.output("status", str(path), "--format", "json"))["seen"]
    assert "state      LOWERED for 4.0 s, since 11:59:56" in said
    assert (seen_now["holds"], seen_now["until_us"]) == (False, 4_001_000)


def test_when_a_session_comes_down(command: Command, tmp_path: Path) -> None:
    """Before that time, the text says in how long; later, only that it was due: an inference may have begun."""
    bench = Bench.make()
    path = tmp_path / "status.json"
    bench.infer(bench.controller.session("burst"))
    leave_behind(bench.controller.serve_status(path))
    bench.controller.close()
    rewrite(path, written=WRITTEN)
    shown = []
    for time in ("2026-01-01 12:00:00.1", "2026-01-01 12:00:00.5"):
        with freezegun.freeze_time(time):
            shown.append(_unwrapped(command.output("status", str(path))))
    assert "in flight  0; lowers in 200 ms, at 12:00:00 unless an inference begins" in shown[0]
    assert "in flight  0; was to lower at 12:00:00 unless an inference begins: not known yet" in shown[1]


def test_inferences_and_those_that_waited(command: Command, tmp_path: Path) -> None:
    """The text has their number, the share that waited for a call, and how long; an older file has none of this."""
    bench = Bench.make()
    path = tmp_path / "status.json"
    session = bench.controller.session("burst")
    bench.simulated.delay_calls(1_500, "setPowerConfig")
    for _ in range(8):
        bench.infer(session)
    bench.controller.serve_status(path)
    said = _unwrapped(command.output("status", str(path)))
    assert "begun      8 inferences, 1 (12.5%) waited for a call: 3 ms on average, 99% up to 5 ms" in said
    document = json.loads(path.read_text(encoding="ascii"))
    del document["sessions"][0]["inferences"], document["sessions"][0]["cold_starts"]
    rewrite(path, **document)
    assert "begun" not in command.output("status", str(path))
    bench.controller.close()


def test_a_pace_shows_its_rate_its_misses_and_why_it_uses_a_profile(command: Command, tmp_path: Path) -> None:
    """The session has a line for its pace, and its profile has the reason of the pace, here and in the list."""
    bench = Bench.make()
    session = bench.controller.session("burst", owner="camera")
    pace = session.pace(fps=30, miss_rate=0.05)
    for _ in range(60):
        with pace.inference():
            bench.time.advance_us(5000)
    with pace.inference():
        bench.time.advance_us(40_000)
    bench.controller.serve_status(tmp_path / "status.json")
    shown = in_one_line(command.run("status", str(tmp_path / "status.json")).stdout)
    assert "pace 30 a second, recently 29.5; 1 of 61 deadlines missed, 1 recently, 5 % allowed" in shown
    why = "30 a second: the lowest profile that keeps it"
    assert f"profile low_power_saver in place of burst: pace '{why}' for" in shown
    pace.close()
    bench.controller.close()


@pytest.mark.parametrize(
    ("kind", "used", "said"),
    [
        ("cap", "balanced", "balanced (capped from burst: why)"),
        ("hold", "balanced", "balanced (held, in place of burst: why)"),
        ("pace", "balanced", "balanced (paced, in place of burst: why)"),
        ("mode", "balanced", "balanced (a mode in place of burst: why)"),
        ("pace", "burst", "burst (paced: why)"),
    ],
)
def test_the_list_says_what_decides_the_profile(kind: str, used: str, said: str) -> None:
    """A pace that uses the session's own profile replaces nothing."""
    assert (
        profile_in_use({"profile": used, "own_profile": "burst", "decided_by": {"kind": kind, "reason": "why"}}) == said
    )


def test_nothing_is_drawn_out_to_now(command: Command, served: Path) -> None:
    """While a session is up, all sessions are shown as of the writing, however old the file is."""
    rewrite(served, pid=os.getpid(), started_ticks=started(os.getpid()), place=place())
    shown = []
    for time in ("2026-01-01 12:00:01", "2026-01-01 15:00:00"):
        with freezegun.freeze_time(time):
            shown.append(_unwrapped(command.output("status", str(served))))
    assert "RAISED for 1.0 s" in shown[0]
    heads, bodies = zip(*(text.split("\nbackend", 1) for text in shown), strict=True)
    assert bodies[0] == bodies[1]
    assert "1.0 s ago by process" in heads[0]
    assert "at           2026-01-01 12:00:00 UTC" in heads[0]
    assert "3.0 h ago" in heads[1]
    assert "not known    what has changed since: all below is as of then\n" in f"{heads[0]}\n"
    assert "every second while a session is up, and this one has not" in heads[1]


@pytest.mark.parametrize("hardware", [True, False])
def test_what_became_of_the_votes_of_a_process_that_is_gone(command: Command, served: Path, hardware: bool) -> None:
    """The driver's clean-up can't be seen from here; a simulated HTP has no driver."""
    backend = {**json.loads(served.read_text(encoding="ascii"))["backend"], "hardware": hardware}
    rewrite(served, pid=os.getpid(), started_ticks=1, place=place(), backend=backend)
    said = _unwrapped(command.output("status", str(served)))
    assert "has removed its votes" not in said.replace("whether the driver has removed its votes", "")
    assert ("whether the driver has removed its votes" in said) is hardware
    assert "not known    what it did after that" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(None, "No such file", marks=pytest.mark.needs("names")),
        ("", "is not JSON"),
        ("profile: burst", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", "is not a status of htppower"),
        ('{"format_version": 1}', "is not a status of htppower"),
        ('{"kind": "htppower status", "format": 2, "htppower": "9.1"}', "has format 2, written by htppower 9.1"),
        ('{"kind": "htppower status", "format": 1}', "htppower is missing"),
    ],
)
def test_what_is_no_status(command: Command, tmp_path: Path, content: str | None, said: str) -> None:
    """The error is one line that says what to do, with exit code 2."""
    path = tmp_path / "s\x1b[31m"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    for more in ((), ("--watch",)):
        result = command.run("status", str(path), *more)
        assert (result.exit_code, said in result.stderr, len(result.stderr.splitlines())) == (2, True, 1)
        assert "\x1b" not in result.stderr


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"written": "yesterday"}, "written is not a time"),
        ({"written": "2026-01-01T12:00:00"}, "written is not a time"),
        ({"pid": -1}, "pid is not a process"),
        ({"pid": True}, "pid is not a number"),
        ({"time_us": 1 << 70}, "time_us is not a number"),
        ({"sessions": {}}, "sessions is not a list"),
        ({"sessions": [1]}, "sessions[0] is not an object"),
        ({"caps": [{"profile": 3}]}, "caps[0].profile is not a text"),
        ({"orphans": ["1"]}, "orphans[0] is not a number"),
        ({"backend": None}, "backend is not an object"),
    ],
)
def test_a_status_with_something_else_in_a_field(
    command: Command, served: Path, fields: dict[str, Any], said: str
) -> None:
    """The error names the field, with exit code 2."""
    rewrite(served, **fields)
    result = command.run("status", str(served))
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_hostile_texts_do_nothing_to_a_terminal(command: Command, served: Path) -> None:
    """Control characters are escaped in every field."""
    text = served.read_text(encoding="ascii")
    served.write_text(text.replace('"burst"', '"\\u001b[2J\\n"').replace('"camera"', '"\\u202e"'), encoding="ascii")
    output = command.output("status", str(served))
    assert (r"\x1b[2J\n" in output, r"\u202e" in output) == (True, True)
    assert all(line.isprintable() for line in output.splitlines())


def test_fields_to_come_are_let_pass(command: Command, served: Path) -> None:
    """An unknown field of a later version with the same format is ignored."""
    rewrite(served, later={"x": 1})
    assert command.run("status", str(served)).exit_code == 0


@pytest.mark.usefixtures("_noon")
def test_watching_on_a_pipe(served: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each change is a block; a missing or invalid file is reported once, and the command waits for it."""
    watch = Watch(served, read_status(served), "json", terminal=False)
    whole = served.read_text(encoding="ascii")

    def looked() -> tuple[list[bool], list[str]]:
        for _ in range(2):
            watch.look(0)
        output, errors = capsys.readouterr()
        return [json.loads(line)["closed"] for line in output.splitlines()], errors.splitlines()

    assert looked() == ([False], [])
    served.unlink()
    output, (said,) = looked()
    assert (output, bool(re.search(no_such_file(), said))) == ([], True)
    served.write_text(whole[:100], encoding="ascii")
    output, (said,) = looked()
    assert (output, "is not JSON" in said) == ([], True)
    served.write_text(whole.replace('"closed": false', '"closed": true'), encoding="ascii")
    assert looked() == ([True], [])


def test_a_recording_is_told(command: Command, served: Path) -> None:
    """The text has the path, the inferences written and lost, and the error, only if there is a recording."""
    assert "recording" not in command.output("status", str(served))
    recording = {"path": "/run/trace.json", "written": 7, "pending": 1, "lost": 0, "error": None}
    rewrite(served, recording=recording)
    assert "\nrecording    /run/trace.json: 7 inferences\n" in command.output("status", str(served))
    rewrite(served, recording={**recording, "lost": 2, "error": "no room"})
    said = _unwrapped(command.output("status", str(served)))
    assert "/run/trace.json: 7 inferences, 2 lost; it can't be written: no room" in said


def test_a_link_that_is_not_well_is_told(command: Command, served: Path) -> None:
    """The head has the link's state in words; a healthy link, or a file of an earlier version, has none."""
    assert "\nlink " not in command.output("status", str(served))
    rewrite(served, link="HELD")
    said = in_one_line(command.output("status", str(served)))
    assert " link HELD: a new device did not help: another user of the library" in said
    document = json.loads(served.read_text(encoding="ascii"))
    del document["link"]
    served.write_text(json.dumps(document), encoding="ascii")
    assert "\nlink " not in command.output("status", str(served))
