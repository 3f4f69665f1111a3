"""The machine that a binary is built for, and the error for another machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from support.binaries import elf, pe, pe_for_two

from htppower.backends import QnnHtp
from htppower.backends.qnn import library as qnn_library
from htppower.backends.qnn.binaries import machine_of
from htppower.errors import BackendUnavailable, Unavailable

if TYPE_CHECKING:
    from pathlib import Path


def test_a_process_knows_what_it_is_built_for(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The executable names its machine, or else the system: 32-bit Python on a 64-bit kernel is not AArch64."""
    executable = tmp_path / "python"
    monkeypatch.setattr(sys, "executable", str(executable))
    monkeypatch.setattr("sysconfig.get_platform", lambda: "linux-aarch64")
    assert qnn_library.machine() == "aarch64"
    executable.write_bytes(elf(40))
    assert qnn_library.machine() == "arm"


@pytest.mark.parametrize(
    ("content", "built_for"),
    [
        (elf(183), "aarch64"), (elf(62), "x86_64"), (elf(40), "arm"), (elf(164), "hexagon"), (elf(3), "x86"),
        (elf(183, little=False), "aarch64"), (elf(8), "ELF machine 8"), (pe(0xAA64), "aarch64"),
        (pe(0x8664), "x86_64"), (pe(0x14C), "x86"), (pe(0x1C4), "PE machine 0x1c4"), (b"\x7fELF", None),
        (pe_for_two(), "arm64x"), (pe_for_two(pointer=0), "aarch64"), (pe_for_two(size_of_config=0x40), "aarch64"),
        (pe_for_two()[:0x450], "aarch64"), (pe_for_two()[:200], "aarch64"), (b"MZ" + bytes(62), None),
        (b"", None), (b"a text", None),
    ],
)  # fmt: skip
def test_what_a_binary_is_built_for(tmp_path: Path, content: bytes, built_for: str | None) -> None:
    """The header of an ELF or PE file gives the machine; other content gives none."""
    path = tmp_path / "library"
    path.write_bytes(content)
    assert machine_of(path) == built_for


def test_a_binary_for_another_machine(tmp_path: Path) -> None:
    """The error names the machine, before the loader is called."""
    path = tmp_path / "libQnnHtp.so"
    path.write_bytes(elf(164))
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp(path)
    assert caught.value.reason is Unavailable.WRONG_ARCHITECTURE
    assert f"{path} is built for hexagon, but this process for {qnn_library.machine()}" in str(caught.value)


@pytest.mark.parametrize(
    ("system", "process", "fits"),
    [
        ("aarch64", "aarch64", True),
        ("aarch64", "x86_64", True),
        ("aarch64", "arm", False),
        ("x86_64", "x86_64", False),
    ],
)
def test_a_library_with_code_for_two_machines_fits_both_on_arm64(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, process: str, fits: bool
) -> None:
    """On a Snapdragon a process for aarch64 or x86-64 tries to load the file; any other process or PC refuses it."""
    path = tmp_path / "QnnHtp.dll"
    path.write_bytes(pe_for_two())
    monkeypatch.setattr(qnn_library, "system_machine", lambda: system)
    monkeypatch.setattr(qnn_library, "machine", lambda: process)
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp(path)
    assert (caught.value.reason is Unavailable.NOT_LOADABLE) == fits


@pytest.mark.parametrize(
    ("content", "hexagon"), [(elf(183), True), (elf(62), False), (pe_for_two(), True), (pe(0x8664), False)]
)
def test_only_a_library_for_a_device_moves_clocks(tmp_path: Path, content: bytes, hexagon: bool) -> None:
    """The library for x86-64 answers like the others, but there is no Hexagon behind it."""
    path = tmp_path / "library"
    path.write_bytes(content)
    assert qnn_library.moves_clocks(str(path)) == hexagon


@pytest.mark.parametrize(
    ("system", "process", "first"), [("x86_64", "x86_64", "libs/amd64"), ("aarch64", "x86_64", "libs/arm64ec")]
)
def test_the_package_is_searched_for_the_library_of_the_system(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, process: str, first: str
) -> None:
    """A Python for x86-64 on a Snapdragon takes the library that reaches the Hexagon, not the one for a PC."""
    for folder in ("libs/amd64", "libs/arm64ec"):
        (tmp_path / "onnxruntime_qnn" / folder).mkdir(parents=True)
        (tmp_path / "onnxruntime_qnn" / folder / "QnnHtp.dll").write_bytes(pe(0x14C))
    (tmp_path / "onnxruntime_qnn" / "__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(qnn_library, "operating_system", lambda: "windows")
    monkeypatch.setattr(qnn_library, "system_machine", lambda: system)
    monkeypatch.setattr(qnn_library, "machine", lambda: process)
    for name in (qnn_library.VARIABLE, *qnn_library.SDK_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp()
    assert str(tmp_path / "onnxruntime_qnn" / first / "QnnHtp.dll") in str(caught.value)
