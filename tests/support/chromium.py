"""Headless Chromium, for tests of pages that need a browser."""

from __future__ import annotations

import itertools
import json
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DARK, LIGHT = 0, 1
# The filters of a row (PNG specification, 9.2).
NONE, SUB, UP, _AVERAGE, PAETH = range(5)


class Browser:
    """One page at a time, each with a fresh profile below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._opened = 0

    def _run(self, page: Path, *flags: str) -> str:
        assert CHROMIUM is not None
        self._opened += 1
        command = [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1000,800",
            f"--user-data-dir={self._folder / f'profile-{self._opened}'}", *flags, page.as_uri(),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def dom(self, page: Path) -> str:
        """Return the document as the browser parsed it."""
        return self._run(page, "--dump-dom")

    def requests(self, page: Path) -> list[str]:
        """Return the requests of the page, except for its own file."""
        log = self._folder / f"net-{self._opened}.json"
        self._run(page, f"--log-net-log={log}", "--dump-dom")
        events = json.loads(log.read_text(encoding="utf-8"))["events"]
        started = [event["params"] for event in events if "initiator" in event.get("params", {})]
        # Requests of the browser itself have no origin as their initiator.
        return [said["url"] for said in started if said["initiator"] != "not an origin" and "url" in said]

    def picture(self, page: Path, scheme: int) -> Picture:
        """Return a screenshot in a colour scheme."""
        png = self._folder / f"shot-{self._opened}.png"
        self._run(page, f"--screenshot={png}", f"--blink-settings=preferredColorScheme={scheme}")
        return Picture(png.read_bytes())


class Picture:
    """A PNG with 8 bits for each channel."""

    def __init__(self, png: bytes) -> None:
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        self.width, self.height, depth, kind = struct.unpack(">IIBB", png[16:26])
        assert depth == 8
        self._size = {2: 3, 6: 4}[kind]
        data, place = b"", 8
        while place < len(png):
            (length,) = struct.unpack(">I", png[place : place + 4])
            if png[place + 4 : place + 8] == b"IDAT":
                data += png[place + 8 : place + 8 + length]
            place += length + 12
        self.rows = list(self._unfiltered(zlib.decompress(data)))

    def _unfiltered(self, data: bytes) -> list[bytes]:
        stride, size = self.width * self._size, self._size
        rows: list[bytes] = []
        above = bytes(stride)
        for start in range(0, len(data), stride + 1):
            kind, row = data[start], bytearray(data[start + 1 : start + 1 + stride])
            if kind == SUB:
                for channel in range(size):
                    row[channel::size] = bytes(value & 0xFF for value in itertools.accumulate(row[channel::size]))
            elif kind == UP:
                row = bytearray((value + up) & 0xFF for value, up in zip(row, above, strict=True))
            elif kind != NONE:
                _add_predicted(kind, row, above, size)
            above = bytes(row)
            rows.append(above)
        return rows

    @property
    def colours(self) -> dict[tuple[int, ...], int]:
        """How often each colour occurs in every fourth row."""
        found: Counter[tuple[int, ...]] = Counter()
        for row in self.rows[::4]:
            found.update(zip(*(row[channel :: self._size] for channel in range(3)), strict=True))
        return found

    @property
    def commonest(self) -> tuple[int, ...]:
        """Usually the background."""
        colours = self.colours
        return max(colours, key=lambda colour: colours[colour])


def _add_predicted(kind: int, row: bytearray, above: bytes, size: int) -> None:
    """Undo one of PNG's filters: add the value predicted from the neighbours to each byte (PNG specification, 9.2)."""
    for place, up in enumerate(above):
        left = row[place - size] if place >= size else 0
        corner = above[place - size] if place >= size else 0
        row[place] = (row[place] + (_paeth(left, up, corner) if kind == PAETH else (left + up) // 2)) & 0xFF


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    near, above, across = abs(guess - left), abs(guess - up), abs(guess - corner)
    if near <= above and near <= across:
        return left
    return up if above <= across else corner
