"""SoCs, Hexagon architectures and device models: a description of each, and the votes that it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.rules.platforms import ARCHITECTURES, Platform, UnknownPlatform, find_architecture, find_soc
from htppower.rules.socs import SOCS, Soc
from htppower.tools.review.explain.subject import Subject
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.votes.option import VoteOption

_SOURCE = "the vendor's table of supported Snapdragon devices; QnnHtpDevice.h, SDK 2.48"


def chip_names() -> tuple[str, ...]:
    """Return the part numbers of the SoCs, and the architectures."""
    return (*(name for soc in SOCS for name in soc.names), *(f"V{arch}" for arch in ARCHITECTURES))


def chip_subject(name: str) -> Subject | None:
    """Return a SoC by its part number or its name, or an architecture such as V75; None for any other name.

    A bare number is not a chip but a native code.
    """
    if name.isdecimal():
        return None
    try:
        return _architecture(find_architecture(name))
    except UnknownPlatform:
        pass
    try:
        return _soc(find_soc(name))
    except UnknownPlatform:
        return None


def _soc(soc: Soc) -> Subject:
    vtcm = "not in the vendor's table" if soc.vtcm_mb is None else f"{soc.vtcm_mb} MB"
    release = f"QAIRT {soc.first_sdk}, or an earlier one that was not tried" if soc.first_sdk else ""
    facts = (
        ("model", f"{soc.model}, the vendor's SoC model number: soc_model in extension files and in QnnHtp"),
        ("hexagon", f"V{soc.arch}"),
        ("vtcm", vtcm),
        *((name, text) for name, text in (("first release", release), ("remark", soc.remark)) if text),
        *_votes(Platform(soc.arch, soc)),
        ("seen in", f"htppower profile burst --dry-run --soc {soc.names[0]}"),
        ("source", _SOURCE),
    )
    return Subject("soc", "/".join(soc.names), f"a SoC with Hexagon V{soc.arch}", facts)


def _architecture(arch: int) -> Subject:
    socs = [name for soc in SOCS if soc.arch == arch for name in soc.names]
    facts = (
        ("socs", ", ".join(socs) or "none in the vendor's table"),
        *_votes(Platform(arch)),
        ("seen in", f"htppower profile burst --dry-run --arch V{arch}"),
        ("source", _SOURCE),
    )
    return Subject("architecture", f"V{arch}", "an architecture of the Hexagon", facts)


def _votes(platform: Platform) -> tuple[tuple[str, str], ...]:
    """Return which vote options a platform has on Linux, and which it lacks."""
    has = [about for about in VOTE_OPTIONS.values() if platform.has(about.option)]
    lacks = [about for about in VOTE_OPTIONS.values() if not platform.has(about.option)]
    return ("votes", _fields(has)), ("lacks", _fields(lacks) or "none of the vote options")


def _fields(options: Iterable[VoteOption]) -> str:
    return ", ".join(about.field for about in options)


def device_subject(name: str, folders: tuple[str, ...]) -> Subject | None:
    """Return a device model by its name; None if no file has it."""
    from htppower.errors import ProfileError  # noqa: PLC0415 - only for a name of nothing else
    from htppower.tools.tuning.models.file import device_names, load_device_model  # noqa: PLC0415

    try:
        if name not in device_names(folders):
            return None
        model = load_device_model(name, folders)
    except ProfileError:
        return None
    found = model.quantities()
    kinds = dict.fromkeys(quantity.provenance for quantity in found.values())
    facts = [
        (kind, ", ".join(each for each, quantity in found.items() if quantity.provenance == kind)) for kind in kinds
    ]
    facts.append(("used by", f"htppower tune trace.json --device {name}"))
    return Subject("device model", name, model.summary, tuple(facts))
