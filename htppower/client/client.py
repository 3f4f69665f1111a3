"""The client of threads: each message waits for its answer."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

from htppower.client.connection import Connection
from htppower.client.conversation import Conversation, Held, held
from htppower.client.place import default_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self


class Client:
    """A connection to the service, with leases that end with it. ``connect`` makes it.

    Without a service, inferences run without votes, and one WARNING is logged. A later begin connects again,
    after 1 s, 2 s, 4 s, and in the end once a minute. Methods may be called from any thread. A forked child
    has no connection of its own, and sends nothing.

    A begin waits for the begins of other threads with the same client, so give each thread a client of its own if it
    must not wait. Do not use a client in a signal handler.
    """

    def __init__(self, name: str, path: str | None, timeout_s: float) -> None:
        place = path or default_place()
        self._talk = Conversation(name, place, time.monotonic_ns)
        self._connection = Connection(place, timeout_s)
        self._connection.run(self._talk.connect())

    @property
    def connected(self) -> bool:
        """Whether there was a connection at the last message."""
        return self._talk.connected

    def hold(
        self,
        profile: str,
        *,
        reason: str,
        owner: str | None = None,
        deadline_us: int | None = None,
        window_us: int | None = None,
        device_id: int = 0,
        core_ids: Iterable[int] = (0,),
    ) -> Lease:
        """Request a lease, which raises no votes until an inference begins.

        Args:
            profile: the name of a profile that the service knows.
            reason: why, for the status and the logs of the service.
            owner: the task, the client's name by default.
            deadline_us: the lease ends by itself after this time, in microseconds.
            window_us: a begin keeps the votes up for this time, in microseconds, and the next begins need no message
                until half of it has passed; then their ends need none either. It must be more than twice the longest
                inference, and the votes come down only after it.
            device_id: the device.
            core_ids: the cores to vote on.

        Raises:
            ServiceRefused: the service refuses it, for example since it knows no such profile.
            ValueError: the window is not a whole number of microseconds, 1 or more.
        """
        asked = held(
            profile,
            reason,
            owner=owner,
            deadline_us=deadline_us,
            window_us=window_us,
            device_id=device_id,
            core_ids=tuple(core_ids),
        )
        self._connection.run(self._talk.hold(asked))
        return Lease(self._connection, self._talk, asked)

    def status(self) -> dict[str, Any] | None:
        """Return the client's own leases, and the sums over all; None without a service."""
        found: dict[str, Any] | None = self._connection.run(self._talk.status())
        return found

    def close(self) -> None:
        """Disconnect; this ends every lease. A later begin would connect again."""
        self._connection.run(self._talk.close())

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the client."""
        self.close()


class Lease:
    """A lease of a client: a profile, and the votes of its inferences. It ends with its client."""

    def __init__(self, connection: Connection, talk: Conversation, held: Held) -> None:
        self._connection = connection
        self._talk = talk
        self._held = held

    @property
    def profile(self) -> str:
        """The name of the profile at the last answer, which is the one that was requested or the cap of the user."""
        return self._held.profile

    @property
    def active(self) -> bool:
        """Whether the service has the lease."""
        return self._held.number is not None

    def begin(self) -> int:
        """Begin an inference, and return its number; its votes are in force if there is a service."""
        held = self._held
        if time.monotonic_ns() < held.renew_ns:
            return 0
        number: int = self._connection.run(self._talk.begin(held))
        return number

    def end(self, number: int) -> None:
        """End an inference. Ending it twice has no effect."""
        message = self._talk.end(self._held, number)
        if message is not None:
            self._connection.tell(message)

    @contextlib.contextmanager
    def inference(self) -> Iterator[None]:
        """Return a context manager for one inference."""
        number = self.begin()
        try:
            yield
        finally:
            self.end(number)

    def use(self, profile: str) -> None:
        """Change the profile: at once if the votes are up.

        Raises:
            ServiceRefused: the service refuses it; the lease keeps its profile.
        """
        self._connection.run(self._talk.use(self._held, profile))

    def release(self) -> None:
        """End the lease: its votes are lowered. Releasing it twice has no effect."""
        self._connection.run(self._talk.release(self._held))

    def __enter__(self) -> Self:
        """Return the lease."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Release the lease."""
        self.release()


def connect(name: str, *, path: str | None = None, timeout_s: float = 2.0) -> Client:
    """Return a client, connected if the service can be reached.

    Args:
        name: the program, for the status and the logs of the service.
        path: the service's socket or pipe; by default ``HTPPOWER_SOCKET``, or else the usual place.
        timeout_s: how long to wait for an answer, in seconds; then the client disconnects, which ends its leases, and
            goes on without votes. Windows waits without a limit.
    """
    return Client(name, path, timeout_s)
