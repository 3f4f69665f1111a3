"""The client of threads: each message waits for its answer."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import threading
import time
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

from htppower.client.conversation import Conversation, Held, held, next_step, parsed
from htppower.client.place import default_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self

    from htppower.client.conversation import Message, Talk


class Client:
    """A connection to the service, with leases that end with it. ``connect`` makes it.

    Without a service, inferences run without votes, and one WARNING is logged. A later begin connects again:
    at most once a second at first, and once a minute in the end. Methods may be called from any thread. A forked child
    has no connection of its own, and sends nothing.
    """

    def __init__(self, name: str, path: str | None, timeout_s: float) -> None:
        self._talk = Conversation(name, time.monotonic_ns)
        self._connection = _Connection(path or default_place(), timeout_s)
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

        def asked() -> Talk:
            return (yield from self._talk.ask("status")) if (yield from self._talk.connect()) else None

        try:
            found: dict[str, Any] | None = self._connection.run(asked())
        except OSError as error:
            self._talk.lost(error)
            return None
        return found

    def close(self) -> None:
        """Disconnect; this ends every lease. A later begin would connect again."""
        self._connection.close()
        self._talk.connected = False

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the client."""
        self.close()


class Lease:
    """A lease of a client: a profile, and the votes of its inferences. It ends with its client."""

    def __init__(self, connection: _Connection, talk: Conversation, held: Held) -> None:
        self._connection = connection
        self._talk = talk
        self._held = held

    @property
    def profile(self) -> str:
        """The name of the profile that was requested last."""
        return str(self._held.fields["profile"])

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
        if self._held.window_us is None:
            self._connection.run(self._talk.end(self._held, number))

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


class _Connection:
    """The socket or the pipe of a client. One thread at a time runs a conversation on it."""

    def __init__(self, path: str, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._lock = threading.RLock()
        self._end: Any = None
        self._rest = b""
        self._pid = os.getpid()
        if hasattr(os, "register_at_fork"):
            # A connection that a child has, too, would not end with this process.
            os.register_at_fork(after_in_child=functools.partial(_disown, weakref.ref(self)))

    def close(self) -> None:
        """Disconnect."""
        with self._lock:
            self.drop()

    def run(self, talk: Talk) -> Any:
        """Run a conversation to its end, and return its result."""
        with self._lock:
            answer: dict[str, Any] | None = None
            error: BaseException | None = None
            while True:
                try:
                    step = next_step(talk, answer, error)
                except StopIteration as stop:
                    return stop.value
                answer, error = None, None
                try:
                    answer = self._do(step)
                # Ctrl-C in the wait is thrown into the conversation, too, which ends what it has begun.
                except BaseException as failure:  # noqa: BLE001
                    error = failure
                    if isinstance(failure, OSError):
                        self.drop()

    def _do(self, step: Message | None) -> dict[str, Any] | None:
        if os.getpid() != self._pid:
            raise ConnectionError("this is a forked child: connect in the child")
        if step is None:  # CONNECT
            self.drop()
            self._end = _opened(self._path, self._timeout_s)
            return None
        self._end.sendall(step.line)
        return None if step.id is None else self._answer(step.id)

    def _answer(self, number: int) -> dict[str, Any]:
        while True:
            *lines, self._rest = self._rest.split(b"\n")
            for place, line in enumerate(lines):
                answer = parsed(line)
                if answer.get("id") == number:
                    self._rest = b"\n".join((*lines[place + 1 :], self._rest))
                    return answer
            data = self._end.recv(65_536)
            if not data:
                raise ConnectionResetError("the service has ended")
            self._rest += data

    def drop(self) -> None:
        """Disconnect, without the lock: in a forked child it may be held by a thread that does not exist there."""
        end, self._end, self._rest = self._end, None, b""
        if end is not None:
            with contextlib.suppress(OSError):
                end.close()


class _Pipe:
    """The client's end of a named pipe of Windows, with the methods of a socket."""

    def __init__(self, path: str) -> None:
        self._file = Path(path).open("r+b", buffering=0)  # noqa: SIM115 - closed by ``close``

    def sendall(self, data: bytes) -> None:
        """Write all of it."""
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]

    def recv(self, most: int) -> bytes:
        """Return what has arrived; wait for it."""
        return self._file.read(most)

    def close(self) -> None:
        """Close it."""
        self._file.close()


def _opened(path: str, timeout_s: float) -> Any:
    if os.name == "nt":
        return _Pipe(path)
    end = socket.socket(socket.AF_UNIX)
    end.settimeout(timeout_s)
    try:
        end.connect(path)
    except OSError as error:
        end.close()
        raise type(error)(error.errno, error.strerror, path) from None
    return end


def _disown(reference: weakref.ref[_Connection]) -> None:
    connection = reference()
    if connection is not None:
        connection.drop()
