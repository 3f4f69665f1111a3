"""Two controllers on one backend: random phases, profiles, faults, restarts and ends, in virtual time."""

from __future__ import annotations

import contextlib
import random
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import Bench, voting
from support.inside import engine_of, is_ended

from htppower import State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.votes.native import Option
from htppower.votes.native_codes import FAILED, INVALID_INPUT, SYSTEM_COMMUNICATION, TRANSPORT

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from htppower import Session
    from htppower.backends.simulated.link import FastRpcAnswer

SECOND_US = 1_000_000
STEPS = 60
MOST_SESSIONS = 6
PROFILES = (
    "burst",
    "balanced",
    "power_saver",
    voting(rpc_polling_time_us=5000, rpc_control_latency_us=50),
    voting(rpc_polling_time_us=None, rpc_control_latency_us=None),
)
ANSWERS: tuple[FastRpcAnswer, ...] = ("reset", "gone", "crashed")
FUNCTIONS = ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")


@attrs.define
class Run:
    """One run.

    Attributes:
        bench: holds the first controller until it is closed; later controllers use its recorder, too.
        controllers: the open controllers.
        sessions: the open sessions, each with the index of its controller.
        running: the inferences in flight.
        down: whether the DSP stays down.
    """

    chance: random.Random
    bench: Bench
    controllers: list[VoteController]
    sessions: list[tuple[Session, int]]
    running: list[tuple[Session, AbstractContextManager[object]]]
    down: bool = False

    @classmethod
    def begin(cls, seed: int) -> Run:
        """Return a run with two controllers."""
        chance = random.Random(seed)
        bench = Bench.make(SimulatedHtp(arch=75, link="device"), heartbeat_us=10 * SECOND_US)
        run = cls(chance, bench, [bench.controller], [], [])
        run.controllers.append(run.make())
        return run

    def make(self) -> VoteController:
        """Return a new controller."""
        recorder, time = self.bench.recorder, self.bench.time
        return VoteController(recorder, time=time, handle_sigterm=False, heartbeat_us=10 * SECOND_US)

    def mend(self) -> None:
        """Clear all faults, and wait for the longest back-off."""
        self.bench.simulated.clear_faults()
        if self.down:
            self.bench.simulated.restart_subsystem()
            self.down = False
        # A held link is tried again after 60 s; the last restart may have started a back-off.
        self.bench.time.advance_us(130 * SECOND_US)

    def check(self) -> None:
        """Assert that the votes in force fit the running sessions, and that both controllers know it."""
        self.mend()
        votes = [session.profile.votes for session, _ in self.running]
        assert [session.state for session, _ in self.running] == [State.RAISED] * len(votes)
        found = self.bench.effective()
        lacking = engine_of(self.controllers[0]).missing.options
        if Option.RPC_POLLING_TIME not in lacking:
            assert found.rpc_polling_time_us == max((each.rpc_polling_time_us or 0 for each in votes), default=0)
        latencies_us = [us for each in votes if (us := each.rpc_control_latency_us)]
        if latencies_us and Option.RPC_CONTROL_LATENCY not in lacking:
            assert 0 < found.rpc_control_latency_us <= min(latencies_us)
        first, second = (controller.status() for controller in self.controllers)
        assert first.process == second.process
        assert (first.sharing, second.sharing) == (1, 1)

    def step(self) -> None:
        """Do a random step."""
        does = self.chance.randrange(100)
        if does < 60:
            self.use(does)
        elif does < 70:
            self.bench.time.advance_us(self.chance.choice([1, 100, 300_000, SECOND_US]))
        elif does < 83:
            self.trouble(does)
        elif does < 87 and self.sessions:
            self.end([self.chance.choice(self.sessions)[0]])[0].close()
        elif does < 90:
            place = self.chance.randrange(2)
            self.end([session for session, of in self.sessions if of == place])
            self.close(self.controllers[place])
            self.controllers[place] = self.make()
        elif does < 94:
            self.check()

    def use(self, does: int) -> None:
        """Open a session, begin or end an inference, or change a profile."""
        chance, place = self.chance, self.chance.randrange(2)
        if does < 15 and len(self.sessions) < MOST_SESSIONS:
            with contextlib.suppress(VoteRejected):
                self.sessions.append((self.controllers[place].session(chance.choice(PROFILES)), place))
        elif does < 35 and self.sessions:
            session, _ = chance.choice(self.sessions)
            inference = session.inference()
            inference.__enter__()
            self.running.append((session, inference))
        elif does < 53 and self.running:
            _, ended = self.running.pop(chance.randrange(len(self.running)))
            ended.__exit__(None, None, None)
        elif self.sessions:
            chance.choice(self.sessions)[0].use(chance.choice(PROFILES))

    def trouble(self, does: int) -> None:
        """Make calls fail, restart the DSP, or report a loss."""
        chance, simulated = self.chance, self.bench.simulated
        if does < 75:
            code = chance.choice([FAILED, TRANSPORT, INVALID_INPUT])
            simulated.fail_next(code, chance.choice(FUNCTIONS), nth=chance.randint(1, 3), times=chance.randint(1, 3))
        elif does < 80:
            self.down = chance.random() < 0.3
            simulated.restart_subsystem(fatal=self.down, fastrpc=chance.choice(ANSWERS))
            if chance.random() < 0.3:
                simulated.spoil_rebuild()
        else:
            chance.choice(self.controllers).link_lost(SYSTEM_COMMUNICATION)

    def end(self, sessions: list[Session]) -> list[Session]:
        """Forget these sessions and their inferences, and return the sessions."""
        self.sessions = [each for each in self.sessions if each[0] not in sessions]
        self.running = [each for each in self.running if each[0] not in sessions]
        return sessions

    def close(self, controller: VoteController) -> None:
        """Close a controller, even if calls fail."""
        controller.close()
        assert is_ended(controller)


@pytest.mark.parametrize("seed", range(25))
def test_whatever_two_controllers_do(seed: int) -> None:
    """Once all faults are cleared, the votes in force are enough for all sessions; at the end they are removed."""
    run = Run.begin(seed)
    for _ in range(STEPS):
        run.step()
    run.check()
    lacking = engine_of(run.controllers[0]).missing.options
    before = len(run.bench.recorder.calls)
    for controller in run.controllers:
        run.close(controller)
    # On a dead link no id can be destroyed: the ids are gone when the device is freed.
    fails = any(call.code for call in run.bench.recorder.calls_since(before))
    assert fails or run.bench.simulated.power_config_ids == ()
    assert run.bench.time.alarms == 0
    assert run.bench.effective().rpc_polling_time_us == 0 or Option.RPC_POLLING_TIME in lacking
