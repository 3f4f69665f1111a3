"""The gate of a session: what its phases count, and whether one may begin without a call.

An inference inside a sustain window costs a lock, a counter and a clock read; it makes no call, touches no timer and
takes no lock but the gate's. Everything else goes through the reconciler.

A running phase holds a token (``tokens``). One whose end never runs loses that when it is collected, which the gate
counts as its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.core.cold_starts import NO_COLD_STARTS
from htppower.control.core.sustain_timer import SustainTimer
from htppower.control.core.tokens import Token, Tokens, Use
from htppower.control.learning.pace import Pace
from htppower.control.time.locks import make_gate_lock
from htppower.events import Cause, Phase, Trigger
from htppower.profiles.profile import Lowering
from htppower.profiles.sustain import first_us

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.plans import Plan
    from htppower.control.learning.watch import Record
    from htppower.control.time.base import Time
    from htppower.sustain.learner import Learner


class Gate:
    """Counts the phases of one session, and says whether one may begin without a call.

    ``phases.blocks`` and ``phases.async_blocks`` read and write the fields themselves: a method call more on the hot
    path would cost as much again.

    Args:
        session: the record of the session, which is handed to ``ring``.
        time: clock and alarms.
        ring: called with the session and the cause when its votes are to be looked at.
        plan: what the session casts.
        recall: as for ``Pace``.

    Attributes:
        lock: protects the others, except that a phase takes an idle token without it.
        open: whether a phase may begin without a call.
        tokens: those of the phases.
        saved: how many inferences have ended that had not waited for a call when they began.
        unsaved: how many other inferences have ended: they waited, found votes that were raised ahead, or were
            garbage collected.
        cold_starts: those that waited for a call, also of the ones that run.
        plan: what the session casts.
        sustain: when that comes down, with its alarm.
        pace: what is learnt and predicted of the session; None where nothing is.
        closing: whether the session is being closed.
        inits: how many INIT phases have ended.
    """

    __slots__ = (
        "_recall",
        "_ring",
        "_session",
        "closing",
        "cold_starts",
        "inits",
        "lock",
        "open",
        "pace",
        "plan",
        "saved",
        "sustain",
        "time",
        "tokens",
        "unsaved",
    )

    def __init__(
        self,
        session: object,
        time: Time,
        ring: Callable[[Any, Cause], None],
        plan: Plan,
        recall: Callable[..., Learner] | None = None,
    ) -> None:
        self._session = session
        self._ring = ring
        self._recall = recall
        self.time = time
        self.lock = make_gate_lock()
        self.tokens = Tokens(time, self)
        self.saved = self.unsaved = 0
        self.cold_starts = NO_COLD_STARTS
        self.plan = plan
        self.sustain = SustainTimer(session, time)
        self.pace: Pace | None = None
        self._go_by(plan)
        self.open = False
        self.closing = False
        self.inits = 0

    @property
    def in_flight(self) -> int:
        """How many inferences are running."""
        return self.tokens.in_flight

    @property
    def begun(self) -> int:
        """How many inferences have begun without a call: none was waited for, and none was made ahead of them."""
        with self.lock:
            # No function of ours is called on this way, so the interpreter lets no inference run into the lock.
            tokens = self.tokens
            if len(tokens.idle) == tokens.made:
                return self.saved - self._found_up(busy=False)
            begun = self.saved + sum(not token.waited for token in tokens.running())
            return begun - self._found_up(busy=True)

    @property
    def inferences(self) -> int:
        """How many inferences have begun, with those that wait for their votes."""
        with self.lock:
            return self.saved + self.unsaved + self.tokens.in_flight

    def counts(self) -> tuple[int, int, int | None, int]:
        """Return ``in_flight``, ``begun``, when an idle session's votes come down, and ``inferences``, at one time.

        They come down then unless an inference begins before; that is None if no alarm is armed.
        """
        with self.lock:
            tokens, sustain, ended = self.tokens, self.sustain, self.saved + self.unsaved
            if len(tokens.idle) != tokens.made:
                in_flight = tokens.in_flight
                return in_flight, self.begun, None, ended + in_flight
            pace = self.pace
            if pace is None or pace.watch is None:
                # No function of ours is called here either, so this works the deadline out by itself.
                return 0, self.saved, None if sustain.alarm is None else sustain.ended_ns // 1000 + sustain.us, ended
            saved = self.saved - self._found_up(busy=False)
            return 0, saved, None if sustain.alarm is None else sustain.deadline_us, ended

    def add_cold_start(self, wait_us: int) -> None:
        """Count an inference that has waited for a call, for so long."""
        with self.lock:
            self.cold_starts = self.cold_starts.after(wait_us)

    def use(self) -> Use:
        """Return what is made of the session."""
        with self.lock:
            busy = self.tokens.busy()
            if busy and not self.closing:
                # Nothing comes down meanwhile.
                return Use(closing=False, busy=True, deadline_us=0)
            return Use(self.closing, busy, *self.sustain.ends())

    def follow(self, plan: Plan, *, ends_sustain: bool = False) -> None:
        """Go by another plan from now on, and shut; the deadline stays, or a pending sustain ends.

        At once: an inference that ends between the two would be sustained for as long as the plan before says.
        """
        with self.lock:
            self.open = False
            pace = self.pace
            # First: it may take back a hint, by which the deadline moves.
            if pace is not None and ends_sustain:
                pace.break_gap()
            elif pace is not None:
                pace.begins()
            if ends_sustain:
                self.sustain.end()
            self._go_by(plan)
            self.plan = plan

    def _go_by(self, plan: Plan) -> None:
        """Keep votes up for as long as a plan says, or as was learnt; the deadline stays."""
        deadline_us = self.sustain.deadline_us
        has_pace = plan.has_pace or self.pace is not None
        us = self._paced().follow(plan) if has_pace else first_us(plan.after_inference_us)
        self.sustain.follow(us, deadline_us)

    def _paced(self) -> Pace:
        """Return the pace, made where there is none."""
        pace = self.pace
        if pace is None:
            pace = self.pace = Pace(self._session, self.time, self.tokens, self.sustain, self.expects, self._recall)
        return pace

    def record(self, record: Record | None) -> None:
        """Have the inferences recorded that begin from now on; with None no longer."""
        with self.lock:
            pace = self.pace
            if record is not None or (pace is not None and pace.watch is not None):
                self._paced().timed(self.plan).record_to(record, (self._session, self.plan))

    def token(self) -> Token:
        """Return a new token; the inference that holds it is counted from now on."""
        with self.lock:
            return self.tokens.make()

    def prepare(self, phase: Phase) -> Token:
        """Return a new token for INIT or DE-INIT; it is counted from now on."""
        with self.lock:
            if (pace := self.pace) is not None:
                pace.break_gap()
            return self.tokens.prepare(phase)

    def drop(self, token: Token) -> None:
        """Take back the token of an inference that does not begin. It is not used again.

        The traceback of what kept it from that may refer to it for long: no phase that holds it and is interrupted
        could lose it.
        """
        with self.lock:
            self.tokens.drop(token)
            if (pace := self.pace) is not None and not self.tokens.busy():
                pace.dropped()

    def end(self, token: Token) -> bool:
        """End an inference; return whether the votes are to be looked at now."""
        with self.lock:
            self._end(token)
            return self.must_lower()

    def end_preparation(self, token: Token, phase: Phase) -> None:
        """End INIT or DE-INIT."""
        with self.lock:
            self._end_preparation(phase)
            self.drop_preparation(token)

    def _end_preparation(self, phase: Phase) -> None:
        if (pace := self.pace) is not None:
            pace.break_gap()
        if phase is Phase.INIT:
            # Where an exception comes next it is counted once more, which costs a call.
            self.inits += 1
            self.sustain.end_init(self.plan.after_init_us)
        else:
            self.sustain.end_deinit()

    def drop_preparation(self, token: Token) -> None:
        """Take back the token of an INIT or DE-INIT that does not begin."""
        with self.lock:
            self.tokens.drop_preparation(token)

    def must_lower(self) -> bool:
        """Return whether the votes are to be lowered now; arm an alarm where they are to be lowered by one."""
        with self.lock:
            if self.tokens.busy():
                return False
            plan = self.plan
            if self.sustain.us and self.arm():
                return False
            if plan.lowering is Lowering.BACKGROUND and self.arm(Cause.INFERENCE_ENDED):
                return False
            return plan.casts or not self.open

    def moved(self, trigger: Trigger) -> None:
        """Take in a transition that was made: from when the votes are relaxed, and whether they are further."""
        pace = self.pace
        # Read without the lock: only who has the line takes in a plan by which votes relax further.
        if pace is not None and pace.further is not None:
            with self.lock:
                pace.moved(trigger)

    def set_open(self) -> None:
        """Let phases begin without a call, until ``shut``."""
        with self.lock:
            self.open = not self.closing

    def open_if_busy(self) -> bool:
        """Let phases begin without a call, and return True, where one runs."""
        with self.lock:
            self.open = not self.closing and self.tokens.busy()
            return self.open

    def shut(self) -> None:
        """Let no phase begin without a call."""
        with self.lock:
            self.open = False

    def shut_if_idle(self, deadline_us: int) -> bool:
        """Let no phase begin without a call, and return True, unless one runs or has renewed the deadline.

        A phase takes its token first and looks whether the gate is open then; here it is the other way round. So one
        of the two sees the other.
        """
        with self.lock:
            was_open, self.open = self.open, False
            if self.tokens.busy() or self.sustain.deadline_us != deadline_us:
                self.open = was_open
                return False
            return True

    def close(self) -> None:
        """Begin no phase from now on, and run no timer."""
        with self.lock:
            self.closing = True
            self.open = False
            self.sustain.disarm()
            if (pace := self.pace) is not None:
                pace.close()

    def disown(self) -> None:
        """In a forked child: make phases cost nothing and cast nothing, with a lock of the child's own."""
        self.lock = make_gate_lock()
        self.open = True
        self.sustain.disown()
        self.pace = None

    def relax_further(self) -> bool:
        """Return whether the relaxed votes relax further now; arm an alarm where they do later."""
        with self.lock:
            pace = self.pace
            due_us = None if pace is None or pace.further is None else pace.further.due_us
            if due_us is None or self.closing or self.tokens.busy():
                return False
            return due_us <= self.time.now_us or not self.sustain.set_alarm(self, due_us, Cause.SUSTAIN_EXPIRED)

    def arm(self, cause: Cause = Cause.SUSTAIN_EXPIRED) -> bool:
        """See to it that an alarm is armed, no later than the deadline; return False where none can be."""
        with self.lock:
            return self.closing or self.sustain.arm(self, cause)

    def _found_up(self, *, busy: bool) -> int:
        pace = self.pace
        return 0 if pace is None else pace.found_up(busy=busy)

    def _end(self, token: Token) -> None:
        if token.watch() is None:
            return
        waited, token.waited = token.waited, False
        if waited:
            self.unsaved += 1
        else:
            self.saved += 1
        tokens, pace = self.tokens, self.pace
        last = len(tokens.idle) + 1 >= tokens.made
        # Also where others are counted: one that waits for its votes may never begin.
        self.sustain.end_inference()
        idles = last and not tokens.preparing
        if pace is not None and pace.watch is not None and pace.watch.end(token, self.sustain.ended_ns, waited, idles):
            pace.begin_gap()
        tokens.idle.append(token)

    def expect(self, in_us: int | None, every_us: int | None) -> bool:
        """Take a hint of when inferences begin; return whether the votes are to be looked at now."""
        with self.lock:
            if self.closing:
                return False
            now_us, pace = self.time.now_us, self._paced()
            pace.expect(self.plan, in_us, every_us, now_us)
            if self.tokens.busy():
                return False
            pace.begin_gap(now_us)
            return self.must_lower()

    def expects(self) -> None:
        """Note that an inference is predicted to begin soon, and have the votes raised for it."""
        with self.lock:
            pace, may_raise = self.pace, not (self.tokens.busy() or self.closing)
            raises = pace is not None and may_raise and pace.raise_now(up=self.open)
        if raises:
            self._ring(self._session, Cause.INFERENCE_EXPECTED)

    def __call__(self) -> None:
        """Count the phases as ended whose tokens are gone. What is run soon then is the gate: a method weighs more."""
        with self.lock:
            lost = self.tokens.count_lost()
            if lost:
                self.unsaved += lost
                self.sustain.end_inference()
                if (pace := self.pace) is not None:
                    pace.miss(lost)
            ended = self.tokens.end_lost_preparations(self._end_preparation)
            must_lower = self.must_lower()
        if must_lower or ended:
            self._ring(self._session, Cause.INFERENCE_ENDED)

    def rang(self, at_us: int, cause: Cause) -> None:
        """Note that an alarm rings, and have the votes looked at."""
        with self.lock:
            self.sustain.rang(at_us)
            pace = self.pace
            if pace is not None and not self.tokens.busy() and pace.in_vain():
                cause = Cause.EXPECTED_IN_VAIN
        self._ring(self._session, cause)
