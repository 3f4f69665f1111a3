"""A file is put in place whole, and only where its name says."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from htppower.control.files.new_file import put_in_place

if TYPE_CHECKING:
    from pathlib import Path


def test_a_link_that_comes_back_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who plants the link again after it was taken away, or does not let it be, gets nothing written."""
    victim, path = tmp_path / "victim", tmp_path / "status.json"
    victim.write_text("kept", encoding="ascii")
    (tmp_path / ".status.json.new").symlink_to(victim)
    monkeypatch.setattr(os, "unlink", lambda _path: None)
    with pytest.raises(FileExistsError):
        put_in_place(path, b"new")
    assert victim.read_text(encoding="ascii") == "kept"
    assert not path.exists()


def test_what_was_there_stays_until_all_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up leaves the old file, and nothing beside it."""
    path = tmp_path / "trace.json"
    path.write_bytes(b"old")

    def full(_file: int, _data: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space"):
            put_in_place(path, b"new")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("trace.json", b"old")]


def test_the_file_is_open_to_grow(tmp_path: Path) -> None:
    """What is returned leads to the file that is in place."""
    path = tmp_path / "trace.json"
    with os.fdopen(put_in_place(path, b"new"), "r+b", buffering=0) as file:
        file.seek(0, os.SEEK_END)
        file.write(b"er")
    assert path.read_bytes() == b"newer"


def test_an_error_names_the_path_that_was_given(tmp_path: Path) -> None:
    """Not the name under which the file is made, which nobody has named."""
    path = tmp_path / "none" / "trace.json"
    with pytest.raises(FileNotFoundError) as raised:
        put_in_place(path, b"new")
    assert raised.value.filename == str(path)
