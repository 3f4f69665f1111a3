"""The users of the service: what each has now, within the limits of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.hosts.service.messages import Wrong

if TYPE_CHECKING:
    import asyncio

    from htppower.hosts.service.limits import Allowed, ServiceFile


@attrs.define(eq=False)
class User:
    """The connections and leases that one user has now.

    Attributes:
        allowed: what it may have.
        connections, leases: how many it has.
    """

    allowed: Allowed
    connections: int = 0
    leases: int = 0
    _left: float = 0
    _at_s: float = 0

    def wait_s(self, now_s: float, messages: int) -> float:
        """Return how long so many messages of the user must wait, in seconds; 0 counts them as handled."""
        rate = self.allowed.fields.messages_per_s
        # At most the messages of one second are saved up, or one long line.
        self._left = min(max(rate, messages), self._left + (now_s - self._at_s) * rate)
        self._at_s = now_s
        if self._left < messages:
            return (messages - self._left) / rate
        self._left -= messages
        return 0


class Users:
    """All users, and their connections.

    Args:
        file: what each may have.
    """

    def __init__(self, file: ServiceFile) -> None:
        self._file = file
        self._users: dict[int | None, User] = {}
        self._connections: dict[asyncio.Transport, User] = {}

    def enter(self, transport: asyncio.Transport, uid: int | None) -> User:
        """Count a connection of a user.

        Raises:
            Wrong: the service or the user has too many.
        """
        user = self._users.get(uid)
        if user is None:
            user = self._users[uid] = User(self._file.allowed(uid))
        for most, count, whose in (
            (self._file.fields.most_connections, len(self._connections), "the service"),
            (user.allowed.fields.most_connections, user.connections, "the user"),
        ):
            if count >= most:
                raise Wrong("too many", f"{whose} has {most} connections", "close some of them, and connect again")
        user.connections += 1
        self._connections[transport] = user
        return user

    def leave(self, transport: asyncio.Transport) -> None:
        """Count a connection no more."""
        user = self._connections.pop(transport, None)
        if user is not None:
            user.connections -= 1

    def disconnect(self) -> None:
        """Disconnect every client."""
        for transport in tuple(self._connections):
            transport.abort()
