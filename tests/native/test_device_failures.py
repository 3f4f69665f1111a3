"""Recovery through ctypes from failures of a device: restarts, a dead DSP, slow calls, refusals."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import explicit_hmx, voting
from support.live import until
from support.standin import ALWAYS, DCVS_V3, HMX_V2, RPC_POLLING_TIME, WINDOWS

from htppower import State, VoteController
from htppower.backends import QnnHtp, RecordingBackend
from htppower.events import LinkState, Transition
from htppower.testing import VirtualTime
from htppower.votes.corners import ExpandedCorner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.standin import Standin

    from htppower import Profile, Relax, Session
    from htppower.events import Event

# The stand-in writes a line of its trace for each call, which takes Wine several ms.
RECOVERY_NS = 500_000_000 if WINDOWS else 50_000_000
SECOND_US = 1_000_000
FUNCTIONS = ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")


def hmx_profile() -> Profile:
    """Return burst with an explicit HMX vote."""
    return attrs.evolve(voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR)), name="with HMX")


@attrs.define
class Host:
    """A controller on the stand-in, in real or virtual time."""

    standin: Standin
    backend: QnnHtp
    recorder: RecordingBackend
    controller: VoteController
    time: VirtualTime | None
    events: list[Event] = attrs.field(factory=list)

    @classmethod
    def make(cls, standin: Standin, time: VirtualTime | None = None) -> Host:
        """Return a host; its controller records its events."""
        backend = QnnHtp(standin.path)
        recorder = RecordingBackend(backend) if time is None else RecordingBackend(backend, time=time)
        controller = VoteController(recorder, time=time, handle_sigterm=False)
        host = cls(standin, backend, recorder, controller, time)
        controller.subscribe(host.events.append)
        return host

    def close(self) -> None:
        """Close the controller and assert that no id or device is left."""
        self.standin.script()
        self.controller.close()
        self.backend.close()
        self.standin.assert_nothing_left()


@pytest.fixture
def host(standin: Standin) -> Iterator[Host]:
    """Yield a host in real time."""
    made = Host.make(standin)
    yield made
    made.close()


@pytest.fixture
def timed(standin: Standin) -> Iterator[Host]:
    """Yield a host in virtual time."""
    made = Host.make(standin, VirtualTime())
    yield made
    made.close()


def in_force(standin: Standin) -> dict[int, tuple[int | None, bool]]:
    """Return, by id, the core target and whether an explicit HMX vote is in force, after the whole trace."""
    found: dict[int, tuple[int | None, bool]] = {}
    for line in standin.trace:
        if line.code in (1007, 1011):
            found = dict.fromkeys(found, (None, False))
        elif line.code == 0 and line.function == "setPowerConfig":
            target, explicit = found.get(line.power_config_id, (None, False))
            hmx = line.option(HMX_V2)
            target = target if line.core_target is None else line.core_target
            found[line.power_config_id] = (target, explicit if hmx is None else not hmx[0])
        elif line.code == 0 and line.function == "destroyPowerConfigId":
            found.pop(line.power_config_id, None)
    return found


def _trigger(host: Host, function: str, first: Session) -> None:
    """Make a call of this function."""
    if function == "createPowerConfigId":
        host.controller.session("balanced")
    elif function == "setPowerConfig":
        first.use("balanced")
    else:
        host.controller.session("balanced").close()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_restart_told_by_any_call_votes_everything_again(standin: Standin, function: str) -> None:
    """All sessions are voted again soon after that call, HMX too, even if no inference begins."""
    # A busy machine may delay one of three.
    assert any(_recovery_ns(standin, function) < RECOVERY_NS for _ in range(3))


def _recovery_ns(standin: Standin, function: str) -> int:
    """Let a call report a restart, check that everything is voted again, and return the time until then."""
    host = Host.make(standin)
    first, second, third = (host.controller.session(profile) for profile in ("burst", hmx_profile(), "low_balanced"))
    with first.inference(), second.inference():
        with third.inference():
            pass
        ids = [session.power_config_ids[0] for session in (first, second, third)]
        before = len(standin.trace)
        standin.script(f"{function} 1 1 1007 0")
        _trigger(host, function, first)
        (told,) = [line for line in standin.trace[before:] if line.code == 1007]
        expected = 112 if function == "setPowerConfig" else 160
        # The other sessions are voted again on other threads.
        until(lambda: [in_force(standin)[made] for made in ids] == [(expected, False), (160, True), (64, False)])
        again = [line for line in standin.sets if line.time_ns > told.time_ns and line.power_config_id in ids]
        assert {line.power_config_id for line in again} == set(ids)
        states = [State.RAISED, State.RAISED, State.LOWERED]
        until(lambda: [session.state for session in (first, second, third)] == states)
    host.close()
    return max(line.time_ns for line in again) - told.time_ns


def test_a_restart_in_the_middle_of_recovery_is_recovered_from(standin: Standin, host: Host) -> None:
    """If a second restart is reported while sessions are voted again, they are voted once more."""
    sessions = [host.controller.session("burst") for _ in range(3)]
    with contextlib.ExitStack() as running:
        for session in sessions:
            running.enter_context(session.inference())
        standin.script("setPowerConfig 1 1 1007 0", "setPowerConfig 3 3 1007 0")
        sessions[0].use("balanced")
        targets = [112, 160, 160]
        until(lambda: [in_force(standin)[session.power_config_ids[0]][0] for session in sessions] == targets)
        until(lambda: [session.state for session in sessions] == [State.RAISED] * 3)
        assert len([line for line in standin.sets if line.code == 1007]) == 2


def test_hmx_is_voted_after_the_clocks_again(standin: Standin, host: Host) -> None:
    """After a restart an HMX vote is sent with its DCVS_V3 in one call, and is accepted."""
    session = host.controller.session(hmx_profile())
    with session.inference():
        before = len(standin.sets)
        standin.script("createPowerConfigId 1 1 1007 0")
        host.controller.session("balanced")
        until(lambda: len(standin.sets) > before)
        own = [line for line in standin.sets if line.power_config_id == session.power_config_ids[0]]
        last = [line for line in own if line.option(HMX_V2) is not None][-1]
        assert last.code == 0
        assert last.option(DCVS_V3) is not None
        assert last.option(HMX_V2) == (0, 640, 640, 640, 0)


def test_a_dead_dsp_costs_few_calls(standin: Standin, timed: Host) -> None:
    """While every call answers 1011, 10,000 inferences over 10 s make only the calls of one renewal.

    The link is held then; it recovers when the DSP works and the host asks for another try.
    """
    time = timed.time
    assert time is not None
    session = timed.controller.session("burst")
    standin.script(*(f"{function} 1 {ALWAYS} 1011 0" for function in FUNCTIONS))
    for _ in range(10_000):
        with session.inference():
            time.advance_us(500)
        time.advance_us(500)
    assert [call.function for call in timed.recorder.calls if call.code == 1011] == [
        "setPowerConfig",
        "createPowerConfigId",
    ]
    assert (session.state, timed.controller.status().link) == (State.UNKNOWN, LinkState.HELD)
    standin.script()
    timed.controller.link_lost(1011)
    with session.inference():
        assert (session.state, timed.controller.status().link) == (State.RAISED, LinkState.WELL)


@pytest.mark.parametrize("code", [13000, 13005, 13006, 1100, 11003])
def test_a_call_that_fails_is_made_again_with_everything(standin: Standin, timed: Host, code: int) -> None:
    """After a failure that is not about the link, the inference continues, and the next one sends every vote."""
    session = timed.controller.session(hmx_profile())
    standin.script(f"setPowerConfig 1 1 {code} 0")
    with session.inference():
        assert session.state is State.UNKNOWN
    standin.script()
    with session.inference():
        assert session.state is State.RAISED
        sent = [[option.split(":")[0] for option in line.arguments[1:]] for line in standin.sets[-2:]]
        assert sent == [["1", "5"], ["2", "3"]], "clocks, then settings of the process"


@pytest.mark.parametrize("code", [13002, 13004])
def test_polling_that_is_refused_is_left_out(standin: Standin, host: Host, code: int) -> None:
    """If a platform refuses polling, it gets every other vote, is asked once, and the session reports the loss."""
    standin.script(f"option {RPC_POLLING_TIME} {code}")
    first, second = host.controller.session("burst"), host.controller.session("burst")
    with first.inference(), second.inference():
        assert first.state is second.state is State.RAISED
        assert [lost.rule for lost in second.degradations] == ["RPC-4"]
    refused = [line for line in standin.sets if line.option(RPC_POLLING_TIME) is not None]
    assert [line.code for line in refused] == [code] * len(refused)
    assert len(refused) <= 2
    assert {line.power_config_id for line in refused} == {first.power_config_ids[0]}


def test_two_cores(standin: Standin) -> None:
    """A session on two cores of the second device has an id on each, and votes and recovers on both."""
    standin.script("devices 2", "cores 2")
    host = Host.make(standin)
    session = host.controller.session("burst", device_id=1, core_ids=(0, 1))
    assert [line.arguments[:2] for line in standin.calls("createPowerConfigId")] == [("1", "0"), ("1", "1")]
    with session.inference():
        assert sorted(in_force(standin).values()) == [(160, False)] * 2
        standin.script("devices 2", "cores 2", "setPowerConfig 1 1 1007 0")
        session.use("balanced")
        assert sorted(in_force(standin).values()) == [(112, False)] * 2
    standin.script("devices 2", "cores 2")
    session.close()
    assert in_force(standin) == {}
    host.close()


def test_a_slow_call_does_not_hold_up_an_inference_inside_a_window(standin: Standin, host: Host) -> None:
    """While a call of one session takes half a second, inferences inside another session's window continue."""
    windowed, slow = host.controller.session("sustained_high_performance"), host.controller.session("high_performance")
    windowed.use(attrs.evolve(windowed.profile, relax=_longer(windowed.profile)))
    with windowed.inference():
        pass
    standin.script(f"setPowerConfig 1 {ALWAYS} 0 500000")
    # A busy machine may delay one of three.
    assert any(_longest_beside_s(windowed, slow) < 0.25 for _ in range(3))


def _longest_beside_s(windowed: Session, slow: Session) -> float:
    """Return the longest time of more than 100 inferences that ran next to a slow one."""
    begun, done = threading.Event(), threading.Event()

    def infer_slowly() -> None:
        begun.set()
        with slow.inference():
            done.set()

    thread = threading.Thread(target=infer_slowly)
    thread.start()
    begun.wait(10)
    inferences = 0
    longest_s = 0.0
    while not done.is_set():
        start_s = time.perf_counter()
        with windowed.inference():
            inferences += 1
        longest_s = max(longest_s, time.perf_counter() - start_s)
    thread.join()
    assert inferences > 100
    return longest_s


def _longer(profile: Profile) -> Relax:
    assert profile.relax is not None
    return attrs.evolve(profile.relax, after_inference_us=60 * SECOND_US)


def test_events_tell_of_the_restart(standin: Standin, host: Host) -> None:
    """Each session has an event for the loss, and then an event for the recovery."""
    session = host.controller.session("burst")
    with session.inference():
        host.controller.flush_events()
        host.events.clear()
        standin.script("createPowerConfigId 1 1 1007 0")
        host.controller.session("balanced")
        until(lambda: len(told(host)) == 2)
        assert told(host) == ["lose", "raise"]


def told(host: Host) -> list[str]:
    """Return the transitions in the events of the first session."""
    return [event.trigger.value for event in host.events if isinstance(event, Transition) and event.session == 1]
