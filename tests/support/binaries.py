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


def pe_for_two(size_of_config: int = 0x140, pointer: int = 0x1800_1000) -> bytes:
    """Return a PE file for aarch64 whose load configuration points to code for x86-64 (ARM64X)."""
    optional = bytes(192) + struct.pack("<II", 0x1010, size_of_config) + bytes(40)
    header = struct.pack("<HHIIIHH", 0xAA64, 1, 0, 0, 0, len(optional), 0)
    section = b".rdata\0\0" + struct.pack("<IIII", 0x1000, 0x1000, 0x1000, 0x400) + bytes(16)
    head = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0" + header + optional + section
    config = struct.pack("<I", size_of_config) + bytes(0xC8 - 4) + struct.pack("<Q", pointer) + bytes(0x70)
    return head + bytes(0x410 - len(head)) + config
