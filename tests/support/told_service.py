"""A service in a process of its own that tells the clock in force after each native call, with the time."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

from support.checkout import ROOT, TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# What a loaded machine may need, in seconds.
_PATIENCE_S = 60


class ToldService:
    """The service, and what it has told."""

    def __init__(self, place: Path, *arguments: str) -> None:
        program = TESTS / "support" / "processes" / "told_service.py"
        self._process = subprocess.Popen(
            [sys.executable, str(program), str(place), *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline()
        self._told: list[tuple[int, int]] = []
        self._more = threading.Condition()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            at_ns, clock = map(int, line.split())
            with self._more:
                self._told.append((at_ns, clock))
                self._more.notify_all()

    @property
    def clock(self) -> int:
        """The target of the core clock that is in force; 0 before the first vote."""
        with self._more:
            return self._told[-1][1] if self._told else 0

    def changed(self, clock: int, since_ns: int) -> int:
        """Wait until the clock differs from this one after a time; return when it did, in nanoseconds."""
        until_s = time.monotonic() + _PATIENCE_S
        with self._more:
            while True:
                for at_ns, told in self._told:
                    if at_ns >= since_ns and told != clock:
                        return at_ns
                assert self._more.wait(until_s - time.monotonic()), f"the clock is {clock} still"

    def close(self) -> None:
        """End it."""
        self._process.terminate()
        assert self._process.wait(_PATIENCE_S) == 0
        self._thread.join()
        if self._process.stdout is not None:
            self._process.stdout.close()


@contextlib.contextmanager
def told_service(place: Path, *arguments: str) -> Iterator[ToldService]:
    """Run a service inside the block."""
    service = ToldService(place, *arguments)
    try:
        yield service
    finally:
        service.close()
