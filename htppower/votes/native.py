"""The vendor's form of a vote: the option, and fields with the names and numbers of the C struct.

Source: QnnHtpPerfInfrastructure.h, SDK 2.48 (layouts and enumerators were measured; no text of the header is copied).
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.options import Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.votes.option import VoteOption

__all__ = ["NativeConfig", "Option", "native_config"]


def _frozen(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(fields))


@attrs.frozen
class NativeConfig:
    """One element of the list that setPowerConfig receives.

    Attributes:
        option: the option's name without the vendor's prefix, such as ``DCVS_V3``.
        fields: the fields of the C struct in their order, with their numbers.
        symbols: the vendor's enumerator for each field that holds an enumerator.
        number: the option's number; set it only to build an option that the library does not know.
    """

    option: str
    fields: Mapping[str, int] = attrs.field(converter=_frozen, hash=False)
    symbols: Mapping[str, str] = attrs.field(converter=_frozen, factory=dict, hash=False, eq=False)
    number: int = attrs.field()

    @number.default
    def _number_of_option(self) -> int:
        return Option[self.option].value


def native_config(about: VoteOption, vote: Any, power_config_id: int) -> NativeConfig:
    """Return the native form of a vote; contextId is always the power config id of the call."""
    if not about.fields:
        return NativeConfig(about.option.name, {about.member: int(vote)})
    fields: dict[str, int] = {"contextId": power_config_id} if about.has_context_id else {}
    symbols: dict[str, str] = {}
    for field in about.fields:
        value = getattr(vote, field.name)
        if field.flag:
            fields[field.flag] = int(value is not None)
        single = len(field.native) == 1 or value is None
        parts = (value,) * len(field.native) if single else (value.min, value.target, value.max)
        for name, part in zip(field.native, parts, strict=True):
            fields[name] = int(part or 0)
            if isinstance(part, enum.IntEnum):
                symbols[name] = part.enumerator  # type: ignore[attr-defined]
    return NativeConfig(about.option.name, fields, symbols)
