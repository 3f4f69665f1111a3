"""ETDump of ExecuTorch, read with ExecuTorch's own Inspector, since the file format is not public."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, Any

from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice.measurement import MISSING, Event, Measurement, WrongUnit, event_of, in_kept_unit

if TYPE_CHECKING:
    from htppower.tools.review.advice.readers.source import Source

# The identifier of its FlatBuffers schema follows the offset of the root. ExecuTorch's runtime also writes the size of
# the buffer before that offset.
_IDENTIFIER = b"ED00"
_WITH_SIZE, _WITHOUT_SIZE = slice(8, 12), slice(4, 8)
# ExecuTorch writes the unit behind the event's name.
_UNIT = re.compile(r"(?<=[^\s:_,(\[])[\s:_,(\[]+(?P<unit>us|microsec|ms|cycles|count)[)\]]?$", re.IGNORECASE)
_FORM = "ETDump of ExecuTorch"
_NOTE = "Times are read as they were logged; ExecuTorch's own time scale is not applied."


def is_etdump(head: bytes) -> bool:
    """Return whether a file with these first bytes is an ETDump. Unlike text, they contain zeros."""
    return b"\0" in head[:8] and _IDENTIFIER in (head[_WITH_SIZE], head[_WITHOUT_SIZE])


def read(source: Source) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: ExecuTorch is not installed or can't read the file, or no event is the QNN backend's.
    """
    try:
        from executorch.devtools import Inspector  # noqa: PLC0415 - an optional dependency
        from executorch.devtools.inspector import TimeScale  # noqa: PLC0415
    except (ImportError, OSError) as error:
        hint = "pip install executorch torch"
        message = f"is an ETDump. To read it, ExecuTorch's Inspector is needed, which can't be imported: {error}"
        raise UnreadableFile(source.path, "", message, hint) from None
    content = source.content()
    try:
        with warnings.catch_warnings():
            # The Inspector warns that tensors are missing, which are not needed here.
            warnings.simplefilter("ignore")
            # With the same scale on both sides, the numbers stay as they are.
            blocks = Inspector(
                etdump_data=content, source_time_scale=TimeScale.CYCLES, target_time_scale=TimeScale.CYCLES
            ).event_blocks
    except Exception as error:  # noqa: BLE001 - ExecuTorch does not document which exceptions it raises
        hint = "copy it again"
        if source.head[_WITH_SIZE] != _IDENTIFIER:
            hint = "its first four bytes are not the size of the buffer, which ExecuTorch's runtime writes there"
        message = f"is an ETDump that ExecuTorch can't read: {type(error).__name__}: {error}"
        raise UnreadableFile(source.path, "", message, hint) from None
    found = [each for each in (_measurement(source, block) for block in blocks) if each is not None]
    if not found:
        hint = "compile with profile_level, and run with an event tracer"
        raise UnreadableFile(source.path, "", "has no event of the QNN backend", hint)
    return found


def _measurement(source: Source, block: Any) -> Measurement | None:
    columns: dict[Event, list[float]] = {}
    units: dict[Event, str] = {}
    for each in block.events:
        name, unit = _parted(str(each.name))
        event = event_of(name)
        if event is None or event in columns or each.perf_data is None:
            continue
        unit = unit or event.kind.value
        try:
            columns[event] = [in_kept_unit(event, float(number), unit) for number in each.perf_data.raw]
        except WrongUnit as error:
            raise UnreadableFile(source.path, "", str(error)) from None
        units[event] = unit
    if not columns:
        return None
    longest = max(map(len, columns.values()))
    filled = {event: [*column, *[MISSING] * (longest - len(column))] for event, column in columns.items()}
    return Measurement(source.path, _FORM, filled, units, str(block.name or ""), notes=(_NOTE,))


def _parted(name: str) -> tuple[str, str]:
    """Return a name and the unit after it; no unit if the whole text is the name of an event."""
    if event_of(name) is not None:
        return name, ""
    found = _UNIT.search(name)
    return (name[: found.start()], found["unit"]) if found else (name, "")
