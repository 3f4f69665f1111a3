"""A device model as the text of a file that loads to the same values."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.yaml_text import quoted
from htppower.profiles.yaml_words import read_word
from htppower.tools.tuning.models.model import LIMITS_OF_VALUES, DeviceModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.tuning.models.model import Quantity

_ITEM = "  - "
_BELOW_ITEM = "    "


def model_text(model: DeviceModel) -> str:
    """Return the file of a device model."""
    return "\n".join(_lines(model)) + "\n"


def number(value: float) -> str:
    """Return a number as every YAML parser reads it: without an exponent, and without an empty fraction."""
    digits = f"{Decimal(repr(value)):f}"
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) or "0"


def _name(name: str) -> str:
    """Return a name as YAML reads it: quoted if a parser could take it for a number or a boolean."""
    return name if read_word(name) == name else quoted(name)


def _lines(model: DeviceModel) -> Iterator[str]:
    yield f"device: {_name(model.device)}"
    yield f"summary: {quoted(model.summary)}"
    for field in attrs.fields(DeviceModel):
        if field.name in LIMITS_OF_VALUES:
            yield f"{field.name}:"
            yield from _quantity(getattr(model, field.name), "  ")
    yield "speeds:"
    for speed in model.speeds:
        yield f"{_ITEM}profile: {_name(speed.profile)}"
        yield f"{_BELOW_ITEM}speed:"
        yield from _quantity(speed.speed, f"{_BELOW_ITEM}  ")
    yield "wakes:"
    for wake in model.wakes:
        yield f"{_ITEM}sleep_latency_us: {wake.sleep_latency_us}"
        yield f"{_BELOW_ITEM}late_us:"
        yield from _quantity(wake.late_us, f"{_BELOW_ITEM}  ")


def _quantity(quantity: Quantity, indent: str) -> Iterator[str]:
    yield f"{indent}value: {number(quantity.value)}"
    yield f"{indent}provenance: {quantity.provenance}"
    yield f"{indent}of: {quoted(quantity.of)}"
    if quantity.range is not None:
        yield f"{indent}range: [{', '.join(map(number, quantity.range))}]"
    if quantity.spread is not None:
        yield f"{indent}spread: {number(quantity.spread)}"
    if quantity.count is not None:
        yield f"{indent}count: {quantity.count}"
