"""Observes a run: its native calls, the votes in force after each, its phases and states, and when votes stay up."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.events import CallMade, Cause, Event, Phase, SessionOpened, State, Transition, Trigger
from htppower.votes.native_codes import SUCCESS, code_name
from htppower.votes.options import BY_FIELD, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.backends.recording import Call, RecordingBackend
    from htppower.control.time.base import Time


class InForce:
    """The votes in force on each power config id, derived only from the calls.

    It shares no code with the controller's ledger, so that it can't repeat an error of the controller.
    """

    def __init__(self) -> None:
        self._ids: dict[int, _Votes] = {}
        self._process = _Votes()

    def see(self, calls: Iterable[Call]) -> None:
        """Apply calls, in their order."""
        for call in calls:
            if call.power_config_id is None:
                continue
            if call.function == "setPowerConfig" and call.votes is not None:
                self._set(call.power_config_id, call.votes, accepted=call.code == SUCCESS)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS:
                self._ids.pop(call.power_config_id, None)

    def lose(self) -> None:
        """Apply a restart of the DSP: no vote is in force on any id, or in the process."""
        self._process = _Votes()
        self._ids.clear()

    def votes(self, power_config_id: int | None) -> VoteSet:
        """Return the votes in force on an id and in the process; for a destroyed id only the votes in the process."""
        if power_config_id is None:
            return VoteSet()
        own = self._ids.get(power_config_id, _Votes())
        return VoteSet(**own.whole(), **self._process.whole())

    def _set(self, power_config_id: int, votes: VoteSet, *, accepted: bool) -> None:
        own = self._ids.setdefault(power_config_id, _Votes())
        for option, vote in votes.items():
            about = VOTE_OPTIONS[option]
            if about.other_form is not None:
                # The later form of a vote replaces the earlier.
                own.fields.pop(VOTE_OPTIONS[about.other_form].field, None)
                own.others.pop(VOTE_OPTIONS[about.other_form].field, None)
            if about.partial:
                stated = {field.name: getattr(vote, field.name) for field in about.fields}
                _apply(own.fields.setdefault(about.field, {}), stated, accepted=accepted)
            elif about.process_wide:
                # FastRPC ignores a control latency of 0, so it does not count as a vote (rule RPC-5).
                ignored = about.taken_back is None and vote == 0
                _apply(self._process.others, {} if ignored else {about.field: vote}, accepted=accepted)
            else:
                _apply(own.others, {about.field: vote}, accepted=accepted)


@attrs.frozen(repr=False, eq=False)
class _Votes:
    """Votes in force, by name: field by field for votes that change only the fields they set, otherwise as a whole."""

    fields: dict[str, dict[str, Any]] = attrs.field(factory=dict)
    others: dict[str, Any] = attrs.field(factory=dict)

    def whole(self) -> dict[str, Any]:
        """Return the votes. Leave out a vote if one of its fields is unknown, unless the field may be unset."""
        votes = dict(self.others)
        for name, stated in self.fields.items():
            about = BY_FIELD[name]
            if all(field.flag or field.name in stated for field in about.fields):
                votes[name] = type(about.taken_back)(**{field.name: stated.get(field.name) for field in about.fields})
        return votes


def _apply(held: dict[str, Any], stated: dict[str, Any], *, accepted: bool) -> None:
    """Apply the statement of a call. After a failed call, everything that it states is unknown."""
    for name, value in stated.items():
        if value is None:
            continue  # its set flag is 0
        if accepted:
            held[name] = value
        else:
            held.pop(name, None)


@attrs.frozen
class Row:
    """One native call and its circumstances.

    Attributes:
        call: the call. Its time is from the start of the run.
        phase: the phase that began or ended; None outside of phases.
        cause: the reason for it.
        state: the session's state after it.
        in_force: the votes in force on the id, and in the process, after it.
        goes_on: whether it is a second setPowerConfig of the same step: settings of the process after clocks.
    """

    call: Call
    phase: Phase | None
    cause: Cause
    state: State
    in_force: VoteSet
    goes_on: bool = False

    @property
    def text(self) -> str:
        """The call in a line: the function, its ids, and the code if it failed."""
        call = self.call
        said = f"{call.function}({call.power_config_id})"
        if call.function == "createPowerConfigId":
            said = f"{call.function}({call.device_id}, {call.core_id}) = {call.power_config_id}"
        return said if call.code == SUCCESS else f"{said} failed: {call.code} {code_name(call.code)}"


@attrs.frozen
class Span:
    """A stretch of a run, in us from its start."""

    begin_us: int
    end_us: int

    @property
    def duration_us(self) -> int:
        """How long it is."""
        return self.end_us - self.begin_us


@attrs.frozen(repr=False)
class PhaseSpan(Span):
    """A phase, with its native calls."""

    phase: Phase


@attrs.frozen
class Window(Span):
    """A time after a phase when votes are up with nothing in flight. A lowering or the next phase ends it."""

    after: Phase

    @property
    def name(self) -> str:
        """Its name: ``sustain`` after an inference, else ``after`` the phase."""
        return "sustain" if self.after is Phase.INFERENCE else f"after {self.after}"


@attrs.frozen
class StateSpan(Span):
    """The time in a state."""

    state: State


class Observer:
    """Observes a run of one session. Each native call belongs to the event that comes after it.

    Args:
        recorder: holds the calls.
        time: the clock of the run.
        flush: waits until every event so far is delivered.
    """

    def __init__(self, recorder: RecordingBackend, time: Time, flush: Callable[[], object]) -> None:
        self.rows: list[Row] = []
        self.phases: list[PhaseSpan] = []
        self.states: list[StateSpan] = []
        self.windows: list[Window] = []
        self.time_outs_us: list[int] = []
        self.further_us: list[int] = []
        self._recorder = recorder
        self._time = time
        self._flush = flush
        self._start_us = time.now_us
        # In real time another thread delivers the events.
        self._lock = whole_lock()
        self._in_force = InForce()
        self._calls = 0
        self._state = State.UNVOTED
        self._since_us = 0
        self._idle_since_us: int | None = None
        self._idle_after = Phase.INIT

    @contextlib.contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Observe a phase of the session, which begins and ends inside the block."""
        begin_us = self._now_us()
        self._flush()
        with self._lock:
            self._end_window(begin_us)
        yield
        end_us = self._now_us()
        self._flush()
        with self._lock:
            self.phases.append(PhaseSpan(begin_us, end_us, phase))
            if self._state is State.RAISED:
                self._idle_since_us, self._idle_after = end_us, phase

    def see(self, event: Event) -> None:
        """Note an event, and the calls since the last one."""
        with self._lock:
            self._calls += isinstance(event, CallMade)
            state = event.dest if isinstance(event, Transition) else self._state
            phase = event.phase if isinstance(event, Transition) else None
            if isinstance(event, (SessionOpened, Transition)):
                before = ""
                for call in self._recorder.calls_since(len(self.rows))[: self._calls - len(self.rows)]:
                    goes_on = call.function == before == "setPowerConfig"
                    self.rows.append(self._row(call, phase, event.cause, state, goes_on=goes_on))
                    before = call.function
            if isinstance(event, Transition) and state is State.LOWERED:
                self._lowered(event)
            if state is not self._state:
                self._change(state, event.time_us - self._start_us)

    def end(self) -> int:
        """End the last state. Return the time when the session was destroyed, in us from the start of the run."""
        self._flush()
        end_us = self._since_us if self._state is State.DESTROYED else self._now_us()
        self._change(self._state, end_us)
        return end_us

    def _row(self, call: Call, phase: Phase | None, cause: Cause, state: State, *, goes_on: bool) -> Row:
        self._in_force.see((call,))
        since_start = attrs.evolve(call, time_us=call.time_us - self._start_us)
        return Row(since_start, phase, cause, state, self._in_force.votes(call.power_config_id), goes_on)

    def _lowered(self, event: Transition) -> None:
        """Note how long votes stayed up after an inference, or how long the first power state lasted."""
        if event.trigger is Trigger.LOWER_FURTHER:
            self.further_us.append(event.time_us - self._start_us - self._since_us)
        elif event.cause is Cause.INFERENCE_ENDED:
            self.time_outs_us.append(0)
        elif event.cause is Cause.SUSTAIN_EXPIRED and self._idle_after is Phase.INFERENCE:
            since_us = self._idle_since_us
            self.time_outs_us += [] if since_us is None else [event.time_us - self._start_us - since_us]

    def _change(self, state: State, now_us: int) -> None:
        self.states.append(StateSpan(self._since_us, now_us, self._state))
        self._state, self._since_us = state, now_us
        if state is not State.RAISED:
            self._end_window(now_us)

    def _end_window(self, now_us: int) -> None:
        if self._idle_since_us is not None and now_us > self._idle_since_us:
            self.windows.append(Window(self._idle_since_us, now_us, self._idle_after))
        self._idle_since_us = None

    def _now_us(self) -> int:
        return self._time.now_us - self._start_us
