"""Three processes on one device: two hosts with a library each, and a service for a third."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.serving import LONGEST_S, Raw
from support.standin import compile_standin

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.command import Command

pytestmark = pytest.mark.needs("signals")

# No other host on the machine has these names.
NAMES = ("camera of a test", "speech of a test", "plates of a test")
HOST = """
import sys, htppower
owner, profile, library = sys.argv[1:]
with htppower.VoteController(htppower.backends.QnnHtp(library)) as controller:
    session = controller.session(profile, owner=owner)
    with controller.serve_status():
        with session.inference():
            print("infers", flush=True)
            sys.stdin.readline()
        print("idle", flush=True)
        sys.stdin.readline()
"""


@contextlib.contextmanager
def process(wait: str, stream: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python, and wait for a text in a line of a stream; it is killed at the end of the block."""
    with subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "300"},
    ) as started:
        try:
            assert wait in getattr(started, stream).readline()
            yield started
        finally:
            started.kill()


def runs(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def listed(command: Command) -> dict[str, tuple[str, bool]]:
    """Return each of the three by its name in the owner of a session: its state, and whether its process runs."""
    found: dict[str, tuple[str, bool]] = {}
    statuses: list[dict[str, Any]] = json.loads(command.output("status", "--all", "--format", "json"))["statuses"]
    for each in statuses:
        status = each["status"]
        for session in status["sessions"]:
            name = next((each for each in NAMES if f" {each}:" in f" {session['owner']}:"), None)
            if name is not None:
                found[name] = (session["state"], runs(status["pid"]))
    return found


def until(command: Command, wanted: dict[str, tuple[str, bool]]) -> None:
    """Wait until the status lists exactly these."""
    end_s = time.monotonic() + LONGEST_S
    while (found := listed(command)) != wanted:
        assert time.monotonic() < end_s, found


def test_each_process_raises_and_lowers_its_own_votes(tmp_path: Path, command: Command) -> None:
    """The status lists who is up; the end of one, or its death, changes nothing for the others."""
    libraries = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        libraries.append(str(compile_standin(tmp_path / name)))
    serve = ("-m", "htppower", "serve", "--backend", "simulated", "--socket", str(tmp_path / "s"))
    with (
        process("infers", "stdout", "-c", HOST, NAMES[0], "high_performance", libraries[0]) as camera,
        process("infers", "stdout", "-c", HOST, NAMES[1], "burst", libraries[1]) as speech,
        process("serving", "stderr", *serve),
        Raw(str(tmp_path / "s")) as client,
    ):
        client.ask("hello", protocol=1, name=NAMES[2])
        client.ask("hold", profile="balanced", reason="number plates")
        client.ask("begin", lease=1, inference=1)
        until(command, dict.fromkeys(NAMES, ("RAISED", True)))
        assert camera.stdin is not None
        camera.stdin.write("\n")
        camera.stdin.flush()
        until(command, dict(zip(NAMES, [("LOWERED", True), ("RAISED", True), ("RAISED", True)], strict=True)))
        speech.kill()
        speech.wait()
        until(command, dict(zip(NAMES, [("LOWERED", True), ("RAISED", False), ("RAISED", True)], strict=True)))
        client.close()
        until(command, {NAMES[0]: ("LOWERED", True), NAMES[1]: ("RAISED", False)})
