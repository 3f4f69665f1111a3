"""The vendor's form of a vote: option, and fields by the names and numbers of the C struct.

Source: QnnHtpPerfInfrastructure.h, SDK 2.48 (layouts and enumerators measured, no text of it).
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.field_repr import field_repr

if TYPE_CHECKING:
    from collections.abc import Mapping


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


def _frozen(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(fields))


@attrs.frozen
class NativeConfig:
    """One element of the list that setPowerConfig takes.

    Attributes:
        option: the option's name without the vendor's prefix, such as ``DCVS_V3``.
        fields: the C struct's fields in their order, with their numbers.
        symbols: the vendor's enumerator for those fields that hold one.
        number: the option's number; set it only to build an option that the library does not know.
    """

    option: str
    fields: Mapping[str, int] = attrs.field(converter=_frozen, hash=False)
    symbols: Mapping[str, str] = attrs.field(converter=_frozen, factory=dict, hash=False, eq=False)
    number: int = attrs.field()

    __repr__ = field_repr

    @number.default
    def _number_of_option(self) -> int:
        return Option[self.option].value
