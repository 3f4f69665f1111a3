"""``use_wheel_skels``: the variables lead FastRPC to the skels of the installed package."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import htppower
from htppower import BackendUnavailable, Unavailable
from htppower.backends.qnn import loaded
from htppower.backends.qnn.loaded import LoadedCopy

if TYPE_CHECKING:
    from pathlib import Path

VARIABLES = ("ADSP_LIBRARY_PATH", "CDSP_LIBRARY_PATH", "DSP_LIBRARY_PATH")
ARM64 = ("onnxruntime_qnn/libQnnHtpV75Skel.so", "onnxruntime_qnn/libQnnHtpV81Skel.so")


def install(folder: Path, *files: str) -> Path:
    """Install the package with these files as pip does, and return the folder."""
    info = folder / "onnxruntime_qnn-2.7.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: onnxruntime-qnn\nVersion: 2.7.0\n", encoding="utf-8")
    files = ("onnxruntime_qnn/__init__.py", "onnxruntime_qnn/libQnnHtp.so", *files)
    (info / "RECORD").write_text("".join(f"{name},sha256=x,1\n" for name in files), encoding="utf-8")
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise AssertionError('imported')\n", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def packages(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Hide the variables and the packages of this machine, and return the folder for packages."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    folder = tmp_path / "a folder" / "site-packages"
    monkeypatch.setattr(sys, "path", [str(folder)])
    return folder


@pytest.mark.parametrize("place", ["onnxruntime_qnn", "onnxruntime_qnn/libs/arm64ec"])
def test_the_variables_begin_with_the_folder_of_the_skels(
    packages: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The folders that the variables had follow it. A second call changes nothing."""
    monkeypatch.setenv("ADSP_LIBRARY_PATH", f"/dsp;;{packages / place};/usr/lib/rfsa/adsp")
    install(packages, f"{place}/libQnnHtpV73Skel.so")
    folder = str(packages / place)
    made = htppower.use_wheel_skels()
    assert made == {
        "ADSP_LIBRARY_PATH": f"{folder};/dsp;/usr/lib/rfsa/adsp",
        "CDSP_LIBRARY_PATH": folder,
        "DSP_LIBRARY_PATH": folder,
    }
    assert {name: os.environ[name] for name in VARIABLES} == made
    assert htppower.use_wheel_skels() == made


def test_a_loaded_library_is_too_late(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the loaded file, and no variable is set. If no variable would change, there is no error."""
    install(packages, *ARM64)
    with monkeypatch.context() as patch:
        patch.setattr(loaded, "copies", lambda _name: (LoadedCopy("/opt/libQnnHtp.so", 1, "/opt/libQnnHtp.so"),))
        with pytest.raises(BackendUnavailable, match=r"too late .*/opt/libQnnHtp.so") as caught:
            htppower.use_wheel_skels()
        assert caught.value.reason is Unavailable.ALREADY_LOADED
        assert not any(name in os.environ for name in VARIABLES)
    htppower.use_wheel_skels()
    monkeypatch.setattr(loaded, "copies", lambda _name: (LoadedCopy("/opt/libQnnHtp.so", 1, "/opt/libQnnHtp.so"),))
    htppower.use_wheel_skels()


def test_a_missing_package_is_an_error(packages: Path) -> None:
    """The error says what to install, and lists the folders that were searched."""
    with pytest.raises(BackendUnavailable, match="pip install onnxruntime-qnn") as caught:
        htppower.use_wheel_skels()
    assert caught.value.reason is Unavailable.SKEL_NOT_FOUND
    assert [step.path for step in caught.value.tried] == [str(packages)]


def test_a_wheel_without_skels_is_an_error(packages: Path) -> None:
    """The wheel for x86-64 Linux has none; a skel that is only listed is not there."""
    install(packages, *ARM64)
    for name in ARM64:
        (packages / name).unlink()
    with pytest.raises(BackendUnavailable, match=r"onnxruntime-qnn 2.7.0 in .* has no skels"):
        htppower.use_wheel_skels()


def test_a_package_in_the_current_directory_is_ignored(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory and relative folders are not searched."""
    install(packages, *ARM64)
    monkeypatch.chdir(packages)
    monkeypatch.setattr(sys, "path", ["", ".", str(packages)])
    with pytest.raises(BackendUnavailable, match="is not installed"):
        htppower.use_wheel_skels()


def test_the_c_library_sees_the_variables(packages: Path) -> None:
    """FastRPC reads the variables with getenv, so a change of Python's own dictionary is not enough."""
    install(packages, *ARM64)
    code = """
import ctypes, sys
import htppower
sys.path.insert(0, sys.argv[1])
htppower.use_wheel_skels()
getenv = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).getenv
getenv.restype = ctypes.c_char_p
print(getenv(b"ADSP_LIBRARY_PATH").decode())
"""
    done = subprocess.run([sys.executable, "-c", code, str(packages)], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(packages / "onnxruntime_qnn"), done.stderr
