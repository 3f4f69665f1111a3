"""``htppower lint --fix``, ``--exclude``, and the standard input."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.examples import examples

from htppower.tools.cli.main import main
from htppower.tools.review.file_selection import matches

if TYPE_CHECKING:
    from click.testing import Result
    from support.command import Command

WRONG = """\
# A camera.     # two comments
profile: cam
extends: Burst
summary: on
votes:   # all
  dcvs_v3:
    dcvs-enable: No      # held
    sleep_latency_us: "100"
    power_mode: performance
    core: {min: turbo, target:   Turbo , max: 'TURBO'}
  rpc_control_latency_us: !!int 100
  rpc_polling_time_us: 1_000  # htppower: disable=RPC-6,REV-2 until=2999-01-01 because=tried
# htppower: disable=RPC-3 until=2999-01-01 because=needless
relax: {after_inference_us: 300 ms}
"""
RIGHT = """\
# A camera.     # two comments
profile: cam
extends: burst
summary: "on"
votes:   # all
  dcvs_v3:
    dcvs_enable: false      # held
    sleep_latency_us: 100
    power_mode: PERFORMANCE
    core: {min: TURBO, target:   TURBO , max: 'TURBO'}
  rpc_control_latency_us: 100
  rpc_polling_time_us: 1000
relax: {after_inference_us: 300000}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, made the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rules(command: Command, *arguments: str) -> list[str]:
    """Return the rules of the findings."""
    return [
        found["rule"] for found in json.loads(command.run("lint", *arguments, "--format", "json").stdout)["findings"]
    ]


def lint_of(text: str, *arguments: str) -> str:
    """Return the findings for a text on the standard input."""
    result = CliRunner(env={"COLUMNS": "200"}).invoke(main, ["lint", "-", *arguments], input=text)
    assert "Traceback" not in result.output
    return str(result.output)


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_what_has_one_right_mend_is_mended(command: Command, folder: Path, line_break: str, mark: bytes) -> None:
    """Comments, layout, line ends and byte order mark stay; lint is clean then, and a second run changes nothing."""
    file = folder / "cam.yaml"
    file.write_bytes(mark + WRONG.replace("\n", line_break).encode())
    result = command.run("lint", "cam.yaml", "--fix")
    assert file.read_bytes() == mark + RIGHT.replace("\n", line_break).encode()
    assert (result.exit_code, result.stdout) == (0, "1 file: no findings\n")
    assert "cam.yaml:7:5: KEY-1 mended: dcvs-enable -> dcvs_enable\n" in result.stderr
    version = file.stat().st_mtime_ns
    again = command.run("lint", "cam.yaml", "--fix")
    assert (again.stderr, file.stat().st_mtime_ns) == ("", version)


def test_what_has_several_mends_stays(command: Command, folder: Path) -> None:
    """Octal or decimal, text or boolean, another corner, a missing field: only the author can decide."""
    text = (
        "profile: cam\nextends: burst\nvotes: {rpc_polling_time_us: 010, hmx_timeout_us: yes}\n"
        "relax: {after_init_us: 12:30:45, to: relaxde}\n"
    )
    (folder / "cam.yaml").write_text(text, encoding="utf-8")
    before = rules(command, ".")
    assert rules(command, ".", "--fix") == before
    assert (folder / "cam.yaml").read_text(encoding="utf-8") == text
    assert len(before) >= 3


def test_a_mend_may_show_what_was_hidden(command: Command, folder: Path) -> None:
    """A corrected number may break a rule of votes: the mend stays, and the finding is reported."""
    text = "profile: cam\nextends: burst\nvotes: {rpc_polling_time_us: '20000'}\n"
    (folder / "cam.yaml").write_text(text, encoding="utf-8")
    assert rules(command, ".", "--fix") == ["RPC-1"]
    assert (folder / "cam.yaml").read_text(encoding="utf-8") == text.replace("'20000'", "20000")


def test_part_of_a_suppression(command: Command, folder: Path) -> None:
    """If a suppression hides some findings, only its unused rules are removed."""
    text = (
        "profile: cam\nextends: low_balanced\nvotes:\n"
        "  rpc_polling_time_us: 500  # htppower: disable=REV-2,RPC-3,RPC-6 until=2999-01-01 because=tried\n"
    )
    (folder / "cam.yaml").write_text(text, encoding="utf-8")
    assert rules(command, ".", "--fix") == []
    assert (folder / "cam.yaml").read_text(encoding="utf-8") == text.replace("RPC-3,", "")


def test_files_are_written_whole_or_not_at_all(command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If one file can't be written, none changes, and nothing is left behind."""
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(f"profile: {name}\nextends: Burst\n", encoding="utf-8")
    made: list[str] = []

    def full(path: Path, mode: int) -> None:
        made.append("")
        if len(made) > 1:
            raise OSError(28, "No space left on device", "b.yaml")
        chmod(path, mode)

    chmod = Path.chmod
    monkeypatch.setattr(Path, "chmod", full)
    assert command.run("lint", ".", "--fix").exit_code == 2
    assert {path.name: path.read_text(encoding="utf-8").split()[-1] for path in folder.iterdir()} == {
        "a.yaml": "Burst",
        "b.yaml": "Burst",
    }


NEEDLESS = "profile: cam\nextends: burst  # htppower: disable=REV-2 until=2999-01-01 because=needless\n"


@pytest.mark.parametrize("named", ["prof", "prof/cam.yaml"])
def test_nothing_is_written_through_a_link_that_leads_away(command: Command, folder: Path, named: str) -> None:
    """A file outside of the linted folder is unchanged, and its finding is reported."""
    outside = folder / "outside"
    (folder / "prof").mkdir()
    outside.mkdir()
    (outside / "cam.yaml").write_text(NEEDLESS, encoding="utf-8")
    (folder / "prof" / "cam.yaml").symlink_to(outside / "cam.yaml")
    result = command.run("lint", named, "--fix")
    assert (result.exit_code, "SUP-3" in result.stdout, result.stderr) == (1, True, "")
    assert (outside / "cam.yaml").read_text(encoding="utf-8") == NEEDLESS


def test_a_link_within_the_folder_is_followed(command: Command, folder: Path) -> None:
    """The file behind the link is mended, and the link stays a link."""
    (folder / "drafts").mkdir()
    (folder / "drafts" / "cam.yaml").write_text(NEEDLESS, encoding="utf-8")
    (folder / "cam.yaml").symlink_to("drafts/cam.yaml")
    assert command.run("lint", ".", "--fix").exit_code == 0
    assert (folder / "cam.yaml").is_symlink()
    assert (folder / "drafts" / "cam.yaml").read_text(encoding="utf-8") == "profile: cam\nextends: burst\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes with names")
def test_a_pipe_is_not_waited_for(command: Command, folder: Path) -> None:
    """A pipe is never opened: given by path it is an error, in a folder it is a finding."""
    os.mkfifo(folder / "cam.yaml")
    assert rules(command, ".", "--fix") == ["FILE-1"]
    named = command.run("lint", "cam.yaml", "--fix")
    assert (named.exit_code, "FILE-1: can't be read: not a regular file" in named.stderr) == (2, True)


WORDS = st.sampled_from(
    ["yes", "No", "'1'", '"true"', "1_0", "+5", "0x10", "010", "5 ms", "2.0", "turbo", "!!int 5", "unset", "~", "[a]"]
)
FIELDS = st.sampled_from(
    ["rpc_polling_time_us", "rpc-control-latency-us", "hmx_timeout_us", "HMX_V2", "ddr_perf_mode", "nothing"]
)


@examples(10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(FIELDS, WORDS, min_size=1), st.sampled_from(["", "  # why", "  #"]))
def test_whatever_is_mended_leaves_no_more_errors(
    command: Command, folder: Path, votes: dict[str, str], end: str
) -> None:
    """A mend adds no errors, a second run changes nothing, and the rest of the file is as it was."""
    lines = [f"  {field}: {value}{end}" for field, value in votes.items()]
    text = "\n".join(["profile: cam", "extends: burst", "votes:", *lines, ""])
    (folder / "cam.yaml").write_text(text, encoding="utf-8")
    before = rules(command, "cam.yaml")
    after = rules(command, "cam.yaml", "--fix")
    reading = [rule for rule in after if rule.startswith(("YAML", "TYPE", "KEY"))]
    assert len(reading) <= len([rule for rule in before if rule.startswith(("YAML", "TYPE", "KEY"))])
    mended = (folder / "cam.yaml").read_text(encoding="utf-8")
    assert [line.count("#") for line in mended.splitlines()] == [line.count("#") for line in text.splitlines()]
    assert command.run("lint", "cam.yaml", "--fix").stderr == ""
    assert (folder / "cam.yaml").read_text(encoding="utf-8") == mended


def test_the_standard_input_is_linted_as_a_file_of_this_folder(folder: Path) -> None:
    """Bases are found in the current folder, and no finding is about the missing file name."""
    (folder / "base.yaml").write_text("profile: base\nextends: burst\nsummary: A base.\n", encoding="utf-8")
    assert lint_of("profile: cam\nextends: base\n") == "1 file: no findings\n"
    told = lint_of("profile: cam\nextends: base\nvotes: {rpc_polling_time_us: 10000}\n")
    assert told.startswith("-:3:30: error RPC-1 ")
    assert "  3 | votes: {rpc_polling_time_us: 10000}\n" in told
    assert lint_of("state: down\nextends: relaxed\n") == "1 file: no findings\n"
    assert lint_of("profile: cam\nextends: base\n", "base.yaml") == "2 files: no findings\n"


@pytest.mark.parametrize("text", ["", "[", "\t", "a: \x00", "x" * 2_000_000])
def test_anything_on_the_standard_input_is_told(text: str) -> None:
    """Invalid YAML, too much text and empty text are findings, as in a file."""
    assert re.match(r"-:\d+:\d+: error (YAML|FILE)-\d ", lint_of(text))


def test_a_standard_input_that_is_closed_is_a_wrong_use(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python has no stream at all if the standard input is closed."""
    monkeypatch.setattr("htppower.tools.cli.options.sys", SimpleNamespace(stdin=None, stdout=sys.stdout))
    result = command.run("lint", "-")
    assert (result.exit_code, "Error: the standard input is closed" in result.stderr) == (2, True)


def test_the_standard_input_is_not_mended(command: Command) -> None:
    """Nothing can be written back, so this is a usage error."""
    result = command.run("lint", "-", "--fix")
    assert (result.exit_code, "standard input is not a file" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ((), {"a.yaml", "drafts/b.yaml", "drafts/deep/c.yaml"}),
        (("drafts",), {"a.yaml"}),
        (("drafts/",), {"a.yaml"}),
        (("deep",), {"a.yaml", "drafts/b.yaml"}),
        (("drafts/*.yaml",), {"a.yaml"}),
        (("c.yaml", "a.*"), {"drafts/b.yaml"}),
        (("draft",), {"a.yaml", "drafts/b.yaml", "drafts/deep/c.yaml"}),
    ],
)
def test_what_is_excluded_is_left_out(
    command: Command, folder: Path, patterns: tuple[str, ...], left: set[str]
) -> None:
    """A pattern matches files and folders of that name at any depth."""
    for name in ("a.yaml", "drafts/b.yaml", "drafts/deep/c.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("profile: x\nextends: none\n", encoding="utf-8")

    def paths(linted: Result) -> set[str]:
        return {found["path"].replace(os.sep, "/") for found in json.loads(linted.stdout)["findings"]}

    options = [part for pattern in patterns for part in ("--exclude", pattern)]
    result = command.run("lint", ".", *options, "--format", "json")
    assert paths(result) == left
    assert result.exit_code == 1
    named = command.run("lint", "a.yaml", "drafts/b.yaml", *options, "--format", "json")
    assert paths(named) == left - {"drafts/deep/c.yaml"}


def test_a_deep_path_takes_little_work_to_leave_out() -> None:
    """The work for a file does not grow with the square of its depth."""
    deep, many = "d/" * 1500 + "drafts/a.yaml", ("drafts/*.yaml", *(f"x{number}*" for number in range(1000)))
    began_s = time.thread_time()
    assert matches(deep, many)
    assert not matches(deep, many[1:])
    assert time.thread_time() - began_s < 2


def test_folders_of_which_nothing_is_left_are_wrong_folders(command: Command, folder: Path) -> None:
    """A pattern that excludes all profiles of a folder is an error, as a folder without profiles is.

    It is not an error if another path is linted, or if only files are named, as a hook does.
    """
    for name in ("a.yaml", "drafts/b.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("profile: x\nextends: burst\n", encoding="utf-8")
    said = "FILE-1: all profiles in this folder are left out (leave out less by --exclude)"
    for paths in ((".",), ("drafts", "a.yaml")):
        result = command.run("lint", *paths, "--exclude", "*")
        assert (result.exit_code, result.stdout, said in result.stderr) == (2, "", True)
    assert command.output("lint", ".", "drafts", "--exclude", "drafts").startswith("a.yaml:1:10: warning REV-6")
    assert command.output("lint", "a.yaml", "--exclude", "*") == "0 files: no findings\n"


def test_a_diff_shows_what_would_be_mended_and_writes_nothing(command: Command, folder: Path) -> None:
    """The unified diff leads from the file to the result of --fix, with exit code 1, with or without --fix."""
    (folder / "cam.yaml").write_text(WRONG, encoding="utf-8")
    told = command.output("lint", "--diff", "cam.yaml", exit_code=1)
    assert told.startswith("--- cam.yaml\n+++ cam.yaml\n@@")
    assert "-extends: Burst\n" in told
    assert "+extends: burst\n" in told
    assert command.output("lint", "--fix", "--diff", "cam.yaml", exit_code=1) == told
    assert (folder / "cam.yaml").read_text(encoding="utf-8") == WRONG
    removed = [line[1:] for line in told.splitlines() if line.startswith("-") and line != "--- cam.yaml"]
    added = [line[1:] for line in told.splitlines() if line.startswith("+") and line != "+++ cam.yaml"]
    assert set(removed) <= set(WRONG.splitlines())
    assert set(added) <= set(RIGHT.splitlines())


def test_a_diff_of_what_needs_no_mend_is_empty(command: Command, folder: Path) -> None:
    """The exit code is 0 even if there are findings without a mend."""
    (folder / "cam.yaml").write_text("profile: other\nextends: burst\n", encoding="utf-8")
    assert command.output("lint", "--diff", "cam.yaml") == ""


def test_a_diff_says_that_the_last_line_has_no_end(command: Command, folder: Path) -> None:
    """The diff has git's line for this, so that it can be applied."""
    (folder / "cam.yaml").write_text('profile: cam\nextends: "burst"\nrelax: {after_init_us: "5"}', encoding="utf-8")
    assert command.output("lint", "--diff", "cam.yaml", exit_code=1).count("\\ No newline at end of file\n") == 2


def test_a_number_of_the_header_is_mended(command: Command, folder: Path) -> None:
    """A number or an enumerator of the vendor's header names exactly one corner."""
    text = "profile: cam\nextends: burst\nvotes: {dcvs_v3: {core: 160, bus: {min: 0x60, target: NOM, max: '128'}}}\n"
    (folder / "cam.yaml").write_text(text, encoding="utf-8")
    command.run("lint", "--fix", "cam.yaml")
    mended = (folder / "cam.yaml").read_text(encoding="utf-8")
    assert "{core: MAX_VOLTAGE_CORNER, bus: {min: NOM, target: NOM, max: TURBO}}" in mended


def test_statistics_count_the_findings_of_each_rule(command: Command, folder: Path) -> None:
    """The most frequent rule comes first, also in JSON; the exit code does not change."""
    wrong = "profile: {}\nextends: burst\nvotes: {{dcvs_v3: {{core: 7, bus: 8}}}}\nrelax: {{after_inference_us: 5}}\n"
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(wrong.format(name), encoding="utf-8")
    told = command.output("lint", ".", "--statistics", exit_code=1).splitlines()
    assert [line.split()[:3] for line in told if line[:1].isdecimal()] == [
        ["4", "TYPE-1", "error"],
        ["2", "SUS-1", "warning"],
    ]
    document = json.loads(command.output("lint", ".", "--statistics", "--format", "json", exit_code=1))
    assert [(each["rule"], each["count"]) for each in document["statistics"]] == [("TYPE-1", 4), ("SUS-1", 2)]
    assert command.run("lint", ".", "--statistics", "--format", "sarif").exit_code == 2


def test_statistics_of_sound_files(command: Command, folder: Path) -> None:
    """The statistics are empty."""
    (folder / "cam.yaml").write_text("profile: cam\nextends: burst\n", encoding="utf-8")
    assert command.output("lint", ".", "--statistics").strip() == "no findings"
