"""The command ``htppower advise``: its forms, options and refusals."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import attrs
import pytest
from support.checkout import ROOT
from support.measurements import ORDER, Recipe, made, ort_csv, qairt_json, viewer_csv, viewer_text
from support.slashes import in_one_line, slashed

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.tools.report.layout import shown_width
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.rules import ADVICE_RULES

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

LATE = Recipe(way=1500.0)
COLD = attrs.evolve(LATE, power=8000.0, waits=8000.0)
HOSTILE = 'a\x1b]0;pwn\x07<script>alert(1)</script>"&\u202e'


def write(folder: Path, name: str, text: str) -> str:
    """Write a file; return its path."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.fixture
def late(tmp_path: Path) -> str:
    """Return a file of inferences with late answers; the first inference is cold."""
    return write(tmp_path, "late.csv", viewer_csv(made([COLD, *[LATE] * 29])))


def test_advice_is_told_with_all_that_belongs_to_it(command: Command, late: str) -> None:
    """The text shows measurements, shares, the advice in order with evidence and actions, and the checks."""
    text = command.output("advise", late, "--profile", "balanced", "--soc", "SM8750")
    assert "CSV of qnn-profile-viewer, 30 inferences, profile balanced, SM8750" in text
    assert "RPC and wake-up" in text
    assert text.index("1. ADV-1") < text.index("2. ADV-4")
    assert "votes: {rpc_control_latency_us: 100, rpc_polling_time_us: 9999}" in text
    assert "htppower explain ADV-1" in text
    assert "ADV-3       1 of 30 inferences had a power-up" in text


def test_nothing_to_gain_is_said(command: Command, tmp_path: Path) -> None:
    """If no rule applies, the text reports this and lists the checks."""
    good = write(tmp_path, "good.csv", ort_csv(made([Recipe()] * 30)))
    text = command.output("advise", good)
    assert "Nothing to gain" in text
    assert "RPC less QNN accelerator is" in text
    assert "1. ADV" not in text
    document = json.loads(command.output("advise", good, "--format", "json"))
    assert (document["advice"], document["says"].startswith("Nothing to gain")) == ([], True)
    assert {each["rule"] for each in document["looked_at"][0]["rules"]} == set(ADVICE_RULES)


def test_the_json_has_what_the_text_has(command: Command, late: str) -> None:
    """Each advice has its evidence and numbers; each event has its id, unit, median and limits."""
    document = json.loads(command.output("advise", late, "--format", "json", "--profile", "balanced"))
    assert document["format_version"] == 1
    assert [each["rule"] for each in document["advice"]] == ["ADV-1", "ADV-4"]
    wake_up = document["advice"][0]
    assert (wake_up["confidence"], wake_up["basis"], wake_up["gain"]) == ("high", "documented", "every inference")
    assert wake_up["gain_us"] == pytest.approx(1280, rel=0.1)
    assert wake_up["about"][0]["path"] == late
    assert all(wake_up[name] for name in ("says", "evidence", "why", "do", "source", "docs"))
    (measured,) = document["measurements"]
    assert (measured["graph"], measured["inferences"], measured["profile"]) == ("model", 30, "balanced")
    assert sum(part["share"] for part in measured["parts"]) == pytest.approx(1, abs=0.001)
    events = {event["id"]: event for event in measured["events"] if event["id"]}
    assert set(events) == {event.value.number for event in ORDER} - {None}
    assert (events[3003]["unit"], events[3001]["unit_in_file"], events[8001]["median"]) == ("cycles", "US", 4)


def test_what_a_profile_says_changes_the_advice(command: Command, tmp_path: Path, late: str) -> None:
    """If the profile polls, a late answer means that its votes are not in force. A SoC may lack polling."""
    text = command.output("advise", late, "--profile", "burst")
    assert "htppower status" in text
    assert "confidence  medium" in text
    without = command.output("advise", late, "--soc", "SM8350")
    assert "votes: {rpc_control_latency_us: 100}" in without
    gaps = write(tmp_path, "gaps.csv", viewer_csv(made([Recipe(power=8000.0, waits=8000.0)] * 12), step_us=500_000))
    assert "relax: {after_inference_us: 700000}" in command.output("advise", gaps)
    mine = write(tmp_path, "mine.yaml", "profile: mine\nextends: burst\nrelax: {after_inference_us: 900000}\n")
    assert "hmx_timeout_us: 1000000" in command.output("advise", gaps, "--profile", mine)


def test_each_file_may_have_its_profile(command: Command, tmp_path: Path) -> None:
    """The profiles belong to the files in the same order; a different number of profiles is a usage error."""
    files = [write(tmp_path, f"{name}.csv", ort_csv(made([Recipe()] * 20))) for name in "ab"]
    flat = command.output("advise", *files, "--profile", "burst", "--profile", "power_saver")
    assert "1. ADV-7" in flat
    assert "Under power_saver the cycles per us are 100 % of those under burst." in " ".join(flat.split())
    assert "needs cycles (3003) and times (3012) under two" in command.output("advise", *files, "--profile", "burst")
    three = ("--profile", "burst") * 3
    result = command.run("advise", *files, *three)
    assert (result.exit_code, "3 times for 2 files" in result.stderr) == (2, True)


def test_no_figure_is_called_a_clock(command: Command, tmp_path: Path) -> None:
    """Cycles of all units over a time are not a clock; only the change of the ratio between two profiles is shown."""
    fast, slow = (
        write(tmp_path, f"{mhz}.csv", ort_csv(made([Recipe(mhz=mhz, compute=2e6 / mhz)] * 20))) for mhz in (1400, 983)
    )
    both = command.output("advise", fast, slow, "--profile", "burst", "--profile", "power_saver")
    assert "ADV-7       under power_saver the cycles per us are 70 % of those under burst" in both
    flat = command.output("advise", fast, fast, "--profile", "burst", "--profile", "power_saver")
    for said in (command.output("advise", fast), both, flat):
        assert "MHz" not in said


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_no_line_is_wider(command: Command, tmp_path: Path, late: str, width: int) -> None:
    """At every width, each line fits and no word of the advice is lost."""
    text = write(tmp_path, "averages.txt", viewer_text(made([LATE] * 20), graph="a-graph-with-a-rather-long-name"))
    lines = command.output("advise", late, text, columns=width).splitlines()
    assert [line for line in lines if shown_width(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []
    assert "an empty call takes about 220 us" in " ".join(" ".join(lines).split())


class Outline(HTMLParser):
    """The tags and attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        self.names |= {name for name, _ in attributes}


def test_the_page_is_whole_and_asks_for_nothing(command: Command, tmp_path: Path, late: str) -> None:
    """The page is one document with bars in both colour schemes that loads nothing. File names are escaped."""
    page = command.output("advise", late, "--format", "html")
    outline = Outline(page)
    assert (outline.tags.count("meter"), outline.tags.count("h1"), outline.tags.count("main")) == (5, 1, 1)
    assert not {"script", "link", "img", "iframe", "form", "a"} & set(outline.tags)
    assert not {"src", "href", "style", "onclick"} & outline.names
    assert "prefers-color-scheme: dark" in page
    assert "nothing was sent to hardware" in page
    assert re.search(r'36 %</bdi></td><td data-head=""><meter value="0\.36\d" aria-label="RPC and wake-up">', page)
    named = [write(tmp_path, f"{number}.csv", viewer_csv(made([LATE] * 9), graph=name)) for number, name in
             enumerate(("plain", HOSTILE))]  # fmt: skip
    plain, hostile = (command.output("advise", path, "--format", "html") for path in named)
    assert Outline(hostile).tags == Outline(plain).tags
    assert "\x1b" not in command.output("advise", named[1])


def test_the_page_says_each_note_once(command: Command, tmp_path: Path) -> None:
    """A note on several files names the files it is about, unless it is about all of them."""
    inferences = made([LATE] * 9)
    without_cycles: list[dict[Event, float]] = [
        {event: each for event, each in one.items() if event is not Event.CYCLES} for one in inferences
    ]
    cases: list[list[dict[Event, float]]] = [inferences, inferences, without_cycles]
    paths = [
        write(tmp_path, f"{number}.csv", viewer_csv(each, graph=f"g{number}")) for number, each in enumerate(cases)
    ]
    page = command.output("advise", *paths, "--format", "html")
    for_all, for_two = "within QNN accelerator (3002) is device time.", "Cycles are not wall time"
    assert (page.count(for_all), page.count(for_two)) == (1, 1)
    told = page.partition(for_two)[2].partition("</d")[0]
    assert ["0.csv" in told, "1.csv" in told, "2.csv" in told] == [True, True, False]
    assert "Of " not in page.partition(for_all)[2].partition("</d")[0]


def test_files_are_written_besides(command: Command, tmp_path: Path, late: str) -> None:
    """--output writes other forms as well, as in the other commands."""
    outputs = [f"{form}={tmp_path / form}" for form in ("html", "json", "text")]
    text = command.output("advise", late, *(part for each in outputs for part in ("--output", each)))
    assert slashed((tmp_path / "text").read_text(encoding="utf-8")) == f"{text.rstrip()}\n"
    assert json.loads((tmp_path / "json").read_text(encoding="utf-8"))["advice"]
    assert (tmp_path / "html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_what_can_not_be_read_is_refused(command: Command, tmp_path: Path, late: str) -> None:
    """One line names the file and the place, with exit code 2. No other file is reported; nothing is written."""
    broken = write(
        tmp_path, "broken.csv", f"{ort_csv(made([LATE]))}0,BACKEND,much,US,BACKEND,ROOT,RPC (execute) time\n"
    )
    result = command.run("advise", late, broken, "--output", f"json={tmp_path / 'out'}")
    assert (result.exit_code, result.stdout, (tmp_path / "out").exists()) == (2, "", False)
    assert f"{broken}:13:3: RPC (execute) time is 'much'" in result.stderr
    for arguments in (("advise",), ("advise", late, "--soc", "SM1"), ("advise", late, "--profile", "burts")):
        assert command.run(*arguments).exit_code == 2


def test_the_simulation_is_said(command: Command, tmp_path: Path) -> None:
    """Numbers of the simulation get no advice, and every form reports this."""
    rpc = (Event.RPC, Event.QNN_ACCELERATOR)
    simulated: list[dict[Event, float]] = [
        {event: number for event, number in each.items() if event not in rpc} for each in made([COLD] * 5)
    ]
    path = write(tmp_path, "simulated.csv", ort_csv(simulated))
    text = in_one_line(command.output("advise", path))
    assert "No advice: this was made by the simulation on x86-64" in text
    assert "ADV-" not in text
    document = json.loads(command.output("advise", path, "--format", "json"))
    assert (document["measurements"][0]["simulated"], document["advice"]) == (True, [])
    assert "No advice" in command.output("advise", path, "--format", "html")


def test_many_graphs_are_cut_short(command: Command, tmp_path: Path) -> None:
    """The text draws the first twelve graphs; the JSON has all."""
    rows = [qairt_json(made([LATE] * 3, seed)) for seed in range(15)]
    files = [write(tmp_path, f"{number}.json", text) for number, text in enumerate(rows)]
    assert "3 more measurements are not drawn here" in command.output("advise", *files)
    assert len(json.loads(command.output("advise", *files, "--format", "json"))["measurements"]) == 15


def test_every_rule_of_advice_is_explained(command: Command) -> None:
    """The id in upper or lower case gives the reason, the inputs, the action and the source."""
    for rule in ADVICE_RULES.values():
        told = json.loads(command.output("explain", rule.id.lower(), "--format", "json"))["rule"]
        assert (told["id"], told["says"], told["why"]) == (rule.id, rule.says, rule.why)
        assert told["source"].startswith(("documented: ", "inferred: "))
        assert all(text.endswith(".") for text in (rule.says, rule.looks_at, rule.why, rule.mend))
    assert "ADV-10" in command.run("explain", "ADV-99").stderr


def test_the_file_of_the_docs_has_its_answer(command: Command) -> None:
    """The advice for the published SM8750 report is that the graph is too small for its profile."""
    path = ROOT / "docs" / "measurements" / "sm8750.json"
    document = json.loads(command.output("advise", str(path), "--profile", "burst", "--format", "json"))
    assert [each["rule"] for each in document["advice"]] == ["ADV-6", "ADV-1", "ADV-4"]


def test_each_file_keeps_what_to_do_about_it(command: Command, tmp_path: Path) -> None:
    """A rule that applies to several files is shown once; if the actions differ, each file is named with its action."""
    often = made([Recipe(power=9000.0, waits=9020.0)] * 20)
    files = [
        write(tmp_path, "a.csv", ort_csv(often)),
        write(tmp_path, "b.csv", viewer_csv(often, step_us=700_000)),
    ]
    for form in ("text", "html"):
        said = in_one_line(command.output("advise", *files, "--format", form, columns=300))
        assert said.index("a.csv:") < said.index("{after_inference_us: 600000}")
        assert said.index("{after_inference_us: 600000}") < said.rindex("b.csv, model:")
        assert said.rindex("b.csv, model:") < said.index("{after_inference_us: 900000}")
    (advice,) = json.loads(command.output("advise", *files, "--format", "json"))["advice"]
    assert [each["do"][0].split("}")[0][-6:] for each in advice["about"]] == ["600000", "900000"]
    alike = command.output("advise", files[0], files[0])
    assert (alike.count("600000"), "for " + files[0] in alike) == (1, False)


def test_a_recording_of_our_own_leads_to_what_reads_it(command: Command, tmp_path: Path) -> None:
    """A recording is not a profiler's output; the error names the commands that read recordings."""
    with VoteController(backend=SimulatedHtp(arch=75)) as controller:
        controller.record(tmp_path / "own.json")
        with controller.session("burst").inference():
            pass
    result = command.run("advise", str(tmp_path / "own.json"))
    assert result.exit_code == 2
    assert "is a recording of htppower" in result.stderr
    assert "htppower trace" in result.stderr
    assert "htppower tune" in result.stderr


def test_a_folder_in_the_place_of_a_file_is_called_a_folder(command: Command, tmp_path: Path) -> None:
    """The path exists, so the hint ``check the path`` would not help."""
    result = command.run("advise", str(tmp_path))
    said = f"htppower: {tmp_path}: is a folder (name a file in it)\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", said)
