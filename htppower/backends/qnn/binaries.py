"""The machine that a library is built for, by its headers: ELF, and PE with one or two kinds of code."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

_ELF = {3: "x86", 40: "arm", 62: "x86_64", 164: "hexagon", 183: "aarch64"}
PE_MACHINES = {0x14C: "x86", 0x8664: "x86_64", 0xAA64: "aarch64"}
# Offsets in a PE file of 64 bits: the load configuration in the optional header, and the pointer to the metadata of
# code for x86-64 in that configuration.
_LOAD_CONFIG, _CHPE = 192, 0xC8
# A file for Windows on ARM that processes for aarch64 and for x86_64 load (ARM64X).
ARM64X = "arm64x"
LOADED_BY = {ARM64X: ("aarch64", "x86_64")}


def machine_of(path: Path) -> str | None:
    """Return the machine that an ELF or PE file is built for; None if the file does not say."""
    with path.open("rb") as file:
        head = file.read(64)
        if head[:4] == b"\x7fELF" and len(head) == 64:  # noqa: PLR2004 - the size of the header
            (number,) = struct.unpack_from("<H" if head[5] == 1 else ">H", head, 18)
            return _ELF.get(number, f"ELF machine {number}")
        if head[:2] == b"MZ" and len(head) == 64:  # noqa: PLR2004 - as above
            file.seek(struct.unpack_from("<I", head, 60)[0])
            signature = file.read(6)
            if signature[:4] == b"PE\0\0" and len(signature) == 6:  # noqa: PLR2004 - signature and machine
                (number,) = struct.unpack_from("<H", signature, 4)
                built_for = PE_MACHINES.get(number, f"PE machine {number:#x}")
                return ARM64X if built_for == "aarch64" and _has_second_code(file) else built_for
    return None


def _has_second_code(file: BinaryIO) -> bool:
    """Return whether a PE file, read up to its machine, also holds code for x86-64 processes.

    Its load configuration, the tenth entry of the data directory, then points to metadata (CHPE).
    """
    header = file.read(18)
    optional = file.read(struct.unpack_from("<H", header, 14)[0]) if len(header) == 18 else b""  # noqa: PLR2004
    sections = file.read(40 * struct.unpack_from("<H", header)[0]) if optional else b""
    if len(optional) < _LOAD_CONFIG + 8:
        return False
    place, _ = struct.unpack_from("<II", optional, _LOAD_CONFIG)
    for at in range(0, len(sections) - 39, 40):
        size, address, _, offset = struct.unpack_from("<IIII", sections, at + 8)
        if address <= place < address + size:
            file.seek(offset + place - address)
            config = file.read(_CHPE + 8)
            return len(config) == _CHPE + 8 and struct.unpack_from("<I", config)[0] > _CHPE and any(config[_CHPE:])
    return False
