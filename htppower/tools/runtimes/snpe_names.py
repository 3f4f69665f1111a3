"""SNPE's spelling of corners and modes in its perf config and in the settings of MLPerf's app.

Source: SNPE's DlEnums.h, and mlcommons/mobile_app_open SnpeExecutor.h.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_HMX = (
    *("DISABLE", "MIN", "LOW_SVS_D2", "LOW_SVS_D1", "LOW_SVS", "LOW_SVS_L0", "SVS", "SVS_L0", "SVS_L1", "SVS_L2"),
    *("NOM", "NOM_L1", "NOM_L2", "TUR", "TUR_L1", "TUR_L2", "TUR_L3", "MAX"),
)

CORNERS: Mapping[VoltageCorner, str] = MappingProxyType({each: f"SNPE_{each.enumerator}" for each in VoltageCorner})
HMX_CORNERS: Mapping[ExpandedCorner, str] = MappingProxyType(
    {ExpandedCorner[name]: f"SNPE_{ExpandedCorner[name].enumerator}" for name in _OF_HMX}
)
POWER_MODES: Mapping[PowerMode, str] = MappingProxyType(
    {each: each.enumerator.replace("QNN_HTP_", "SNPE_DSP_") for each in PowerMode}
)
PERF_MODES: Mapping[ClkPerfMode, str] = MappingProxyType(
    {each: f"SNPE_HMX_CLK_PERF_{each.name}" for each in (ClkPerfMode.HIGH, ClkPerfMode.LOW)}
)
