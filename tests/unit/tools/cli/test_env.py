"""``htppower env``: the lines of each form, and the errors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from support.binaries import elf

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the folders are those of POSIX")
VARIABLES = (
    *("HTPPOWER_QNN_LIBRARY", "QNN_SDK_ROOT", "QAIRT_SDK_ROOT", "LD_LIBRARY_PATH"),
    *("ADSP_LIBRARY_PATH", "CDSP_LIBRARY_PATH", "DSP_LIBRARY_PATH"),
)


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a library with a skel of V75 next to it, in a folder with odd characters; hide all variables."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "it's 100% $HOME"
    folder.mkdir()
    (folder / "libQnnHtp.so").write_bytes(elf(183))
    (folder / "libQnnHtpV75Skel.so").touch()
    return str(folder / "libQnnHtp.so")


@pytest.mark.parametrize("form", ["sh", "powershell", "dockerfile", "systemd"])
def test_the_lines_of_a_form(command: Command, library: str, form: str, tmp_path: Path) -> None:
    """Each line is whole, whatever the width, and quoted for its reader."""
    home = {
        "sh": f"""'{tmp_path}/it'"'"'s 100% $HOME""",
        "powershell": f"'{tmp_path}/it''s 100% $HOME",
        "dockerfile": f"=\"{tmp_path}/it's 100% \\$HOME",
        "systemd": f"={tmp_path}/it's 100%% $HOME",
    }[form]
    begin, end = {
        "sh": ("export {}=", "'"),
        "powershell": ("$env:{} = ", "'"),
        "dockerfile": ("ENV {}", '"'),
        "systemd": ('Environment="{}', '"'),
    }[form]
    names = ("HTPPOWER_QNN_LIBRARY", *VARIABLES[3:])
    lines = [f"{begin.format(name)}{home}{'/libQnnHtp.so' if name == names[0] else ''}{end}" for name in names]
    head = ["[Service]"] if form == "systemd" else []
    output = command.output("env", "--library", library, "--for", form, columns=40)
    assert output.splitlines() == head + lines


def test_a_shell_keeps_what_the_variables_have(command: Command, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container and a service start anew, so their lines do not have it. The form of a shell is the default."""
    monkeypatch.setenv("ADSP_LIBRARY_PATH", "/dsp")
    assert ";/dsp'" in command.output("env", "--library", library)
    for form in ("dockerfile", "systemd"):
        assert "/dsp" not in command.output("env", "--library", library, "--for", form)


def test_the_variable_names_the_library(command: Command, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without --library the library is searched, in the same order as by a host."""
    named = command.output("env", "--library", library)
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", library)
    assert command.output("env") == named


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--soc", "SM8750"], "no libQnnHtpV79Skel.so for"),
        (["--soc", "SM1"], "no SoC 'SM1'"),
        (["--library", "/nowhere/libQnnHtp.so"], "no library /nowhere/libQnnHtp.so"),
        (["--for", "fish"], "'fish' is not one of"),
    ],
)
def test_what_is_missing_is_an_error(command: Command, library: str, arguments: list[str], said: str) -> None:
    """The exit code is 2, nothing is printed, and the message says where was searched."""
    result = command.run("env", "--library", library, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    if "V79" in said:
        assert result.stderr.count("tried ") >= 3
