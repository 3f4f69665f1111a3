"""A forked child that uses its parent's sessions: the parent's threads are missing there, and no vote is sent."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest
from support.hanging import Hang
from support.inside import engine_of

from htppower import VoteController
from htppower.control.caps.switched_cap import SwitchedCap
from htppower.control.core.line import Urgency

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from htppower import Session

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks"),
    # From Python 3.12 on, a fork while threads run causes a warning.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
# Far longer than the child takes, and far shorter than its timeouts.
HANGS_S, WAITS_S = 20, 60


def test_what_needs_a_thread_returns_in_a_forked_child() -> None:
    """The calls need no thread of the parent, and do not wait for a thread that holds the line."""
    with VoteController("simulated", handle_sigterm=False) as controller:
        session, other = controller.session("high_performance"), controller.session("burst")
        asyncio.run(_infer(session))
        pace = other.pace(fps=100)
        ticket, hang = other.begin(timeout_us=60_000_000), Hang()
        thread = threading.Thread(target=engine_of(controller).line.run, args=(hang, Urgency.RAISE))
        thread.start()
        assert hang.begun.wait(HANGS_S)
        told = _in_a_child(
            ("inferred", lambda: asyncio.run(_infer(session))),
            ("ended", ticket.end),
            ("paced", pace.inference().__enter__),
            ("unpaced", pace.close),
            ("closed", lambda: session.close(timeout_s=WAITS_S)),
        )
        hang.let_go.set()
        thread.join(HANGS_S)
        ticket.end()
    assert told == b"inferred, ended, paced, unpaced, closed"


async def _infer(session: Session) -> None:
    async with session.ainference():
        pass


def _in_a_child(*uses: tuple[str, Callable[[], object]]) -> bytes:
    """Return the results that a child has sent in time."""
    done: list[str] = []

    def use() -> None:
        for name, act in uses:
            began_s = time.monotonic()
            act()
            done.append(name if time.monotonic() - began_s < HANGS_S else "waited")

    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            # The lock is the parent's, so another thread in the child can't get it.
            thread = threading.Thread(target=use, daemon=True)
            thread.start()
            thread.join(HANGS_S)
        finally:
            os.write(write, ", ".join(done).encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        told = pipe.read()
    os.waitpid(child, 0)
    return told


class _Cap(SwitchedCap):
    """A cap whose end waits for a lock."""

    ends: Callable[[], object]

    def __init__(self, controller: VoteController, profile: str) -> None:
        super().__init__(controller, profile)
        self._join_controller()

    def set(self) -> None:
        """Set the cap."""
        self._switch("a test")

    def _stop(self) -> None:
        self.ends()


def test_what_a_controller_has_besides_returns_in_a_forked_child(tmp_path: Path) -> None:
    """In a child, a recording, a cap and a subscriber need no thread of the parent, and no lock held at the fork."""
    held = threading.Lock()
    with VoteController("simulated", handle_sigterm=False) as controller:
        recording = controller.record(tmp_path / "trace.json")
        cap = _Cap(controller, "balanced")
        cap.ends = held.acquire
        cap.set()
        assert recording.flush()
        unsubscribe = controller.subscribe(print)
        with held:
            told = _in_a_child(
                ("flushed", lambda: recording.flush(WAITS_S)),
                ("closed", recording.close),
                ("lifted", cap.close),
                ("unsubscribed", unsubscribe),
            )
        cap.close()
    assert told == b"flushed, closed, lifted, unsubscribed"
