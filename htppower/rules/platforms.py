"""Platforms: which votes exist on a Hexagon architecture and an operating system."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError, shortened
from htppower.rules.soc_names import NO_HTP, near_soc, soc_of, without_htp
from htppower.rules.socs import SOCS, Soc
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from htppower.votes.options import Option

# QnnHtpDevice.h, SDK 2.48. V66 and older have no QNN HTP backend.
ARCHITECTURES = (68, 69, 73, 75, 79, 81, 85, 89)

# Matches an architecture given instead of a SoC.
_ARCHITECTURE = re.compile(r"(?:HEXAGON ?)?V([0-9]{2})", re.IGNORECASE | re.ASCII)
OPERATING_SYSTEMS = ("android", "linux", "windows", "qnx")


class UnknownPlatform(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """A SoC, architecture or operating system that is not in the tables."""


@attrs.frozen
class Platform:
    """The target of the votes.

    Attributes:
        arch: the Hexagon architecture, such as 75, or None if unknown.
        soc: the SoC, or None if unknown.
        os: one of ``OPERATING_SYSTEMS``.
    """

    arch: int | None = None
    soc: Soc | None = None
    os: str = "linux"

    def has(self, option: Option) -> bool:
        """Return whether votes on this option exist here; an unknown architecture counts as having them."""
        about = VOTE_OPTIONS[option]
        if self.os in about.not_on_systems:
            return False
        return self.arch is None or (self.arch >= about.first_arch and self.arch not in about.not_on_archs)

    @staticmethod
    def needs(option: Option) -> str:
        """Return a text that names the architectures with an option."""
        about = VOTE_OPTIONS[option]
        but = "".join(f", except V{arch}" for arch in sorted(about.not_on_archs))
        return f"Hexagon V{about.first_arch} or later{but}"

    def __str__(self) -> str:
        """Return SoC, architecture and operating system on one line."""
        soc = "" if self.soc is None else f"{'/'.join(self.soc.names)} (SoC model {self.soc.model}), "
        return f"{soc}{'an unknown Hexagon' if self.arch is None else f'Hexagon V{self.arch}'}, {self.os}"


def find_soc(name: str | int) -> Soc:
    """Return the SoC with this model number, part number or name: ``69``, ``SM8750-AB``, ``Snapdragon 8 Elite``.

    A number that is not a model number is read as the kernel's number, from /sys/devices/soc0/soc_id: 618 is model 69.

    Raises:
        UnknownPlatform: no such SoC; the message says that the chip has no HTP, or names the most similar SoC.
    """
    found = soc_of(name)
    if found is not None:
        return found
    old = without_htp(name)
    if old is not None:
        said = old if old == str(name).upper() else f"{str(name)!r} is {old}, which"
        raise UnknownPlatform(f"{said} {NO_HTP}")
    arch = _ARCHITECTURE.fullmatch(str(name).strip())
    if arch is not None and int(arch[1]) in ARCHITECTURES:
        parts = ", ".join(part for soc in SOCS if soc.arch == int(arch[1]) for part in soc.names)
        raise UnknownPlatform(f"{name!r} is a Hexagon architecture, not a SoC; SoCs with it: {parts or 'none known'}")
    near = near_soc(name)
    hint = f"did you mean {near}?" if near else f"known: {', '.join(part for soc in SOCS for part in soc.names)}"
    raise UnknownPlatform(f"no SoC {name!r}; {hint}")


def find_architecture(name: str | int) -> int:
    """Return the architecture as a number, from ``75``, ``"75"`` or ``"V75"``.

    Raises:
        UnknownPlatform: no architecture has that number.
    """
    digits = str(name).upper().removeprefix("V")
    for arch in ARCHITECTURES:
        if digits == str(arch):
            return arch
    known = ", ".join(f"V{arch}" for arch in ARCHITECTURES)
    raise UnknownPlatform(f"no Hexagon architecture {shortened(repr(name))}; known: {known}")


def platform_of(soc: str | int | None = None, arch: str | int | None = None, os: str = "linux") -> Platform:
    """Return the platform of a SoC, or of an architecture alone, with an operating system.

    Raises:
        UnknownPlatform: one of the three is not in the tables, or SoC and architecture disagree.
    """
    if os not in OPERATING_SYSTEMS:
        raise UnknownPlatform(f"no platform {os!r}; known: {', '.join(OPERATING_SYSTEMS)}")
    number = None if arch is None else find_architecture(arch)
    if soc is None:
        return Platform(number, None, os)
    found = find_soc(soc)
    if number is not None and number != found.arch:
        raise UnknownPlatform(f"{'/'.join(found.names)} is Hexagon V{found.arch}, not V{number}; give one of the two")
    return Platform(found.arch, found, os)
