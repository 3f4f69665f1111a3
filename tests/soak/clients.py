"""Clients of a service under faults: ``python tests/soak/clients.py [--seconds 60] [--clients 1000] [--seed N]``.

A process with many clients infers through a service on the simulated HTP, while its calls fail and the subsystem
restarts. Some clients die in the middle of a line, send bytes that are not a message, flood, or read nothing. In the
end the process is killed with inferences in flight. Prints a table, and exits with 1 if a vote or a lease is left, if
an id is left, or if the service failed at a message.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from support.serving import served

from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from typing_extensions import Self

PROFILES = ("burst", "high_performance", "balanced", "power_saver")
# Codes that a call of the simulated HTP answers: an option that is refused, and a dead link.
FAILURES = (13006, 13003, 1007)


class Talker:
    """One client, by its own streams."""

    def __init__(self, path: str, chance: random.Random) -> None:
        self._path = path
        self.chance = chance
        self._id = 0
        self.reader: Any = None
        self.writer: Any = None

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_unix_connection(self._path)
        await self.ask("hello", protocol=1, name="soak")
        await self.ask("hold", profile=self.chance.choice(PROFILES), reason="soak")
        return self

    async def __aexit__(self, *_error: object) -> None:
        self.writer.transport.abort()

    async def ask(self, verb: str, **fields: Any) -> None:
        """Send a message, and wait for its answer."""
        self._id += 1
        self.tell(verb, id=self._id, **fields)
        while json.loads(await self.reader.readline() or b'{"id": 0}')["id"] not in (self._id, 0):
            pass

    def tell(self, verb: str, **fields: Any) -> None:
        """Send a message."""
        self.writer.write(json.dumps({"do": verb, **fields}).encode() + b"\n")

    async def infers(self) -> None:
        """Run some inferences, one after the other or at once."""
        for number in range(self.chance.randrange(1, 20)):
            await self.ask("begin", lease=1, inference=number)
            await asyncio.sleep(self.chance.random() * 0.05)
            if self.chance.random() < 0.8:
                self.tell("end", lease=1, inference=number)
            if self.chance.random() < 0.1:
                await self.ask("use", lease=1, profile=self.chance.choice(PROFILES))

    async def has_windows(self) -> None:
        """Begin with windows that end by themselves."""
        for _ in range(5):
            await self.ask("begin", lease=1, inference=0, window_us=self.chance.randrange(1, 200_000))
            await asyncio.sleep(self.chance.random() * 0.2)

    async def dies_in_a_line(self) -> None:
        """Begin, and disconnect in the middle of the next message."""
        await self.ask("begin", lease=1, inference=1)
        self.writer.write(b'{"do": "end", "lea')

    async def sends_garbage(self) -> None:
        """Begin, and send bytes that are not a message."""
        await self.ask("begin", lease=1, inference=1)
        self.writer.write(self.chance.randbytes(self.chance.randrange(1, 20_000)))
        await asyncio.sleep(0.1)

    async def floods(self) -> None:
        """Send many messages without a pause, and read the answers later."""
        self.writer.write(b'{"do": "status", "id": 1}\n' * 500)
        await asyncio.sleep(0.2)
        await self.reader.read(1_000_000)

    async def reads_nothing(self) -> None:
        """Begin, ask much, and read no answer."""
        await self.ask("begin", lease=1, inference=1)
        self.writer.write(b'{"do": "status", "id": 1}\n' * 2_000)
        await asyncio.sleep(1)


BEHAVIOURS: tuple[Callable[[Talker], Awaitable[None]], ...] = (
    *(Talker.infers,) * 6,
    *(Talker.has_windows,) * 2,
    Talker.dies_in_a_line,
    Talker.sends_garbage,
    Talker.floods,
    Talker.reads_nothing,
)


async def clients(path: str, count: int, seed: int) -> None:
    """Run clients until the process is killed; print a line for each life of one."""

    async def live(number: int) -> None:
        chance = random.Random(f"{seed} {number}")
        while True:
            behaviour = chance.choice(BEHAVIOURS)
            with contextlib.suppress(OSError):
                async with Talker(path, chance) as talker:
                    await behaviour(talker)
            print(behaviour.__name__, flush=True)
            await asyncio.sleep(chance.random() * 0.5)

    await asyncio.gather(*(live(number) for number in range(count)))


def soak(seconds: float, count: int, seed: int) -> list[str]:
    """Run the clients, kill them, print a table, and return what is wrong."""
    chance = random.Random(seed)
    failures = _Failures()
    logging.getLogger("htppower.service").addHandler(failures)
    logging.getLogger("htppower").setLevel(logging.ERROR)
    file = (
        f"service: soak\nmost_connections: {2 * count}\n"
        f"users: [{{user: default, most_connections: {2 * count}, most_leases: {2 * count}, messages_per_s: 50000}}]\n"
    )
    simulated = SimulatedHtp()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), file, simulated) as service:
        command = [sys.executable, __file__, "--path", service.path, "--clients", str(count), "--seed", str(seed)]
        told = Path(folder, "told")
        with told.open("w") as output, subprocess.Popen(command, stdout=output) as process:
            service.until_raised()
            end_s = time.monotonic() + seconds
            most, restarts = 0, 0
            while time.monotonic() < end_s and process.poll() is None:
                time.sleep(0.05)
                most = max(most, service.raised())
                simulated.fail_next(chance.choice(FAILURES[:2]), function="setPowerConfig")
                if chance.random() < 0.02:
                    restarts += 1
                    simulated.restart_subsystem(fatal=False)
            wrong = [] if process.poll() is None else [f"the clients ended with {process.returncode}"]
            with service.connect() as watching:
                process.kill()
                killed_s = time.monotonic()
                while watching.ask("status")["all"]["leases"]:
                    if time.monotonic() - killed_s > 30:
                        wrong.append(f"30 s after the kill: {watching.ask('status')['all']}")
                        break
                gone_ms = (time.monotonic() - killed_s) * 1000
        lives = told.read_text().split()
        left = service.controller.status().sessions
        wrong += [f"left: {session}" for session in left]
    wrong += [f"the service failed: {said}" for said in failures.said]
    for name in sorted(set(lives)):
        print(f"{name:<24} {lives.count(name):>7}")
    print(f"{'most raised at once':<24} {most:>7}\n{'restarts':<24} {restarts:>7}")
    print(f"{'ms until all were gone':<24} {gone_ms:>7.0f}")
    if not lives or not most:
        wrong.append("no client has lived, or none was raised")
    return wrong


class _Failures(logging.Handler):
    """Keeps the errors of the service."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(record.getMessage())


def main() -> None:
    """Run the soak, or its clients."""
    parser = argparse.ArgumentParser(description="Soak a service with clients that misbehave.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(3), "big"))
    parser.add_argument("--path", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.path:
        asyncio.run(clients(options.path, options.clients, options.seed))
        return
    print(f"seed {options.seed}")
    wrong = soak(options.seconds, options.clients, options.seed)
    print("\n".join(wrong) or "nothing is left")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
