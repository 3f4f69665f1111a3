"""What the command prints fits the width that it is shown in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import pytest
from shipped import shipped_folder
from sides import write_sides

from htppower.cli.main import main
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.review.explain.subjects import codes, corners, rule_ids
from htppower.review.layout import shown_width

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

WIDTHS = (60, 80, 200)
# A terminal beside another, or a phone: the narrowest in which a line is laid out.
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
    """Return a folder with two sides to compare, as the current one."""
    write_sides(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("width", NARROW)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_no_line_is_wider(command: Command, folder: Path, arguments: tuple[str, ...], width: int) -> None:
    """Every shipped profile is told within the width, in full words, whatever the width is."""
    given = [argument.format(folder=folder) for argument in arguments]
    lines = command.run(*given, columns=width).output.splitlines()
    assert lines
    assert [line for line in lines if shown_width(line) > width] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_about_a_vendors_file_is_wider(command: Command, tmp_path: Path, width: int) -> None:
    """What an export loses, what an import does not read, and what lint finds, all in full words."""
    file = tmp_path / "m.json"
    file.write_text(
        '{"devices": [{"soc_modle": 69, "cores": [{"perf_profile": "burst", "my_perf_profile": "balanced"}]}]}'
    )
    for arguments in (("export", "burst", "--notes"), ("import", str(file)), ("lint", str(file))):
        done = command.run(*arguments, columns=width)
        told = done.output if arguments[0] == "lint" else done.stderr
        # A place is never broken, so that it can be followed.
        lines = [line for line in told.splitlines() if str(file) not in line]
        assert lines
        assert [line for line in lines if shown_width(line) > width] == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("arguments", HELP, ids=" ".join)
def test_no_line_of_help_is_wider(command: Command, arguments: tuple[str, ...], width: int) -> None:
    """The help of every command keeps the width, too, breaks no option, and ends with an example."""
    lines = command.output(*arguments, "--help", columns=width).splitlines()
    assert [line for line in lines if shown_width(line) > width] == []
    assert not [line for line in lines if line.endswith("-")]
    assert [line.strip() for line in lines][-2] == "Example:"
    assert "htppower" in lines[-1]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_an_explanation_is_wider(command: Command, width: int) -> None:
    """Every rule, code and corner is told within the width."""
    for name in (*rule_ids(), *codes(), *corners()):
        lines = command.output("explain", name, columns=width).splitlines()
        assert [line for line in lines if shown_width(line) > width] == [], name


def test_nothing_is_lost_in_a_narrow_terminal(command: Command) -> None:
    """The same words are told in every width of a dry run; only where lines end differs."""
    told = [sorted(command.output("profile", "burst", "--dry-run", columns=width).split()) for width in WIDTHS]
    # A word of the heading is left out where the call stands below.
    missing = set(told[1]) - set(told[0])
    assert missing <= {"call", "and", "votes"}
    assert told[1] == told[2]
