"""``htppower doctor`` on the variables that tell FastRPC where the skel is."""

from __future__ import annotations

import json
import os
import shlex
from typing import TYPE_CHECKING

import pytest
from support.slashes import in_one_line

from htppower.backends import SimulatedHtp
from htppower.backends.qnn.skels import SKEL_VARIABLES
from htppower.tools.doctor import answers
from htppower.tools.doctor.skel_paths import judged_skel_paths, line_with_skel_first

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the lines are those of a POSIX shell")


@pytest.fixture
def skels(tmp_path: Path) -> Path:
    """Return a folder with the skel of V75."""
    folder = tmp_path / "skels"
    folder.mkdir()
    (folder / "libQnnHtpV75Skel.so").touch()
    return folder


@pytest.mark.parametrize("name", SKEL_VARIABLES)
def test_a_folder_with_the_skel_is_all_that_is_needed(name: str, skels: Path) -> None:
    """Other folders or an empty entry may come first; an unknown architecture takes any skel."""
    for arch in (75, None):
        assert judged_skel_paths({name: f"{skels.parent};;{skels}"}, arch).faults == ()
    assert judged_skel_paths({}, 75).faults == ()


def test_colons_are_told_and_mended(skels: Path) -> None:
    """FastRPC separates folders by semicolons, so a colon is part of a folder's name."""
    paths = judged_skel_paths({"ADSP_LIBRARY_PATH": f"{skels}:{skels.parent}"}, 75)
    assert [fault.partition(":")[0] for fault in paths.faults] == ["ADSP_LIBRARY_PATH has '"]
    assert paths.lines == (f"export ADSP_LIBRARY_PATH={shlex.quote(f'{skels};{skels.parent}')}",)
    odd = skels.rename(skels.parent / "a:b")
    assert judged_skel_paths({"ADSP_LIBRARY_PATH": str(odd)}, 75).faults == ()


def test_relative_and_missing_folders_are_told(skels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the proposed line, a relative folder becomes absolute and a missing folder is left out."""
    monkeypatch.chdir(skels)
    paths = judged_skel_paths({"DSP_LIBRARY_PATH": ".;/not/there"}, 75)
    assert "relative folder ." in paths.faults[0]
    assert "/not/there, which is not a folder here" in paths.faults[1]
    assert paths.lines == (f"export DSP_LIBRARY_PATH={shlex.quote(str(skels))}",)


def test_the_skel_of_another_hexagon_is_not_enough(skels: Path, tmp_path: Path) -> None:
    """The proposed line begins with the folder of the right skel near the library, or with a placeholder."""
    paths = judged_skel_paths({"CDSP_LIBRARY_PATH": str(skels)}, 81)
    assert paths.faults == ("libQnnHtpV81Skel.so is in no folder of CDSP_LIBRARY_PATH",)
    assert paths.lines == ("export ADSP_LIBRARY_PATH=/FOLDER/OF/THE/SKEL",)
    library = tmp_path / "lib" / "aarch64-android" / "libQnnHtp.so"
    right = tmp_path / "lib" / "hexagon-v81" / "unsigned"
    for folder in (library.parent, right):
        folder.mkdir(parents=True)
    library.touch()
    (right / "libQnnHtpV81Skel.so").touch()
    (line,) = judged_skel_paths({"ADSP_LIBRARY_PATH": str(skels)}, 81, str(library)).lines
    assert line == f"export ADSP_LIBRARY_PATH={shlex.quote(f'{right};{skels}')}"


def test_what_fastrpc_does_not_read_is_no_help(skels: Path, tmp_path: Path) -> None:
    """While DSP_LIBRARY_PATH is set, FastRPC does not read ADSP_LIBRARY_PATH, so the line sets the former."""
    other = tmp_path / "other"
    other.mkdir()
    paths = judged_skel_paths({"ADSP_LIBRARY_PATH": str(skels), "DSP_LIBRARY_PATH": str(other)}, 75)
    assert "ADSP_LIBRARY_PATH has it, but FastRPC does not read that while DSP_LIBRARY_PATH is set" in paths.faults[0]
    assert paths.lines == (f"export DSP_LIBRARY_PATH={shlex.quote(f'/FOLDER/OF/THE/SKEL;{other}')}",)


def test_a_folder_named_cdsp_is_searched_first(skels: Path) -> None:
    """FastRPC looks for the skel in the folder's own ``cdsp``."""
    skels.rename(skels.parent / "cdsp")
    assert judged_skel_paths({"ADSP_LIBRARY_PATH": str(skels.parent)}, 75).faults == ()


def test_an_empty_variable_is_unset(skels: Path) -> None:
    """The proposed line quotes a value if a shell would replace a part of it."""
    paths = judged_skel_paths({"ADSP_LIBRARY_PATH": "", "DSP_LIBRARY_PATH": str(skels)}, 75)
    assert (paths.faults, paths.lines) == (("ADSP_LIBRARY_PATH is empty",), ("unset ADSP_LIBRARY_PATH",))
    (line,) = judged_skel_paths({"ADSP_LIBRARY_PATH": f"{skels.rename(skels.parent / '$a')}:/"}, 75).lines
    assert line == f"export ADSP_LIBRARY_PATH='{skels.parent}/$a;/'"


def _with_release(path: Path, release: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"\x7fELF\0AISW_VERSION: " + release.encode() + b"\0")
    return path


def test_a_skel_of_another_release_first_is_told(skels: Path, tmp_path: Path) -> None:
    """The proposed line puts the skel near the library first; the same release is no fault."""
    library = _with_release(tmp_path / "lib" / "libQnnHtp.so", "2.51.0")
    _with_release(skels / "libQnnHtpV75Skel.so", "2.48.0")
    near = _with_release(library.parent / "libQnnHtpV75Skel.so", "2.51.0")
    variables = {"ADSP_LIBRARY_PATH": f"{skels};{near.parent}"}
    paths = judged_skel_paths(variables, 75, str(library))
    assert paths.faults == ("ADSP_LIBRARY_PATH leads to libQnnHtpV75Skel.so of 2.48.0, but the library is of 2.51.0",)
    assert paths.lines == (f"export ADSP_LIBRARY_PATH={shlex.quote(f'{near.parent};{skels}')}",)
    assert judged_skel_paths({"ADSP_LIBRARY_PATH": f"{near.parent};{skels}"}, 75, str(library)).faults == ()


def test_the_line_is_for_the_variable_that_fastrpc_reads(skels: Path) -> None:
    """With DSP_LIBRARY_PATH set, FastRPC does not read ADSP_LIBRARY_PATH."""
    placeholder = "/FOLDER/OF/THE/SKEL"
    assert line_with_skel_first({}, 75, "") == f"export ADSP_LIBRARY_PATH={shlex.quote(placeholder)}"
    both = {"ADSP_LIBRARY_PATH": "/a", "DSP_LIBRARY_PATH": str(skels)}
    assert line_with_skel_first(both, 75, "") == f"export DSP_LIBRARY_PATH={shlex.quote(f'{placeholder};{skels}')}"


@pytest.mark.parametrize("soc", ["SM8650", None])
def test_doctor_says_what_is_wrong_and_what_to_type(
    command: Command, monkeypatch: pytest.MonkeyPatch, skels: Path, soc: str | None
) -> None:
    """The proposed line is whole in text and in JSON, even if no library opens."""
    monkeypatch.setattr(answers, "QnnHtp", lambda *_: SimulatedHtp(arch=75))
    library = [] if soc is None else ["--library", str(skels / "not_there.so"), "--soc", soc]
    if soc is not None:
        monkeypatch.undo()
    monkeypatch.setenv("ADSP_LIBRARY_PATH", f"{skels}:/vendor/lib64")
    result = command.run("doctor", *library)
    assert "FastRPC separates folders by ';'" in in_one_line(result.stdout)
    assert f"export ADSP_LIBRARY_PATH={shlex.quote(str(skels))}" in result.stdout
    document = json.loads(command.run("doctor", "--format", "json", *library).stdout)
    assert len(document["skel_paths"]) == 2
    assert document["next"][-1] == f"export ADSP_LIBRARY_PATH={shlex.quote(str(skels))}"
