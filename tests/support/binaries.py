"""Headers of binaries."""

from __future__ import annotations

import struct


def elf(machine: int, *, little: bool = True) -> bytes:
    """Return the header of an ELF file."""
    order = "<" if little else ">"
    return b"\x7fELF" + bytes([2, 1 if little else 2, 1]) + bytes(9) + struct.pack(f"{order}HH", 3, machine) + bytes(44)


def pe(machine: int) -> bytes:
    """Return the headers of a PE file, up to the field of the machine."""
    return b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + struct.pack("<H", machine)
