"""What votes take on a device, as text, Markdown or JSON. The JSON has no paths, so that it can be published."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from htppower._version import __version__
from htppower.tools.report.as_markdown import as_markdown
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Heading, Pairs, Paragraph, Table
from htppower.tools.report.words import time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.report.blocks import Block
    from htppower.tools.tuning.models.calibration.votes import Measurement, Row

FORMAT_VERSION = 1
FORMS = ("text", "json", "markdown")
_HEAD = ("what", "options", "median", "p10", "p90", "n", "note")
_UNKNOWN = "not known"


def render(measurement: Measurement, form: str, width: int) -> str:
    """Return a measurement as one of ``FORMS``; ``width`` is the width of text."""
    if form == "json":
        return json.dumps(document(measurement), indent=2)
    blocks = list(_blocks(measurement))
    return as_markdown(blocks) if form == "markdown" else as_text(blocks, width)


def document(measurement: Measurement) -> dict[str, Any]:
    """Return a measurement as JSON."""
    platform = measurement.description.platform
    soc = None if platform is None else platform.soc
    return {
        "format_version": FORMAT_VERSION,
        "htppower": __version__,
        "date": measurement.date,
        "backend": measurement.description.name,
        "hardware": measurement.description.hardware,
        "soc": None if soc is None else {"model": soc.model, "names": list(soc.names)},
        "arch": None if platform is None else platform.arch,
        "os": None if platform is None else platform.os,
        "library": dict(measurement.description.versions),
        "fastrpc": measurement.fastrpc,
        "profile": measurement.profile,
        "notes": list(measurement.notes),
        "rows": [_row_document(row) for row in measurement.rows],
    }


def _row_document(row: Row) -> dict[str, Any]:
    return {
        "what": row.what,
        "options": list(row.options),
        "n": len(row.samples_us),
        **row.quantiles_us,
        "note": row.note,
    }


def _blocks(measurement: Measurement) -> Iterator[Block]:
    description = measurement.description
    yield Heading(f"What votes of {measurement.profile} take", 1)
    versions = ", ".join(f"{name} {version}" for name, version in description.versions)
    yield Pairs(
        (
            ("platform", str(description.platform or _UNKNOWN)),
            ("library", versions or description.name),
            ("FastRPC", measurement.fastrpc or _UNKNOWN),
            ("date", measurement.date),
        )
    )
    for note in measurement.notes:
        yield Paragraph(note)
    yield Table("times", _HEAD, [_cells(row) for row in measurement.rows])


def _cells(row: Row) -> tuple[str, ...]:
    times = ("" if each is None else _said(each) for each in row.quantiles_us.values())
    return (row.what, ", ".join(row.options), *times, str(len(row.samples_us)), row.note)


def _said(time_us: float) -> str:
    return time(time_us) if time_us >= 0 else f"-{time(-time_us)}"
