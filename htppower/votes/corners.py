"""Voltage corners, power modes and clock modes, with the vendor's numbers and enumerator names.

Source of names and numbers: QnnHtpPerfInfrastructure.h, SDK 2.48; SDK 2.50 for newer corners. In both kinds of corner
the numbers rise with the voltage, so corners compare as integers. DISABLE means "no vote" and is outside that order.
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class VoltageCorner(enum.IntEnum):
    """A corner of a clock, as used by DCVS_V3 and CENG."""

    DISABLE = 16
    MIN_VOLTAGE_CORNER = 32
    SVS2 = 48
    SVS = 64
    SVS_PLUS = 80
    NOM = 96
    NOM_PLUS = 112
    TURBO = 128
    TURBO_PLUS = 144
    TURBO_L2 = 146
    TURBO_L3 = 147
    TURBO_L4 = 148
    TURBO_L5 = 149
    MAX_VOLTAGE_CORNER = 160

    @property
    def enumerator(self) -> str:
        """The vendor's name; only DISABLE lacks the V of VCORNER."""
        return ("DCVS_VOLTAGE_CORNER_" if self is VoltageCorner.DISABLE else "DCVS_VOLTAGE_VCORNER_") + self.name


class ExpandedCorner(enum.IntEnum):
    """A corner of a clock, as used by HMX_V2, DCVS_V3_EXP and CENG_EXP. DEFINED_MAX is SUPER_TURBO_NO_CPR."""

    DISABLE = 0
    MIN = 256
    RET = 272
    MIN_SVS = 304
    LOW_SVS_D3_0 = 305
    LOW_SVS_D3 = 306
    LOW_SVS_D2_1 = 307
    LOW_SVS_D2 = 308
    LOW_SVS_D1_2 = 309
    LOW_SVS_D1_1 = 310
    LOW_SVS_D1_0 = 311
    LOW_SVS_D1 = 312
    LOW_SVS_D0_1 = 314
    LOW_SVS_D0_0 = 315
    LOW_SVS_D0 = 316
    LOW_SVS = 320
    LOW_SVS_P1 = 328
    LOW_SVS_L0 = 332
    LOW_SVS_L1 = 336
    LOW_SVS_L2 = 352
    SVS = 384
    SVS_L0 = 400
    SVS_L0_1 = 401
    SVS_L0_2 = 402
    SVS_L1 = 448
    SVS_L2 = 480
    SVS_L2_0 = 481
    NOM = 512
    NOM_L0 = 544
    NOM_L0_0 = 545
    NOM_L1 = 576
    NOM_L2 = 592
    NOM_L3 = 608
    TUR = 640
    TUR_L0 = 656
    TUR_L1 = 672
    TUR_L1_0 = 673
    TUR_L1_1 = 674
    TUR_L1_2 = 675
    TUR_L2 = 688
    TUR_L3 = 704
    TUR_L3_0 = 705
    TUR_L3_1 = 706
    TUR_L3_2 = 707
    TUR_L4 = 708
    TUR_L5 = 712
    SUPER_TURBO = 720
    SUPER_TURBO_NO_CPR = 736
    DEFINED_MAX = 736
    MAX = 65535

    @property
    def enumerator(self) -> str:
        """The vendor's name."""
        return f"DCVS_EXP_VCORNER_{self.name}"

    @property
    def since(self) -> str:
        """The first SDK whose header has the corner and whose tools accept its name (measured)."""
        return "2.50" if self.name in _SINCE_2_50 else "2.48 or earlier"


# Older libraries pass these numbers to the DSP, too: they check only that no number is below 256.
_SINCE_2_50 = frozenset(
    (
        "RET",
        "LOW_SVS_D3_0",
        "LOW_SVS_D1_2",
        "LOW_SVS_D1_0",
        "LOW_SVS_D0_1",
        "LOW_SVS_D0_0",
        "SVS_L0_1",
        "SVS_L0_2",
        "SVS_L2_0",
        "NOM_L0_0",
        "NOM_L3",
        "TUR_L1_0",
        "TUR_L1_1",
        "TUR_L1_2",
        "TUR_L3_0",
        "TUR_L3_1",
        "TUR_L3_2",
    )
)

# The HMX corner that follows a core corner (pick default). An expanded number is 256 plus the level in the corner's
# name. That PLUS corners pair with the L1 levels is an assumption of the simulation.
EXPANDED_OF_CORE: Mapping[int, ExpandedCorner] = MappingProxyType(
    {
        VoltageCorner.DISABLE: ExpandedCorner.DISABLE,
        VoltageCorner.MIN_VOLTAGE_CORNER: ExpandedCorner.MIN,
        VoltageCorner.SVS2: ExpandedCorner.LOW_SVS,
        VoltageCorner.SVS: ExpandedCorner.SVS,
        VoltageCorner.SVS_PLUS: ExpandedCorner.SVS_L1,
        VoltageCorner.NOM: ExpandedCorner.NOM,
        VoltageCorner.NOM_PLUS: ExpandedCorner.NOM_L1,
        VoltageCorner.TURBO: ExpandedCorner.TUR,
        VoltageCorner.TURBO_PLUS: ExpandedCorner.TUR_L1,
        VoltageCorner.TURBO_L2: ExpandedCorner.TUR_L2,
        VoltageCorner.TURBO_L3: ExpandedCorner.TUR_L3,
        VoltageCorner.TURBO_L4: ExpandedCorner.TUR_L4,
        VoltageCorner.TURBO_L5: ExpandedCorner.TUR_L5,
        VoltageCorner.MAX_VOLTAGE_CORNER: ExpandedCorner.MAX,
    }
)


def as_expanded(corner: int) -> int:
    """Return a corner of either kind as an expanded number; all corners compare in these numbers."""
    return EXPANDED_OF_CORE.get(corner, corner)


def plain_corner(corner: ExpandedCorner) -> VoltageCorner:
    """Return the lowest plain corner that is not below an expanded corner; DISABLE stays DISABLE."""
    return min(plain for plain in VoltageCorner if EXPANDED_OF_CORE[plain] >= corner)


class PowerMode(enum.IntEnum):
    """How DCVS moves the clock; it acts only if dcvs_enable is true (rule DCVS-3)."""

    ADJUST_UP_DOWN = 1
    ADJUST_ONLY_UP = 2
    POWER_SAVER = 4
    POWER_SAVER_AGGRESSIVE = 8
    PERFORMANCE = 16
    DUTY_CYCLE = 32

    @property
    def enumerator(self) -> str:
        """The vendor's name; the two ADJUST modes lack the suffix _MODE."""
        suffix = "" if self.name.startswith("ADJUST") else "_MODE"
        return f"QNN_HTP_PERF_INFRASTRUCTURE_POWERMODE_{self.name}{suffix}"


class ClkPerfMode(enum.IntEnum):
    """Which frequency of a corner is chosen: HIGH the highest, LOW the lowest, HIGH_Dn n steps below HIGH."""

    HIGH = 0
    LOW = 1
    HIGH_D1 = 2
    HIGH_D2 = 3
    HIGH_D3 = 4
    HIGH_D4 = 5
    HIGH_D5 = 6
    HIGH_D6 = 7
    HIGH_D7 = 8
    HIGH_D8 = 9
    HIGH_D9 = 10
    HIGH_D10 = 11
    HIGH_D11 = 12
    HIGH_D12 = 13
    HIGH_D13 = 14
    HIGH_D14 = 15
    HIGH_D15 = 16
    MAX = 255

    @property
    def enumerator(self) -> str:
        """The vendor's name."""
        return f"QNN_HTP_PERF_INFRASTRUCTURE_CLK_PERF_{self.name}"
