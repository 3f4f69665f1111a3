"""The process and the user of a client, as the kernel states them."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
import sys
from typing import Any

import attrs

# struct xucred of the BSDs and macOS: version, uid, count of groups, groups (sys/ucred.h); SOL_LOCAL is 0 (unix(4)).
_XUCRED, _SOL_LOCAL, _LOCAL_PEERCRED = "=IIh2x16I", 0, 1
# struct ucred of Linux: pid, uid, gid (unix(7)).
_UCRED = "=iII"


@attrs.frozen
class Peer:
    """A client's process and user.

    Attributes:
        uid: the number of the user; None on Windows.
        pid: the number of the process; None on the BSDs and macOS.
    """

    uid: int | None
    pid: int | None

    def __str__(self) -> str:
        """Return user and process in words."""
        user = "" if self.uid is None else f"user {user_name(self.uid)}"
        process = "" if self.pid is None else f"process {self.pid}"
        return ", ".join(each for each in (user, process) if each)


def peer_of(end: Any) -> Peer:
    """Return the client behind a socket of the family AF_UNIX, or behind the server's end of a named pipe.

    Raises:
        OSError: the system does not tell it.
    """
    if sys.platform == "win32":
        pid = ctypes.c_ulong()
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        if not kernel.GetNamedPipeClientProcessId(ctypes.c_void_p(end.fileno()), ctypes.byref(pid)):
            raise ctypes.WinError(ctypes.get_last_error())
        return Peer(None, pid.value)
    if hasattr(socket, "SO_PEERCRED"):
        pid_, uid, _ = struct.unpack(_UCRED, end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return Peer(uid, pid_)
    told = end.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, struct.calcsize(_XUCRED))
    return Peer(struct.unpack_from("=II", told)[1], None)


def has_hung_up(end: Any) -> bool:
    """Return whether the client has closed its end of a socket, even if bytes are unread; False for a pipe."""
    if end is None or not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(end.fileno(), 0)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def user_name(uid: int) -> str:
    """Return the name of a user, or its number if it has no name."""
    if os.name == "nt":
        return str(uid)
    import pwd  # noqa: PLC0415 - Windows has none

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
