"""A service in a process of its own: ``htppower serve``, with the simulated HTP."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from support.checkout import ROOT

import htppower.client

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO


@contextlib.contextmanager
def served(path: Path | str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run a service at a socket or pipe inside the block; end it afterwards."""
    command = [sys.executable, "-m", "htppower", "serve", "--socket", str(path), "--backend", "simulated", *arguments]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment(path)
    )
    try:
        said: IO[str] | None = process.stderr
        assert said is not None
        assert "serving at" in said.readline()
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def environment(path: Path | str) -> dict[str, str]:
    """Return the environment of a client of the service."""
    return {**os.environ, "HTPPOWER_SOCKET": str(path)}


def sums(path: Path | str) -> dict[str, int]:
    """Return the sums over all leases of a service."""
    with htppower.client.connect("watcher", path=str(path)) as watcher:
        status = watcher.status()
    assert status is not None
    found: dict[str, int] = status["all"]
    return found
