"""Completion, requested in the way of a shell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from click.shell_completion import ShellComplete, get_completion_class
from click.testing import CliRunner

from htppower.tools.cli.completion import SHELLS
from htppower.tools.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command


def completed(*words: str) -> list[str]:
    """Return the proposals for the last word; for files, only the kind."""
    *before, incomplete = words
    items = ShellComplete(main, {}, "htppower", "_HTPPOWER_COMPLETE").get_completions(before, incomplete)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in items]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("pro",), ["profile"]),
        (("profile", "bur"), ["burst"]),
        (("show", "rel"), ["relaxed", "relaxed_up_down", "released", "released_up_down"]),
        (("profile", "./m"), ["<file>"]),
        (("explain", "SUS-"), [f"SUS-{number}" for number in range(1, 10)]),
        (("explain", "1300"), ["13000", "13001", "13002", "13003", "13004", "13005", "13006"]),
        (("explain", "TURBO_P"), ["TURBO_PLUS"]),
        (("explain", "burst", "dcvs"), ["dcvs_enable"]),
        (("explain", "burst", "relax.after_i"), ["relax.after_init_us", "relax.after_inference_us"]),
        (("explain", "relaxed", "relax."), []),
        (("explain", "no such", "core"), []),
        (("explain", "burst", "th"), ["then"]),
        (("explain", "burst", "ad"), ["adaptive_polling_time_us"]),
        (("tune", "--device", "snapdragon_8"), ["snapdragon_8_gen_3"]),
        (("profile", "burst", "--soc", "sm87"), ["SM8750", "SM8735"]),
        (("lint", "--arch", "V7"), ["V73", "V75", "V79"]),
        (("profile", "burst", "--platform", "q"), ["qnx"]),
        (("lint", "--output", "sa"), ["sarif="]),
        (("profile", "burst", "--", ""), ["<file>"]),
        (("profile", "burst", "--", "my_host", "--for"), ["<file>"]),
        (("profile", "burst", "--for"), ["--for", "--format"]),
        (("status", ""), ["<file>"]),
        (("calibrate", "--device", "snap"), ["snapdragon_8_gen_3", "snapdragon_x_elite"]),
        (("calibrate", "--device", "./m"), ["<file>"]),
        (("nonsense", ""), []),
    ],
)
def test_what_can_stand_there_is_offered(words: tuple[str, ...], offered: list[str]) -> None:
    """Each position completes its own names: profiles, power states, fields, rules, codes, corners, SoCs or forms."""
    said = completed(*words)
    if words[0] == "nonsense":
        assert "<file>" not in said
    else:
        assert said == offered


def test_profiles_of_named_folders_are_offered(tmp_path: Path) -> None:
    """A folder given earlier in the command is searched too; a wrong file in it, or a wrong folder, prints nothing."""
    (tmp_path / "camera.yaml").write_text("profile: camera\nextends: burst\n", encoding="utf-8")
    (tmp_path / "broken.yaml").write_text("profile: [\n", encoding="utf-8")
    assert completed("profile", "--profiles", str(tmp_path), "cam") == ["camera"]
    assert completed("explain", "--profiles", str(tmp_path), "broken", "c") == []
    assert "core" in completed("explain", "--profiles", str(tmp_path), "camera", "co")
    assert completed("profile", "--profiles", str(tmp_path / "none"), "bur") == ["burst"]


def test_what_a_profile_states_below_relax_is_offered(tmp_path: Path) -> None:
    """The keys of a learnt time and of ``then`` are proposed if the profile has them; so are models in a folder."""
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "board.yaml").touch()
    path = tmp_path / "mine.yaml"
    path.write_text(
        "profile: mine\nextends: burst\nrelax:\n  after_inference_us: {adaptive: {cold_starts: 5 %}}\n"
        "  then: {to: released, after_us: 1000000}\n"
    )
    offered = {word: completed("explain", str(path), word) for word in ("adaptive", "th", "cold", "break", "after_us")}
    assert offered == {
        "adaptive": ["adaptive_polling_time_us", "adaptive"],
        "th": ["then"],
        "cold": ["cold_starts"],
        "break": [],
        "after_us": ["after_us"],
    }
    assert completed("tune", "--profiles", str(tmp_path), "--device", "bo") == ["board"]


@pytest.mark.parametrize("shell", sorted({*SHELLS} - {"powershell"}))
def test_the_script_of_each_shell_is_printed(command: Command, shell: str) -> None:
    """The script calls the command with the variable that the command reads."""
    assert f"_HTPPOWER_COMPLETE={shell}_complete" in command.output("completion", shell)
    assert command.run("completion", "tcsh").exit_code == 2


def test_powershell(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script sets variables for which the command prints a type, a value and a help for each completion."""
    if get_completion_class("powershell") is None:
        assert "pip install 'click>=8.5'" in command.run("completion", "powershell").stderr
        return
    script = command.output("completion", "powershell")
    assert script.startswith("Register-ArgumentCompleter -Native -CommandName htppower ")
    assigned = re.findall(r"\$env:(\w+) = (?!\$prev)", script)
    assert {"_HTPPOWER_COMPLETE", "COMP_WORDS", "COMP_CWORD"} == {*assigned}
    monkeypatch.setenv("_HTPPOWER_COMPLETE", "powershell_complete")
    monkeypatch.setenv("COMP_WORDS", "htppower explain SUS-")
    monkeypatch.setenv("COMP_CWORD", "2")
    lines = CliRunner().invoke(main, [], prog_name="htppower").stdout.split()
    assert lines == [line for number in range(1, 10) for line in ("plain", f"SUS-{number}", "_")]
