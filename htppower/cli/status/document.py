"""A status in a file, and whether the process that wrote it still runs."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.status.json_form import FORMAT, STATUS, wrong
from htppower.control.status.process_identity import Life, life
from htppower.control.status.to_json import KIND
from htppower.errors import HtpPowerError, printable
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.tuning.reading_limits import TooMuch, check_json, raised

if TYPE_CHECKING:
    from pathlib import Path

# Ten thousand sessions on two cores each take 40 MB.
_LARGEST = 64 * 2**20
_SERVED = "name a file that a host writes with controller.serve_status(path), or none to list those of this user"


class StatusUnreadable(HtpPowerError):  # noqa: N818 - reads as what it is
    """A file that can't be read as a status."""


@attrs.frozen
class Seen:
    """A status as it is seen now.

    Attributes:
        document: the content of the file.
        age_us: its age by the wall clock, at least 0.
        process: whether the process that wrote it runs.
    """

    document: dict[str, Any]
    age_us: int
    process: Life

    @property
    def time_us(self) -> int:
        """The controller's clock when it was written."""
        time_us: int = self.document["time_us"]
        return time_us


def read_status(path: Path) -> dict[str, Any]:
    """Return the content of a file.

    Raises:
        StatusUnreadable: it can't be read, or holds no status of a known format.
    """
    shown = printable(str(path))
    try:
        held = read_regular_file(path, raised(_LARGEST))
    except NotRegular:
        raise StatusUnreadable(f"{shown} is no file: {_SERVED}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise StatusUnreadable(f"can't read {shown}: {reason}: {_SERVED}") from None
    try:
        check_json(held, _LARGEST)
    except TooMuch as error:
        raise StatusUnreadable(f"{shown} {error.message}; that is too large for a status: {error.hint}") from None
    try:
        document = json.loads(held)
    except (ValueError, RecursionError):
        raise StatusUnreadable(f"{shown} is not JSON: {_SERVED}") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise StatusUnreadable(f"{shown} is no status of htppower: {_SERVED}")
    form = document.get("format")
    if type(form) is int and form > FORMAT:
        newer = printable(str(document.get("htppower")))
        raise StatusUnreadable(
            f"{shown} has format {form}, written by htppower {newer}; this one knows format {FORMAT}: use that version"
        )
    found = _wrong(document)
    if found:
        raise StatusUnreadable(f"{shown} is no status of htppower: {printable(found)}")
    return document


def seen(document: dict[str, Any], now: datetime.datetime) -> Seen:
    """Return a status as it is seen at a time."""
    age = now - datetime.datetime.fromisoformat(document["written"])
    process = life(document["pid"], document["started_ticks"], document["place"])
    return Seen(document, max(0, age // datetime.timedelta(microseconds=1)), process)


def stamp(path: Path) -> object:
    """Return a value that is another for every new file at this path; None where there is none."""
    try:
        held = os.stat(path)
    except (OSError, ValueError):
        return None
    return held.st_ino, held.st_mtime_ns, held.st_size


def _wrong(document: dict[str, Any]) -> str | None:
    found = wrong(document, STATUS)
    if found is not None:
        return found
    with contextlib.suppress(ValueError):
        if datetime.datetime.fromisoformat(document["written"]).tzinfo is not None and document["pid"] > 0:
            return None
    return "written is no time of UTC, or pid no process"
