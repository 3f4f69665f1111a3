"""A file that would fill the memory is refused early."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from support.costly_files import packed, take

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process is asked what it took")

_MOST_MB = 150


@pytest.mark.parametrize("command", ["advise", "status", "tune"])
def test_a_small_file_that_is_large_in_memory_is_refused(tmp_path: Path, command: str) -> None:
    """16 MB of JSON would take 400 MB; a compressed file is refused as soon as its content is too large."""
    path = tmp_path / "values.json"
    path.write_bytes(b'{"components":[' + b"{}," * 5_400_000 + b"{}]}")
    if command == "tune":
        path = packed(tmp_path / "rows.csv.gz", (b"begin_us,end_us\n", *[b"1,2" + b" " * 50_000 + b"\n"] * 4_000))
    taken = take(command, str(path))
    assert taken.code == 2
    assert "set HTPPOWER_READ_MORE=10 to read ten times as much" in taken.said
    assert taken.most_mb < _MOST_MB
