"""The machine that a binary is built for, and the error for another machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from support.binaries import elf, pe

from htppower.backends import QnnHtp
from htppower.backends.qnn import library as qnn_library
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
        (b"MZ" + bytes(62), None), (b"", None), (b"a text", None),
    ],
)  # fmt: skip
def test_what_a_binary_is_built_for(tmp_path: Path, content: bytes, built_for: str | None) -> None:
    """The header of an ELF or PE file gives the machine; other content gives none."""
    path = tmp_path / "library"
    path.write_bytes(content)
    assert qnn_library.machine_of(path) == built_for


def test_a_binary_for_another_machine(tmp_path: Path) -> None:
    """The error names the machine, before the loader is called."""
    path = tmp_path / "libQnnHtp.so"
    path.write_bytes(elf(164))
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp(path)
    assert caught.value.reason is Unavailable.WRONG_ARCHITECTURE
    assert f"{path} is built for hexagon, but this process for {qnn_library.machine()}" in str(caught.value)
