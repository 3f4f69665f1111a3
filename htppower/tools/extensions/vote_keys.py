"""The field of a vote set for each key of a core, or of an item of ``custom``."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# The keys of a core in addition to its profile.
BESIDE: Mapping[str, str] = MappingProxyType(
    {
        "rpc_control_latency": "rpc_control_latency_us",
        "rpc_polling_time": "rpc_polling_time_us",
        "adaptive_polling_time": "adaptive_polling_time_us",
        "hmx_timeout_us": "hmx_timeout_us",
        "ddr_perf_mode": "ddr_perf_mode",
    }
)
# The clock blocks of an item; hmxControl is also a block of a core.
BLOCKS: Mapping[str, str] = MappingProxyType(
    {
        "dcvsControl": "dcvs_v3",
        "dcvsExpControl": "dcvs_v3_exp",
        "hmxControl": "hmx_v2",
        "cengControl": "ceng",
        "cengExpControl": "ceng_exp",
    }
)
