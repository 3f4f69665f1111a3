"""Coroutines that wait for a call of one session take one thread, so that those of others go on."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import pytest
from hanging import WAIT_S, Hang, HangingHtp

from htppower import Session, VoteController
from htppower.control.phases.waiting_line import WaitingLine
from htppower.control.time.scheduler import SystemTime
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable

MANY = 200


async def infer(session: Session) -> None:
    """Run one inference."""
    async with session.ainference():
        pass


def test_coroutines_of_a_session_whose_call_hangs_keep_no_other_session_from_raising() -> None:
    """However many they are; once the call returns all of them have run."""
    htp = HangingHtp()
    with VoteController(htp, handle_sigterm=False, heartbeat_us=0) as controller:
        hung, other = controller.session("balanced"), controller.session("balanced")

        async def scenario() -> None:
            # The settings of the process are in force: nobody waits for those.
            await infer(other)
            await infer(hung)
            hang = htp.hang_next("setPowerConfig", hung.power_config_ids[0])
            waiting = [asyncio.create_task(infer(hung)) for _ in range(MANY)]
            assert await asyncio.to_thread(hang.begun.wait, WAIT_S)
            await asyncio.wait_for(infer(other), WAIT_S)
            assert hung.in_flight == MANY
            hang.let_go.set()
            await asyncio.wait_for(asyncio.gather(*waiting), WAIT_S)

        asyncio.run(scenario())
        assert (hung.in_flight, other.in_flight) == (0, 0)


def test_what_is_posted_runs_in_order_on_one_thread_at_a_time() -> None:
    """Also what is posted while another thread works."""
    time = SystemTime()
    line, hang, ran, done = WaitingLine(time), Hang(), list[int](), threading.Event()
    line.post(hang)
    assert hang.begun.wait(WAIT_S)
    for number in range(MANY):
        line.post(lambda number=number: ran.append(number))  # type: ignore[misc]
    line.post(done.set)
    assert ran == []
    hang.let_go.set()
    assert done.wait(WAIT_S)
    assert ran == list(range(MANY))
    time.close()


class Spawned(VirtualTime):
    """Keeps what is to run on other threads."""

    def __init__(self) -> None:
        super().__init__()
        self.spawned: list[Callable[[], object]] = []

    def spawn(self, action: Callable[[], object], *, may_wait: bool = False) -> None:
        """Keep it."""
        self.spawned.append(action)


def test_an_exception_keeps_nothing_from_running_that_waits() -> None:
    """What an action raises is logged; where one comes from outside another thread goes on, and runs it again."""
    time, ran = Spawned(), list[str]()
    line = WaitingLine(time)
    left: list[BaseException] = [ValueError("of the action"), KeyboardInterrupt()]

    def fail() -> None:
        ran.append("fails")
        if left:
            raise left.pop()

    line.post(fail)
    line.post(lambda: ran.append("next"))
    with pytest.raises(KeyboardInterrupt):
        time.spawned.pop()()
    assert ran == ["fails"]
    time.spawned.pop()()
    assert (ran, time.spawned) == (["fails", "fails", "next"], [])
