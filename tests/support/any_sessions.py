"""The state machine under random sessions, phases, profiles, faults, restarts and time steps.

Checked after every step: no native call on a dead id; the votes in force on the simulated HTP are those that the
ledger records as in force; nothing is raised longer than its sustain time without an inference; after closing nothing
is voted.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from support.bench import Bench
from support.inside import clients_of, is_restart_unnoticed, record_of
from support.session_votes import (
    CORES,
    PROFILES,
    assert_in_force,
    assert_lowered,
    assert_restart_noticed,
    casts,
    lowered_to,
)

from htppower import Cap, Hold, Profile, Session, State, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.core.heartbeat import DEFAULT_HEARTBEAT_US
from htppower.control.plans.precedence import in_use
from htppower.profiles.sustain import longest_us
from htppower.votes.native import Option
from htppower.votes.native_codes import FAILED, INVALID_INPUT, SUCCESS, SYSTEM_COMMUNICATION, TRANSPORT, UNSUPPORTED
from htppower.votes.options import PROCESS_WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


CODES = (FAILED, TRANSPORT, SYSTEM_COMMUNICATION, INVALID_INPUT, UNSUPPORTED)


@contextlib.contextmanager
def _ticket(session: Session) -> Iterator[None]:
    """Begin a phase with a ticket, and end it twice."""
    ticket = session.begin()
    try:
        yield
    finally:
        ticket.end()
        ticket.end()


class Sessions(RuleBasedStateMachine):
    """Random use of one controller."""

    sessions: Bundle[Session] = Bundle("sessions")
    phases: Bundle[tuple[Session, AbstractContextManager[Any]]] = Bundle("phases")
    holds: Bundle[Hold] = Bundle("holds")
    caps: Bundle[Cap] = Bundle("caps")

    def __init__(self) -> None:
        super().__init__()
        # Thousands of expected records would hide the step that matters.
        logging.getLogger("htppower").setLevel(logging.CRITICAL)

    @initialize(arch=st.sampled_from((68, 75, 81)), platform=st.sampled_from(("linux", "linux", "qnx")))
    def open_controller(self, arch: int, platform: str) -> None:
        """Begin on a random platform."""
        htp = SimulatedHtp(arch=arch, platform=platform, cores=len(CORES))
        self.bench = Bench.make(htp, heartbeat_us=DEFAULT_HEARTBEAT_US)
        self.open: list[Session] = []
        self.running: list[tuple[Session, AbstractContextManager[Any], str]] = []
        self.last_use_us: dict[int, int] = {}
        self.last_was_deinit: dict[int, bool] = {}
        self.checked = 0
        self.alive: set[int | None] = set()
        self.faults = False

    @rule(target=sessions, profile=st.sampled_from(PROFILES), cores=st.sampled_from(((0,), (1,), (0, 1))))
    def open_session(self, profile: str | Profile, cores: tuple[int, ...]) -> Any:
        """Open a session."""
        if len(self.open) >= 6:
            return multiple()
        try:
            session = self.bench.controller.session(profile, core_ids=cores)
        except VoteRejected:
            assert self.faults
            return multiple()
        self.open.append(session)
        self.last_use_us[session.number] = self.bench.time.now_us
        return session

    @rule(target=phases, session=sessions, kind=st.sampled_from(("inference", "ticket", "init", "deinit")))
    def begin(self, session: Session, kind: str) -> Any:
        """Begin a phase of a session."""
        if session.state is State.DESTROYED:
            return multiple()
        phase = _ticket(session) if kind == "ticket" else getattr(session, kind)()
        phase.__enter__()
        self.running.append((session, phase, kind))
        if not self.faults and casts(session):
            assert session.state is State.RAISED
        return (session, phase, kind)

    @rule(running=consumes(phases), fails=st.booleans())
    def end(self, running: tuple[Session, AbstractContextManager[Any], str], fails: bool) -> None:
        """End a phase, with or without an exception."""
        session, phase, kind = running
        error = ValueError("mine") if fails else None
        phase.__exit__(type(error) if error else None, error, None)
        self.running.remove(running)
        self.last_use_us[session.number] = self.bench.time.now_us
        self.last_was_deinit[session.number] = kind == "deinit"

    @rule(pairs=st.lists(st.tuples(sessions, st.sampled_from(PROFILES)), min_size=2, max_size=3))
    def infer_in_threads(self, pairs: list[tuple[Session, str | Profile]]) -> None:
        """Run inferences from several threads at once; some threads change the profile."""
        live = [(session, profile) for session, profile in pairs if session.state is not State.DESTROYED]

        def work(session: Session, profile: str | Profile) -> None:
            with session.inference():
                session.use(profile)

        threads = [threading.Thread(target=work, args=pair) for pair in live]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        for session, _ in live:
            self.last_use_us[session.number] = self.bench.time.now_us
            self.last_was_deinit[session.number] = False

    @rule(session=sessions, profile=st.sampled_from(PROFILES))
    def use(self, session: Session, profile: str | Profile) -> None:
        """Change the profile of a session."""
        if session.state is not State.DESTROYED:
            session.use(profile)

    @rule(
        target=holds,
        session=sessions,
        profile=st.sampled_from(PROFILES),
        timeout_us=st.sampled_from((None, None, 1, 300_000)),
    )
    def hold(self, session: Session, profile: str | Profile, timeout_us: int | None) -> Any:
        """Begin a hold."""
        if session.state is State.DESTROYED:
            return multiple()
        return session.hold(profile, reason="test", timeout_us=timeout_us)

    @rule(hold=consumes(holds))
    def release(self, hold: Hold) -> None:
        """Release a hold; it may have ended already."""
        hold.release()

    @rule(hold=consumes(holds))
    def drop(self, hold: Hold) -> None:
        """Drop the handle of a hold, which ends the hold if it has no timeout."""

    @rule(target=caps, profile=st.sampled_from(PROFILES))
    def cap(self, profile: str | Profile) -> Any:
        """Set a cap."""
        if len(self.bench.controller.caps) >= 2:
            return multiple()
        return self.bench.controller.cap(profile, reason="test")

    @rule(cap=consumes(caps))
    def lift(self, cap: Cap) -> None:
        """Lift a cap."""
        cap.lift()

    @rule(session=consumes(sessions))
    def close_session(self, session: Session) -> None:
        """Close a session, even if inferences run in it."""
        session.close()
        if session in self.open:
            self.open.remove(session)

    @rule(duration_us=st.sampled_from((0, 1, 1000, 150_000, 299_999, 300_000, 1_000_000, 20_000_000)))
    def pass_time(self, duration_us: int) -> None:
        """Let time pass."""
        self.bench.time.advance_us(duration_us)

    @rule(code=st.sampled_from(CODES), nth=st.integers(1, 3), times=st.integers(1, 2), applied=st.integers(0, 3))
    def fail_a_call(self, code: int, nth: int, times: int, applied: int) -> None:
        """Make a later setPowerConfig fail after part of its list is applied."""
        self.faults = True
        self.bench.simulated.fail_next(code, nth=nth, times=times, applied=applied)

    @rule(nth=st.integers(1, 2), function=st.sampled_from(("destroyPowerConfigId", "createPowerConfigId")))
    def fail_another_call(self, nth: int, function: str) -> None:
        """Make a later destroy or create fail."""
        self.faults = True
        self.bench.simulated.fail_next(TRANSPORT, function=function, nth=nth)

    @rule(fatal=st.booleans())
    def restart(self, fatal: bool) -> None:
        """Restart the DSP subsystem."""
        self.faults = True
        self.bench.simulated.restart_subsystem(fatal=fatal)

    @invariant()
    def no_call_on_a_dead_id(self) -> None:
        """Every set is on an id that was created and not destroyed."""
        for call in self.bench.recorder.calls_since(self.checked):
            self.checked += 1
            if call.function == "createPowerConfigId" and call.code == SUCCESS:
                self.alive.add(call.power_config_id)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS:
                self.alive.discard(call.power_config_id)
            elif call.function == "renew":
                self.alive.clear()
            elif call.function == "setPowerConfig":
                assert call.power_config_id in self.alive

    @invariant()
    def recorded_votes_are_in_force(self) -> None:
        """The ledger has the votes of the simulated HTP, except from a restart until the next call reports it."""
        if is_restart_unnoticed(self.bench.simulated):
            return
        status = self.bench.controller.status()
        for session in status.sessions:
            for power_config_id, votes in session.votes.items():
                if votes:
                    assert_in_force(clients_of(self.bench.simulated)[power_config_id], votes)
        for name in ("rpc_polling_time_us", "rpc_control_latency_us", "adaptive_polling_time_us"):
            known = getattr(status.process, name)
            assert known is None or known == getattr(self.bench.effective(), name)

    @invariant()
    def states_are_what_is_in_force(self) -> None:
        """A raised session has its profile's votes, a lowered session its lowered votes, even after failures."""
        if is_restart_unnoticed(self.bench.simulated):
            return
        for session in self.open:
            if session.state is State.RAISED:
                votes = record_of(session).plan.raised
            elif session.state is State.LOWERED:
                after_deinit = self.last_was_deinit.get(session.number, False)
                votes = lowered_to(self.bench, session, after_deinit=after_deinit).without(Option.HMX_V2)
            else:
                continue
            votes = votes.without(*PROCESS_WIDE, *(lost.option for lost in session.degradations))
            # The library may have forgotten an id that has no votes of its own.
            for power_config_id in session.power_config_ids.values() if votes else ():
                assert_in_force(clients_of(self.bench.simulated)[power_config_id], votes)

    @invariant()
    def running_phases_are_raised(self) -> None:
        """While no call has failed, a session with a running phase is RAISED."""
        for session, *_ in self.running:
            if not self.faults and casts(session) and session.state is not State.DESTROYED:
                assert session.state is State.RAISED

    @invariant()
    def holds_and_caps_decide(self) -> None:
        """Every session uses the result of its own profile, its holds and the caps, and status says which decides."""
        status = self.bench.controller.status()
        for session, told in zip(self.open, status.sessions, strict=True):
            assert (session.profile, told.decided_by) == in_use(session.own_profile, told.holds, status.caps)

    @invariant()
    def nothing_is_raised_longer_than_its_sustain_time(self) -> None:
        """Without an inference, a session is RAISED at most as long as its profile allows."""
        for session in self._idle():
            if session.state is State.RAISED:
                relax = session.profile.relax
                assert relax is not None
                idle_us = self.bench.time.now_us - self.last_use_us[session.number]
                at_once = relax.lowers_in_background and not idle_us
                assert at_once or idle_us < max(longest_us(relax.after_inference_us), relax.after_init_us)

    @invariant()
    def polling_is_off_where_nobody_asks_for_it(self) -> None:
        """If every session is known to be lowered or not voted, the process does not poll."""
        states = {session.state for session in self.open}
        if not self.faults and states <= {State.LOWERED, State.UNVOTED}:
            assert self.bench.effective().rpc_polling_time_us == 0

    def _idle(self) -> list[Session]:
        """Return the sessions without a running inference."""
        return [session for session in self.open if not any(other is session for other, *_ in self.running)]

    def teardown(self) -> None:
        """Close: when the hardware answers, no votes and no alarms are left, and restarts were noticed."""
        logging.getLogger("htppower").setLevel(logging.NOTSET)
        if not hasattr(self, "bench"):
            return
        self.bench.simulated.clear_faults()
        self.bench.simulated.restart_subsystem(fatal=False)
        for session in tuple(self.open):
            with session.inference():
                pass
        # A link that is held is tried again after 60 s.
        self.bench.time.advance_us(61_000_000)
        assert_lowered(self.bench, self._idle(), self.open)
        for session in self.open:
            assert_restart_noticed(self.bench, session)
        self.bench.controller.close()
        assert self.bench.simulated.power_config_ids == ()
        for core in CORES:
            assert self.bench.effective(core).core_target == 16
        assert self.bench.effective().rpc_polling_time_us == 0
        assert self.bench.time.alarms == 0
