"""A service in a thread, on the simulated HTP, and a client that sends lines as they are."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.hosts.service.limits import service_file
from htppower.hosts.service.listening import Listening
from htppower.hosts.service.serving import serve
from htppower.profiles.cache import ProfileCache
from htppower.profiles.loading import profile_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import Self

    from htppower.backends.base import Backend

# A machine under load may take long; no test waits for it to pass.
LONGEST_S = 30.0


@attrs.frozen
class Served:
    """A running service.

    Attributes:
        path: its socket.
        controller: the controller that votes.
        backend: the simulated HTP.
    """

    path: str
    controller: VoteController
    backend: Any

    def connect(self, name: str = "test") -> Raw:
        """Return a client that has said hello."""
        raw = Raw(self.path)
        assert raw.ask("hello", protocol=1, name=name)["ok"]
        return raw

    def raised(self) -> int:
        """Return how many sessions have their votes up."""
        return sum(session.state == "RAISED" for session in self.controller.status().sessions)

    def until(self, raised: int) -> None:
        """Wait until this many sessions have their votes up."""
        self._wait(lambda found: found == raised)

    def until_raised(self) -> None:
        """Wait until a session has its votes up."""
        self._wait(bool)

    def until_sessions(self, count: int) -> None:
        """Wait until there are so many sessions."""
        self._wait(lambda _raised: len(self.controller.status().sessions) == count)

    def _wait(self, reached: Callable[[int], bool]) -> None:
        end_s = time.monotonic() + LONGEST_S
        while not reached(self.raised()):
            assert time.monotonic() < end_s, f"{self.raised()} sessions are raised"
            threading.Event().wait(0.002)


class Raw:
    """A client that sends whatever it is told."""

    def __init__(self, path: str) -> None:
        self.end: Any
        if os.name == "nt":
            self.end = self._file = Path(path).open("r+b", buffering=0)  # noqa: SIM115 - closed by ``close``
        else:
            self.end = socket.socket(socket.AF_UNIX)
            self.end.settimeout(LONGEST_S)
            self.end.connect(path)
            self._file = self.end.makefile("rb")
        self._id = 0
        self.events: list[dict[str, Any]] = []

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        if os.name == "nt":
            self.end.write(data)
        else:
            self.end.sendall(data)

    def line(self) -> dict[str, Any]:
        """Return the next line of the service; nothing if it has disconnected."""
        line = self._file.readline()
        return json.loads(line) if line else {}

    def tell(self, verb: str, **fields: Any) -> None:
        """Send a message that wants no answer."""
        self.send(json.dumps({"do": verb, **fields}).encode() + b"\n")

    def ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        """Send a message, and return its answer; keep the events before it."""
        self._id += 1
        self.tell(verb, id=self._id, **fields)
        while (answer := self.line()).get("id") != self._id:
            assert answer, "the service has disconnected"
            self.events.append(answer)
        return answer

    def close(self) -> None:
        """Disconnect."""
        self._file.close()
        self.end.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def place_of(folder: Path) -> str:
    """Return the socket of a service in a folder, or a pipe that is named after the folder."""
    return rf"\\.\pipe\{folder.name}-{os.getpid()}" if os.name == "nt" else str(folder / "socket")


@contextlib.contextmanager
def served(folder: Path, file: str | None = None, backend: Backend | None = None) -> Iterator[Served]:
    """Run a service on a socket in a folder, with this text as its file."""
    path = place_of(folder)
    profiles = ProfileCache([folder])
    stated = None
    if file is not None:
        (folder / "serve.yml").write_text(file)
        stated = str(folder / "serve.yml")
    simulated = backend or SimulatedHtp()
    ready = threading.Event()
    tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[None]]] = []
    with VoteController(simulated, handle_sigterm=False) as controller:

        async def run() -> None:
            names = profile_names([folder])
            running = serve(
                controller, service_file(stated, profiles), profiles, names, Listening(path), lambda _place: ready.set()
            )
            task = asyncio.ensure_future(running)
            tasks.append((asyncio.get_running_loop(), task))
            with contextlib.suppress(asyncio.CancelledError):
                await task

        thread = threading.Thread(target=asyncio.run, args=(run(),))
        thread.start()
        try:
            assert ready.wait(LONGEST_S)
            yield Served(path, controller, simulated)
        finally:
            loop, task = tasks[0]
            loop.call_soon_threadsafe(task.cancel)
            thread.join(LONGEST_S)
            assert not thread.is_alive()
