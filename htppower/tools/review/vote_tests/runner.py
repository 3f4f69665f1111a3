"""Runs a case through the real controller, on the recorder over the simulated HTP, in virtual time.

From such runs it also writes a test of a profile as it is: its votes after each change.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.recording import RecordingBackend
from htppower.backends.simulated.htp import SimulatedHtp
from htppower.control.controller import VoteController
from htppower.events import Phase, Transition
from htppower.profiles.fields import vote_fields
from htppower.profiles.paths import folder_of, joined
from htppower.profiles.sustain import longest_us
from htppower.profiles.yaml_text import field_lines, quoted
from htppower.testing import VirtualTime
from htppower.tools.review.dry_run.observer import InForce
from htppower.tools.review.vote_tests.cases import Expectation, Happens, VoteCase, timeline
from htppower.tools.review.vote_tests.fields import DeinitStep, IdleStep, InferenceStep, InitStep
from htppower.tools.review.vote_tests.files import FOLDER
from htppower.votes.native_codes import SUCCESS
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from htppower.backends.recording import Call
    from htppower.control.session import Session
    from htppower.profiles.profile import Profile
    from htppower.rules.platforms import Platform
    from htppower.tools.review.vote_tests.cases import Moment
    from htppower.votes.options import Option
    from htppower.votes.vote_set import VoteSet

_PHASE_US = 20_000
_INFERENCE_US = 8_000
_IDLE_US = 30_000
_STEPS = {InitStep: "init_us", InferenceStep: "inference_us", IdleStep: "idle_us", DeinitStep: "deinit_us"}


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


def snapshot_path(profile_path: str) -> str:
    """Return the path of a profile's test: the same file name, in the folder of tests next to it."""
    return joined(folder_of(profile_path), FOLDER, os.path.basename(profile_path))


def snapshot_text(profile: Profile, platform: Platform) -> str:
    """Return the text of a test that passes as long as the profile votes on a platform as it does now.

    One case has two inferences and the idle time after them, the other INIT and DE-INIT. Every field of the votes is
    stated after a call. The state is stated a microsecond before a timer lowers, too.

    Raises:
        RuleBreach: a rule refuses the profile on the platform.
    """
    relax = profile.relax
    further = 0 if relax is None or relax.then is None else longest_us(relax.then.after_us)
    sustain_us = 0 if relax is None else longest_us(relax.after_inference_us) + further
    init_us = 0 if relax is None else relax.after_init_us + further
    inferences = (InferenceStep(_INFERENCE_US, _IDLE_US), InferenceStep(_INFERENCE_US, 2 * _IDLE_US))
    phases = (InitStep(_PHASE_US), IdleStep(init_us + _IDLE_US), DeinitStep(_PHASE_US))
    soc = None if platform.soc is None else platform.soc.names[0]
    where = f"arch: V{platform.arch}" if soc is None else f"soc: {soc}"
    system = "" if platform.os == "linux" else f", os: {platform.os}"
    return "\n".join(
        (
            f"test: {profile.name}",
            f"summary: {quoted(f'What {profile.name} votes, as it was when this test was written.')}",
            f"profile: {profile.name}",
            f"platform: {{{where}{system}}}",
            "cases:",
            *_case(
                "two inferences, and the idle time after them", (*inferences, IdleStep(sustain_us)), profile, platform
            ),
            *_case("INIT and DE-INIT", phases, profile, platform),
            "",
        )
    )


def _case(name: str, steps: tuple[Any, ...], profile: Profile, platform: Platform) -> Iterator[str]:
    """Yield the lines of a case: its steps, and what holds after each change."""
    line = timeline(steps, [None] * len(steps), ())
    bare = VoteCase(name, profile, platform, line.moments, line.end_us, ())
    changed = {change.time_us for change in run_case(bare).transitions if change.time_us <= line.end_us}
    by_hand = {moment.at_us for moment in line.moments}
    times = sorted({0, *changed, *(time_us - 1 for time_us in changed - by_hand), line.end_us})
    expectations = tuple(Expectation((), at_us, None, None, None, None, None) for at_us in times)
    seen = run_case(attrs.evolve(bare, expectations=expectations)).seen
    yield f"  - case: {name}"
    yield "    sequence:"
    yield from (f"      - {_step(step)}" for step in steps)
    yield "    expect:"
    for at_us, each in zip(times, seen, strict=True):
        yield from _expectation(at_us, each)


def _step(step: Any) -> str:
    said = f"{_STEPS[type(step)]}: {getattr(step, _STEPS[type(step)])}"
    at_us = getattr(step, "at_us", None)
    return said if at_us is None else f"{{{said}, at_us: {at_us}}}"


def _expectation(at_us: int, seen: Seen) -> Iterator[str]:
    yield f"      - at_us: {at_us}"
    yield f"        state: {seen.state}"
    yield f"        calls: {seen.calls}"
    if seen.calls:  # without a call the votes are unchanged
        yield f"        sent: [{', '.join(seen.sent)}]"
        yield f"        degraded: [{', '.join(seen.degraded)}]"
        yield from (f"        {line}" for _, line in field_lines(vote_fields(seen.votes)))
