"""A service on the simulated HTP that tells the clock after each native call: ``told_service.py SOCKET [FILE]``.

A line is the time in nanoseconds, by the clock of all processes, and the target of the core clock. The first line says
that clients can connect.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from typing import TYPE_CHECKING

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.hosts.service.limits import service_file
from htppower.hosts.service.listening import Listening
from htppower.hosts.service.serving import serve
from htppower.profiles.cache import ProfileCache

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet


class ToldHtp(SimulatedHtp):
    """The simulated HTP, which prints the effective clock after each call."""

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Vote, and print."""
        super().set_power_config(power_config_id, votes)
        self._tell()

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy the id, and print."""
        super().destroy_power_config_id(power_config_id)
        self._tell()

    def _tell(self) -> None:
        tell(self.effective().core_target)


def tell(what: object) -> None:
    """Print a line at once."""
    print(time.monotonic_ns(), what, flush=True)  # noqa: T201 - what it prints is read


def main(path: str, file: str | None = None) -> None:
    """Serve until a signal."""
    with VoteController(ToldHtp(), handle_sigterm=False) as controller, contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(controller, path, file))


async def _serve(controller: VoteController, path: str, file: str | None) -> None:
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    profiles = ProfileCache()
    await serve(controller, service_file(file, profiles), profiles, (), Listening(path), tell)


if __name__ == "__main__":
    main(*sys.argv[1:])
