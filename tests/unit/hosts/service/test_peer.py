"""Who is at the other end, as the kernel says."""

from __future__ import annotations

import os
import socket
import struct
from typing import Any

import pytest

from htppower.hosts.service.peer import Peer, peer_of, user_name

pytestmark = pytest.mark.needs("unix sockets")


@pytest.mark.skipif(not hasattr(socket, "SO_PEERCRED"), reason="only Linux tells the process")
def test_linux_tells_user_and_process() -> None:
    """Both are this process's own, and are shown in words."""
    one, other = socket.socketpair()
    with one, other:
        found = peer_of(one)
    assert found == Peer(os.geteuid(), os.getpid())
    assert str(found) == f"user {user_name(os.geteuid())}, process {os.getpid()}"


def test_the_bsds_tell_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """``LOCAL_PEERCRED`` answers with struct xucred, whose second field is the user."""

    class End:
        def getsockopt(self, level: int, name: int, size: int) -> bytes:
            assert (level, name, size) == (0, 1, 76)
            return struct.pack("=IIh", 0, 501, 1).ljust(size, b"\0")

    monkeypatch.delattr(socket, "SO_PEERCRED", raising=False)
    end: Any = End()
    assert peer_of(end) == Peer(501, None)
    assert str(Peer(3_000_000_000, None)) == "user 3000000000"
