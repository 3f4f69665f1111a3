"""The command ``htppower trace``: its forms, options and refusals."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner
from support import trace_files
from support.trace_files import Ran

from htppower.tools.cli import trace
from htppower.tools.cli.main import main
from htppower.tools.report.layout import shown_width
from htppower.tools.tuning.traces import read

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

HOSTILE = 'a\x1b]0;pwn\x07<script>alert(1)</script>"&\u202e'


@pytest.fixture(autouse=True)
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a recording of two sessions in the current folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "recording.json"
    path.write_text(trace_files.own([*trace_files.camera(), *trace_files.assistant()]), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", ["text", "svg"])
def test_golden(command: Command, form: str) -> None:
    """Each form equals its golden file."""
    suffix = {"text": "txt"}.get(form, form)
    command.assert_golden(f"trace.{suffix}", "trace", "recording.json", "--format", form)


def test_json_has_what_the_text_has(command: Command) -> None:
    """Counts, gaps by octave, and the results of fixed sustain times equal the text, as numbers."""
    document = json.loads(command.output("trace", "recording.json", "--format", "json"))
    text = command.output("trace", "recording.json")
    assert text.splitlines()[:2] == [document["source"], document["says"]]
    assert [document[each] for each in ("format_version", "format", "notes")] == [1, "htppower", []]
    assert document["inferences"] == sum(session["inferences"] for session in document["sessions"])
    parts = text.split("\n\n")[1:]
    assert len(parts) == 3 * len(document["sessions"])
    for session, (facts, octaves, time_outs) in zip(document["sessions"], (parts[:3], parts[3:]), strict=True):
        assert facts.startswith(f"{session['name']}, {session['profile']}\ninferences  {session['inferences']} in ")
        for label, part in (("duration    ", "durations"), ("gaps        ", "gaps")):
            assert f"\n{label}median {session[part]['median_us'] / 1000:.3g} ms, " in facts
        assert f"\ncold        {session['cold']} waited for a raise, " in facts
        assert ("bursts      none" in facts, "period      none" in facts) == (
            session["bursts"] is None,
            session["period"] is None,
        )
        counts = [int(line.split(maxsplit=6)[5]) for line in octaves.splitlines()]
        assert counts == [octave["count"] for octave in session["octaves"]]
        rows = [line.split()[:5] for line in time_outs.splitlines()[1:]]
        assert [[int(time), int(warm), float(share)] for time, _, warm, share, _ in rows] == [
            [each["time_out_us"] // 1000, each["warm"], pytest.approx(100 * each["share"], abs=0.5)]
            for each in session["time_outs"]
        ]
        assert sum(octave["total_us"] for octave in session["octaves"]) < session["end_us"] - session["begin_us"]


def test_the_text_says_what_is_in_it(command: Command) -> None:
    """The text shows sessions, bursts, a period, cold starts, and the results of fixed sustain times."""
    text = command.output("trace", "recording.json")
    assert "345 inferences of 2 sessions" in text
    assert "6 bursts of 50 inferences (median)" in text
    assert "33.3 ms (30 Hz)" in text
    assert "6 waited for a raise" in text


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("kind", trace_files.WRITERS)
def test_no_line_is_wider(command: Command, tmp_path: Path, kind: str, width: int) -> None:
    """Lines fit the width for any name and content of the trace."""
    ran = [Ran(10 ** (place % 12) * 7 + place, 10 ** (place % 12) * 8 + place, "long name " * 9) for place in range(99)]
    (tmp_path / "a_rather_long_name_of_a_file.json").write_text(trace_files.WRITERS[kind](ran))
    lines = command.output("trace", "a_rather_long_name_of_a_file.json", columns=width).splitlines()
    assert [line for line in lines if shown_width(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_files_are_written_beside_what_is_printed(command: Command, tmp_path: Path) -> None:
    """``--output`` writes any form; page and picture are whole documents without a script."""
    outputs = [argument for form in ("json", "svg", "html") for argument in ("--output", f"{form}=out.{form}")]
    command.output("trace", "recording.json", *outputs)
    assert len(json.loads((tmp_path / "out.json").read_text())["sessions"]) == 2
    ET.fromstring((tmp_path / "out.svg").read_text())  # noqa: S314 - our own
    page = (tmp_path / "out.html").read_text()
    assert page.count("<svg") == 1
    assert "<script" not in page


def test_a_hostile_name_does_no_harm(command: Command, tmp_path: Path) -> None:
    """Names from the file are escaped in a terminal, in markup and in JSON."""
    ran = [Ran(place * 1000, place * 1000 + 5, HOSTILE, HOSTILE) for place in range(3)]
    (tmp_path / "hostile.json").write_text(trace_files.own(ran), encoding="utf-8")
    text = command.output("trace", "hostile.json")
    assert "\x1b" not in text
    assert "\u202e" not in text
    for form in ("svg", "html"):
        markup = command.output("trace", "hostile.json", "--format", form)
        assert "<script>alert" not in markup
    ET.fromstring(command.output("trace", "hostile.json", "--format", "svg"))  # noqa: S314 - our own
    (session,) = json.loads(command.output("trace", "hostile.json", "--format", "json"))["sessions"]
    assert session["name"] == HOSTILE


def test_the_bars_stand_where_their_lengths_are(command: Command) -> None:
    """A gap of 20 ms is drawn between the marks of 10 ms and 50 ms."""
    picture = command.output("trace", "recording.json", "--format", "svg")
    bars = [float(x) for x in re.findall(r'<rect class="gap-bar[^"]*" x="([\d.]+)"', picture)]
    lines = [float(x) for x in re.findall(r'<path class="limit" d="M([\d.]+)', picture)]
    assert bars[0] < lines[0] < bars[0] + 120
    assert lines[:4] == sorted(lines[:4])


def test_a_trace_comes_from_the_standard_input(recording: Path) -> None:
    """The path ``-`` reads the standard input."""
    done = CliRunner().invoke(main, ["trace", "-"], input=recording.read_bytes())
    assert (done.exit_code, done.output.startswith("-\n345 inferences")) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((".",), "htppower: .: is a folder (give a file in it; htppower tune --fleet reads a folder)"),
        (("recording.json", "--output", "html=no/x"), "no/x: its folder is missing: make that first"),
        (("none.json",), "htppower: none.json: can't be read: No such file or directory (check the path)"),
        (("recording.json", "--from", "csv"), "no column is the begin of an inference"),
        (("recording.json", "--name", "x"), "no event or category is called 'x'"),
        (("recording.json", "--unit", "ms"), "has trace events, and their times are in us (leave the unit out)"),
        (("table.csv", "--name", "x"), "is a table, and tables have no names of events"),
        (("table.csv",), "htppower: table.csv:2: the unit of begin is not known"),
        (("recording.json", "--from", "perfetto"), "'perfetto' is not one of"),
    ],
)
def test_what_cannot_be_read_is_refused(
    command: Command, tmp_path: Path, arguments: tuple[str, ...], says: str
) -> None:
    """The message gives the place and the fix, with exit code 2, and nothing else is printed."""
    (tmp_path / "table.csv").write_text("begin\n5\n")
    done = command.run("trace", *arguments)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not done.stdout


def test_the_command_knows_the_kinds_and_units() -> None:
    """The kinds and units are listed without importing numpy."""
    assert trace.KINDS == read.FORMATS
    assert trace.UNITS == read.UNITS


def test_without_numpy_it_says_what_to_install(recording: Path) -> None:
    """The error names the extra, with exit code 2; the help works without numpy."""
    code = "import sys; sys.modules['numpy'] = None; sys.argv[0] = 'htppower'; from htppower.__main__ import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "trace", str(recording)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == 'htppower: numpy can\'t be imported: pip install "htppower[tune]"\n'
    helped = subprocess.run(
        [sys.executable, "-c", code, "trace", "--help"], capture_output=True, text=True, check=False
    )
    assert helped.returncode == 0
