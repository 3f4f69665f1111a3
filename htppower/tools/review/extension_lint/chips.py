"""The chip of an extension file: whether it is known, and what it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.rules.platforms import Platform
from htppower.rules.soc_names import by_kernel_number
from htppower.rules.socs import SOCS
from htppower.tools.extensions.extension_file import Wrong
from htppower.tools.extensions.json_parser import Kind
from htppower.tools.extensions.keys import BESIDE, BLOCKS, DSP_ARCHS, LLM_DECODE, Section
from htppower.tools.extensions.lost import architecture
from htppower.tools.extensions.performance import core_performance
from htppower.votes.options import BY_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.extension_file import Block, ExtensionFile

_LLM_FROM = 79
_DDR = "ddr_perf_mode"
# The most that is known: two NSPs on a chip (SA8775P), and four cores on an NSP (SA8797P).
_LAST_KNOWN = 3
# The objects with votes. A chip may lack a vote of theirs.
_VOTING = frozenset({Section.CORE, Section.CUSTOM_ITEM, Section.CUSTOM_OBJECT})


def of_chip(file: ExtensionFile, together: ExtensionFile, platform: Platform | None, *, taken: bool) -> Iterator[Wrong]:
    """Yield the faults of the chip that a file names, and the settings that the chip lacks.

    Args:
        file: the file. If it names an architecture, that replaces the architecture of ``platform``.
        together: the same file with the cores of a device merged into one, if the parser accepts that.
        platform: the platform to run on; None if that is not known.
        taken: whether the vendor's parser accepts the file, so that its votes are known.
    """
    arch = architecture(file)
    platform = Platform() if platform is None else platform
    if arch is not None:
        platform = attrs.evolve(platform, arch=arch)
    for block in file.blocks:
        if block.section is Section.DEVICE:
            yield from _unknown_chip(block)
            yield from _two_chips(block)
            yield from _numbered(block, "device_id")
            yield from _numbered(block, "core_id")
        elif block.section is Section.CORE:
            yield from _numbered(block, "core_id")
        elif block.section is Section.GRAPH:
            yield from _llm_decode(block, platform.arch)
        if block.section in _VOTING:
            yield from _lacking(block, platform)
    for core in together.of(Section.CORE):
        yield from _ddr(together, core, platform, taken=taken)
        yield from _llm_decode(core, platform.arch)


def _unknown_chip(device: Block) -> Iterator[Wrong]:
    """Yield SoCs and architectures that the vendor does not list. The number 0 and an empty text name none."""
    models = {soc.model for soc in SOCS}
    for name in ("soc_model", "soc_id"):
        node = device.get(name)
        number = device.number(name)
        if node is not None and number and number not in models:
            said = f"{name} {number} is in no list of the vendor's: for a SoC that the library does not know nothing is"
            soc = by_kernel_number(number)
            hint = "write the chip's model number, such as 69 for SM8750"
            if soc is not None:
                hint = f"write {soc.model}, the model number of {'/'.join(soc.names)}; {number} is the kernel's"
            yield Wrong("EXT-42", node, f"{said} voted", hint)
    arch = device.get("dsp_arch")
    word = device.word("dsp_arch")
    if arch is not None and word and word not in DSP_ARCHS:
        yield Wrong(
            "EXT-42", arch, f"dsp_arch {word!r} is in no list of the vendor's", f"known: {', '.join(DSP_ARCHS)}"
        )


def _two_chips(device: Block) -> Iterator[Wrong]:
    model, arch = device.get("soc_model"), device.get("dsp_arch")
    if model is None or arch is None or arch.kind is not Kind.TEXT:
        return
    for soc in SOCS:
        if soc.model == model.value and arch.value != f"v{soc.arch}":
            said = f"soc_model {soc.model} ({'/'.join(soc.names)}) is v{soc.arch}, and dsp_arch is {arch.value!r}"
            yield Wrong("EXT-35", arch, said, f'write "v{soc.arch}"')


def _numbered(block: Block, name: str) -> Iterator[Wrong]:
    """Yield a device or core that may not exist: the value of a key, or each in a list."""
    node = block.get(name)
    if node is None:
        return
    for each in node.items or (node,):
        if each.kind is not Kind.INTEGER or each.value <= 0:
            continue
        if each.value > _LAST_KNOWN:
            said = f"{name} {each.value}: no chip is known to have one, and without it nothing is voted"
            yield Wrong("EXT-43", each, said, "write 0, or one that the chip has")
        else:
            said = f"{name} {each.value}: on a chip without it the device can't be created, and nothing is voted"
            yield Wrong("EXT-53", each, said, "write 0 if the chip has no other")


def _ddr(file: ExtensionFile, core: Block, platform: Platform, *, taken: bool) -> Iterator[Wrong]:
    """Yield the DDR performance mode if the chip, the bus or polling does not allow it."""
    node = core.get(_DDR)
    if node is None or node.value is not True:
        return
    lost = "loses the raised votes with it: burst runs on the relaxed ones"
    option = BY_FIELD[_DDR].option
    if not platform.has(option):
        said = f"{_DDR} on v{platform.arch}, which has no such mode, {lost}"
        yield Wrong("EXT-30", node, said, "leave it out, or name a chip of v81 or later in dsp_arch")
        return
    missing = list(_ddr_needs(file, core)) if taken else []
    if missing:
        said = f"{_DDR} needs every bus corner at MAX and polling on, and {' and '.join(missing)}"
        yield Wrong("EXT-30", node, f"{said}: refused, it {lost}", "leave it out, or write perf_profile burst")
    elif platform.arch is None:
        said = f"{_DDR} on a chip without it {lost}"
        yield Wrong("EXT-30", node, said, "leave it out, or name a chip of v81 or later in dsp_arch")


def _ddr_needs(file: ExtensionFile, core: Block) -> Iterator[str]:
    """Yield what the mode needs and a device's raised votes lack (QnnHtpPerfInfrastructure.h, SDK 2.50)."""
    votes = core_performance(file, core).profile.votes
    bus = None if votes.hvx is None else votes.hvx.bus
    corners = [] if bus is None else list(dict.fromkeys(each.name for each in (bus.min, bus.target, bus.max)))
    if not corners or any(not name.startswith("MAX") for name in corners):
        yield f"the bus is at {'/'.join(corners)}" if corners else "no bus corner is voted"
    if not votes.rpc_polling_time_us:
        yield "polling is off"


def _lacking(block: Block, platform: Platform) -> Iterator[Wrong]:
    """Yield the keys whose votes the platform lacks, except keys that cancel such a vote."""
    for member in block.node.members:
        field = BESIDE.get(member.key) if block.section is Section.CORE else BLOCKS.get(member.key)
        if block.section is Section.CORE and member.key == "hmxControl":
            field = BLOCKS[member.key]
        if field is None or member.key == _DDR or platform.has(BY_FIELD[field].option):
            continue
        default = member.node.get("hmxPickDefault")
        if member.key == "hmxControl" and default is not None and default.value:
            continue  # every chip has the default
        if platform.os in BY_FIELD[field].not_on_systems:
            yield Wrong("EXT-37", member.node, f"{member.key} does not exist on QNX", "leave it out")
            continue
        needs = platform.needs(BY_FIELD[field].option)
        said = f"{member.key} on v{platform.arch}, which has no such vote, can lose the other votes of its call with it"
        yield Wrong("EXT-30", member, said, f"leave it out: it is for {needs}")


def _llm_decode(block: Block, arch: int | None) -> Iterator[Wrong]:
    profile = block.get("perf_profile")
    if profile is None or profile.kind is not Kind.TEXT or not profile.value.startswith(LLM_DECODE):
        return
    if arch is not None and arch < _LLM_FROM:
        said = f"{profile.value} on v{arch}: no raised vote is sent, and the run continues with the relaxed votes"
        yield Wrong("EXT-36", profile, said, f"write {profile.value.removeprefix(LLM_DECODE)}")
