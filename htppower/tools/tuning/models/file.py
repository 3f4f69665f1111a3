"""Device models in files: found by name or path, read strictly, with every problem and its place, and written."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import attrs

from htppower.errors import Finding, ProfileError
from htppower.profiles.discovery import DEVICES, Folders, yaml_files
from htppower.profiles.file_format import structure
from htppower.profiles.paths import joined, stem_of
from htppower.profiles.speeds import DEFAULT_DEVICE
from htppower.profiles.strict_yaml import read_document
from htppower.profiles.yaml_text import quoted
from htppower.profiles.yaml_words import read_word
from htppower.tools.tuning.models.model import LIMITS_OF_VALUES, MEASURED, DeviceModel, ProfileSpeed, Quantity, Wake

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from htppower.errors import KeyPath
    from htppower.profiles.strict_yaml import Document


_ITEM = "  - "
_BELOW_ITEM = "    "
_ENDS = ("lowest", "highest")


@attrs.frozen(repr=False, eq=False)
class ExaminedModel:
    """The result of reading the file of a device model: the model, or the problems of the file.

    Attributes:
        model: the model; None if the file has problems.
        document: the file.
        problems: the problems, in the order of the lines.
    """

    model: DeviceModel | None
    document: Document
    problems: tuple[Finding, ...]

    def accepted(self) -> DeviceModel:
        """Return the model.

        Raises:
            ProfileError: the file has problems; the error lists them all.
        """
        if self.model is None:
            raise ProfileError(self.problems)
        return self.model


def device_names(folders: Iterable[str | os.PathLike[str]] = ()) -> tuple[str, ...]:
    """Return the names of the device models in the shipped folder and the given ones, each below ``devices``."""
    where = Folders.of(folders)
    return tuple(sorted({stem_of(file) for folder in where.paths for file in yaml_files(joined(folder, DEVICES))}))


def load_device_model(
    name: str | os.PathLike[str] = DEFAULT_DEVICE, folders: Iterable[str | os.PathLike[str]] = ()
) -> DeviceModel:
    """Return a device model by its name in the folder ``devices`` of the shipped profiles or of the given folders.

    A name with a slash or the suffix ``.yaml`` or ``.yml`` is a path.

    Raises:
        ProfileError: the model can't be found or read, or is invalid; the error lists every problem of the file.
    """
    return examine_device_model(Folders.of(folders).find(name, "device")).accepted()


def examine_device_model(path: str, given: bytes | None = None) -> ExaminedModel:
    """Return the model of a file, or the problems of the file; nothing is raised.

    If the content is ``given``, no file is read.
    """
    document = read_document(path, "device", given)
    fields, findings = structure(document.tree, DeviceModel)
    found = [*document.problems, *map(document.located, (*findings, *_wrong_values(fields)))]
    problems = tuple(sorted(found, key=lambda problem: (problem.line, problem.column)))
    return ExaminedModel(None if problems else fields, document, problems)


def _wrong_values(fields: Any) -> Iterator[Finding]:
    """Yield the problems of the readable values: of each alone, and of values that contradict each other."""
    if not isinstance(fields, DeviceModel):
        return
    for at, name, quantity in _stated(fields):
        if isinstance(quantity, Quantity):
            yield from _wrong_quantity(at, name, quantity)
    speeds = [each.profile for each in fields.speeds or () if isinstance(each, ProfileSpeed)]
    wakes = [each.sleep_latency_us for each in fields.wakes or () if isinstance(each, Wake)]
    yield from _repeated(("speeds", "profile"), speeds)
    yield from _repeated(("wakes", "sleep_latency_us"), wakes)
    for place, each in enumerate(fields.speeds or ()):
        value = each.speed.value if each.profile == "burst" and each.speed else 1
        if value not in (1, None):
            at = ("speeds", str(place), "speed", "value")
            yield Finding("VALUE-1", at, f"the speed of burst is {value:g}", "1: the others are relative to it")


def _stated(fields: DeviceModel) -> Iterator[tuple[KeyPath, str, Quantity | None]]:
    """Yield each quantity of a model, with its key path and the name of its field."""
    for name in attrs.fields_dict(DeviceModel):
        if name in LIMITS_OF_VALUES:
            yield (name,), name, getattr(fields, name)
    for place, speed in enumerate(fields.speeds or ()):
        yield ("speeds", str(place), "speed"), "speed", speed.speed
    for place, wake in enumerate(fields.wakes or ()):
        yield ("wakes", str(place), "late_us"), "late_us", wake.late_us


def _wrong_quantity(at: KeyPath, name: str, quantity: Quantity) -> Iterator[Finding]:
    """Yield the problems of a quantity whose fields all have the right types."""
    least, most = LIMITS_OF_VALUES[name]
    ends = quantity.range or ()
    said = ".".join(at)
    numbers: list[tuple[KeyPath, float | None]] = [(("value",), quantity.value), (("spread",), quantity.spread)]
    numbers += [(("range", str(place)), end) for place, end in enumerate(ends)]
    for keys, number in numbers:
        if number is not None and not least <= number <= most:
            yield Finding("VALUE-1", (*at, *keys), f"{said}.{keys[0]} is {number:g}", f"{least} to {most}")
    if name == "speed" and quantity.value == 0:
        yield Finding("VALUE-1", (*at, "value"), f"{said}.value is 0", "above 0: work that never ends has no cost")
    if len(ends) == len(_ENDS) and quantity.value is not None and not ends[0] <= quantity.value <= ends[1]:
        message = f"{said}.range, {ends[0]:g} to {ends[1]:g}, does not contain the value {quantity.value:g}"
        yield Finding("VALUE-1", (*at, "range"), message, f"[{_ENDS[0]}, {_ENDS[1]}], the value between both")
    if quantity.provenance not in (MEASURED, None):
        for field in ("spread", "count"):
            if getattr(quantity, field) is not None:
                message = f"{said}.{field} is given for a value that was not measured"
                hint = f"leave it out, or write 'provenance: {MEASURED}'"
                yield Finding("VALUE-1", (*at, field), message, hint)


def _repeated(fields: tuple[str, str], values: list[Any]) -> Iterator[Finding]:
    of, key = fields
    for place, value in enumerate(values):
        if value is not None and value in values[:place]:
            yield Finding("VALUE-1", (of, str(place), key), f"{of} has {value} twice", "give it once")


def odd_order(model: DeviceModel) -> Iterator[tuple[str, str]]:
    """Yield the name of each power that is higher than it should be, compared with another, and a sentence about it.

    Measured powers whose ranges overlap may be equal.
    """
    order = ("active_w", "raised_idle_w", "relaxed_idle_w", "released_idle_w")
    for more, less in itertools.pairwise(order):
        high, low = getattr(model, more), getattr(model, less)
        if _bound(low, 0) > _bound(high, 1):
            yield less, f"{less} is {low.value:g} W, more than {more}, {high.value:g} W"


def _bound(power: Quantity, place: int) -> float:
    """Return the lowest or the highest measured power; the value if it was not measured."""
    return power.range[place] if power.provenance == MEASURED and power.range else power.value


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
