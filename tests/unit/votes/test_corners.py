"""Corners and modes: the vendor's names and numbers, and the nearest plain corner of an expanded one."""

from __future__ import annotations

import pytest
from support.helpers import corners, enumerators, expanded, hvx, hvx_exp

from htppower.votes.clock_votes import as_plain
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner, as_expanded, plain_corner

Kind = type[VoltageCorner] | type[ExpandedCorner] | type[PowerMode] | type[ClkPerfMode]

VOLTAGE_CORNERS = {"DCVS_VOLTAGE_CORNER_DISABLE": 16} | enumerators(
    "DCVS_VOLTAGE_VCORNER_",
    """
    MIN_VOLTAGE_CORNER 32  SVS2 48  SVS 64  SVS_PLUS 80  NOM 96  NOM_PLUS 112  TURBO 128  TURBO_PLUS 144
    TURBO_L2 146  TURBO_L3 147  TURBO_L4 148  TURBO_L5 149  MAX_VOLTAGE_CORNER 160
    """,
)

EXPANDED_CORNERS = enumerators(
    "DCVS_EXP_VCORNER_",
    """
    DISABLE 0  MIN 256  RET 272  MIN_SVS 304  LOW_SVS_D3_0 305  LOW_SVS_D3 306  LOW_SVS_D2_1 307  LOW_SVS_D2 308
    LOW_SVS_D1_2 309  LOW_SVS_D1_1 310  LOW_SVS_D1_0 311  LOW_SVS_D1 312  LOW_SVS_D0_1 314  LOW_SVS_D0_0 315
    LOW_SVS_D0 316  LOW_SVS 320  LOW_SVS_P1 328  LOW_SVS_L0 332  LOW_SVS_L1 336  LOW_SVS_L2 352  SVS 384  SVS_L0 400
    SVS_L0_1 401  SVS_L0_2 402  SVS_L1 448  SVS_L2 480  SVS_L2_0 481  NOM 512  NOM_L0 544  NOM_L0_0 545  NOM_L1 576
    NOM_L2 592  NOM_L3 608  TUR 640  TUR_L0 656  TUR_L1 672  TUR_L1_0 673  TUR_L1_1 674  TUR_L1_2 675  TUR_L2 688
    TUR_L3 704  TUR_L3_0 705  TUR_L3_1 706  TUR_L3_2 707  TUR_L4 708  TUR_L5 712  SUPER_TURBO 720
    SUPER_TURBO_NO_CPR 736  MAX 65535
    """,
)

POWER_MODES = enumerators(
    "QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_",
    """
    ADJUST_UP_DOWN 1  ADJUST_ONLY_UP 2  POWER_SAVER_MODE 4  POWER_SAVER_AGGRESSIVE_MODE 8  PERFORMANCE_MODE 16
    DUTY_CYCLE_MODE 32
    """,
)

PERF_MODES = enumerators(
    "QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_",
    """
    HIGH 0  LOW 1  HIGH_D1 2  HIGH_D2 3  HIGH_D3 4  HIGH_D4 5  HIGH_D5 6  HIGH_D6 7  HIGH_D7 8  HIGH_D8 9
    HIGH_D9 10  HIGH_D10 11  HIGH_D11 12  HIGH_D12 13  HIGH_D13 14  HIGH_D14 15  HIGH_D15 16  MAX 255
    """,
)


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        (VoltageCorner, VOLTAGE_CORNERS),
        (ExpandedCorner, EXPANDED_CORNERS),
        (PowerMode, POWER_MODES),
        (ClkPerfMode, PERF_MODES),
    ],
)
def test_enumerators_have_the_vendors_names_and_numbers(kind: Kind, table: dict[str, int]) -> None:
    """Every corner and mode has the enumerator and the number of the vendor's header, and no other exists."""
    assert {member.enumerator: member.value for member in kind} == table


def test_the_newer_corners_are_known_by_their_version() -> None:
    """The header of SDK 2.50 has eighteen names more than the one of 2.48; one of them is an alias."""
    newer = [corner.name for corner in ExpandedCorner if corner.since == "2.50"]
    assert len(newer) == 17
    assert {ExpandedCorner.RET, ExpandedCorner.NOM_L3, ExpandedCorner.TUR_L3_2} <= {ExpandedCorner[it] for it in newer}
    assert ExpandedCorner["DEFINED_MAX"] is ExpandedCorner.SUPER_TURBO_NO_CPR
    assert ExpandedCorner.SUPER_TURBO_NO_CPR.since == "2.48 or earlier"


PLAIN_OF = {
    "DISABLE": "DISABLE",
    "MIN": "MIN_VOLTAGE_CORNER",
    **dict.fromkeys(("RET", "MIN_SVS", "LOW_SVS_D3_0", "LOW_SVS_D3", "LOW_SVS_D2_1", "LOW_SVS_D2"), "SVS2"),
    **dict.fromkeys(("LOW_SVS_D1_2", "LOW_SVS_D1_1", "LOW_SVS_D1_0", "LOW_SVS_D1"), "SVS2"),
    **dict.fromkeys(("LOW_SVS_D0_1", "LOW_SVS_D0_0", "LOW_SVS_D0", "LOW_SVS"), "SVS2"),
    **dict.fromkeys(("LOW_SVS_P1", "LOW_SVS_L0", "LOW_SVS_L1", "LOW_SVS_L2", "SVS"), "SVS"),
    **dict.fromkeys(("SVS_L0", "SVS_L0_1", "SVS_L0_2", "SVS_L1"), "SVS_PLUS"),
    **dict.fromkeys(("SVS_L2", "SVS_L2_0", "NOM"), "NOM"),
    **dict.fromkeys(("NOM_L0", "NOM_L0_0", "NOM_L1"), "NOM_PLUS"),
    **dict.fromkeys(("NOM_L2", "NOM_L3", "TUR"), "TURBO"),
    **dict.fromkeys(("TUR_L0", "TUR_L1"), "TURBO_PLUS"),
    **dict.fromkeys(("TUR_L1_0", "TUR_L1_1", "TUR_L1_2", "TUR_L2"), "TURBO_L2"),
    "TUR_L3": "TURBO_L3",
    **dict.fromkeys(("TUR_L3_0", "TUR_L3_1", "TUR_L3_2", "TUR_L4"), "TURBO_L4"),
    "TUR_L5": "TURBO_L5",
    **dict.fromkeys(("SUPER_TURBO", "SUPER_TURBO_NO_CPR", "MAX"), "MAX_VOLTAGE_CORNER"),
}


@pytest.mark.parametrize("corner", list(ExpandedCorner), ids=lambda each: each.name)
def test_a_plain_corner_is_never_lower(corner: ExpandedCorner) -> None:
    """The nearest plain corner is the one in this table: the same corner, or the next higher one."""
    assert plain_corner(corner).name == PLAIN_OF[corner.name]
    assert as_expanded(plain_corner(corner)) >= corner


def test_a_vote_in_expanded_corners_has_a_plain_form() -> None:
    """The plain form keeps power mode, sleep and corners, has DCVS on, and leaves unset fields unset."""
    vote = hvx_exp(sleep_disable=True, core=expanded("LOW_SVS_D1", "SVS_L0", "SUPER_TURBO"), bus=None)
    assert as_plain(vote) == hvx(
        dcvs_enable=True, sleep_disable=True, core=corners("SVS2", "SVS_PLUS", "MAX_VOLTAGE_CORNER"), bus=None
    )
