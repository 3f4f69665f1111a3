"""Runs a case through the real controller, on the recorder over the simulated HTP, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.backends.recording import RecordingBackend
from htppower.backends.simulated.htp import SimulatedHtp
from htppower.control.controller import VoteController
from htppower.events import Phase, Transition
from htppower.testing import VirtualTime
from htppower.tools.review.dry_run.observer import InForce
from htppower.tools.review.vote_tests.cases import Happens
from htppower.votes.native_codes import SUCCESS
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from htppower.backends.recording import Call
    from htppower.control.session import Session
    from htppower.profiles.profile import Profile
    from htppower.tools.review.vote_tests.cases import Moment, VoteCase
    from htppower.votes.options import Option
    from htppower.votes.vote_set import VoteSet


@attrs.frozen(eq=False)
class Seen:
    """What holds at the time of an ``Expectation``, by its fields, and the profile in use.

    The votes are those on the session's id and in the process, derived only from the recorded calls.
    """

    state: str
    profile: Profile
    votes: VoteSet
    calls: int
    sent: tuple[str, ...]
    degraded: tuple[str, ...]


@attrs.frozen(eq=False)
class CaseRun:
    """The run of a case: what held at each of its expectations, every native call, every change of state."""

    seen: tuple[Seen, ...]
    calls: tuple[Call, ...]
    transitions: tuple[Transition, ...]


def run_case(case: VoteCase) -> CaseRun:
    """Run a case in a session of its own.

    Raises:
        RuleBreach: a rule refuses a profile of the case on its platform.
    """
    time = VirtualTime()
    platform = case.platform
    simulated = SimulatedHtp(platform.arch, None if platform.soc is None else platform.soc.model, platform.os)
    recorder = RecordingBackend(simulated, time=time)
    transitions: list[Transition] = []
    # No heartbeat, since the expectations are about the cost of the profile.
    with VoteController(recorder, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        controller.subscribe(lambda event: transitions.append(event) if isinstance(event, Transition) else None)
        run = _Run(time, simulated, recorder, controller.session(case.profile))
        seen = []
        waiting = list(case.moments)
        for expectation in case.expectations:
            while waiting and waiting[0].at_us <= expectation.at_us:
                run.happen(waiting.pop(0))
            run.advance_to(expectation.at_us)
            seen.append(run.look())
        for moment in waiting:
            run.happen(moment)
        run.advance_to(case.end_us)
        # Closing the session comes after the end of the case, so no test can check it.
        return CaseRun(tuple(seen), recorder.calls, tuple(transitions))


class _Run:
    """A running session, and what its calls have shown so far."""

    def __init__(
        self, time: VirtualTime, simulated: SimulatedHtp, recorder: RecordingBackend, session: Session
    ) -> None:
        self._time = time
        self._simulated = simulated
        self._recorder = recorder
        self._session = session
        self._begun: dict[int, AbstractContextManager[None]] = {}
        self._in_force = InForce()
        self._power_config_id: int | None = None
        self._taken_in = 0
        self._counted = 0
        self._sent: set[Option] = set()

    def advance_to(self, at_us: int) -> None:
        """Let time pass, with everything that is due until then."""
        self._time.advance_us(at_us - self._time.now_us)

    def happen(self, moment: Moment) -> None:
        """Let time pass until a moment, and let the moment happen."""
        self.advance_to(moment.at_us)
        if moment.happens is Happens.BEGIN:
            phase = self._begun[moment.step] = self._phase(moment.phase)
            phase.__enter__()
        elif moment.happens is Happens.END:
            self._begun.pop(moment.step).__exit__(None, None, None)
        elif moment.profile is not None:
            self._session.use(moment.profile)
        else:
            self._take_in()
            self._simulated.restart_subsystem()
            self._in_force.lose()

    def look(self) -> Seen:
        """Return what holds now."""
        self._take_in()
        calls, self._counted = self._taken_in - self._counted, self._taken_in
        sent, self._sent = self._sent, set()
        # A destroyed id has no votes in force. Settings of the process that were sent with it may last.
        return Seen(
            str(self._session.state),
            self._session.profile,
            self._in_force.votes(self._power_config_id),
            calls,
            tuple(option.name for option in VOTE_OPTIONS if option in sent),
            tuple(dict.fromkeys(lost.rule for lost in self._session.degradations)),
        )

    def _phase(self, phase: Phase | None) -> AbstractContextManager[None]:
        if phase is Phase.INFERENCE:
            return self._session.inference()
        return self._session.init() if phase is Phase.INIT else self._session.deinit()

    def _take_in(self) -> None:
        calls = self._recorder.calls_since(self._taken_in)
        self._taken_in += len(calls)
        self._in_force.see(calls)
        for call in calls:
            self._sent.update(() if call.votes is None else call.votes.options)
            if call.function == "createPowerConfigId" and call.code == SUCCESS and call.power_config_id is not None:
                self._power_config_id = call.power_config_id
