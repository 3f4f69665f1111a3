"""The output of the command on terminals, pipes and devices, also if these fail."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.checkout import ROOT

FAILING = ROOT / "tests" / "unit" / "tools" / "cli" / "vote_tests" / "failing.yaml"
FORMATS = ("svg", "html", "trace")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110 - a device
def test_output_that_can_not_be_written_is_no_traceback() -> None:
    """A full disk is one line on standard error and exit 2; a closed standard output is not a crash."""
    for redirection in ("> /dev/full", ">&-"):
        command = f"{sys.executable} -m htppower list {redirection}"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)  # noqa: S607
        assert "Traceback" not in done.stderr
        assert "internal error" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110 - a device
@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("-h > /dev/full", "htppower: can't write: No space left on device\n"),
        ("--version > /dev/full", "htppower: can't write: No space left on device\n"),
        ("show nono 2> /dev/full", ""),
        ("nono 2> /dev/full", ""),
    ],
)
def test_what_click_prints_and_errors_meet_a_full_disk(command: str, said: str) -> None:
    """If help or version can't be written, that is an error in one line; an unwritable error keeps its exit code."""
    full = f"{sys.executable} -m htppower {command}"
    done = subprocess.run(["sh", "-c", full], capture_output=True, text=True, check=False)  # noqa: S607
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_closed_pipe_is_no_traceback() -> None:
    """If the reader stops, as head does, standard error stays empty."""
    command = f"{sys.executable} -m htppower profile burst --dry-run | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)  # noqa: S607
    assert done.stderr == ""
    assert done.stdout.startswith("profile")


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        (["list"], {}, True),
        (["profile", "burst", "--dry-run"], {}, True),
        (["list"], {"NO_COLOR": "1"}, False),
        (["profile", "burst", "--dry-run"], {"NO_COLOR": "1"}, False),
        (["list"], {"TERM": "dumb"}, False),
        (["profile", "burst", "--dry-run"], {"TERM": "dumb"}, False),
    ],
)
def test_a_terminal_gets_colour_or_a_table(
    arguments: list[str], environment: dict[str, str], *, coloured: bool
) -> None:
    """On a terminal the output is styled, unless the environment forbids it; the words are the same."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "htppower", *arguments],
        stdout=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "160", **environment},
    )
    os.close(slave)
    output = b""
    while chunk := _read(master):
        output += chunk
    os.close(master)
    assert process.wait(60) == 0
    assert (b"\x1b" in output) is coloured
    assert b"burst" in output


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # The other end is closed.
        return b""


def test_a_terminal_without_a_letter_gets_an_escape(tmp_path: Path) -> None:
    """Characters that the terminal's encoding lacks are escaped, and no command fails."""
    mine = str(tmp_path / "mine.yaml")
    Path(mine).write_text("profile: mine\nextends: burst\nsummary: \N{RIGHTWARDS ARROW} up\n", encoding="utf-8")
    for arguments in (["lint", mine, "--notes"], ["profile", mine, "--dry-run"], ["explain", mine, "summary"]):
        done = subprocess.run(
            [sys.executable, "-m", "htppower", *arguments],
            capture_output=True,
            check=False,
            env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        )
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("form", FORMATS)
def test_pictures_are_utf8_whatever_the_terminal_is(tmp_path: Path, form: str) -> None:
    """A file that is declared as UTF-8 is written as UTF-8, whatever the encoding of standard output."""
    summary = "schnell \u2192 hei\u00df \u05e9\u05dc\u05d5\u05dd"
    path = tmp_path / "mine.yaml"
    path.write_text(f"profile: mine\nextends: burst\nsummary: {summary}\n", encoding="utf-8")
    command = [sys.executable, "-m", "htppower", "profile", str(path), "--dry-run", "--format", form]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment)
    text = done.stdout.decode("utf-8")
    assert summary in text or json.loads(text)["otherData"]["summary"] == summary


@pytest.mark.skipif(sys.platform != "linux", reason="names a folder as only Linux allows")
def test_junit_is_utf_8_whatever_the_terminal_takes(tmp_path: Path) -> None:
    """With a Windows code page, names in any script are complete; characters that XML lacks are replaced."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x01"))
    folder.mkdir()
    text = FAILING.read_text(encoding="utf-8").replace("case: on QNX", "case: RAISED \u2192 LOWERED")
    (folder / "test.yaml").write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "htppower", "test", str(folder), "--format", "junit"]
    result = subprocess.run(argv, capture_output=True, env=environment, check=False)
    assert (result.returncode, result.stderr) == (1, b"")
    (suite,) = ElementTree.fromstring(result.stdout)  # noqa: S314 - our own
    assert [case.get("name") for case in suite][2] == "RAISED \u2192 LOWERED"
    assert "\ufffd\ufffd" in (suite[0].get("file") or "")
