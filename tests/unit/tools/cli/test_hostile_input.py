"""Hostile or strange input gives a message of one line, and does no harm."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from htppower.profiles.regular_file import LARGEST_FILE_BYTES
from htppower.tools.cli.outputs import write_files

if TYPE_CHECKING:
    from support.command import Command

CLEAN = "profile: mine\nextends: burst\n"
POSIX = pytest.mark.skipif(os.name != "posix", reason="names and files of POSIX")


def write(path: Path, text: str = CLEAN) -> Path:
    """Write a file, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@POSIX
def test_a_device_or_pipe_is_written_to_and_never_replaced(command: Command, tmp_path: Path) -> None:
    """An output to a pipe is written into the pipe, which stays a pipe."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        command.output("lint", str(write(tmp_path / "mine.yaml")), "--output", f"json={pipe}")
        assert json.loads(os.read(reader, 65536))["format_version"] == 1
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert command.run("lint", str(tmp_path / "mine.yaml"), "--output", f"json={os.devnull}").exit_code == 0
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)  # noqa: PTH116 - a device


@POSIX
def test_two_names_of_one_output_are_refused(command: Command, tmp_path: Path) -> None:
    """One file can't be two outputs under two spellings; nothing is left behind."""
    mine = write(tmp_path / "mine.yaml")
    (tmp_path / "sub").mkdir()
    outputs = (f"json={tmp_path / 'out'}", f"text={tmp_path / 'sub' / '..' / 'out'}")
    result = command.run("lint", str(mine), "--output", outputs[0], "--output", outputs[1])
    assert (result.exit_code, "twice" in result.stderr) == (2, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.yaml", "sub"]
    result = command.run("diff", "burst", "burst", "--output", outputs[0], "--output", outputs[1])
    assert (result.exit_code, "twice" in result.stderr) == (2, True)
    assert not (tmp_path / "out").exists()


def test_a_write_that_breaks_off_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays whole until the new file is complete, and an incomplete new file is removed."""
    old = write(tmp_path / "old", "old")

    def full(_path: Path, _mode: int) -> None:
        assert old.read_text(encoding="utf-8") == "old"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "chmod", full)
    with pytest.raises(OSError, match="No space"):
        write_files({str(old): "new"})
    assert [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()] == ["old"]


@POSIX
def test_names_do_nothing_to_a_terminal(command: Command, tmp_path: Path) -> None:
    """The name of a file or profile is escaped in every form that people read."""
    hostile = "a\x1b]0;pwn\x07\nb: error DCVS-2 forged"
    folder = tmp_path / hostile
    write(folder / "mine.yaml", "profile: mine\nextends: low_balanced\nvotes: {rpc_polling_time_us: 9}\n")
    write(
        folder / "bad.yaml", 'profile: "x\\ny: error forged"\nextends: low_balanced\nvotes: {rpc_polling_time_us: 9}\n'
    )
    for arguments in (
        ("lint", str(folder)),
        ("diff", str(folder), str(folder)),
        ("explain", str(folder / "mine.yaml")),
    ):
        said = command.run(*arguments).output
        assert "\x1b" not in said
        assert not any(line.startswith(("b: error", "y: error")) for line in said.splitlines())


@POSIX
def test_names_do_nothing_to_markdown(command: Command, tmp_path: Path) -> None:
    """The name of a folder stays in its table cell."""
    for side in ("old", "new"):
        write(tmp_path / side / "p | q\n\n# Approved ![x](x.png)" / "mine.yaml", f"{CLEAN}summary: {side}.\n")
    write(tmp_path / "new" / "p | q\n\n# Approved" / "more.yaml", CLEAN.replace("mine", "more"))
    said = command.output("diff", str(tmp_path / "old"), str(tmp_path / "new"), "--format", "markdown", exit_code=1)
    assert not any(line.startswith("# ") for line in said.splitlines())
    rows = [line for line in said.splitlines() if line.startswith("| `")]
    assert all(row.replace("\\|", "").count("|") in {3, 7} for row in rows)


@POSIX
@pytest.mark.parametrize("form", ["text", "json", "github", "sarif", "junit"])
def test_a_name_that_no_encoding_has_is_written(command: Command, tmp_path: Path, form: str) -> None:
    """A file name that is not UTF-8 crashes no form."""
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.yaml"))
    try:
        write(file)
    except OSError:
        pytest.skip("this file system has no such names")
    written = tmp_path / "out"
    result = command.run("lint", str(file), "--format", form, "--output", f"{form}={written}")
    assert (result.exit_code, result.stderr) == (0, "")
    assert written.read_bytes().decode("utf-8")


def test_a_huge_file_is_not_read(command: Command, tmp_path: Path) -> None:
    """Only enough of the file is read to see that it is larger than any profile."""
    file = tmp_path / "huge.yaml"
    with file.open("wb") as opened:
        opened.truncate(50 * LARGEST_FILE_BYTES)
    said = command.output("lint", str(file), exit_code=1)
    assert "error FILE-2" in said
    assert len(said) < 1000


def test_a_long_line_is_told_in_part(command: Command, tmp_path: Path) -> None:
    """Only the first 100 findings of a line are shown, each with its part of the line, so that reports stay small."""
    keys = ", ".join(f"key{number}: 1" for number in range(900))
    file = write(tmp_path / "mine.yaml", f"{{profile: mine, extends: burst, {keys}}}\n")
    for form in ("json", "sarif", "junit", "text"):
        said = command.output("lint", str(file), "--format", form, exit_code=1)
        assert said.count("unknown key 'key98'") >= 1
        assert "unknown key 'key99'" not in said
        assert said.count("801 findings of this file, including this one, are omitted") >= 1
        assert len(said) < 300_000


def test_totals_count_what_is_not_told(command: Command, tmp_path: Path) -> None:
    """Totals count all findings; the last finding stands for many rules, so it has no expectation."""
    keys = "".join(f"key{number}: 1\n" for number in range(1500))
    file = write(tmp_path / "mine.yaml", f"{CLEAN}{keys}")
    said = command.output("lint", str(file), exit_code=1)
    assert said.endswith("\n1 file: 1,500 errors\n")
    told = json.loads(command.output("lint", str(file), "--format", "json", exit_code=1))
    assert told["summary"] == {"errors": 1500, "warnings": 0, "notes": 0}
    assert len(told["findings"]) == 100
    assert [bool(finding["expected"]) for finding in told["findings"][-2:]] == [True, False]
    for form in ("text", "github", "junit"):
        said = command.output("lint", str(file), "--format", form, exit_code=1)
        assert said.count("expected: ") == 99


@pytest.mark.parametrize(
    "text",
    [
        '{"profile": "mine", "extends": "%s"}\n',
        " profile: mine\n extends: %s\n",
        "# one\n---\nprofile: mine\nextends: %s\n",
    ],
)
def test_a_profile_is_known_however_it_is_spelt(command: Command, tmp_path: Path, text: str) -> None:
    """A profile as JSON, or indented, is compared and linted like any other."""
    for side, base in (("old", "power_saver"), ("new", "burst")):
        write(tmp_path / side / "mine.yaml", text % base)
    assert command.run("diff", str(tmp_path / "old"), str(tmp_path / "new"), "--fail-on", "raises-power").exit_code == 1
    assert "1 file: no findings" in command.output("lint", str(tmp_path / "new"))


def test_other_yaml_is_left_out_and_counted(command: Command, tmp_path: Path) -> None:
    """A folder's report counts the YAML files that are not profiles; such a file given by path is checked."""
    write(tmp_path / "mine.yaml")
    compose = write(tmp_path / "docker-compose.yaml", "services: {a: {image: b}}\n")
    assert command.output("lint", str(tmp_path)) == "1 file: no findings; left out: 1 that hold neither\n"
    assert "KEY-1" in command.output("lint", str(compose), exit_code=1)
    write(tmp_path / "typo.yaml", "profle: typo\nextends: burst\n")
    assert "did you mean profile?" in command.output("lint", str(tmp_path), exit_code=1)


def test_two_profiles_of_one_name_can_not_be_compared(command: Command, tmp_path: Path) -> None:
    """A second profile with the same name would hide the first, so the error names both files."""
    for name in ("a", "b"):
        write(tmp_path / f"{name}.yaml", CLEAN)
    result = command.run("diff", str(tmp_path), str(tmp_path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "b.yaml:1:10: NAME-1: a second profile named 'mine'" in result.stderr
    assert f"the first is {tmp_path / 'a.yaml'}" in result.stderr


def test_a_folder_of_power_states_is_compared(command: Command, tmp_path: Path) -> None:
    """A folder ``states`` can be compared without its profiles."""
    state = command.output("show", "relaxed").replace("state: relaxed", "state: low")
    for side, latency in (("old", "2000"), ("new", "1999")):
        write(tmp_path / side / "states" / "low.yaml", state.replace("2000", latency))
    folders = (str(tmp_path / "old" / "states"), str(tmp_path / "new" / "states"))
    assert "low  lowered  dcvs_v3.sleep_latency_us" in command.output("diff", *folders, exit_code=1)


def test_explaining_what_a_rule_refuses_is_exit_2(command: Command, tmp_path: Path) -> None:
    """The exit code is the same whether a rule or the format refuses the input."""
    file = write(tmp_path / "mine.yaml", f"{CLEAN}votes: {{rpc_polling_time_us: 20000}}\n")
    result = command.run("explain", str(file))
    assert (result.exit_code, "RPC-1" in result.stderr) == (2, True)


def test_a_value_behind_an_alias_has_a_place(command: Command, tmp_path: Path) -> None:
    """A value behind an alias is explained at the line of the alias."""
    aliased = "votes:\n  dcvs_v3:\n    bus: &c {min: NOM, target: NOM, max: TURBO}\n    core: *c\n"
    file = write(tmp_path / "mine.yaml", CLEAN + aliased)
    assert f"{file}:6  NOM" in command.output("explain", str(file), "core.min", columns=400)


@POSIX
def test_links_and_pipes_hide_nothing(command: Command, tmp_path: Path) -> None:
    """A link to itself, a link to a pipe and a pipe are reported. All other files are read, a linked file once."""
    for name in ("b", "c"):
        write(
            tmp_path / "d" / f"{name}.yaml", f"profile: {name}\nextends: burst\nvotes: {{rpc_polling_time_us: 99999}}\n"
        )
    write(tmp_path / "real" / "e.yaml", "profile: e\nextends: burst\nvotes: {rpc_polling_time_us: 99999}\n")
    (tmp_path / "d" / "a.yaml").symlink_to("a.yaml")
    (tmp_path / "d" / "sub").symlink_to("../real")
    (tmp_path / "d" / "round").symlink_to(".")
    os.mkfifo(tmp_path / "d" / "pipe.yaml")
    said = command.output("lint", str(tmp_path / "d"), "--format", "github", exit_code=1)
    assert said.count("title=htppower RPC-1") == 3
    assert said.count("title=htppower FILE-1") == 2


def test_a_profile_can_not_pass_for_a_test(command: Command, tmp_path: Path) -> None:
    """Keys of a test inside a text do not make a file a test."""
    evil = 'profile: evil\nextends: burst\nsummary: "x\ntest: a\ncases: b"\nvotes: {rpc_polling_time_us: 99999}\n'
    write(tmp_path / "evil.yaml", evil)
    assert "RPC-1" in command.output("lint", str(tmp_path), exit_code=1)


def test_the_folder_in_which_it_is_run_makes_no_difference(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power state finds the others in its folder, also if the command runs in that folder."""
    state = command.output("show", "relaxed").replace("state: relaxed", "state: low")
    write(tmp_path / "states" / "low.yaml", state)
    write(tmp_path / "states" / "lower.yaml", "state: lower\nextends: low\n")
    write(tmp_path / "mine.yaml", f"{CLEAN}relax: {{to: lower}}\n")
    whole = command.output("lint", str(tmp_path))
    monkeypatch.chdir(tmp_path / "states")
    assert command.output("lint", ".").count("warning REV-5") == whole.count("warning REV-5") == 1
    assert "SVS2" in command.output("explain", "lower.yaml", "core")


def test_an_empty_path_is_not_the_folder_that_one_is_in(command: Command) -> None:
    """An unset variable of the shell gives an empty path, which must not mean the current folder."""
    result = command.run("lint", "")
    assert (result.exit_code, "can't be read: no such file or folder" in result.stderr) == (2, True)
