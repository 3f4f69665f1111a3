"""Only a regular file is opened: pipes are not waited for, and links do not lead out of the named folder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from htppower.profiles.regular_file import (
    NotRegular,
    noting_opened_files,
    open_regular,
    opened_files,
    read_regular_file,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, sockets and links of POSIX")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder; a secret is outside it."""
    (tmp_path / "secret").write_text("CANARY", encoding="utf-8")
    (tmp_path / "folder" / "below").mkdir(parents=True)
    (tmp_path / "folder" / "below" / "a").write_text("a", encoding="utf-8")
    return tmp_path / "folder"


@pytest.mark.parametrize("kind", ["folder", "pipe", "socket", "device"])
def test_what_is_no_regular_file_is_refused_by_its_kind(
    folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The error names the kind of file, and returns at once."""
    monkeypatch.chdir(folder)
    path = Path("/dev/zero") if kind == "device" else Path("odd")
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(path))
    for options in ({}, {"within": path.parent}):
        with pytest.raises(NotRegular, match=f"a {kind}"):
            open_regular(path, **options)  # type: ignore[arg-type]


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is replaced after the first check is checked again once it is open."""
    path, look = folder / "a", os.stat
    path.write_text("a", encoding="utf-8")

    def replaced(found: str) -> os.stat_result:
        seen = look(found)
        path.unlink()
        os.mkfifo(path)
        return seen

    with monkeypatch.context() as patched:
        patched.setattr("htppower.profiles.regular_file.os.stat", replaced)
        with pytest.raises(NotRegular, match="a pipe"):
            open_regular(path)


@pytest.mark.parametrize("link", ["../secret", "../missing", "below/../../secret", "/dev/zero", "/"])
def test_a_link_out_of_the_folder_is_not_followed(folder: Path, link: str) -> None:
    """The error says that the link leads out, and does not say where."""
    (folder / "link").symlink_to(link)
    with pytest.raises(NotRegular, match=r"^a link that leads out of its folder$"):
        open_regular(folder / "link", within=folder)


def test_a_folder_that_is_a_link_out_is_not_followed(folder: Path) -> None:
    """A file behind such a link is outside the folder."""
    (folder / "out").symlink_to("..")
    with pytest.raises(NotRegular, match="leads out"):
        open_regular(folder / "out" / "secret", within=folder)


def test_links_that_stay_in_the_folder_are_followed(folder: Path, tmp_path: Path) -> None:
    """A link to a file below counts as the file, and the folder itself may be a link."""
    (folder / "link").symlink_to("below/a")
    (tmp_path / "named").symlink_to("folder")
    for within in (folder, tmp_path / "named"):
        with open_regular(within / "link", within=within) as file:
            assert file.read() == b"a"


@pytest.mark.parametrize("replaced", ["below/a", "below"])
def test_a_link_that_takes_the_place_of_a_part_is_not_followed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, replaced: str
) -> None:
    """A link may be put there after the path was resolved."""
    look = os.stat
    (folder.parent / "a").write_text("CANARY", encoding="utf-8")

    def planted(found: str) -> os.stat_result:
        seen = look(found)
        (folder / replaced).rename(folder / "moved")
        (folder / replaced).symlink_to(folder.parent / "a" if replaced.endswith("a") else folder.parent)
        return seen

    with monkeypatch.context() as patched:
        patched.setattr("htppower.profiles.regular_file.os.stat", planted)
        with pytest.raises(OSError, match=r"symbolic links|Not a directory"):
            open_regular(folder / "below" / "a", within=folder)


def test_a_pipe_is_read_where_the_caller_takes_one(folder: Path) -> None:
    """Reading waits for the pipe's writer; without a writer it is empty."""
    read, write = os.pipe()
    os.write(write, b"a")
    os.close(write)
    with open_regular(f"/dev/fd/{read}", pipe=True) as file:
        assert (file.read(9), file.read(9)) == (b"a", b"")
    os.close(read)
    os.mkfifo(folder / "pipe")
    with open_regular(folder / "pipe", pipe=True) as file:
        assert file.read(9) == b""


def test_no_more_is_read_than_asked_for(folder: Path) -> None:
    """One byte more is read, which shows that the file is larger."""
    (folder / "large").write_bytes(b"x" * 100)
    assert len(read_regular_file(folder / "large", 9)) == 10


def test_opened_files_are_noted_by_what_they_are(folder: Path) -> None:
    """A link and its file are one entry; a check is not an entry, and neither is a file opened outside the block."""
    (folder / "link").symlink_to("below/a")
    with noting_opened_files():
        read_regular_file(folder / "below" / "a", noted=False)
        assert not opened_files()
        read_regular_file(folder / "link")
        found = (folder / "below" / "a").stat()
        assert opened_files() == {(found.st_dev, found.st_ino)}
    assert not opened_files()


def test_a_file_that_is_refused_does_not_stay_open(folder: Path) -> None:
    """A host with many wrong paths does not run out of descriptors."""
    os.mkfifo(folder / "pipe")
    before = len(list(Path("/dev/fd").iterdir()))
    for path in ("pipe", "below", "missing"):
        with pytest.raises((NotRegular, OSError)):
            open_regular(folder / path, within=folder)
    assert len(list(Path("/dev/fd").iterdir())) == before
