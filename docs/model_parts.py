"""The parts of the page on device models: the values of the shipped models, their meaning and their source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docs.tables import made_table
from htppower.profiles.field_limits import declared
from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.tools.review.lint.catalogue import MODEL_RULES
from htppower.tools.tuning.models.file import device_names, load_device_model, number
from htppower.tools.tuning.models.model import LIMITS_OF_VALUES, DeviceModel, Quantity

if TYPE_CHECKING:
    from collections.abc import Callable


def _fields() -> str:
    """Return the fields of a model with their meaning and their limits."""
    rows = []
    for name, (_, wants) in declared(DeviceModel).items():
        least, most = LIMITS_OF_VALUES.get(name, ("", ""))
        limits = f"{least} to {most}" if name in LIMITS_OF_VALUES else ""
        rows.append((f"`{name}`", wants.says.rstrip("."), limits))
    return made_table(("Field", "What it is", "Limits"), rows)


def _quantity() -> str:
    rows = [(f"`{name}`", wants.says.rstrip(".")) for name, (_, wants) in declared(Quantity).items()]
    return made_table(("Field of a value", "What it is"), rows)


def _values() -> str:
    """Return the values of the model for any device, with their source."""
    return made_table(("Value", "", "Range", "Provenance", "What, and where found"), _rows(DEFAULT_DEVICE))


def _of_devices() -> str:
    """Return the values in which the other models differ."""
    default = set(_rows(DEFAULT_DEVICE))
    rows = [
        (f"`{device}`", *row)
        for device in device_names()
        if device != DEFAULT_DEVICE
        for row in _rows(device)
        if row not in default
    ]
    return made_table(("Model", "Value", "", "Range", "Provenance", "What, and where found"), rows)


def _rows(device: str) -> list[tuple[str, ...]]:
    return [
        (f"`{name}`", number(quantity.value), _range(quantity), quantity.provenance, quantity.of)
        for name, quantity in load_device_model(device).quantities().items()
    ]


def _range(quantity: Quantity) -> str:
    return " to ".join(map(number, quantity.range or ()))


def _rules() -> str:
    rows = [(f"`{rule.id}`", rule.says, rule.breach.value, rule.why) for rule in MODEL_RULES]
    return made_table(("Id", "Rule", "What follows", "Why"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "device-fields": _fields,
    "device-quantity": _quantity,
    "device-values": _values,
    "device-others": _of_devices,
    "device-rules": _rules,
}
