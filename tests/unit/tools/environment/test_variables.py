"""The variables that a host needs: the library, the loader's folder, and the folders of the skels."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.binaries import elf

from htppower.errors import BackendUnavailable, Unavailable
from htppower.rules.platforms import UnknownPlatform
from htppower.tools.environment import skel_folders
from htppower.tools.environment.skel_folders import architecture
from htppower.tools.environment.variables import needed_variables

SKEL_VARIABLES = ("ADSP_LIBRARY_PATH", "CDSP_LIBRARY_PATH", "DSP_LIBRARY_PATH")
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the folders are those of POSIX")


@pytest.fixture(autouse=True)
def no_skels_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the folders of this machine."""
    monkeypatch.setattr(skel_folders, "SYSTEM_FOLDERS", ("/nowhere/rfsa/adsp",))


def library(path: Path, machine: int = 183) -> Path:
    """Write a library for a machine of ELF; 183 is aarch64."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(elf(machine))
    return path


def skel(folder: Path, arch: int) -> Path:
    """Write a skel, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"libQnnHtpV{arch}Skel.so").touch()
    return folder


@pytest.fixture
def sdk(tmp_path: Path) -> Path:
    """Return the library of an SDK with skels of V9, V75 and V81, whose folder has a space."""
    root = tmp_path / "an SDK" / "lib"
    for arch in (81, 9, 75):
        skel(root / f"hexagon-v{arch}" / "unsigned", arch)
    return library(root / "aarch64-oe-linux-gcc11.2" / "libQnnHtp.so")


def test_the_sdks_skel_of_this_hexagon_is_named(sdk: Path) -> None:
    """All three variables of the skel have its folder; the loader's has the folder of the library."""
    folder = str(sdk.parents[1] / "hexagon-v75" / "unsigned")
    made = needed_variables(str(sdk), 75, {}, keep=True)
    assert made.values == {
        "HTPPOWER_QNN_LIBRARY": str(sdk),
        "LD_LIBRARY_PATH": str(sdk.parent),
        **dict.fromkeys(SKEL_VARIABLES, folder),
    }
    assert made.notes == ()


def test_an_unknown_hexagon_gets_all_skels(sdk: Path) -> None:
    """The folders are in the order of the architectures, by number."""
    value = needed_variables(str(sdk), None, {}, keep=False).values["ADSP_LIBRARY_PATH"]
    assert [Path(each).parent.name for each in value.split(";")] == ["hexagon-v9", "hexagon-v75", "hexagon-v81"]


def test_a_wheels_skels_are_next_to_the_library(tmp_path: Path) -> None:
    """They are found through a link, too; the library is named by the path that was given."""
    real = library(tmp_path / "onnxruntime_qnn" / "libQnnHtp.so")
    skel(real.parent, 81)
    link = tmp_path / "libQnnHtp.so"
    link.symlink_to(real)
    for arch in (81, None):
        made = needed_variables(str(link), arch, {}, keep=False).values
        assert made["HTPPOWER_QNN_LIBRARY"] == str(link)
        assert made["LD_LIBRARY_PATH"] == made["ADSP_LIBRARY_PATH"] == str(real.parent)


def test_what_the_variables_have_follows(sdk: Path) -> None:
    """Each folder is named once. An empty entry is left out, since a loader takes it for the current directory."""
    folder = str(sdk.parents[1] / "hexagon-v75" / "unsigned")
    before = {"ADSP_LIBRARY_PATH": f"/dsp;{folder}", "LD_LIBRARY_PATH": f":/x:{sdk.parent}:"}
    made = needed_variables(str(sdk), 75, before, keep=True).values
    assert made["ADSP_LIBRARY_PATH"] == f"{folder};/dsp"
    assert made["CDSP_LIBRARY_PATH"] == folder
    assert made["LD_LIBRARY_PATH"] == f"{sdk.parent}:/x"
    anew = needed_variables(str(sdk), 75, before, keep=False).values
    assert (anew["ADSP_LIBRARY_PATH"], anew["LD_LIBRARY_PATH"]) == (folder, str(sdk.parent))


def test_skels_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a skel near the library, the folders of the variables are searched, then those of the system."""
    file = str(library(tmp_path / "lib" / "libQnnHtp.so"))
    system, own = skel(tmp_path / "system", 75), skel(tmp_path / "own", 75)
    monkeypatch.setattr(skel_folders, "SYSTEM_FOLDERS", (str(system),))
    made = needed_variables(file, 75, {"CDSP_LIBRARY_PATH": f"relative;/nowhere;{own}"}, keep=False).values
    assert made["ADSP_LIBRARY_PATH"] == str(own)
    assert needed_variables(file, 75, {}, keep=False).values["ADSP_LIBRARY_PATH"] == str(system)


def test_a_missing_skel_is_an_error(sdk: Path) -> None:
    """The error has each folder that was searched, and a skel of another Hexagon is not enough."""
    with pytest.raises(BackendUnavailable, match=r"no libQnnHtpV73Skel\.so for") as caught:
        needed_variables(str(sdk), 73, {"DSP_LIBRARY_PATH": "/there"}, keep=False)
    assert caught.value.reason is Unavailable.SKEL_NOT_FOUND
    assert [step.path for step in caught.value.tried] == [
        str(sdk.parent),
        str(sdk.parents[1] / "hexagon-v73" / "unsigned"),
        str(sdk.parents[2] / "hexagon-v73" / "unsigned"),
        "/there",
        "/nowhere/rfsa/adsp",
    ]


def test_a_library_for_x86_64_needs_no_skel(tmp_path: Path) -> None:
    """It has no Hexagon, and a note says so."""
    file = library(tmp_path / "libQnnHtp.so", 62)
    made = needed_variables(str(file), None, {}, keep=False)
    assert list(made.values) == ["HTPPOWER_QNN_LIBRARY", "LD_LIBRARY_PATH"]
    assert made.notes == (f"{file} is for x86-64: it has no Hexagon, and needs no skel",)


def test_the_loader_needs_no_variable_on_windows(tmp_path: Path) -> None:
    """A DLL is loaded by its path, and finds its parts in its own folder."""
    dll = library(tmp_path / "QnnHtp.dll")
    skel(tmp_path, 81)
    assert "LD_LIBRARY_PATH" not in needed_variables(str(dll), 81, {}, keep=False).values


@pytest.mark.parametrize(
    ("folder", "name", "variable"),
    [
        ("a:b", "libQnnHtp.so", "LD_LIBRARY_PATH"),
        ("a;b", "libQnnHtp.so", "LD_LIBRARY_PATH"),
        ("a;b", "QnnHtp.dll", "ADSP_LIBRARY_PATH"),
    ],
)
def test_a_separator_in_a_folder_is_an_error(tmp_path: Path, folder: str, name: str, variable: str) -> None:
    """FastRPC or the loader would read two folders; the error says which variable."""
    file = library(tmp_path / folder / name)
    skel(file.parent, 75)
    with pytest.raises(BackendUnavailable, match=f"^{variable} can't have the folder .*'{folder[1]}' separates"):
        needed_variables(str(file), 75, {}, keep=False)


def test_the_architecture_of_this_chip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is that of the named SoC, or of the first readable number of the kernel; unknown numbers give none."""
    assert architecture("SM8650") == 75
    with pytest.raises(UnknownPlatform):
        architecture("SM1")
    number = tmp_path / "soc_id"
    monkeypatch.setattr(skel_folders, "SOC_IDS", (str(tmp_path / "missing"), str(number)))
    assert architecture(None) is None
    for text, arch in (("557\n", 75), ("660", 81), ("999999", None), ("x", None)):
        number.write_text(text, encoding="ascii")
        assert architecture(None) == arch
