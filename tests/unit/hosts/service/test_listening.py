"""Where the service listens: modes and groups of its socket, and places that can't be used."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from pathlib import Path

import pytest

from htppower.hosts.service.listening import CantServeError, Listening, listen

pytestmark = pytest.mark.needs("unix sockets")


def modes_and_rest(listening: Listening) -> tuple[int, bool]:
    """Listen for a moment, and return the mode of the socket, and whether it is there afterwards."""

    async def run() -> int:
        async with listen(listening, asyncio.Protocol) as place:
            assert place == listening.path
            found = os.lstat(place)
            assert stat.S_ISSOCK(found.st_mode)
            return stat.S_IMODE(found.st_mode)

    mode = asyncio.run(run())
    return mode, Path(str(listening.path)).exists()


def take_place(path: str) -> None:
    """Put another socket at a place."""
    Path(path).unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o666])
def test_the_socket_has_the_mode_that_is_asked_for(tmp_path: Path, mode: int) -> None:
    """Whatever the umask; and it is removed at the end."""
    before = os.umask(0o027)
    try:
        assert modes_and_rest(Listening(str(tmp_path / "s"), mode)) == (mode, False)
    finally:
        os.umask(before)


def test_the_socket_of_a_killed_service_is_replaced(tmp_path: Path) -> None:
    """Nobody listens there any more."""
    with socket.socket(socket.AF_UNIX) as old:
        old.bind(str(tmp_path / "s"))
    assert modes_and_rest(Listening(str(tmp_path / "s"))) == (0o600, False)


def test_a_socket_that_serves_is_left_alone(tmp_path: Path) -> None:
    """The second service is refused, and the first goes on."""
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(path)
        other.listen()
        with pytest.raises(CantServeError, match=r"listens at .* already: end it"):
            modes_and_rest(Listening(path))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)


def test_a_file_is_left_alone(tmp_path: Path) -> None:
    """Something else than a socket is never removed."""
    (tmp_path / "s").write_text("precious")
    with pytest.raises(CantServeError, match="is not a socket"):
        modes_and_rest(Listening(str(tmp_path / "s")))
    assert (tmp_path / "s").read_text() == "precious"


def test_a_new_socket_at_the_place_is_not_removed(tmp_path: Path) -> None:
    """If another service has taken the place, the end of the first does not remove its socket."""
    path = str(tmp_path / "s")

    async def run() -> None:
        async with listen(Listening(path), asyncio.Protocol):
            take_place(path)

    asyncio.run(run())
    assert Path(path).exists()


@pytest.mark.parametrize(
    ("name", "group", "said"),
    [
        ("none/s", None, "does not exist: make it"),
        ("x" * 120, None, "name another path with --socket"),
        ("s", "no-such-group", "there is no group no-such-group"),
    ],
)
def test_a_place_that_cant_be_used_is_told(tmp_path: Path, name: str, group: str | None, said: str) -> None:
    """The error says what to do, and no socket is left."""
    with pytest.raises(CantServeError, match=said):
        modes_and_rest(Listening(str(tmp_path / name), group=group))
    assert not (tmp_path / "s").exists()
