"""The driver of ``htppower.h``: a process that calls one function for each line, and says what it returns."""

from __future__ import annotations

import contextlib
import subprocess
import time
from typing import TYPE_CHECKING

from support.checkout import TESTS
from support.compiled import compile_program
from support.shared_folders import once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

PROGRAMS = TESTS / "process" / "c_client"
_SANITIZED = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


class Driver:
    """A process with a client.

    Attributes:
        longest_s: the longest time that a function took, in seconds.
    """

    def __init__(self, program: Path, place: Path | str, timeout_ms: int) -> None:
        self._process = subprocess.Popen(
            [str(program), str(place), str(timeout_ms)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="surrogateescape",
        )
        self.longest_s = 0.0
        self._said: list[str] | None = None

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def say(self, line: str) -> tuple[int, str]:
        """Call the function that the line names; return its result, and the client's last error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        begun_s = time.monotonic()
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline()
        self.longest_s = max(self.longest_s, time.monotonic() - begun_s)
        result, _, error = said.rstrip("\n").partition(" ")
        assert result, self._process.communicate()[1]
        return int(result), error

    def does(self, line: str) -> int:
        """Call the function, and return its result."""
        return self.say(line)[0]

    def end(self) -> list[str]:
        """End the process, which closes the client; assert that no sanitizer has complained, and return its stderr."""
        if self._said is None:
            _, said = self._process.communicate(timeout=60)
            assert self._process.returncode == 0, said
            self._said = said.splitlines()
        return self._said


def compiled_driver(temporary: pytest.TempPathFactory, *flags: str) -> Path:
    """Return the driver, compiled with sanitizers once for all tests that give the same flags."""

    def make(folder: Path) -> None:
        compile_program(PROGRAMS / "driver.c", folder / "driver", *_SANITIZED, *flags)

    return once(temporary, f"c_driver{''.join(flags)}", make) / "driver"


@contextlib.contextmanager
def driven(program: Path, place: Path | str, timeout_ms: int = 2000) -> Iterator[Driver]:
    """Run a driver inside the block."""
    driver = Driver(program, place, timeout_ms)
    try:
        yield driver
    finally:
        driver.end()
