"""How a SoC is found by any of its names, and which chips have no HTP.

Sources: X1E as SC8380XP: https://lore.kernel.org/r/20231123135028.29433-1-quic_sibis@quicinc.com; X1P has the same
Hexagon as X1E (qualcomm/GenieX issue 1153), and X2P the same as X2E (issue 1223). The kernel's numbers are from
include/dt-bindings/arm/qcom,ids.h of Linux.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.rules.socs import SOCS, Soc

if TYPE_CHECKING:
    from collections.abc import Mapping

# The part numbers of laptops, such as X1E80100, X1P42100 and X126100.
_LAPTOPS = (
    (re.compile(r"X1[EP]?[0-9]{2}1(?:[0-9]{2}|DE)"), 60),
    (re.compile(r"X2[EP][0-9]{2}1[0-9]{2}"), 88),
)
# Chips without an HTP, their marketing names, and the kernel's or the vendor's numbers. The vendor names a Hexagon V66
# or older for most of them; the SoC table of QAIRT 2.47 names none for SM4635 and SM6450Q.
_WITHOUT_HTP: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "SM8250": ("Snapdragon 865", "Snapdragon 865+", "Snapdragon 870", "356"),
        "QRB5165": ("RB5", "455"),
        "QCS8250": (),
        "SXR2130": ("Snapdragon XR2", "Snapdragon XR2 Gen 1"),
        "SM8150": ("Snapdragon 855", "Snapdragon 855+", "Snapdragon 860", "339"),
        "SA8155": ("362",),
        "SA8195": (),
        "SC8180": ("Snapdragon 8cx", "Snapdragon 8cx Gen 2"),
        "SC7180": ("Snapdragon 7c", "425"),
        "SM7250": ("Snapdragon 765", "Snapdragon 765G", "Snapdragon 768G"),
        "SM7225": ("Snapdragon 750G", "459"),
        "SM7150": ("Snapdragon 730", "Snapdragon 730G", "Snapdragon 732G", "365", "366"),
        "SM7125": ("Snapdragon 720G", "443"),
        "SM6450Q": ("65",),
        "SM6375": ("Snapdragon 695", "507"),
        "SM6350": ("Snapdragon 690", "434"),
        "SM6225": ("Snapdragon 680", "Snapdragon 685"),
        "SM6150": ("Snapdragon 675",),
        "SM6125": ("Snapdragon 665", "394"),
        "SM6115": ("Snapdragon 662", "444"),
        "SM4635": ("71",),
        "SM4450": ("Snapdragon 4 Gen 2", "568"),
        "SM4375": ("Snapdragon 4 Gen 1",),
        "SM4350": ("Snapdragon 480", "Snapdragon 480+"),
        "SM4250": ("Snapdragon 460", "417"),
        "SDM845": ("Snapdragon 845", "321"),
        "SDM710": ("Snapdragon 710",),
        "SDM670": ("Snapdragon 670", "336"),
        "SDM660": ("Snapdragon 660", "317"),
        "MSM8998": ("Snapdragon 835", "292"),
        "MSM8996": ("Snapdragon 820", "Snapdragon 821", "246"),
        "QCS615": ("QCS610", "680"),
        "QCM4290": ("QCS4290", "469", "470"),
        "QCM2290": ("QRB2210", "441", "524"),
    }
)
# Prefixes of the part numbers of older families; no chip of these has an HTP.
_OLD = re.compile(r"(?:SDM|SDA|MSM|APQ)[0-9]{3,4}[A-Z]*")
# A variant and a speed bin follow the digits of a part number: SM8650-AC.
_PART = re.compile(r"(?P<part>[A-Z]+[0-9]{3,4})(?:XP|P|X)?(?:[0-9]?A[A-F])?")
_FILLING = re.compile(
    r"QUALCOMM|TECHNOLOGIES|\bINC\b|QCOM,|\(TM\)|\(R\)|SNAPDRAGON|\bSD(?=[ -]?[0-9])|DRAGONWING|MOBILE|COMPUTE|PLATFORM"
    r"|FOR GALAXY|LEADING VERSION|5G|\b(?:PROXY|QRD|CRD|ADP|HDK)\b|\b[0-9]{1,2}[- ]CORE|[^A-Z0-9+]"
)
NO_HTP = "has no HTP: the vendor lists no Hexagon from V68 on for it"
_LONGEST_NAME = 80
_MOST_DIGITS = 4
_NEAR = 0.8


def _plain(name: str) -> str:
    """Return a name without brand, spaces and hyphens, and with ``+`` for ``Plus``.

    "Snapdragon X" keeps its brand, since X alone is not a name.
    """
    said = name[:_LONGEST_NAME].upper().replace("PLUS", "+")
    bare = _FILLING.sub("", said)
    return bare if len(bare) > 1 else "".join(said.split())


def _part(plain: str) -> str:
    """Return a part number without its variant; any other name is unchanged."""
    found = _PART.fullmatch(plain)
    return plain if found is None else found["part"]


_BY_MODEL: Mapping[int, Soc] = MappingProxyType({soc.model: soc for soc in SOCS})
_BY_KERNEL_NUMBER: Mapping[int, Soc] = MappingProxyType({number: soc for soc in SOCS for number in soc.kernel})
# Keys: names in the form that is compared. Values: the name in the form that is printed, and the SoC.
_BY_NAME: Mapping[str, tuple[str, Soc]] = MappingProxyType(
    {_part(_plain(name)): (name, soc) for soc in reversed(SOCS) for name in reversed((*soc.names, *soc.other_names))}
)
_OLD_BY_NAME: Mapping[str, str] = MappingProxyType(
    {_plain(name): part for part, names in _WITHOUT_HTP.items() for name in (part, *names)}
)


_OLD_BY_KERNEL_NUMBER: Mapping[int, str] = MappingProxyType(
    {int(name): part for part, names in _WITHOUT_HTP.items() for name in names if name.isdecimal()}
)


def by_kernel_number(number: int) -> Soc | None:
    """Return the SoC with a number from /sys/devices/soc0/soc_id, or None."""
    return _BY_KERNEL_NUMBER.get(number)


def old_by_kernel_number(number: int) -> str | None:
    """Return the part number of a chip without an HTP by its number in /sys/devices/soc0/soc_id, or None.

    Numbers are not names: 660 is SM8850 here, and Snapdragon 660 is another chip.
    """
    return _OLD_BY_KERNEL_NUMBER.get(number)


def soc_of(name: str | int) -> Soc | None:
    """Return the SoC with a model number, a kernel number, a part number or a name, or None.

    The vendor's model numbers take precedence. The kernel also uses 70, 86 and 87, for chips of 2011 without an HTP.
    """
    said = str(name)
    if said.isascii() and said.isdecimal() and len(said) <= _MOST_DIGITS:
        model = int(said)
        soc = _BY_MODEL.get(model) or by_kernel_number(model)
        if soc is not None:
            return soc
    plain = _plain(said)
    for form, model in _LAPTOPS:
        if form.fullmatch(plain):
            return _BY_MODEL[model]
    _, soc = _BY_NAME.get(_part(plain), ("", None))
    return soc


def without_htp(name: str | int) -> str | None:
    """Return the part number of a chip that is known to have no HTP, or None."""
    plain = _plain(str(name))
    found = _OLD_BY_NAME.get(_part(plain)) or _OLD_BY_NAME.get(plain)
    return found or (plain if _OLD.fullmatch(plain) else None)


def near_soc(name: str | int) -> str | None:
    """Return the most similar name of the same family, or None."""
    import difflib  # noqa: PLC0415 - only for a wrong name

    plain = _part(_plain(str(name)))
    family = [known for known in _BY_NAME if _of_one_family(plain, known)]
    near = difflib.get_close_matches(plain, family, n=1, cutoff=_NEAR)
    return _BY_NAME[near[0]][0] if near else None


def _of_one_family(said: str, known: str) -> bool:
    """Return whether two names have the same digits, or the same letters and the same first two digits.

    The first two digits of a part number are its series and its generation: if they differ, it is another chip.
    """
    digits, known_digits = (re.sub(r"[^0-9]", "", name) for name in (said, known))
    if sorted(digits) == sorted(known_digits):
        return True
    alike = re.sub(r"[0-9]", "", said) == re.sub(r"[0-9]", "", known)
    return alike and len(known_digits) > 2 and digits[:2] == known_digits[:2]  # noqa: PLR2004 - as above
