"""The command ``htppower tune``: its forms, the written profile, and the refusals."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import attrs
import pytest
from click.testing import CliRunner
from support import trace_files
from support.slashes import in_one_line
from support.trace_files import Ran

from htppower.tools.cli.main import main
from htppower.tools.report.layout import shown_width
from htppower.tools.tuning import tune
from htppower.tools.tuning.replay import replay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from support.command import Command

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.cost.workload import Workload
    from htppower.tools.tuning.replay import Replayed

HOSTILE = 'a\x1b]0;pwn\x07<script>alert(1)</script>"&\u202e'


def ran(count: int = 60, session: str = "camera") -> list[Ran]:
    """Return inferences of 5 ms at 10 Hz with a pause of 3 s after every tenth."""
    begins = [place * 105_000 + place // 10 * 3_000_000 for place in range(count)]
    return [Ran(begin, begin + 5_000, session, "burst", cold=place % 10 == 0) for place, begin in enumerate(begins)]


@pytest.fixture(autouse=True)
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a recording of one session in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "recording.json"
    path.write_text(trace_files.own(ran()), encoding="utf-8")
    return path


def refused(command: Command, *arguments: str) -> str:
    """Return the error of a refusal in one line."""
    result = command.run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return in_one_line(result.stderr)


def test_golden(command: Command) -> None:
    """The text equals the golden file."""
    command.assert_golden("tune.txt", "tune", "recording.json", "--limit", "p99 <= 8 ms", "--verify", "2")


def test_the_json_has_the_advice_the_front_and_what_it_hangs_on(command: Command) -> None:
    """The advice keeps to the limit, and the replay is equal."""
    said = command.output("tune", "recording.json", "--limit", "p99 <= 8 ms", "--verify", "2", "--format", "json")
    document = json.loads(said)
    (session,) = document["sessions"]
    assert document["format_version"] == 1
    assert session["advised"]["p99_us"] <= 8_000
    assert session["advised"]["energy_j"] < session["now"]["energy_j"]
    assert session["now"] == {**session["now"], "profile": "burst", "sustain": 300_000, "polling": True}
    assert session["advised"] in session["front"]
    assert [each["equal"] for each in session["replayed"]] == [True, True]
    assert {"raise_late_us", "raised_idle_w"} <= {each["name"] for each in session["assumptions"]}
    assert session["profile"].endswith("\n")


def test_the_profile_passes_lint_tests_and_diff(command: Command, tmp_path: Path) -> None:
    """The written file extends a shipped profile, and every tool for profiles accepts it."""
    command.output("tune", "recording.json", "--write", ".")
    text = (tmp_path / "camera_tuned.yaml").read_text(encoding="utf-8")
    assert "\nextends: burst\n" in text
    assert re.search(r"\n  # .*\n  after_inference_us: ", text)
    assert "burst as it is:" in text
    assert command.output("lint", "camera_tuned.yaml") == "1 file: no findings\n"
    assert "after_inference_us" in command.output("diff", "burst", "camera_tuned.yaml", exit_code=1)
    sustain = int(text.partition("after_inference_us: ")[2].split()[0])
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "camera.yaml").write_text(
        f"""test: camera
summary: The tuned time.
profile: camera_tuned
platform: {{soc: SM8650}}
cases:
  - case: one inference
    sequence:
      - {{inference_us: 5000, at_us: 10000}}
      - idle_us: {sustain}
    expect:
      - {{at_us: 10000, state: RAISED}}
      - {{at_us: {15000 + sustain - 1}, state: RAISED}}
      - {{at_us: {15000 + sustain}, state: LOWERED}}
""",
        encoding="utf-8",
    )
    assert "1 case in 1 file passed" in command.output("test", ".", "--profiles", ".")


@pytest.mark.parametrize("limit", ["cold <= 0.1 %", "p50 <= 1 us"])
def test_an_impossible_limit_is_said_and_exits_with_1(command: Command, limit: str) -> None:
    """The message names the limit and the nearest result, and the rest of the report is printed."""
    text = in_one_line(command.output("tune", "recording.json", "--limit", limit, exit_code=1))
    assert f"{limit} is impossible: the nearest is" in text
    assert f"keeps to {limit}" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--limit", "fast"), "'fast' is not a limit"),
        (("--limit", "p99 < 3 ms"), "write <="),
        (("--profile", "no_such"), "no_such"),
        (("--device", "no_such"), "no_such"),
        (("--session", "voice"), "no session 'voice'"),
        (("--measured-under", "system_settings"), "sends no votes"),
        (("--profile", "system_settings", "--measured-under", "system_settings"), "sends no votes"),
        (("--break-even", "0"), "range"),
        (("--longest", "10ms"), "range"),
        (("--within", "1"), "write 1%"),
        (("--within", "30%"), "range 0% to 20%"),
        (("--write", "nowhere"), "the folder 'nowhere' is missing: make that first"),
        (("--write", "recording.json"), "is a file"),
    ],
)
def test_what_can_not_be_tuned_is_refused_with_2(command: Command, arguments: tuple[str, ...], says: str) -> None:
    """The message names the problem."""
    assert says in refused(command, "tune", "recording.json", *arguments)


def test_a_profile_of_the_recording_that_is_not_found_is_looked_for_where_told(
    command: Command, tmp_path: Path
) -> None:
    """The message names both remedies, and both work."""
    (tmp_path / "own.json").write_text(
        trace_files.own([each._replace(profile="mine") for each in ran(20)]), encoding="utf-8"
    )
    said = refused(command, "tune", "own.json")
    assert "camera: recorded under the profile 'mine', which is not found" in said
    assert "NAME-1" not in said
    both = refused(command, "tune", "own.json", "--profile", "nonono", "--profile", "balanced")
    assert "recorded under the profile 'mine'" in both
    assert " nonono: NAME-1: no profile 'nonono'" in both
    assert "mine as it is" not in command.output("tune", "own.json", "--measured-under", "balanced")
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: burst\nsummary: Mine.\n", encoding="utf-8")
    assert "mine, sustain 300 ms" in command.output("tune", "own.json", "--profiles", ".")


def test_a_recording_without_a_gap_is_refused(command: Command, tmp_path: Path) -> None:
    """One inference has no gap: the exit code is 2, and nothing is written."""
    (tmp_path / "one.csv").write_text("begin_us,end_us\n0,5\n", encoding="utf-8")
    said = refused(command, "tune", "one.csv", "--write", ".", "--page", "page.html")
    assert "no session has two inferences with a gap between them" in said
    assert not list(tmp_path.glob("*_tuned.yaml"))
    assert not (tmp_path / "page.html").exists()


def test_it_is_said_up_to_where_advice_holds_and_what_the_rest_says(command: Command, tmp_path: Path) -> None:
    """The limit of the advice, and the check on the rest, are in the text, the page, the profile and the JSON."""
    (tmp_path / "long.json").write_text(trace_files.own(ran(300)), encoding="utf-8")
    arguments = ("tune", "long.json", "--limit", "cold <= 20 %", "--profile", "burst")
    text = in_one_line(command.output(*arguments, "--page", "page.html", "--write", "."))
    found = re.search(r"holds for gaps up to [\d.]+ ms \(now up to [\d.]+ ms\), and for inferences from", text)
    assert found is not None
    assert "checked on the last third, which was not used to tune:" in text
    assert "holds</" in (tmp_path / "page.html").read_text(encoding="utf-8")
    written = (tmp_path / "camera_tuned.yaml").read_text(encoding="utf-8")
    assert "# Holds for gaps up to" in written
    assert "# Checked on the last third" in written
    (session,) = json.loads(command.output(*arguments, "--format", "json"))["sessions"]
    assert session["holds"]["gaps_now_us"] < session["holds"]["gaps_up_to_us"] == session["advised"]["sustain"]
    assert session["checked"]["broken"] == []
    assert session["checked"]["used_to_tune"] is False
    assert session["least"]["energy_j"] <= session["advised"]["energy_j"]


def test_a_file_that_is_no_trace_is_refused(command: Command, tmp_path: Path) -> None:
    """The error names an invalid file, and a missing one."""
    (tmp_path / "empty.json").write_text("", encoding="utf-8")
    assert "empty.json" in refused(command, "tune", "empty.json")
    assert "missing.json" in refused(command, "tune", "missing.json")


def test_a_controller_that_does_something_else_is_told(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the replay differs from the calculation, the text shows both numbers, and the exit code is 1."""

    def other(sessions: Sequence[tuple[Profile, Workload]]) -> list[Replayed]:
        return [attrs.evolve(each, raised_us=each.raised_us + 1) for each in replay(sessions)]

    monkeypatch.setattr(tune, "replay", other)
    text = in_one_line(command.output("tune", "recording.json", "--verify", "1", exit_code=1))
    assert "NOT equal" in text
    assert re.search(r"(\d+) us raised by the controller, (\d+) calculated", text)


def test_several_sessions_are_settled_together(command: Command, tmp_path: Path) -> None:
    """The text says how, and one profile is written for each session."""
    voice = [each._replace(begin_us=each.begin_us + 1_000, end_us=each.end_us + 1_000) for each in ran(30, "voice")]
    (tmp_path / "two.json").write_text(trace_files.own([*ran(30), *voice]), encoding="utf-8")
    text = in_one_line(command.output("tune", "two.json", "--verify", "1", "--write", "."))
    assert "2 sessions share the core and the process: settled together" in text
    assert "NOT equal" not in text
    assert {path.name for path in tmp_path.glob("*_tuned.yaml")} == {"camera_tuned.yaml", "voice_tuned.yaml"}
    written = (tmp_path / "voice_tuned.yaml").read_text(encoding="utf-8")
    assert "Settled together with 1 other session that shares" in written
    only = command.output("tune", "two.json", "--session", "voice", "--profile", "burst")
    assert "camera" not in only


def test_a_file_does_not_say_that_sessions_were_settled_together_that_were_not(
    command: Command, tmp_path: Path
) -> None:
    """If one session can't keep to the limits, each of the others is tuned alone, and its file does not claim more."""
    slow = [each._replace(end_us=each.end_us + 90_000) for each in ran(5, "voice")]
    (tmp_path / "two.json").write_text(trace_files.own([*ran(30), *slow]), encoding="utf-8")
    text = command.output("tune", "two.json", "--limit", "p99 <= 20 ms", "--write", ".", exit_code=1)
    assert "not settled together" in in_one_line(text)
    assert "Settled together" not in (tmp_path / "camera_tuned.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [60, 80, 200])
def test_no_line_is_wider(command: Command, tmp_path: Path, width: int) -> None:
    """Lines fit the width for any name of a session."""
    (tmp_path / "long.json").write_text(trace_files.own(ran(10, "long name " * 9)), encoding="utf-8")
    text = command.output("tune", "long.json", "--verify", "1", columns=width)
    assert max(map(shown_width, text.splitlines())) <= width


class _Tags(HTMLParser):
    """Collects the names of the elements, and the attributes that may load or run something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.suspicious: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Collect an element."""
        self.tags.append(tag)
        self.suspicious += [name for name, _ in attributes if name in ("src", "href") or name.startswith("on")]


def test_the_page_holds_its_pictures_and_loads_nothing(command: Command, tmp_path: Path) -> None:
    """The page has three pictures for each session and no script, and escapes the name of a session."""
    (tmp_path / "hostile.json").write_text(trace_files.own(ran(20, HOSTILE)), encoding="utf-8")
    command.output("tune", "hostile.json", "--page", "page.html", "--limit", "p99 <= 20 ms")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = _Tags()
    page.feed(text)
    assert page.tags.count("svg") == 3
    assert page.tags.count("table") == 2
    assert "script" not in page.tags
    assert not page.suspicious
    assert "\x1b" not in text
    assert "p99 &lt;= 20 ms" in text
    # Each id that the pictures refer to exists exactly once.
    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names))


def test_two_sessions_of_one_name_for_a_profile_are_refused(command: Command, tmp_path: Path) -> None:
    """Otherwise one profile would replace the other."""
    both = [*ran(5, "a b"), *ran(5, "a_b")]
    (tmp_path / "same.json").write_text(trace_files.own(both), encoding="utf-8")
    assert "same name" in refused(command, "tune", "same.json", "--profile", "burst", "--write", ".")
    assert not list(tmp_path.glob("*.yaml"))


def test_a_trace_is_read_as_the_user_says(command: Command, tmp_path: Path) -> None:
    """The options of ``htppower trace`` apply: the events that are inferences, and the unit of a table."""
    events = [
        {"ph": "X", "name": name, "ts": place * 100_000, "dur": 5_000, "pid": 1, "tid": 1}
        for place in range(20)
        for name in ("infer", "draw", "draw")
    ]
    (tmp_path / "events.json").write_text(json.dumps(events), encoding="utf-8")
    found = json.loads(command.output("tune", "events.json", "--name", "draw", "--format", "json"))
    assert found["sessions"][0]["inferences"] == 40
    done = CliRunner().invoke(main, ["tune", "-", "--format", "json"], input=json.dumps(events))
    assert json.loads(done.stdout)["sessions"][0]["inferences"] == 20
    (tmp_path / "table.csv").write_text("begin,end\n1,2\n50,60\n", encoding="utf-8")
    assert "with --unit" in refused(command, "tune", "table.csv")
    assert command.run("tune", "table.csv", "--unit", "ms", "--from", "csv").exit_code == 0
    assert "--unit is for one trace" in refused(command, "tune", "--fleet", ".", "--unit", "ms")
