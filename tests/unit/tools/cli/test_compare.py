"""The command ``htppower compare``: its forms, the formats that it reads, its options, exit codes and refusals."""

from __future__ import annotations

import functools
import json
import os
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING

import attrs
import pytest
from click.testing import CliRunner
from support.measurements import (
    FORMS,
    Recipe,
    ai_hub_json,
    genie_json,
    made,
    ort_csv,
    viewer_csv,
    viewer_text,
)
from support.runtime_logs import executorch_log, hexagon_log, litert_log, llama_times, observer_line, qhas_json
from support.slashes import in_one_line
from support.trace_files import Ran, chrome_whole, csv_ends, loadgen, onnxruntime, own

from htppower.tools.cli.main import main
from htppower.tools.report.layout import shown_width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from support.command import Command

    from htppower.tools.review.advice.measurement import Event

USUAL = Recipe()
LATE = attrs.evolve(USUAL, way=1500.0)
HOSTILE = 'a\x1b]0;pwn\x07<script>alert(1)</script>"&\u202e|'


def write(folder: Path, name: str, text: str) -> str:
    """Write a file; return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def sides(tmp_path: Path) -> tuple[str, str]:
    """Return a file of usual inferences, and one whose answers come late."""
    return (
        write(tmp_path, "usual.csv", viewer_csv(made([USUAL] * 40))),
        write(tmp_path, "late.csv", viewer_csv(made([LATE] * 40, seed=2))),
    )


def ran(times_us: Sequence[float]) -> list[Ran]:
    """Return inferences of a session, back to back."""
    found, now = [], 1_000
    for us in map(round, times_us):
        found.append(Ran(now, now + us))
        now += us + 10
    return found


def times(around: float, count: int = 30) -> list[float]:
    """Return times around a value."""
    draw = random.Random(round(around))
    return [around * draw.lognormvariate(0, 0.02) for _ in range(count)]


def profiled(form: Callable[[Sequence[dict[Event, float]]], str], us: float) -> str:
    """Return the file of a profiler with inferences whose graph takes this time."""
    return form(made([Recipe(compute=us)] * 30, seed=round(us)))


# Each format, as a function of the time of an inference in us; the name of the file's form in the output.
READ: dict[str, tuple[Callable[[float], str], str]] = {
    **{name: (functools.partial(profiled, form), "") for name, form in FORMS.items()},
    "viewer.txt": (lambda us: viewer_text(made([Recipe(compute=us)] * 30)), "text of qnn-profile-viewer"),
    "ai_hub.json": (lambda us: ai_hub_json(times(us)), "profile job of AI Hub"),
    "genie.json": (lambda us: genie_json([(10**6 * at, us, 40) for at in range(1, 12)], 1e6 / us), "profile of Genie"),
    "qhas.json": (lambda us: qhas_json([(each, 1400 * each) for each in times(us)]), "summary of optrace (QHAS)"),
    "litert.log": (lambda us: litert_log(times(us)), "log of LiteRT's benchmark"),
    "executorch.log": (lambda us: executorch_log(times(us)), "log of ExecuTorch's runner"),
    "llm.log": (
        lambda us: "\n".join(observer_line(200, 40, 50, round(us * at)) for at in (1, 1.01, 1.02, 0.99, 1, 1.01, 1)),
        "log of ExecuTorch's runner",
    ),
    "hexagon.log": (lambda us: hexagon_log(times(us)), "log of llama.cpp's Hexagon backend"),
    "llama.log": (
        lambda us: "\n".join(llama_times((us, 40), (us * at, 50)) for at in (1, 1.01, 1.02, 0.99, 1, 1.01, 1)),
        "times of llama.cpp",
    ),
    "own.json": (lambda us: own(ran(times(us))), "recording of htppower"),
    "loadgen.json": (lambda us: loadgen(ran(times(us))), "trace of LoadGen"),
    "onnxruntime.json": (lambda us: onnxruntime(ran(times(us))), "profile of ONNX Runtime"),
    "chrome.json": (lambda us: chrome_whole(ran(times(us))), "trace of events"),
    "table.csv": (lambda us: csv_ends(ran(times(us))), "table of begins and ends"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_a_pair_of_each_format(command: Command, tmp_path: Path, name: str) -> None:
    """B takes twice as long in each format that advise or trace reads, and this is what is found."""
    content, form = READ[name]
    paths = [write(tmp_path, f"{us}-{name}", content(us)) for us in (20_000.0, 40_000.0)]
    document = command.document("compare", *paths, "--format", "json")
    assert document["ratio"] == pytest.approx(2, rel=0.06)
    assert form in (document["a"]["form"], "")
    if name == "viewer.txt":
        assert (document["whole"]["interval_us"], document["whole"]["shown"]) == (None, False)
    else:
        low, high = document["ratio_interval"]
        assert 1.9 < low <= document["ratio"] <= high < 2.1
        assert document["says"].startswith("B is slower: ")


def test_the_text_has_all_that_belongs_to_it(command: Command, sides: tuple[str, str]) -> None:
    """It says the result, where the difference lies, both sides, the parts, the findings, and what to try."""
    text = command.output("compare", *sides, "--profile", "balanced", "--soc", "SM8750")
    assert text.startswith("B is slower: 4.17 ms against 2.9 ms, +44 % (95 % interval +4")
    assert "Most of it lies in FastRPC (97.5 %)." in text
    rows = {line.split("  ")[0].strip(): line for line in text.splitlines()}
    assert "balanced" in rows["profile"]
    assert "CMP-16  Not all is known of how they were made." in text
    assert "Not known of A: release; of B: release." in in_one_line(text)
    assert "1. On B: FastRPC" in text
    assert "votes: {rpc_control_latency_us: 100, rpc_polling_time_us: 9999}" in text
    assert "a bootstrap of the medians" in in_one_line(text)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider(command: Command, sides: tuple[str, str], width: int) -> None:
    """At every width, each line fits."""
    lines = command.output("compare", *sides, columns=width).splitlines()
    assert [line for line in lines if shown_width(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_tables_stay_tables_at_80_columns(command: Command, sides: tuple[str, str]) -> None:
    """No row of the parts is wrapped in a usual terminal."""
    text = command.output("compare", *sides, columns=80)
    parts = text.partition("Where the difference lies\n")[2].partition("\n\n")[0].splitlines()
    assert len(parts) == 1 + 6 + 1
    assert len({len(line.rstrip()) for line in parts[1:]}) <= 2


def test_the_json_has_what_the_text_has(command: Command, sides: tuple[str, str]) -> None:
    """Numbers have their units in their names, and add up; what is not known is null."""
    document = command.document("compare", *sides, "--format", "json")
    assert (document["format_version"], document["comparable"], document["confidence"]) == (1, True, 0.95)
    assert document["a"]["runs"] == 40
    parts = {part["name"]: part for part in document["parts"]}
    assert parts["FastRPC"]["difference_us"] == pytest.approx(1240, rel=0.05)
    assert parts["FastRPC"]["shown"]
    assert not parts["host"]["shown"]
    assert (parts["HTP, work"]["a_us"], parts["HTP, work"]["said"]) == (None, ["2.5 M", "2.5 M"])
    assert sum(part["difference_us"] for part in parts.values()) + document["left_over_us"] == pytest.approx(
        document["whole"]["difference_us"], abs=0.01
    )
    assert [each["rule"] for each in document["findings"]] == ["CMP-16"]
    assert document["suggestions"][0]["side"] == "B"


def test_the_markdown_is_a_comment(command: Command, sides: tuple[str, str]) -> None:
    """It begins with a heading of a comment, and has the parts as a table."""
    text = command.output("compare", *sides, "--format", "markdown")
    assert text.startswith("### Two measurements compared\n\n`B is slower: ")
    assert re.search(r"^\| `FastRPC` \| `26\d us` \| `1\.5\d? ms` \| `\+1\.2\d ms` \|", text, re.MULTILINE)


def test_the_page_has_pictures_and_loads_nothing(command: Command, tmp_path: Path, sides: tuple[str, str]) -> None:
    """Bars of the parts, the spread and the order of the runs are pictures; hostile names change no markup."""
    page = command.output("compare", *sides, "--format", "html")
    pictures = [f"<svg{each.partition('</svg>')[0]}</svg>" for each in page.split("<svg")[1:]]
    assert [ET.fromstring(each).find("{http://www.w3.org/2000/svg}title").text for each in pictures] == [  # type: ignore[union-attr] # noqa: S314 - our own page
        "Where the time of an inference goes",
        "How the runs are spread",
        "The runs in their order",
    ]
    assert "default-src 'none'" in page
    assert not any(tag in page for tag in ("<script", "<link", "<img", "<iframe", 'http-equiv="refresh'))
    hostile = write(tmp_path, "hostile.csv", viewer_csv(made([LATE] * 40, seed=2), graph=HOSTILE))
    said = command.output("compare", sides[0], hostile, "--format", "html")
    assert "<script>alert" not in said
    assert "\x1b" not in command.output("compare", sides[0], hostile)


def test_averages_have_no_pictures_of_runs(command: Command, tmp_path: Path) -> None:
    """Without single runs or their statistics, only the parts are drawn."""
    paths = [write(tmp_path, f"{at}.txt", viewer_text(made([recipe] * 20))) for at, recipe in enumerate((USUAL, LATE))]
    assert command.output("compare", *paths, "--format", "html").count("<svg") == 1
    text = in_one_line(command.output("compare", *paths))
    assert "too little is known of the runs to say whether this is chance" in text
    assert "CMP-7 A side has averages only." in " ".join(text.split())


def test_files_are_written_besides(command: Command, tmp_path: Path, sides: tuple[str, str]) -> None:
    """--output writes every form, by its name or by the suffix of the file."""
    outputs = ["html=page", "json=data", str(tmp_path / "said.md")]
    outputs = [each.replace("=", f"={tmp_path}/") for each in outputs]
    command.output("compare", *sides, *(part for each in outputs for part in ("--output", each)))
    assert (tmp_path / "page").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads((tmp_path / "data").read_text(encoding="utf-8"))["format_version"] == 1
    assert (tmp_path / "said.md").read_text(encoding="utf-8").startswith("### ")


def test_the_gate(command: Command, tmp_path: Path, sides: tuple[str, str]) -> None:
    """--fail-slower fails if all of the interval is above it, and only for B."""
    usual, late = sides
    assert command.run("compare", usual, late, "--fail-slower", "40").exit_code == 1
    assert command.run("compare", usual, late, "--fail-slower", "43").exit_code == 0
    assert command.run("compare", late, usual, "--fail-slower", "0").exit_code == 0
    again = write(tmp_path, "again.csv", viewer_csv(made([USUAL] * 40, seed=5)))
    assert command.run("compare", usual, again, "--fail-slower", "0").exit_code == 0
    assert command.run("compare", usual, late).exit_code == 0


@pytest.mark.parametrize(
    ("recipes", "word"),
    [
        ([LATE] * 3, "too few runs"),
        ([attrs.evolve(USUAL, compute=9000.0)] * 40, "not comparable (CMP-1)"),
    ],
)
def test_a_gate_that_can_not_be_decided(
    command: Command, tmp_path: Path, sides: tuple[str, str], recipes: list[Recipe], word: str
) -> None:
    """Too few runs, or another graph, are an error and no pass; the comparison is printed all the same."""
    other = write(tmp_path, "other.csv", viewer_csv(made(recipes, seed=2)))
    result = command.run("compare", sides[0], other, "--fail-slower", "5")
    assert result.exit_code == 2
    assert word in in_one_line(result.stderr)
    assert "What makes them hard to compare" in result.stdout


def test_options_for_one_side_and_for_both(command: Command, sides: tuple[str, str]) -> None:
    """A profile, a SoC and facts are for both sides, or one for each; more are a usage error."""
    options = ("--profile", "burst", "--profile", "balanced", "--soc", "SM8750", "--soc", "SM8550")
    facts = ("--about", "A.spin=on", "--about", "B.spin=off", "--about", "B.release=2.41")
    document = command.document("compare", *sides, *options, *facts, "--format", "json")
    assert (document["a"]["profile"], document["b"]["profile"]) == ("burst", "balanced")
    assert (document["a"]["facts"], document["b"]["facts"]) == ({"spin": "on"}, {"spin": "off", "release": "2.41"})
    assert {each["rule"] for each in document["findings"]} == {"CMP-3", "CMP-8", "CMP-16", "CMP-17"}
    result = command.run("compare", *sides, *("--profile", "burst") * 3)
    assert (result.exit_code, "--profile is given 3 times" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--about", "spin=on"), "is not A.NAME=VALUE"),
        (("--about", "A.spin="), "is not A.NAME=VALUE"),
        (("--about", "C.spin=on"), "is not A.NAME=VALUE"),
        (("--about", "A.spinn=on"), "did you mean spin?"),
        (("--soc", "SM1"), "SM1"),
        (("--profile", "burts"), "did you mean burst?"),
        (("--fail-slower", "-1"), "-1"),
        (("--graph", "none"), "no graph of the name 'none'"),
    ],
)
def test_wrong_options_are_refused(
    command: Command, sides: tuple[str, str], arguments: tuple[str, ...], said: str
) -> None:
    """The message names what is wrong; exit code 2."""
    result = command.run("compare", *sides, *arguments)
    assert (result.exit_code, said in in_one_line(result.stderr)) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("hello\nworld\n", "is neither the output of a known profiler nor a trace"),
        ("begin,end\n1,2\n", "the unit of begin is not known"),
        ("{", "is not JSON"),
        ("begin_us,end_us\n5,1\n", "{path}:2"),
        (
            f"{ort_csv(made([USUAL]))}0,BACKEND,much,US,BACKEND,ROOT,RPC (execute) time\n",
            "RPC (execute) time is 'much'",
        ),
        ("I 00:00:00.000522 executorch:runner.cpp:131] Model loaded\n", "is a log of ExecuTorch"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_refused(
    command: Command, tmp_path: Path, sides: tuple[str, str], content: str, said: str
) -> None:
    """One line names the file and what is wrong, for A and for B."""
    path = write(tmp_path, "broken", content)
    for arguments in ((path, sides[0]), (sides[0], path)):
        result = command.run("compare", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert said.format(path=path) in in_one_line(result.stderr)


def test_files_without_anything_in_common(command: Command, tmp_path: Path, sides: tuple[str, str]) -> None:
    """Queries and graphs can't be compared; a missing file is named."""
    genie = write(tmp_path, "genie.json", genie_json([(10**6 * at, 9_000.0, 40) for at in range(1, 9)]))
    result = command.run("compare", sides[0], genie)
    assert (result.exit_code, "compare queries with queries" in in_one_line(result.stderr)) == (2, True)
    assert command.run("compare", sides[0], str(tmp_path / "none")).exit_code == 2
    assert command.run("compare", sides[0]).exit_code == 2


def test_the_graph_is_chosen(command: Command, tmp_path: Path, sides: tuple[str, str]) -> None:
    """The only common graph is taken; among several, --graph chooses by the name or a part of it."""
    graphs = {"model": LATE, "encoder": USUAL, "decoder": attrs.evolve(USUAL, compute=9000.0)}
    tables = [viewer_csv(made([recipe] * 20), graph=graph).splitlines() for graph, recipe in graphs.items()]
    # The lines of the viewer about itself come once.
    several = write(tmp_path, "several.csv", "\n".join([*tables[0], *tables[1][4:], *tables[2][4:]]))
    both = command.document("compare", sides[0], several, "--format", "json")
    assert (both["b"]["graph"], both["b"]["runs"]) == ("model", 20)
    chosen = command.document("compare", *([several] * 2), "--graph", "enc", "--graph", "decoder", "--format", "json")
    assert (chosen["a"]["graph"], chosen["b"]["graph"]) == ("encoder", "decoder")
    result = command.run("compare", several, several)
    assert result.exit_code == 2
    assert "has model, encoder, decoder: choose with --graph NAME" in in_one_line(result.stderr)
    ambiguous = command.run("compare", several, several, "--graph", "coder")
    assert "several graphs of the name 'coder'" in in_one_line(ambiguous.stderr)


@pytest.mark.parametrize("name", ["ort.csv", "own.json", "litert.log"])
def test_the_standard_input(tmp_path: Path, name: str) -> None:
    """A profile, a trace or a log may come from the standard input, but not both sides."""
    content = READ[name][0](20_000.0)
    path = write(tmp_path, name, content)
    done = CliRunner().invoke(main, ["compare", path, "-", "--format", "json"], input=content)
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["ratio"] == 1
    twice = CliRunner().invoke(main, ["compare", "-", "-"], input=content)
    assert (twice.exit_code, "can be read only once" in twice.stderr) == (2, True)


def test_a_standard_input_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, and not cut off."""
    monkeypatch.setattr("htppower.tools.review.compare.reading.JSON_BYTES", 1000)
    path = write(tmp_path, "ort.csv", ort_csv(made([USUAL] * 9)))
    done = CliRunner().invoke(main, ["compare", path, "-"], input=ort_csv(made([USUAL] * 9)))
    assert (done.exit_code, "name the file instead" in in_one_line(done.stderr)) == (2, True)


@pytest.mark.needs("descriptors")
def test_a_pipe_is_read_once(command: Command, sides: tuple[str, str]) -> None:
    """A pipe that the user names may hold a trace, which is recognised last."""
    read, written = os.pipe()
    try:
        os.write(written, csv_ends(ran(times(9_000.0))).encode())
        os.close(written)
        document = command.document("compare", sides[0], f"/dev/fd/{read}", "--format", "json")
    finally:
        os.close(read)
    assert document["b"]["form"] == "table of begins and ends"


def test_events_and_units_of_traces(command: Command, tmp_path: Path) -> None:
    """--name picks the events, and --unit states the unit of a table, on both sides."""
    events = [
        {"name": name, "ph": "X", "pid": 1, "tid": 1, "ts": 1000 * at + begin, "dur": took}
        for at in range(20)
        for name, begin, took in (("Run", 0, 500), ("Copy", 600, 100))
    ]
    path = write(tmp_path, "events.json", json.dumps({"traceEvents": events}))
    document = command.document("compare", path, path, "--name", "Copy", "--format", "json")
    assert document["a"]["median_us"] == 100
    table = write(tmp_path, "table.csv", "begin,end\n" + "".join(f"{at},{at + 1}\n" for at in range(0, 40, 2)))
    document = command.document("compare", table, table, "--unit", "ms", "--format", "json")
    assert document["b"]["median_us"] == 1000


def test_what_a_trace_knows_is_shown(command: Command, tmp_path: Path) -> None:
    """A recording has its profile and how many inferences waited; the notes of the reader are notes here."""
    paths = [write(tmp_path, f"{us}.json", own(ran(times(us)))) for us in (9_000.0, 9_500.0)]
    text = command.output("compare", *paths, columns=400)
    assert "CMP-8" not in text
    (profile,) = (line for line in text.splitlines() if line.startswith("profile"))
    assert profile.split() == ["profile", "burst", "burst"]
    assert "it does not show where the time goes" in in_one_line(text)
    assert "1. On B: where the time goes" in text


def test_without_numpy_a_trace_names_the_extra(tmp_path: Path, sides: tuple[str, str]) -> None:
    """Files of profilers need no numpy; a trace names the extra to install."""
    code = "import sys; sys.modules['numpy'] = None; sys.argv[0] = 'htppower'; from htppower.__main__ import run; run()"

    def compared(*files: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, "compare", *files]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    result = compared(sides[0], write(tmp_path, "own.json", own(ran(times(9_000.0)))))
    assert (result.returncode, 'pip install "htppower[tune]"' in result.stderr) == (2, True)
    assert compared(*sides).returncode == 0
    broken = write(tmp_path, "broken.csv", f"{ort_csv(made([USUAL]))}0,BACKEND,much,US,BACKEND,ROOT,RPC (execute) time")
    assert "RPC (execute) time is 'much'" in compared(broken, broken).stderr


def test_the_rules_are_explained(command: Command) -> None:
    """Htppower explain knows the rules that a comparison names."""
    assert "A side changes over its run." in command.output("explain", "cmp-11")
    assert "one of CMP-1" in command.run("explain", "CMP-99").stderr
