"""New files: they are put in place as a whole, and no link is followed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from htppower.control.files.new_file import put_in_place


def test_a_link_that_comes_back_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a link at the temporary name can't be removed, its target is not written."""
    victim, path = tmp_path / "victim", tmp_path / "status.json"
    victim.write_text("kept", encoding="ascii")
    (tmp_path / ".status.json.new").symlink_to(victim)
    monkeypatch.setattr(Path, "unlink", lambda _path: None)
    put_in_place(path, b"new").close()
    assert (victim.read_bytes(), path.read_bytes(), path.is_symlink()) == (b"kept", b"new", False)


def test_a_folder_full_of_what_can_not_be_removed_is_an_error(tmp_path: Path) -> None:
    """If none of the temporary names can be used, an error is raised: their number is limited."""
    path = tmp_path / "status.json"
    for number in ("", *range(2, 100)):
        (tmp_path / f".status.json.new{number}").mkdir()
    with pytest.raises(FileExistsError) as raised:
        put_in_place(path, b"new")
    assert raised.value.filename == str(path)


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path: Path) -> None:
    """The error says that the folder is a file, whatever the system says."""
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="its folder is a file"):
        put_in_place(tmp_path / "file" / "status.json", b"new")


def test_two_writers_at_the_same_time_both_put_a_whole_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither writer puts half a file in place, and neither loses its temporary file to the other."""
    path, write = tmp_path / "learnt.json", os.write
    seen: list[bytes] = []

    def half(file: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", write)
        written = write(file, data[:2])
        put_in_place(path, b"the other's").close()
        seen.append(path.read_bytes())
        return written

    monkeypatch.setattr(os, "write", half)
    put_in_place(path, b"this one").close()
    seen.append(path.read_bytes())
    assert seen == [b"the other's", b"this one"]
    assert [file.name for file in tmp_path.iterdir()] == ["learnt.json"]


def test_the_old_file_stays_until_the_new_one_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the disk is full, the old file stays, and no temporary file is left."""
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
    """The returned file is the file at the path, and can still be written to."""
    path = tmp_path / "trace.json"
    with put_in_place(path, b"new") as file:
        file.seek(0, os.SEEK_END)
        file.write(b"er")
    assert path.read_bytes() == b"newer"


def test_an_error_names_the_path_that_was_given(tmp_path: Path) -> None:
    """The error does not name the temporary file."""
    path = tmp_path / "none" / "trace.json"
    with pytest.raises(FileNotFoundError) as raised:
        put_in_place(path, b"new")
    assert raised.value.filename == str(path)


@pytest.mark.parametrize("lasting", [True, False])
def test_a_lasting_file_is_on_the_disk_before_it_is_in_place(
    lasting: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a loss of power, the old file or the new file is there. Other files do not wait for the disk."""
    path = tmp_path / "learnt.json"
    path.write_bytes(b"old")
    seen: list[tuple[int, bytes]] = []
    monkeypatch.setattr(os, "fsync", lambda file: seen.append((os.fstat(file).st_size, path.read_bytes())))
    put_in_place(path, b"new data", lasting=lasting).close()
    assert (seen, path.read_bytes()) == ([(8, b"old")] * lasting, b"new data")


@pytest.mark.parametrize(("owner", "function"), [(os, "write"), (Path, "replace")], ids=["write", "replace"])
def test_the_time_limit_of_a_host_is_passed_on_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, function: str
) -> None:
    """The TimeoutError of a host's signal handler is an OSError, too, and passes through unchanged."""
    path, limit = tmp_path / "learnt.json", TimeoutError("the host's")
    path.write_bytes(b"old")

    def out_of_time(*_: object, **__: object) -> None:
        raise limit

    with monkeypatch.context() as patch:
        patch.setattr(owner, function, out_of_time)
        with pytest.raises(TimeoutError) as raised:
            put_in_place(path, b"new")
    assert raised.value is limit
    assert path.read_bytes() == b"old"
    put_in_place(path, b"new").close()
    assert path.read_bytes() == b"new"
