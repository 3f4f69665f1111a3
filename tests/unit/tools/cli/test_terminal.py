"""Output to a terminal: colours as the environment asks, and no control sequence from a file."""

from __future__ import annotations

import ast
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder

import htppower
from htppower.tools.cli.terminal import in_colour, is_screen
from htppower.tools.report.styled import coloured, plain, safe_markup, styled, width

if TYPE_CHECKING:
    from support.command import Command

CLI = Path(htppower.__file__).parent / "cli"
# Every kind of terminal sequence, and rich's markup.
MARKUP = "[/x] [link=http://example.invalid]here[/link] [bold]b"
HOSTILE = f"\x1b[31m \x1b]0;owned\x07 \x9b2J \x7f \r \u202e {MARKUP}"
STYLES = re.compile(r"\x1b\[(0|1|2|3[1-6])m")
COLOURFUL = (
    ("profile", "burst", "--dry-run"),
    ("diff", "burst", "balanced"),
    ("explain", "burst"),
    ("explain", "burst", "core"),
    ("explain", "RPC-6"),
)


@pytest.mark.parametrize(
    ("environment", "terminal", "colour"),
    [
        ({}, False, False),
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": ""}, False, False),
        ({"TERM": "dumb"}, True, False),
        ({"TERM": "DUMB"}, True, False),
        ({"TERM": "unknown"}, True, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    ],
)
def test_the_environment_decides_on_colours(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], terminal: bool, colour: bool
) -> None:
    """NO_COLOR, FORCE_COLOR and TERM=dumb decide, in this order; otherwise only a terminal gets colours."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: terminal, raising=False)
    assert in_colour() is in_colour(err=True) is colour
    assert is_screen() is (terminal and environment.get("TERM", "").lower() not in {"dumb", "unknown"})


@pytest.mark.parametrize("arguments", COLOURFUL, ids=" ".join)
def test_every_command_obeys(command: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    """Colours appear on request, and the words are the same without them."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    forced = command.run(*arguments).stdout
    monkeypatch.setenv("NO_COLOR", "1")
    without = command.run(*arguments).stdout
    assert STYLES.search(forced)
    assert "\x1b" not in without
    assert STYLES.sub("", forced) == without


def test_a_file_gets_no_styles(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """--output writes no styles, whatever the environment asks for."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    command.run("diff", "burst", "balanced", "--output", f"text={tmp_path / 'out'}")
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert "burst" in written
    assert written == plain(written)


def _hostile_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "\x1b[31m\x9b2Jfolder\n[bold]forged: line"
    (folder / "states").mkdir(parents=True)
    summary = json.dumps(f"{HOSTILE}\nforged: line")
    (folder / "mine.yaml").write_text(
        f"profile: mine\nextends: burst\nsummary: {json.dumps(MARKUP)}\nrelax: {{to: low}}\n", encoding="utf-8"
    )
    named = f"profile: {json.dumps(HOSTILE)}\nextends: low_balanced\nsummary: {summary}\n"
    (folder / "named\x1b[1m.yaml").write_text(f"{named}votes: {{rpc_polling_time_us: 9}}\n", encoding="utf-8")
    state = f"state: low\nextends: relaxed\nsummary: {json.dumps(MARKUP)}\n"
    (folder / "states" / "low.yaml").write_text(state, encoding="utf-8")
    (folder / "states" / "low\x1b[1m.yaml").write_text(state, encoding="utf-8")
    wrong = f"profile: wrong\nextends: {summary}\n{summary}: 1\n"
    (folder / "wrong.yaml").write_text(wrong, encoding="utf-8")
    (folder / "burst.yaml").write_text("profile: burst\nextends: balanced\n", encoding="utf-8")
    return folder


ON_A_FOLDER = (
    ("list", "--profiles", "FOLDER"),
    ("lint", "FOLDER", "--notes"),
    ("show", "FOLDER/mine.yaml"),
    ("show", "FOLDER/states/low.yaml"),
    ("show", "FOLDER/wrong.yaml"),
    ("explain", "FOLDER/mine.yaml"),
    ("explain", "FOLDER/mine.yaml", "summary"),
    ("explain", "FOLDER/named\x1b[1m.yaml", "summary"),
    ("profile", "FOLDER/mine.yaml", "--dry-run"),
    ("profile", "FOLDER/named\x1b[1m.yaml", "--dry-run"),
    ("diff", "burst", "FOLDER/mine.yaml", "--timeline"),
    ("diff", str(shipped_folder()), "FOLDER", "--timeline"),
    ("diff", str(shipped_folder()), "FOLDER", "--format", "markdown"),
    ("doctor", "--profiles", "FOLDER"),
    ("doctor", "--library", "FOLDER/mine.yaml"),
    ("test", "FOLDER"),
    ("status", "FOLDER/mine.yaml"),
    ("schema", "FOLDER", "--check"),
    ("show", HOSTILE),
    ("explain", "burst", HOSTILE),
    ("profile", "burst", "--dry-run", HOSTILE),
    ("profile", "burst", "--dry-run", "--soc", HOSTILE),
    ("list", f"--{HOSTILE}"),
    (HOSTILE,),
    (f"--{HOSTILE}",),
)


@pytest.mark.skipif(sys.platform == "win32", reason="names that Windows has no files for")
@pytest.mark.parametrize("arguments", ON_A_FOLDER, ids=lambda arguments: " ".join(map(repr, arguments))[:60])
def test_no_text_of_a_file_acts_on_a_terminal(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Names, summaries, paths and arguments are escaped, and can't begin a line."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    folder = str(_hostile_folder(tmp_path))
    result = command.run(*(argument.replace("FOLDER", folder) for argument in arguments))
    assert "internal error" not in result.output
    assert result.output.strip()
    for line in STYLES.sub("", result.output).split("\n"):
        assert line.isprintable(), line
        assert not line.startswith(("forged", "[bold]forged"))


@pytest.mark.skipif(sys.platform == "win32", reason="as above")
def test_a_table_takes_no_text_for_markup(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """On a terminal, too, a summary with rich's markup is shown as written."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = command.run("list", "--profiles", str(_hostile_folder(tmp_path)), columns=400)
    assert "internal error" not in result.output
    assert MARKUP in result.stdout
    assert "]8;" not in result.stdout
    assert all(line.isprintable() for line in STYLES.sub("", result.stdout).split("\n"))


@pytest.mark.skipif(sys.platform == "win32", reason="as above")
@pytest.mark.parametrize("form", ["svg", "html", "trace"])
def test_a_picture_acts_on_no_terminal(command: Command, tmp_path: Path, form: str) -> None:
    """A picture has no control character, printed or written, wherever its profile is."""
    mine = str(_hostile_folder(tmp_path) / "mine.yaml")
    said = command.output("profile", mine, "--dry-run", "--format", form)
    assert said == safe_markup(said)
    assert "here" in said
    command.output("diff", "burst", mine, "--format", "html", "--output", f"html={tmp_path / 'out'}", exit_code=1)
    written = (tmp_path / "out").read_text(encoding="utf-8")
    assert written == safe_markup(written)
    assert "here" in written


def test_markup_keeps_the_letters_of_every_script() -> None:
    """In HTML, SVG and XML, only control characters and surrogates are escaped."""
    text = "\u05e9\u05dc\u05d5\u05dd \u200d \u00a0 \u2192\n\t"
    assert safe_markup(text) == text
    assert safe_markup("\x9b\x1b\ud800") == "\\x9b\\x1b\\ud800"


def test_a_style_is_of_one_text_and_no_text_can_end_it() -> None:
    """A styled text is made printable first, so that it can't hold a style mark; the marks do not count as width."""
    hostile = styled("a\ufdd1\x1b[32m\n", "bold")
    assert coloured(hostile) == "\x1b[1ma\\ufdd1\\x1b[32m\\n\x1b[0m"
    assert plain(hostile) == "a\\ufdd1\\x1b[32m\\n"
    assert width(styled("four", "bold", "red")) == len("four")
    assert styled("four", None) == "four"


def test_nothing_else_prints() -> None:
    """Only the module ``terminal`` of the command line calls click's or Python's functions that print."""
    forbidden = {"echo", "secho", "style", "unstyle", "Console", "print_exc", "write_stdout"}
    found = []
    for path in CLI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            by_click = isinstance(node, ast.Attribute) and node.attr in forbidden
            printed = isinstance(node, ast.Name) and node.id in {"print", "Console"}
            if path.name != "terminal.py" and (by_click or printed):
                found.append(f"{path}: {ast.unparse(node)}")
    assert not found


@pytest.mark.parametrize(
    "words", [("lint",), ("show",), ("settings", "--check"), ("settings", "--check", "--format", "github"), ("trace",)]
)
def test_no_path_is_a_command_of_a_step_of_github(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """If a line begins with a path that begins with two colons, the path gets ``./``; our own commands do not."""
    monkeypatch.chdir(tmp_path)
    name = "::stop-commands::x.yaml"
    (tmp_path / name).write_text("profile: [", encoding="utf-8")
    result = command.run(*words, name)
    lines = f"{result.stdout}\n{result.stderr}".split("\n")
    told = ("./::stop-commands::x.yaml", "htppower: ", "::error file=%3A%3Astop-commands")
    assert any(line.startswith(told) for line in lines)
    assert not any(line.lstrip().startswith("::stop") for line in lines)
    github = command.run("lint", name, "--format", "github").stdout
    assert github.startswith("::warning file=%3A%3Astop-commands")
