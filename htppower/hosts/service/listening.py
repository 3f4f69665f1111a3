"""Where the service listens: a Unix socket, one that systemd has opened, or a named pipe of Windows."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.client.place import default_place
from htppower.errors import HtpPowerError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

# The first descriptor that systemd passes (sd_listen_fds(3)).
_FIRST_PASSED = 3
# How many connections may wait until they are accepted; the kernel limits it further (listen(2)).
_BACKLOG = 1024
# How many of them asyncio accepts before the other clients have their turn.
_ACCEPTED_AT_ONCE = 8


class CantServeError(HtpPowerError, OSError):
    """The service can't start: its socket or pipe, or a cap of its file, can't be used here."""


@attrs.frozen
class Listening:
    """Where to listen, and who may connect.

    Attributes:
        path: the socket, or the pipe on Windows; None for the default.
        mode: the permissions of the socket.
        group: the name of the group that the socket belongs to; None for the process's own.
    """

    path: str | None = None
    mode: int = 0o600
    group: str | None = None


@contextlib.asynccontextmanager
async def listen(listening: Listening, make: Callable[[], asyncio.BaseProtocol]) -> AsyncIterator[str]:
    """Accept connections inside the block; yield where, in words.

    Raises:
        CantServeError: the place is taken, or can't be used.
    """
    path = listening.path or default_place()
    loop: Any = asyncio.get_running_loop()
    if sys.platform == "win32":
        try:
            servers = await loop.start_serving_pipe(make, path)
        except OSError as error:
            raise CantServeError(f"{path}: {error.strerror}: is another service running?") from None
        try:
            yield path
        finally:
            for each in servers:
                each.close()
        return
    _allow_many_descriptors()
    passed = _passed_socket()
    bound = passed or _bound_socket(path, listening)
    # From Python 3.13 on asyncio would remove the socket, even if it is systemd's.
    kept = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
    server = await loop.create_unix_server(make, sock=bound, backlog=_ACCEPTED_AT_ONCE, **kept)
    bound.listen(_BACKLOG)
    own = None if passed else _identity(path)
    try:
        yield "the socket of systemd" if passed else path
    finally:
        server.close()
        # Not ``wait_closed``: from Python 3.12 on it waits for the clients.
        if own is not None and own == _identity(path):
            _remove(path)


def _identity(path: str) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        found = Path(path).lstat()
        return found.st_dev, found.st_ino
    return None


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        Path(path).unlink()


def _passed_socket() -> socket.socket | None:
    """Return the socket that systemd has opened for this process; None if there is none."""
    passed = os.environ.pop("LISTEN_FDS", ""), os.environ.pop("LISTEN_PID", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if passed[1] != str(os.getpid()) or passed[0] in ("", "0"):
        return None
    if passed[0] != "1":
        raise CantServeError(f"systemd passes {passed[0]} sockets: state one ListenStream in the socket unit")
    given = socket.socket(fileno=_FIRST_PASSED)
    if given.family != socket.AF_UNIX or given.type != socket.SOCK_STREAM:
        raise CantServeError("systemd passes no Unix stream socket: state ListenStream=/run/htppower/socket")
    return given


def _bound_socket(path: str, listening: Listening) -> socket.socket:
    group = -1 if listening.group is None else _group(listening.group)
    _remove_stale(path)
    made = socket.socket(socket.AF_UNIX)
    # Nobody can connect before group and mode are set.
    before = os.umask(0o177)
    try:
        made.bind(path)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise CantServeError(_why_not_bound(path, error)) from None
    finally:
        os.umask(before)
    try:
        os.chown(path, -1, group)
        Path(path).chmod(listening.mode)
    except OSError as error:
        made.close()
        _remove(path)
        raise CantServeError(
            f"{path}: its group or mode can't be set: {error.strerror}: name a group that this user is in"
        ) from None
    return made


def _remove_stale(path: str) -> None:
    """Remove a socket that an earlier service has left.

    Raises:
        CantServeError: a service listens there, or it is something else than a socket.
    """
    try:
        found = Path(path).lstat()
    except OSError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise CantServeError(f"{path} exists, and is not a socket: name another path")
    with socket.socket(socket.AF_UNIX) as asking:
        try:
            asking.connect(path)
        except ConnectionRefusedError:
            _remove(path)
        except OSError as error:
            raise CantServeError(f"{path}: {error.strerror}: remove it, or name another path") from None
        else:
            raise CantServeError(f"a service listens at {path} already: end it, or name another path with --socket")


def _why_not_bound(path: str, error: OSError) -> str:
    folder = Path(path).parent
    if error.errno == errno.ENOENT:
        return f"the folder {folder} of the socket does not exist: make it, or name another path with --socket"
    if error.errno == errno.EACCES:
        return f"this user may not write to {folder}: name a path of its own with --socket"
    # A path that is too long has no number.
    return f"{path} can't be the socket: {error.strerror or error}: name another path with --socket"


def _group(name: str) -> int:
    import grp  # noqa: PLC0415 - Windows has none

    try:
        return grp.getgrnam(name).gr_gid
    except KeyError:
        raise CantServeError(f"there is no group {name}: name one with --group, or make it with groupadd") from None


def _allow_many_descriptors() -> None:
    """Raise the process's own limit on open descriptors, since each connection takes one."""
    import resource  # noqa: PLC0415 - Windows has none

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
