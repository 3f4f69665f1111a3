"""The power config options, by the vendor's names and numbers.

Source: QnnHtpPerfInfrastructure.h, SDK 2.48.
"""

import enum


class Option(enum.IntEnum):
    """A power config option."""

    DCVS_V3 = 1
    RPC_CONTROL_LATENCY = 2
    RPC_POLLING_TIME = 3
    HMX_TIMEOUT_INTERVAL_US = 4
    HMX_V2 = 5
    ADAPTIVE_POLLING_TIME = 6
    DDR_PERF_MODE = 7
    CENG = 8
    DCVS_V3_EXP = 9
    CENG_EXP = 10
