"""Commands do not wait for files of unknown origin, and show no content behind a link."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from support import trace_files
from support.slashes import in_one_line
from support.trace_files import Ran

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes and links of POSIX")

SECRETS = {
    "netrc": "machine x login CANARY password CANARY\n",
    "pin": "1234\nCANARY\n",
    "environ": "A=CANARY\0B=CANARY\0",
    "key": "-----BEGIN CANARY-----\nCANARY,CANARY\n",
    "auths.json": '{"auths": {"CANARY": {"auth": "CANARY"}}}',
    "devices.json": '{"devices": [{"CANARY": "CANARY", "cores": [{"perf_profile": "CANARY"}]}]}',
    "profile.json": '{"profile": "CANARY", "CANARY": "CANARY"}',
}
TABLE = "begin_us,end_us\n0,5\n100,105\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder with files of unknown origin; the secrets are outside of it."""
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path / "folder")
    return tmp_path / "folder"


@pytest.mark.parametrize("name", SECRETS)
@pytest.mark.parametrize("suffix", [".csv", ".json", ".yaml", ".jsonaa", ".jsonab", ".json.1"])
def test_nothing_is_shown_of_what_a_link_leads_to(command: Command, folder: Path, name: str, suffix: str) -> None:
    """No form of a fleet or of lint shows a word of the linked file, nor does a command that is given the link."""
    (folder.parent / name).write_text(SECRETS[name], encoding="utf-8")
    (folder / "ok.csv").write_text(TABLE, encoding="utf-8")
    if suffix in (".jsonab", ".json.1"):
        first = folder / ("a.jsonaa" if suffix == ".jsonab" else "a.json")
        first.write_text(trace_files.own([Ran(0, 5, "a")]), encoding="utf-8")
    link = folder / f"a{suffix}"
    link.symlink_to(f"../{name}")
    for path in (str(link), link.name):
        shown = [command.run("trace", path)]
        shown += [command.run("lint", path, "--format", form) for form in ("text", "json", "sarif")]
        shown += [command.run("settings", "--check", path, "--format", form) for form in ("text", "json")]
        assert not [each for each in shown if "CANARY" in each.output]
    assert "CANARY" not in command.run("lint", ".").output
    fleet = command.run("tune", "--fleet", ".")
    assert "CANARY" not in fleet.output
    assert "is a link that leads out of its folder" in in_one_line(fleet.output)


def test_a_linked_extension_file_is_told_as_a_link(command: Command, folder: Path) -> None:
    """A link in a folder or given by path is reported as a link; a link within the folder is linted as its file."""
    (folder.parent / "out.json").write_text(SECRETS["devices.json"], encoding="utf-8")
    (folder / "link.json").symlink_to("../out.json")
    for path in (".", "link.json", str(folder / "link.json")):
        found = json.loads(command.run("lint", path, "--format", "json").stdout)["findings"]
        assert [each["message"] for each in found] == ["is a link that leads out of its folder"]
    (folder / "real.json").write_text(SECRETS["devices.json"], encoding="utf-8")
    (folder / "inner.json").symlink_to("real.json")
    assert "CANARY" in command.run("lint", "inner.json").stdout


def test_a_table_without_a_known_column_is_told_by_lengths(command: Command, folder: Path) -> None:
    """The number of columns and their lengths are enough to find the table."""
    (folder / "odd.csv").write_text("alpha,be,,gamma delta\n1,2,3,4\n", encoding="utf-8")
    said = command.run("trace", "odd.csv").stderr
    assert "the first line has 4 columns, of 5, 2, 0, 11 characters" in in_one_line(said)


@pytest.mark.parametrize("name", ["t.json", "t.jsonab", "fifo.csv"])
def test_a_pipe_among_the_traces_of_a_fleet_is_passed_over(command: Command, folder: Path, name: str) -> None:
    """The pipe may be the newest file of a recording, a later part, or a separate file."""
    recording = trace_files.own([Ran(place * 10, place * 10 + 5, "a") for place in range(9)])
    (folder / "ok.csv").write_text(TABLE, encoding="utf-8")
    (folder / ("t.json.1" if name == "t.json" else "t.jsonaa")).write_text(recording, encoding="utf-8")
    os.mkfifo(folder / name)
    said = command.run("tune", "--fleet", ".")
    assert said.exit_code == 0
    assert "is a pipe" in in_one_line(said.output)


@pytest.mark.parametrize("kind", ["pipe", "full", "zero", "empty", "dangling"])
def test_a_link_or_pipe_in_the_place_of_the_results_is_refused(command: Command, folder: Path, kind: str) -> None:
    """The command ends, and the target of the link is not written."""
    (folder / "ok.csv").write_text(TABLE, encoding="utf-8")
    (folder.parent / "empty").touch()
    out = folder / "out"
    out.mkdir()
    results = out / "burst_fleet.gaps.jsonl"
    if kind == "pipe":
        os.mkfifo(results)
    else:
        results.symlink_to(f"/dev/{kind}" if kind in ("full", "zero") else f"../../{kind}")
    said = command.run("tune", "--fleet", ".", "--write", "out")
    assert (said.exit_code, "burst_fleet.gaps.jsonl: is " in said.stderr) == (2, True)
    assert (folder.parent / "empty").stat().st_size == 0
    assert not (folder.parent / "dangling").exists()


@pytest.mark.parametrize("arguments", [("trace",), ("trace", "--from", "chrome"), ("tune",), ("advise",)])
def test_an_endless_device_and_a_pipe_that_nobody_writes_to_are_refused(
    command: Command, folder: Path, arguments: tuple[str, ...]
) -> None:
    """A device or pipe is refused even if --from names the kind of the file, which skips the check of its content."""
    os.mkfifo(folder / "pipe")
    assert "/dev/zero: is a device" in command.run(*arguments, "/dev/zero").stderr
    assert command.run(*arguments, "pipe").exit_code == 2


def test_a_pipe_that_the_user_names_is_read(command: Command) -> None:
    """A pipe such as the shell's <(command) is read."""
    read, write = os.pipe()
    os.write(write, TABLE.encode())
    os.close(write)
    try:
        assert "2 inferences" in command.output("trace", f"/dev/fd/{read}")
    finally:
        os.close(read)


def test_a_link_that_the_user_names_is_read(command: Command, folder: Path) -> None:
    """The link may lead out of its folder."""
    (folder.parent / "real.csv").write_text(TABLE, encoding="utf-8")
    (folder / "link.csv").symlink_to("../real.csv")
    assert "2 inferences" in command.output("trace", "link.csv")
