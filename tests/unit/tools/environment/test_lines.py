"""The lines of ``htppower env``: each reader gets exactly the values."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from htppower.tools.environment.lines import FORMS, NotOnALine, lines_of

SHELL, ANALYZE = (shutil.which(name) or "" for name in ("sh", "systemd-analyze"))
# What any of the readers treats in a special way, and other text.
SPECIAL = " \"'`$\\%#!*?~;:&|<>(){}[]^=\u2018\u2019\u201a\u201b"
VALUES = st.lists(
    st.text(st.sampled_from(SPECIAL) | st.characters(exclude_categories=["C", "Z"]), max_size=20),
    min_size=1,
    max_size=8,
)
ODD = [
    "/opt/qnn;/dsp",
    "/a b/it's",
    '/"q"/$HOME/${HOME}/$$/`id`/$(id)',
    "/100%/%h/%%",
    "/back\\slash\\\\",
    "\\",
    "\u2018typographic\u2019",
    "",
    " ",
]


def named(values: list[str]) -> dict[str, str]:
    """Return variables with these values."""
    return {f"V{place}": value for place, value in enumerate(values)}


def read_by_sh(values: dict[str, str]) -> list[str]:
    """Return the values that a POSIX shell gives to its children after it has read the lines."""
    script = "\n".join([*lines_of(values, FORMS["sh"]), "env -0"])
    done = subprocess.run(
        [SHELL, "-eu", "-c", script], capture_output=True, check=True, env={"PATH": os.environ["PATH"]}
    )
    variables = dict(os.fsdecode(each).split("=", 1) for each in done.stdout.split(b"\0") if each)
    return [variables[name] for name in values]


@pytest.mark.skipif(not SHELL, reason="no POSIX shell")
@given(VALUES)
@example(ODD)
def test_a_shell_reads_the_values(values: list[str]) -> None:
    """Nothing is expanded, split or lost."""
    assert read_by_sh(named(values)) == values


def quoted(line: str, left: str, right: str) -> str:
    """Return what is between the beginning and the end of a line."""
    assert line.startswith(left), line
    assert line.endswith(right), line
    return line.removeprefix(left).removesuffix(right)


@given(VALUES)
@example(ODD)
def test_powershell_reads_the_values(values: list[str]) -> None:
    """In single quotes only two quotes in a row are special: they are one. Other characters are numbers of UTF-16."""
    text = r"'((?:[^']|'')*)'"
    for name, value in named(values).items():
        (line,) = lines_of({name: value}, FORMS["powershell"])
        assert line.isascii()
        inner = quoted(line, f"$env:{name} = ", "")
        assert re.fullmatch(rf"{text}(?: \+ (?:{text}|\[char\]0x[0-9a-f]{{4}}))*", inner)
        units = b""
        for found in re.finditer(rf"(?:^| \+ )(?:{text}|\[char\]0x([0-9a-f]{{4}}))", inner):
            units += bytes.fromhex(found[2]) if found[2] else found[1].replace("''", "'").encode("utf-16-be")
        assert units.decode("utf-16-be") == value


@given(VALUES)
@example(ODD)
def test_a_dockerfile_reads_the_values(values: list[str]) -> None:
    """In double quotes a dollar begins a variable and a quote ends the word, unless a backslash is before them."""
    for name, value in named(values).items():
        (line,) = lines_of({name: value}, FORMS["dockerfile"])
        inner = quoted(line, f'ENV {name}="', '"')
        assert re.fullmatch(r'(?:[^"$\\]|\\["$\\])*', inner)
        assert re.sub(r'\\(["$\\])', r"\1", inner) == value


def systemd() -> list[str]:
    """Return the command of a user's systemd that only shows its units; skip if there is none."""
    program = next((path for path in ("/usr/lib/systemd/systemd", "/lib/systemd/systemd") if Path(path).exists()), None)
    if program is None or shutil.which("setpriv") is None:
        pytest.skip("systemd is not installed")
    # It refuses to show units to root.
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
    return [*as_nobody, program, "--user", "--test"]


def test_systemd_reads_the_values(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    """A unit of systemd has exactly the values."""
    command = systemd()
    values = named([value for value in ODD if value.strip()])
    units = tmp_path / "home" / ".config" / "systemd" / "user"
    units.mkdir(parents=True)
    lines = "\n".join(lines_of(values, FORMS["systemd"]))
    (units / "host.service").write_text(f"{lines}\nExecStart=/bin/true\n", encoding="utf-8")
    (units / "default.target").write_text("[Unit]\nWants=host.service\n", encoding="utf-8")
    if os.getuid() == 0:
        for folder in (tmp_path, *tmp_path.rglob("*")):
            os.chown(folder, 65534, 65534)
        for folder in (tmp_path_factory.getbasetemp(), tmp_path_factory.getbasetemp().parent):
            folder.chmod(0o711)
    environment = {"HOME": str(tmp_path / "home"), "XDG_RUNTIME_DIR": str(tmp_path), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    unit = done.stdout.partition("Unit host.service:")[2].partition("-> Unit")[0]
    if not unit:
        pytest.skip(f"systemd does not show its units here: {done.stderr[-200:]}")
    assert re.findall(r"^\t\tEnvironment: (.*)$", unit, re.MULTILINE) == [f"{n}={v}" for n, v in values.items()]


@pytest.mark.skipif(not ANALYZE, reason="systemd is not installed")
def test_systemd_finds_no_fault_in_the_lines(tmp_path: Path) -> None:
    """The lines are a part of a valid unit."""
    unit = tmp_path / "host.service"
    lines = "\n".join(lines_of(named(ODD), FORMS["systemd"]))
    unit.write_text(f"{lines}\nExecStart=/bin/true\n", encoding="utf-8")
    done = subprocess.run([ANALYZE, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert "host.service" not in done.stderr


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("odd", ["\n", "\r", "\t", "\x1b", "\u2028", "\xa0", "\udcff"])
def test_a_value_that_can_not_be_on_a_line_is_an_error(form: str, odd: str) -> None:
    """The error names the variable and the character; no line is made."""
    with pytest.raises(NotOnALine, match=r"ADSP_LIBRARY_PATH: .* which can't be on a line"):
        list(lines_of({"ADSP_LIBRARY_PATH": f"/opt{odd}/qnn"}, FORMS[form]))


def test_an_environment_file_has_bare_values() -> None:
    """Docker, Compose and systemd read a value without quotes alike, with the separator of FastRPC in it."""
    values = {"ADSP_LIBRARY_PATH": "/opt/qnn;/usr/lib/dsp", "LD_LIBRARY_PATH": "/opt/qnn:/lib"}
    lines = list(lines_of(values, FORMS["env-file"]))
    assert lines == ["ADSP_LIBRARY_PATH=/opt/qnn;/usr/lib/dsp", "LD_LIBRARY_PATH=/opt/qnn:/lib"]


@pytest.mark.parametrize("odd", [" ", "$", "'", '"', "#", "\\"])
def test_a_value_that_is_read_in_several_ways_is_in_no_environment_file(odd: str) -> None:
    """The error names the character."""
    with pytest.raises(NotOnALine, match="can't be in an environment file"):
        list(lines_of({"ADSP_LIBRARY_PATH": f"/opt{odd}x"}, FORMS["env-file"]))
