"""Platforms: SoCs and architectures, their names, and the votes that each has."""

from __future__ import annotations

import pytest

from htppower.errors import HtpPowerError
from htppower.rules.platforms import (
    ARCHITECTURES,
    OPERATING_SYSTEMS,
    Platform,
    UnknownPlatform,
    find_architecture,
    find_soc,
    platform_of,
)
from htppower.rules.socs import SOCS, Soc
from htppower.votes.native import Option

# Model number, part numbers, Hexagon architecture, VTCM in MB; a dash if the vendor's table has no value.
VENDORS_TABLE = """
30 SM8350/SM8350P 68 4
32 SM7350 68 -
34 SM8325 68 -
35 SM7325 68 -
36 SM8450 69 8
37 SC8280X 68 -
38 SM7315 68 -
39 SA8295 68 8
41 SM7450 69 -
42 SM8475 69 8
43 SM8550 73 8
45 SXR1230P 73 2
46 SAR2130P/SSG2115P 73 2
50 SM6450 73 -
52 SA8255/SA8630/SA8650/SA8775 73 8
53 SXR2230P 69 8
54 SM7475 69 -
57 SM8650 75 8
58 SAR1130P/SSG2125P 73 2
60 SC8380XP 73 -
61 SM7435 73 -
64 SM7550 73 -
66 QCS8550 73 -
67 SA7255/SA8610/SA8620/SA8620P 75 -
68 SM8635 73 -
69 SM8750 79 8
70 SM7675 73 -
72 SA8797 81 16
73 SM7635 73 -
74 SM6650 73 -
75 SXR2330P 79 8
76 SM6475 73 -
77 QCS9075/QCS9100 73 8
78 QCM6690 73 -
82 QCS8275/QCS8300 75 -
85 SM8735 73 -
86 SM7750 73 -
87 SM8850 81 8
88 SC8480XP 81 -
90 QCS8625 75 -
93 QCM6490/QCS6490 68 2
95 SAR2230P 81 4
96 SW6100 81 4
97 SM8845/SM8845P 81 8
"""

EVERYWHERE = {"DCVS_V3", "RPC_CONTROL_LATENCY", "RPC_POLLING_TIME", "HMX_TIMEOUT_INTERVAL_US", "ADAPTIVE_POLLING_TIME"}
HMX = {"HMX_V2", "CENG"}
EXPANDED = {"DCVS_V3_EXP", "CENG_EXP"}
RPC = {"RPC_CONTROL_LATENCY", "RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME"}

OPTIONS_BY_ARCH = {
    68: EVERYWHERE,
    69: EVERYWHERE,
    73: EVERYWHERE,
    75: EVERYWHERE | HMX,
    79: EVERYWHERE | HMX,
    81: EVERYWHERE | HMX | {"DDR_PERF_MODE"},
    85: EVERYWHERE | HMX | {"DDR_PERF_MODE"} | EXPANDED,
    89: EVERYWHERE | {"DDR_PERF_MODE", "DCVS_V3_EXP"},
}


def vendors_socs() -> list[Soc]:
    """Return the vendor's table as values."""
    rows = (line.split() for line in VENDORS_TABLE.split("\n") if line)
    return [
        Soc(int(model), tuple(names.split("/")), int(arch), None if vtcm == "-" else int(vtcm))
        for model, names, arch, vtcm in rows
    ]


def options_of(platform: Platform) -> set[str]:
    """Return the names of the options that a platform has."""
    return {option.name for option in Option if platform.has(option)}


def test_the_socs_are_the_vendors() -> None:
    """The table has the vendor's 44 SoC models, each with its part numbers, architecture and VTCM, and two more."""
    others = {44: ("SC7280X",), 62: ("SA8540",)}
    bare = [Soc(soc.model, soc.names, soc.arch, soc.vtcm_mb) for soc in SOCS]
    assert [soc for soc in bare if soc.model not in others] == vendors_socs()
    assert {soc.model: soc.names for soc in bare if soc.model in others} == others


@pytest.mark.parametrize("name", ["SM4635", "71", "SM6450Q", "65"])
def test_a_chip_for_which_the_vendor_lists_no_hexagon_has_no_htp(name: str) -> None:
    """It is refused by its part number and by its SoC model number, although the vendor numbers it."""
    with pytest.raises(UnknownPlatform, match="has no HTP: the vendor lists no Hexagon from V68 on"):
        find_soc(name)


def test_no_soc_is_ambiguous() -> None:
    """A model number or part number belongs to one SoC only, and no part number looks like a model number."""
    names = [name for soc in SOCS for name in soc.names]
    assert len(set(names)) == len(names)
    assert len({soc.model for soc in SOCS}) == len(SOCS)
    assert not any(name.isdecimal() for name in names)


@pytest.mark.parametrize("soc", SOCS, ids=lambda soc: soc.names[0])
def test_a_soc_is_found_by_each_of_its_names(soc: Soc) -> None:
    """A SoC is found by its model number, as a number or text, and by each part number in any case."""
    spellings: list[str | int] = [soc.model, str(soc.model), *soc.names, *(name.lower() for name in soc.names)]
    assert all(find_soc(spelling) == soc for spelling in spellings)


@pytest.mark.parametrize(
    ("names", "part"),
    [
        (
            "SM-8650, SM8650-AC, SM8650P, Snapdragon 8 Gen 3, 8 gen 3, Snapdragon\u00ae 8 Gen 3 Mobile Platform",
            "SM8650",
        ),
        ("Snapdragon 8 Elite for Galaxy, 8 Elite, SM8750-3-AB", "SM8750"),
        ("8 Elite Gen 5, SM8850-AC", "SM8850"),
        ("Snapdragon(TM) 8 Gen 2, SD 8 Gen 2, sd8gen2, Qualcomm Technologies Inc SM8550, qcom,sm8550", "SM8550"),
        ("QCS8550 (Proxy)", "QCS8550"),
        ("SA8775P ADP, SA8775P (Proxy)", "SA8775"),
        ("Snapdragon X Elite CRD", "SC8380XP"),
        ("8+ Gen 1, 8 Plus Gen 1", "SM8475"),
        ("8s gen 3", "SM8635"),
        ("7+ Gen 3", "SM7675"),
        ("X Elite, X1E80100, X1E-00-1DE, X Plus, Snapdragon X, X1P42100, X1-26-100, X Plus 8-core", "SC8380XP"),
        ("X2 Elite, X2E-96-100", "SC8480XP"),
        ("RB3 Gen 2, rubik-pi-3", "QCS6490"),
        ("QCM8550", "QCS8550"),
        ("IQ-9075", "QCS9075"),
        ("SA8295P", "SA8295"),
        ("SA8255P, SA8650P, SA8775P", "SA8775"),
        ("SA8797P", "SA8797"),
        ("SC8280XP, SC8280, 8cx Gen 3", "SC8280X"),
    ],
)
def test_a_soc_is_found_by_its_other_names(names: str, part: str) -> None:
    """Market names and part numbers with another suffix count, in any case, with or without the brand."""
    for name in names.split(", "):
        assert part in find_soc(name).names, name


@pytest.mark.parametrize(
    ("number", "part"),
    [(557, "SM8650"), ("660", "SM8850"), (618, "SM8750"), (519, "SM8550"), (498, "QCS6490"), (555, "SC8380XP")],
)
def test_a_soc_is_found_by_the_kernels_number(number: int | str, part: str) -> None:
    """The number in /sys/devices/soc0/soc_id counts if the vendor's table has no such model."""
    assert part in find_soc(number).names


def test_a_number_of_both_tables_is_the_vendors() -> None:
    """The kernel uses 70, 86 and 87 for old chips without an HTP."""
    assert [find_soc(number).model for number in (70, 86, 87)] == [70, 86, 87]


@pytest.mark.parametrize("name", ["V79", "v79", "Hexagon V79"])
def test_an_architecture_for_a_soc_is_told_to_be_one(name: str) -> None:
    """The message names the SoCs with that architecture."""
    with pytest.raises(UnknownPlatform, match=f"'{name}' is a Hexagon architecture.*: SM8750, "):
        find_soc(name)


@pytest.mark.parametrize(
    "old", ["SM8250", "SM8250-AC", "Snapdragon 865", "870", "356", "SDM845", "Snapdragon 660", "APQ8098", "SA8155P"]
)
def test_a_chip_without_an_htp_is_refused_with_the_reason(old: str) -> None:
    """The error gives the reason and suggests no other chip."""
    with pytest.raises(UnknownPlatform, match="has no HTP: the vendor lists no Hexagon from V68 on") as caught:
        find_soc(old)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("SM8651", "SM8650"),
        ("sm875", "SM8750"),
        ("QCS6940", "QCS6490"),
        ("8650", "SM8650"),
        ("8 Genn 3", "Snapdragon 8 Gen 3"),
    ],
)
def test_an_unknown_soc_names_the_nearest(wrong: str, near: str) -> None:
    """The error for a near miss suggests the nearest name."""
    with pytest.raises(UnknownPlatform, match=rf"no SoC '{wrong}'; did you mean {near}\?"):
        find_soc(wrong)


@pytest.mark.parametrize("other", ["SA9540P", "SC7380", "SM8950", "8 Elite Gen 6", "X3E80100", "661", "X"])
def test_another_chip_is_no_slip(other: str) -> None:
    """A name with other digits for series or generation is another chip, so nothing is suggested."""
    with pytest.raises(UnknownPlatform, match="known: SM8350"):
        find_soc(other)


@pytest.mark.parametrize("wrong", ["zzz", 999, "", 0, -1])
def test_a_soc_unlike_any_other_lists_what_is_known(wrong: str | int) -> None:
    """If no name is near, the error lists the known part numbers."""
    with pytest.raises(UnknownPlatform, match=r"known: SM8350, .*SM8845P"):
        find_soc(wrong)


@pytest.mark.parametrize("spelling", [75, "75", "V75", "v75"])
def test_an_architecture_is_found_by_each_spelling(spelling: str | int) -> None:
    """An architecture is a number, or its name with the V in either case."""
    assert find_architecture(spelling) == 75


def test_the_architectures_are_those_of_the_header() -> None:
    """The architectures are those in the vendor's header, and each finds itself."""
    assert ARCHITECTURES == (68, 69, 73, 75, 79, 81, 85, 89)
    assert all(find_architecture(f"V{arch}") == arch for arch in ARCHITECTURES)


@pytest.mark.parametrize("wrong", ["9" * 5_000, 66, 0, 70, -75, "", "V", "VV75", "7.5", "V75x", "SM8650"])
def test_an_unknown_architecture_lists_what_is_known(wrong: str | int) -> None:
    """The error lists the known architectures."""
    with pytest.raises(UnknownPlatform, match="known: V68, V69, V73, V75, V79, V81, V85, V89"):
        find_architecture(wrong)


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_which_options_an_architecture_has(arch: int) -> None:
    """HMX and CENG votes begin with V75, their expanded forms with V85 and end before V89; DDR begins with V81."""
    assert options_of(platform_of(arch=arch)) == OPTIONS_BY_ARCH[arch]


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_qnx_lacks_the_rpc_options(arch: int) -> None:
    """QNX has every option of the architecture except the three RPC options."""
    assert options_of(platform_of(arch=arch, os="qnx")) == OPTIONS_BY_ARCH[arch] - RPC


def test_an_unknown_architecture_is_given_the_benefit_of_the_doubt() -> None:
    """Without an architecture every option is tried, except RPC on QNX."""
    assert options_of(Platform()) == {option.name for option in Option}
    assert options_of(Platform(os="qnx")) == {option.name for option in Option} - RPC


def test_what_an_option_needs() -> None:
    """A degradation can say from which architecture on a vote exists."""
    assert Platform.needs(Option.HMX_V2) == "Hexagon V75 or later, except V89"
    assert Platform.needs(Option.DDR_PERF_MODE) == "Hexagon V81 or later"


@pytest.mark.parametrize("os", OPERATING_SYSTEMS)
def test_a_soc_brings_its_architecture(os: str) -> None:
    """The SoC alone is enough; an equal architecture next to it changes nothing."""
    platform = platform_of("SM8650", os=os)
    assert platform == Platform(75, find_soc(57), os)
    assert platform == platform_of(57, "V75", os)


def test_soc_and_architecture_may_not_disagree() -> None:
    """The message names the architecture of the SoC."""
    with pytest.raises(UnknownPlatform, match="SM8650 is Hexagon V75, not V73"):
        platform_of("SM8650", 73)


def test_an_unknown_operating_system_is_refused() -> None:
    """The error lists the known operating systems."""
    assert OPERATING_SYSTEMS == ("android", "linux", "windows", "qnx")
    with pytest.raises(UnknownPlatform, match="no platform 'macos'; known: android, linux, windows, qnx"):
        platform_of(arch=75, os="macos")


def test_unknown_platform_is_an_error_of_the_package_and_of_python() -> None:
    """UnknownPlatform is an HtpPowerError and a ValueError."""
    assert issubclass(UnknownPlatform, HtpPowerError)
    assert issubclass(UnknownPlatform, ValueError)


@pytest.mark.parametrize(
    ("platform", "text"),
    [
        (platform_of("SM8350P"), "SM8350/SM8350P (SoC model 30), Hexagon V68, linux"),
        (platform_of(arch=81, os="qnx"), "Hexagon V81, qnx"),
        (Platform(), "an unknown Hexagon, linux"),
    ],
)
def test_a_platform_as_text(platform: Platform, text: str) -> None:
    """The text of a platform has its part numbers, its architecture and its operating system."""
    assert str(platform) == text
