"""Commands never overwrite an input, the target of a link, or an edited file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import trace_files
from support.slashes import in_one_line
from support.trace_files import Ran

from htppower.tools.cli.outputs import File, Sort, write_files

if TYPE_CHECKING:
    from support.command import Command

POSIX = pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
CAMERA = "profile: camera\nextends: base\n"
BASE = "profile: base\nextends: burst\nrelax: {to: calm}\n"
CALM = "state: calm\nextends: relaxed\n"
EXTENSION = '{"devices": [{"cores": [{"perf_profile": "burst"}]}]}'
QUICK = ("--backend", "simulated", "--count", "2", "--idle", "1ms")
TUNE = ("tune", "trace.json", "--profile", "burst", "--longest", "100ms")
EDIT = "# my edit\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder: a profile with its bases, a recording, a table and an extension file."""
    monkeypatch.chdir(tmp_path)
    ran = [Ran(place * 105_000, place * 105_000 + 5_000, "camera", "burst", cold=False) for place in range(30)]
    for name, text in {
        "camera.yaml": CAMERA,
        "base.yaml": BASE,
        "states/calm.yaml": CALM,
        "trace.json": trace_files.own(ran),
        "table": "begin_us,end_us\n0,5\n100,105\n",
        "ext.json": EXTENSION,
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def everything(folder: Path) -> dict[str, bytes]:
    """Return the content of a folder and its subfolders."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(command: Command, *arguments: str) -> str:
    """Return the error of a command; it must write nothing."""
    before = everything(Path())
    result = command.run(*arguments)
    assert (result.exit_code, result.stdout, everything(Path())) == (2, "", before)
    return in_one_line(result.stderr)


OVER_INPUTS = [
    ("lint", "camera.yaml", "--output", "sarif=camera.yaml"),
    ("lint", "ext.json", "--output", "json=ext.json"),
    ("lint", ".", "--output", "json=./ext.json"),
    ("trace", "trace.json", "--output", "json=trace.json"),
    ("trace", "table", "--output", "svg=table"),
    ("tune", "trace.json", "--page", "trace.json"),
    ("tune", "table", "--unit", "us", "--page", "table"),
    ("advise", "table", "--output", "text=table"),
    ("compare", "table", "trace.json", "--output", "json=trace.json"),
    ("compare", "trace.json", "table", "--output", "text=table"),
    ("export", "./camera.yaml", "-o", "camera.yaml"),
    ("export", "./camera.yaml", "-o", "base.yaml"),
    ("export", "./camera.yaml", "-o", "states/calm.yaml"),
    ("export", "./camera.yaml", "--into", "ext.json", "-o", "base.yaml"),
    ("profile", "./camera.yaml", "--dry-run", "--output", "camera.yaml"),
    ("profile", "./camera.yaml", "--dry-run", "--output", "text=base.yaml"),
    ("settings", "./camera.yaml", "--for", "genai", "-o", "base.yaml"),
    ("settings", "--check", "ext.json", "-o", "json=ext.json"),
    ("diff", "camera.yaml", "burst", "--output", "text=camera.yaml"),
    ("diff", "ext.json", "ext.json", "--output", "json=ext.json"),
]


@pytest.mark.parametrize("arguments", OVER_INPUTS, ids=" ".join)
def test_no_output_takes_the_place_of_an_input(command: Command, arguments: tuple[str, ...]) -> None:
    """Neither the named file nor a file that it refers to is overwritten, in any form."""
    refused(command, *arguments)


@POSIX
@pytest.mark.parametrize("other", ["sub/../table", "hard", "sub/link/table"])
@pytest.mark.parametrize("arguments", [("trace", "table"), ("tune", "--fleet", ".", "--files", "table")])
def test_an_input_is_known_under_any_name(
    command: Command, folder: Path, arguments: tuple[str, ...], other: str
) -> None:
    """An input is recognized under another spelling, by a hard link, and through a linked folder; by a fleet too."""
    (folder / "sub").mkdir()
    (folder / "sub" / "link").symlink_to("..")
    (folder / "hard").hardlink_to(folder / "table")
    assert "is read by this command" in refused(command, *arguments, "--output", f"text={other}")


@pytest.mark.parametrize("part", ["log.jsonaa", "log.jsonab"])
def test_a_part_of_a_trace_is_an_input(command: Command, folder: Path, part: str) -> None:
    """All parts are read, whichever is named; a fleet reads them too."""
    text = (folder / "trace.json").read_bytes()
    (folder / "log.jsonaa").write_bytes(text[:200])
    (folder / "log.jsonab").write_bytes(text[200:])
    assert "is read by this command" in refused(command, "trace", "log.jsonaa", "--output", f"json={part}")
    fleet = ("tune", "--fleet", ".", "--files", "log*", "--output")
    assert "is read by this command" in refused(command, *fleet, f"json={part}")


def test_a_device_model_is_an_input(command: Command, folder: Path) -> None:
    """The page of tune can't replace the model."""
    command.output("calibrate", "-o", "dev.yaml", *QUICK)
    shutil.copy(folder / "dev.yaml", folder / "dev_copy.yaml")
    assert "ends in .yaml" in refused(command, "tune", "trace.json", "--device", "dev.yaml", "--page", "dev.yaml")


def test_the_standard_input_may_be_a_file(folder: Path) -> None:
    """The shell opened the file, and no output may replace it."""
    run = (sys.executable, "-m", "htppower", "trace", "-", "--output", "text=table")
    with (folder / "table").open("rb") as table:
        ended = subprocess.run(run, stdin=table, capture_output=True, check=False)
    assert (ended.returncode, (folder / "table").read_bytes()[:8]) == (2, b"begin_us")


@POSIX
@pytest.mark.parametrize("victim", ["victim", "missing", "/dev/null"])
@pytest.mark.parametrize(
    ("link", "arguments"),
    [
        ("out/camera_tuned.yaml", (*TUNE, "--write", "out")),
        ("out/burst_fleet.yaml", ("tune", "--fleet", ".", "--files", "table", "--write", "out")),
        ("out/burst_fleet.gaps.jsonl", ("tune", "--fleet", ".", "--files", "table", "--write", "out")),
        ("out/ext.yaml", ("import", "ext.json", "-o", "out")),
        ("out/profile.json", ("schema", "out")),
    ],
)
def test_a_link_in_the_output_folder_is_refused(
    command: Command, folder: Path, link: str, arguments: tuple[str, ...], victim: str
) -> None:
    """The target of the link is neither changed nor created, even with --force."""
    (folder / "out").mkdir()
    (folder / "victim").touch()
    (folder / link).symlink_to(victim if victim.startswith("/") else f"../{victim}")
    for force in ((),) if arguments[0] == "schema" else ((), ("--force",)):
        result = command.run(*arguments, *force)
        assert (result.exit_code, Path(link).name in result.stderr) == (2, True)
        assert ((folder / "victim").read_bytes(), (folder / "missing").exists()) == (b"", False)
        assert (folder / link).is_symlink()


@POSIX
@pytest.mark.parametrize("link", ["tests", "tests/camera.yaml"])
def test_no_test_is_written_through_a_link(command: Command, folder: Path, link: str) -> None:
    """Neither the folder tests nor a file in it may be a link, even with --force."""
    profile = folder / "mine" / "camera.yaml"
    (profile.parent / link).parent.mkdir(parents=True)
    (folder / "elsewhere").mkdir()
    shutil.copy(folder / "camera.yaml", profile)
    (profile.parent / link).symlink_to(folder / ("elsewhere" if link == "tests" else "missing"))
    assert "link" in refused(command, "test", "--write", "mine/camera.yaml", "--profiles", ".", "--force")
    assert not (folder / "missing").exists()


@POSIX
@pytest.mark.parametrize(
    "arguments",
    [
        ("calibrate", *QUICK, "-o"),
        ("export", "burst", "-o"),
        ("export", "burst", "--into", "ext.json", "-o"),
        ("export", "burst", "--into"),
        ("profile", "burst", "--dry-run", "--output"),
        ("settings", "burst", "--for", "genai", "-o"),
        ("trace", "trace.json", "--output"),
    ],
    ids=" ".join,
)
def test_a_link_that_is_named_as_an_output_is_refused(
    command: Command, folder: Path, arguments: tuple[str, ...]
) -> None:
    """A broken link is refused too, and its target is not created."""
    link = folder / "link.json"
    link.symlink_to("ext.json" if arguments[-1] == "--into" else "missing")
    assert "is a link" in refused(command, *arguments, "link.json")
    assert not (folder / "missing").exists()


@POSIX
def test_a_folder_below_that_is_a_link_out_is_not_written_to(command: Command, folder: Path) -> None:
    """If the folder of power states is a link out of the output folder, nothing is written."""
    exported = command.output("export", "balanced").replace("VCORNER_SVS2", "VCORNER_MIN_VOLTAGE_CORNER")
    (folder / "mine.json").write_text(exported, encoding="utf-8")
    (folder / "out").mkdir()
    (folder / "elsewhere").mkdir()
    (folder / "out" / "states").symlink_to("../elsewhere")
    assert "leads out of out by a link" in refused(command, "import", "mine.json", "-o", "out")


KEPT = [
    ("out/camera_tuned.yaml", (*TUNE, "--write", "out")),
    ("out/burst_fleet.yaml", ("tune", "--fleet", ".", "--files", "table", "--write", "out")),
    ("out/ext.yaml", ("import", "ext.json", "-o", "out")),
    ("out/made.json", ("export", "burst", "-o", "out/made.json")),
    ("out/made.json", ("export", "burst", "--into", "ext.json", "-o", "out/made.json")),
    ("out/calls.yaml", ("calibrate", *QUICK, "-o", "out/calls.yaml")),
    ("out/genai_config.json", ("settings", "burst", "--for", "genai", "-o", "out/genai_config.json")),
]


@pytest.mark.parametrize(("written", "arguments"), KEPT, ids=lambda each: each if isinstance(each, str) else each[0])
def test_an_edit_is_kept(command: Command, folder: Path, written: str, arguments: tuple[str, ...]) -> None:
    """An unedited file is replaced by the same command; an edited or other file only with --force."""
    (folder / "out").mkdir()
    path = folder / written
    for _ in range(2):
        assert command.run(*arguments).exit_code == 0
    for text in (path.read_text(encoding="utf-8") + EDIT, EDIT + path.read_text(encoding="utf-8"), "mine: 1\n"):
        path.write_text(text, encoding="utf-8")
        result = command.run(*arguments)
        assert (result.exit_code, "--force" in result.stderr) == (2, True)
        assert path.read_text(encoding="utf-8") == text
        assert command.run(*arguments, "--force").exit_code == 0
        assert EDIT not in path.read_text(encoding="utf-8")


def test_an_unedited_profile_is_replaced_by_another(command: Command, folder: Path) -> None:
    """The mark in it proves that only htppower wrote it, also with other line ends."""
    (folder / "out").mkdir()
    path = folder / "out" / "camera_tuned.yaml"
    tune = (*TUNE, "--write", "out")
    command.output(*tune)
    first = path.read_bytes()
    path.write_bytes(first.replace(b"\n", b"\r\n"))
    command.output(*tune, "--break-even", "1ms")
    assert path.read_bytes() != first
    assert command.output("lint", "out/camera_tuned.yaml", "--profiles", ".").startswith("1 file: no findings")


def test_measured_values_are_not_thrown_away(command: Command, folder: Path) -> None:
    """The error is raised without any measurement and says how to add to the file; --force replaces the values."""
    command.output("calibrate", "-o", "dev.yaml", *QUICK)
    calls = (folder / "dev.yaml").read_text(encoding="utf-8")
    late = re.sub(r"(raise_late_us:\n  value: .*\n  provenance: )\w+", r"\1measured", calls)
    (folder / "dev.yaml").write_text(late, encoding="utf-8")
    said = refused(command, "calibrate", "-o", "dev.yaml", *QUICK)
    assert "--device dev.yaml -o dev.yaml adds to it" in said
    assert "raise_late_us" in said
    command.output("calibrate", "--device", "dev.yaml", "-o", "dev.yaml", *QUICK)
    assert "raise_late_us" in refused(command, "calibrate", "-o", "dev.yaml", *QUICK)
    assert command.run("calibrate", "-o", "dev.yaml", "--force", *QUICK).exit_code == 0


def test_a_profile_is_put_into_its_file_again_and_again(command: Command, folder: Path) -> None:
    """--into keeps the rest of the file, so it needs no --force."""
    for name in ("burst", "balanced", "balanced"):
        command.output("export", name, "--into", "ext.json")
    assert "BALANCED" not in (folder / "ext.json").read_text(encoding="utf-8")
    command.output("export", "burst", "--into", "ext.json", "-o", "./ext.json")


FORMS = [
    (("profile", "burst", "--dry-run"), "x.svg", b"<svg"),
    (("profile", "burst", "--dry-run"), "x.HTML", b"<!DOCTYPE html"),
    (("profile", "burst", "--dry-run"), "x.json", b'{\n  "format_version"'),
    (("trace", "trace.json"), "x.svg", b"<svg"),
    (TUNE, "x.htm", b"<!DOCTYPE html"),
    (("lint", "ext.json"), "x.sarif", b'{\n  "$schema"'),
    (("lint", "ext.json"), "x.xml", b"<?xml"),
    (("diff", "ext.json", "ext.json"), "x.md", b""),
    (("settings", "--check", "ext.json"), "x.sarif", b'{\n  "$schema"'),
]


@pytest.mark.parametrize(("arguments", "name", "begin"), FORMS)
def test_the_suffix_says_the_form(
    command: Command, folder: Path, arguments: tuple[str, ...], name: str, begin: bytes
) -> None:
    """A plain FILE gets the form of its suffix; a second run overwrites the report."""
    for _ in range(2):
        assert command.run(*arguments, "--output", name).exit_code in (0, 1)
        assert (folder / name).read_bytes().startswith(begin)


def test_every_form_replaces_its_earlier_report(command: Command, folder: Path) -> None:
    """A report in another form, a recording, or a profile as JSON is not replaced."""
    run = ("profile", "burst", "--dry-run", "--output")
    for form in ("text", "json", "svg", "html", "trace"):
        for _ in range(2):
            command.output(*run, f"{form}=report")
        if form != "text":
            refused(command, *run, "text=report")
        (folder / "report").unlink()
    for form in ("text", "json", "github", "sarif", "junit"):
        for _ in range(2):
            assert command.run("lint", "camera.yaml", "--output", f"{form}=report").exit_code in (0, 1)
        (folder / "report").unlink()
    shutil.copy(folder / "table", folder / "[cam].csv")
    for _ in range(2):
        command.output("trace", "[cam].csv", "--output", "report.txt")
    for there in ("trace.json", "ext.json"):
        assert "is not an earlier report" in refused(command, *run, f"json={there}")
    for there in ("trace.json", "ext.json", "camera.yaml", "states/calm.yaml"):
        shutil.copy(folder / there, folder / "there")
        assert "is not an earlier report" in refused(command, *run, "text=there")


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("x.md", "the forms are text, json, svg, html, trace"),
        ("x.sarif", "the forms are text"),
        ("x.yaml", "which no report has"),
        ("text=x.yml", "which no report has"),
        ("json=x.csv", "which no report has"),
        ("text=x.svg", "the form is text"),
        ("svg=x.json", "the form is svg"),
        ("json=x.html", "the form is json"),
    ],
)
def test_a_suffix_that_says_another_form_is_refused(command: Command, folder: Path, output: str, said: str) -> None:
    """The error lists the forms of the command; no report has the suffix of a profile."""
    assert said in refused(command, "profile", "burst", "--dry-run", "--output", output)
    assert not list(folder.glob("x.*"))


def test_another_form_is_printed_beside_a_file_alone(command: Command) -> None:
    """Another form is printed if --format names it; else nothing is printed."""
    run = ("profile", "burst", "--dry-run", "--output", "x.svg")
    assert command.output(*run) == ""
    assert json.loads(command.output(*run, "--format", "json"))["format_version"] == 1


def test_nothing_is_written_if_one_can_not_be(command: Command, folder: Path) -> None:
    """All reports and profiles of a command are written, or none; two of them can't share a file."""
    (folder / "out").mkdir()
    (folder / "out" / "camera_tuned.yaml").write_text("mine\n", encoding="utf-8")
    tune = (*TUNE, "--write", "out")
    assert "exists and differs" in refused(command, *tune, "--page", "page.html")
    assert "its folder is missing" in refused(command, *tune, "--force", "--page", "none/page.html")
    assert "twice" in refused(command, *TUNE, "--page", "x.html", "--output", "html=x.html")


@POSIX
def test_an_open_stream_is_written_to(folder: Path) -> None:
    """Even if the shell redirected the stream to a file, later prints follow in it."""
    run = f"{sys.executable} -m htppower trace table --output json=/dev/stdout --output text=/dev/fd/3"
    subprocess.run(["/bin/sh", "-c", f"{run} >printed 3>third"], check=True)
    printed = (folder / "printed").read_text(encoding="utf-8")
    assert printed.startswith('{\n  "format_version"')
    assert printed.endswith((folder / "third").read_text(encoding="utf-8"))


@POSIX
def test_a_full_disk_is_told_and_leaves_nothing_of_other_files(command: Command, folder: Path) -> None:
    """A device is written first, so that no file is created if that fails."""
    said = refused(command, "trace", "trace.json", "--output", "text=/dev/full", "--output", "x.json")
    assert "can't write /dev/full: No space left on device" in said
    assert not (folder / "x.json").exists()


@POSIX
def test_a_folder_that_may_not_be_written_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the given path. Root may write everywhere, so the test fakes the system's answer."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "x.json.new")

    monkeypatch.setattr("htppower.control.files.new_file.FileIO", refuse)
    with pytest.raises(PermissionError) as raised:
        write_files({str(folder / "x.json"): "{}"})
    assert raised.value.filename == str(folder / "x.json")


@POSIX
@pytest.mark.parametrize("sort", list(Sort))
def test_a_link_that_is_planted_late_is_replaced(folder: Path, monkeypatch: pytest.MonkeyPatch, sort: Sort) -> None:
    """The target of the link is unchanged."""
    place, replace = folder / "x.yaml", Path.replace
    (folder / "victim").write_text("kept", encoding="utf-8")

    def planted(made: Path, path: Path) -> None:
        place.symlink_to("victim")
        replace(made, path)

    monkeypatch.setattr(Path, "replace", planted)
    write_files({str(place): File("a: 1\n", sort)})
    assert (place.is_symlink(), (folder / "victim").read_text(encoding="utf-8")) == (False, "kept")
