"""The output of the command fits the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from support.shipped import shipped_folder
from support.slashes import in_one_line
from support.two_folders import write_sides

from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.cli.main import main
from htppower.tools.report.layout import shown_width
from htppower.tools.review.explain.subjects import codes, corners, rule_ids

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

WIDTHS = (60, 80, 200)
# A split terminal, or a phone: the narrowest supported width.
NARROW = (40, *WIDTHS)
COMMANDS = (
    ("list",),
    ("diff", "{folder}/old", "{folder}/new", "--timeline"),
    ("diff", "burst", "extreme_power_saver", "--timeline"),
    ("lint", str(shipped_folder())),
    ("explain", "relaxed"),
    ("profile", "burst", "--dry-run", "--arch", "V73", "--platform", "qnx"),
    *(("explain", name) for name in SHIPPED_PROFILES),
    *(("profile", name, "--dry-run") for name in SHIPPED_PROFILES),
)
HELP = ((), *((name,) for name in main.list_commands(click.Context(main))))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder with two sides to compare."""
    write_sides(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("width", NARROW)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_line_is_wider(command: Command, folder: Path, arguments: tuple[str, ...], width: int) -> None:
    """At every width, the lines on each shipped profile fit and break no word."""
    given = [argument.format(folder=folder) for argument in arguments]
    lines = command.run(*given, columns=width).output.splitlines()
    assert lines
    assert [line for line in lines if shown_width(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_about_a_vendors_file_is_wider(command: Command, tmp_path: Path, width: int) -> None:
    """The losses of an export, the unknown keys of an import, and the findings of lint break no word."""
    file = tmp_path / "m.json"
    file.write_text(
        '{"devices": [{"soc_modle": 69, "cores": [{"perf_profile": "burst", "my_perf_profile": "balanced"}]}]}'
    )
    for arguments in (("export", "burst", "--notes"), ("import", str(file)), ("lint", str(file))):
        done = command.run(*arguments, columns=width)
        told = done.output if arguments[0] == "lint" else done.stderr
        # A place is never broken, so that a terminal can open it.
        lines = [line for line in told.splitlines() if str(file) not in line]
        assert lines
        assert [line for line in lines if shown_width(line) > width] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", HELP, ids=" ".join)
def test_no_line_of_help_is_wider(command: Command, arguments: tuple[str, ...], width: int) -> None:
    """The help of every command fits, breaks no option, and ends with an example."""
    lines = command.output(*arguments, "--help", columns=width).splitlines()
    assert [line for line in lines if shown_width(line) > width] == []
    assert not [line for line in lines if line.endswith("-")]
    assert [line.strip() for line in lines][-2] == "Example:"
    assert "htppower" in lines[-1]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_an_explanation_is_wider(command: Command, width: int) -> None:
    """The explanation of every rule, code and corner fits."""
    for name in (*rule_ids(), *codes(), *corners()):
        lines = command.output("explain", name, columns=width).splitlines()
        assert [line for line in lines if shown_width(line) > width] == [], name


def test_nothing_is_lost_in_a_narrow_terminal(command: Command) -> None:
    """A dry run has the same words at every width; only the line breaks differ."""
    told = [sorted(command.output("profile", "burst", "--dry-run", columns=width).split()) for width in WIDTHS]
    # If the call is below the heading, the heading has one word less.
    missing = set(told[1]) - set(told[0])
    assert missing <= {"call", "and", "votes"}
    assert told[1] == told[2]


@pytest.mark.parametrize("width", NARROW)
@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "nope"),
        ("explain", "nope"),
        ("profile", "burst", "--dry-run", "--soc", "X"),
        ("profile", "burst", "--dry-run", "--gap", "5"),
        ("list", "--no-such-option"),
        ("lint", "nowhere.yaml"),
        ("diff", "burst", "nope"),
        ("settings", "burst", "--for", "nobody"),
    ],
    ids=" ".join,
)
def test_no_line_of_an_error_is_wider(command: Command, arguments: tuple[str, ...], width: int) -> None:
    """A message that lists twenty profiles or fifty SoCs fits too."""
    result = command.run(*arguments, columns=width)
    assert result.exit_code == 2
    assert result.stderr
    assert [line for line in result.stderr.splitlines() if shown_width(line) > width] == []


def test_an_error_in_a_pipe_is_one_line(command: Command) -> None:
    """If no width is known, a message is one line, so that a program can read it."""
    message, *_ = command.run("show", "nope").stderr.splitlines()
    assert message.startswith("nope: NAME-1")
    assert "system_settings" in message


@pytest.mark.parametrize("width", NARROW)
def test_no_line_of_coverage_is_wider(command: Command, folder: Path, width: int) -> None:
    """The counts and the unchecked fields fit."""
    (folder / "tests").mkdir()
    (folder / "mine.yaml").write_text("profile: mine\nextends: burst\nsummary: Mine.\nrelax: {after_init_us: 5}\n")
    (folder / "tests" / "mine.yaml").write_text(
        "test: mine\nsummary: Mine.\nprofile: mine\nplatform: {soc: SM8650}\ncases:\n"
        "- {case: one, sequence: [init_us: 9], expect: [{at_us: 0, state: RAISED}]}\n"
    )
    result = command.run("test", str(folder), "--coverage", columns=width)
    assert [line for line in result.output.splitlines() if shown_width(line) > width and str(folder) not in line] == []
    assert "no test" in in_one_line(result.output)


@pytest.mark.parametrize("width", NARROW)
def test_no_line_of_a_calibration_is_wider(command: Command, tmp_path: Path, width: int) -> None:
    """The measured and earlier values, and the notes, fit."""
    file = str(tmp_path / "device.yaml")
    result = command.run("calibrate", "--backend", "simulated", "--count", "2", "-o", file, columns=width)
    assert [line for line in result.output.splitlines() if shown_width(line) > width and file not in line] == []
    assert "raise_call_us" in result.output
