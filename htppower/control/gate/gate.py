"""The gate of a session: counts its phases, and decides whether a phase may begin without a call.

An inference inside the sustain time costs a lock, a counter and a clock read. It makes no call, changes no timer and
takes no lock but the gate's. In all other cases the reconciler settles the session.

A running phase holds a token (``tokens``). If a phase is dropped without its end, its token is garbage collected, and
the gate counts this as the end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.control.gate.cold_starts import NO_COLD_STARTS
from htppower.control.gate.cpu_latency import CpuLatency
from htppower.control.gate.sustain_timer import SustainTimer
from htppower.control.gate.tokens import Token, Tokens, Use
from htppower.control.learning.learning import Learning
from htppower.control.time.locks import make_gate_lock
from htppower.events import Cause, Phase, Trigger
from htppower.profiles.profile import Lowering
from htppower.profiles.sustain import first_us

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.learning.gap_timer import Record
    from htppower.control.plans.plans import Plan
    from htppower.control.time.base import Time
    from htppower.sustain.base import Learner


class Gate:
    """Counts the phases of one session, and decides whether a phase may begin without a call.

    ``phases.blocks`` and ``phases.async_blocks`` read and write the fields themselves: another method call on the hot
    path would double its cost.

    Args:
        session: the record of the session, which is handed to ``settle_soon``.
        time: clock and alarms.
        settle_soon: called with the session and the cause when its votes may have to change.
        plan: the votes that the session sends, and when.
        recall: see ``Learning``.

    Attributes:
        lock: protects the other fields. A phase takes an idle token without it.
        open: whether a phase may begin without a call.
        tokens: the tokens of the phases.
        saved: how many inferences have ended that did not wait for a call.
        unsaved: how many inferences have ended that waited for a call, or whose token was garbage collected.
        cold_starts: the counts of the inferences that waited for a call, including those that still run.
        plan: the votes that the session sends, and when.
        sustain: when its votes come down, and the alarm for this.
        learning: what the session learns and predicts; None for most sessions.
        cpu: its limit on the wake-up latency of the CPUs; None for most sessions. A session that has it also has
            ``learning``, so that other sessions need no further check.
        closing: whether the session is being closed.
        inits: how many INIT phases have ended.
    """

    __slots__ = (
        "_recall",
        "_session",
        "_settle_soon",
        "closing",
        "cold_starts",
        "cpu",
        "inits",
        "learning",
        "lock",
        "open",
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
        settle_soon: Callable[[Any, Cause], None],
        plan: Plan,
        recall: Callable[..., Learner] | None = None,
    ) -> None:
        self._session = session
        self._settle_soon = settle_soon
        self._recall = recall
        self.time = time
        self.lock = make_gate_lock()
        self.tokens = Tokens(time, self)
        self.saved = self.unsaved = 0
        self.cold_starts = NO_COLD_STARTS
        self.sustain = SustainTimer(session, time)
        self.learning: Learning | None = None
        self.cpu: CpuLatency | None = None
        self._set_plan(plan)
        self.open = False
        self.closing = False
        self.inits = 0

    @property
    def in_flight(self) -> int:
        """How many inferences are running."""
        return self.tokens.in_flight

    def add_cold_start(self, wait_us: int) -> None:
        """Count an inference that has waited for a call."""
        with self.lock:
            self.cold_starts = self.cold_starts.after(wait_us)

    def use(self) -> Use:
        """Return how the session is used now."""
        with self.lock:
            busy = self.tokens.busy()
            # For an inference that did not begin, or whose end was interrupted by an exception.
            self.release_cpu()
            if busy and not self.closing:
                # The votes stay up, whatever the deadline is.
                return Use(closing=False, busy=True, deadline_us=0)
            return Use(self.closing, busy, *self.sustain.ends())

    def use_plan(self, plan: Plan, *, ends_sustain: bool = False) -> None:
        """Use another plan, and shut the gate; the deadline stays, or, with ``ends_sustain``, the sustain time ends.

        All of this is under one lock: if an inference ended in between, its votes would stay up for the time of the old
        plan.
        """
        with self.lock:
            self.open = False
            if self.learning is not None:
                # Before the deadline is changed: ending the gap may forget a hint, which moves the deadline.
                self.learning.break_gap()
            if ends_sustain:
                self.sustain.end()
            self._set_plan(plan)

    def _set_plan(self, plan: Plan) -> None:
        self.plan = plan
        deadline_us = self.sustain.deadline_us
        if self.learning is not None:
            self.learning.use_plan(plan)
        elif plan.learns:
            self._learn()
        us = None if self.learning is None else self.learning.gaps.learners.time_out_us
        self.sustain.set_time(first_us(plan.after_inference_us) if us is None else us, deadline_us)
        if plan.cpu_latency_us is not None and self.cpu is None:
            self.cpu = CpuLatency(self.time.call_soon)
        if self.cpu is not None:
            self.cpu.use(plan.cpu_latency_us, running=self.tokens.in_flight > 0)

    def _learn(self) -> Learning:
        """Return the learning of the session, made if needed; from now on its inferences are timed."""
        if self.learning is None:
            self.learning = Learning(
                self._session, self.plan, self.time, self.tokens, self.sustain, self.raise_ahead, self._recall
            )
        return self.learning

    def record(self, record: Record | None) -> None:
        """Record the inferences that begin from now on; with None, record no more."""
        with self.lock:
            if record is not None or self.learning is not None:
                self._learn().gaps.record = record

    def token(self) -> Token:
        """Return a new token. From now on the inference that holds it counts as running."""
        with self.lock:
            return self.tokens.make()

    def prepare(self, phase: Phase) -> Token:
        """Return a new token for INIT or DE-INIT. From now on that phase counts as running."""
        with self.lock:
            if self.learning is not None:
                self.learning.break_gap()
            return self.tokens.prepare(phase)

    def hold_cpu(self, cpu: CpuLatency) -> None:
        """Request the limit on the latency of the CPUs, for an inference that has its token."""
        with self.lock:
            # If this thread took its token before another took the request back, it requests it again here.
            if self.tokens.in_flight and not self.closing:
                cpu.hold()

    def release_cpu(self) -> None:
        """Take the request for the CPUs back, unless an inference runs; the lock is held."""
        if self.cpu is not None and not self.tokens.in_flight:
            self.cpu.release()

    def drop(self, token: Token) -> None:
        """Forget the token of an inference that does not begin. It is not used again.

        The token is not left to the garbage collector: the traceback of the error may keep it alive for long.
        """
        with self.lock:
            self.tokens.drop(token)
            self.release_cpu()
            if self.learning is not None and not self.tokens.busy():
                self.learning.drop()

    def end(self, token: Token) -> bool:
        """End an inference; return whether the session must be settled now."""
        with self.lock:
            self._end(token)
            return self.must_lower()

    def _end(self, token: Token) -> None:
        if token.reference() is None:
            return
        waited, token.waited = token.waited, False
        if waited:
            self.unsaved += 1
        else:
            self.saved += 1
        tokens, learning = self.tokens, self.learning
        last = len(tokens.idle) + 1 >= tokens.made
        # The deadline is set even if other inferences are counted: an inference that waits for its votes may never
        # begin.
        self.sustain.end_inference()
        idle = last and not tokens.preparing
        if learning is not None and learning.gaps.end(token, self.sustain.ended_ns, waited, idle):
            learning.begin_gap()
        tokens.idle.append(token)
        self.release_cpu()

    def end_preparation(self, token: Token, phase: Phase) -> None:
        """End INIT or DE-INIT."""
        with self.lock:
            self._end_preparation(phase)
            self.drop_preparation(token)

    def _end_preparation(self, phase: Phase) -> None:
        if self.learning is not None:
            self.learning.break_gap()
        if phase is Phase.INIT:
            # If an exception interrupts this thread after the next line, the phase is counted twice. That costs one
            # call, no more.
            self.inits += 1
            self.sustain.end_init(self.plan.after_init_us)
        else:
            self.sustain.end_deinit()

    def drop_preparation(self, token: Token) -> None:
        """Forget the token of an INIT or DE-INIT that does not begin, or has ended."""
        with self.lock:
            self.tokens.drop_preparation(token)

    def must_lower(self) -> bool:
        """Return whether the votes are to be lowered now; if they are to be lowered later, arm an alarm."""
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
        """Record a transition; the line is held."""
        if self.learning is not None:
            with self.lock:
                self.learning.moved(trigger)

    def set_open(self) -> None:
        """Let phases begin without a call, until ``shut``."""
        with self.lock:
            self.open = not self.closing

    def open_if_busy(self) -> bool:
        """Let phases begin without a call if one runs; return whether a phase runs."""
        with self.lock:
            self.open = not self.closing and self.tokens.busy()
            return self.open

    def shut(self) -> None:
        """Let no phase begin without a call."""
        with self.lock:
            self.open = False

    def shut_if_idle(self, deadline_us: int) -> bool:
        """Shut the gate and return True, unless a phase runs or has renewed the deadline.

        A phase takes its token first, and then checks whether the gate is open. This method shuts the gate first, and
        then checks the tokens. So at least one of the two notices the other.
        """
        with self.lock:
            was_open, self.open = self.open, False
            if self.tokens.busy() or self.sustain.deadline_us != deadline_us:
                self.open = was_open
                return False
            return True

    def close(self) -> None:
        """Let no further phase begin, and stop the timer."""
        with self.lock:
            self.closing = True
            self.open = False
            self.sustain.disarm()
            if self.cpu is not None:
                self.cpu.close()
            if self.learning is not None:
                self.learning.close()

    def disown(self) -> None:
        """In a forked child: let phases run without calls.

        The lock is a new one, since a thread of the parent may have held the old one.
        """
        self.lock = make_gate_lock()
        self.open = True
        self.sustain.disown()
        self.learning = None
        if self.cpu is not None:
            # The request would last as long as the child has the descriptor open.
            self.cpu.disown()

    def relax_further(self) -> bool:
        """Return whether lowered votes relax to the second power state now; if they do so later, arm an alarm."""
        with self.lock:
            due_us = None if self.learning is None else self.learning.second.due_us
            if due_us is None or self.closing or self.tokens.busy():
                return False
            return due_us <= self.time.now_us or not self.sustain.set_alarm(self, due_us, Cause.SUSTAIN_EXPIRED)

    def arm(self, cause: Cause = Cause.SUSTAIN_EXPIRED) -> bool:
        """Make sure that an alarm rings by the deadline; return False if no alarm can be armed."""
        with self.lock:
            return self.closing or self.sustain.arm(self, cause)

    def expect(self, in_us: int | None, every_us: int | None) -> bool:
        """Take a hint when inferences begin; return whether the session must be settled now."""
        with self.lock:
            if self.closing:
                return False
            self._learn().expect(in_us, every_us)
            return self.must_lower()

    def raise_ahead(self) -> None:
        """Raise the votes for a predicted inference; its alarm calls this."""
        with self.lock:
            learning, idle = self.learning, not (self.tokens.busy() or self.closing)
            raises = learning is not None and idle and learning.ahead.raise_now(up=self.open)
        if raises:
            self._settle_soon(self._session, Cause.INFERENCE_EXPECTED)

    def __call__(self) -> None:
        """Count phases as ended if their tokens were garbage collected.

        The gate itself is the callback of its tokens: a bound method for each session would take more memory.
        """
        with self.lock:
            lost = self.tokens.count_lost()
            if lost:
                self.unsaved += lost
                self.sustain.end_inference()
                self.release_cpu()
                if self.learning is not None:
                    self.learning.miss(lost)
            ended = self.tokens.end_lost_preparations(self._end_preparation)
            must_lower = self.must_lower()
        if must_lower or ended:
            self._settle_soon(self._session, Cause.INFERENCE_ENDED)

    def rang(self, at_us: int, cause: Cause) -> None:
        """Settle the session: its alarm has rung."""
        with self.lock:
            self.sustain.rang(at_us)
            if self.learning is not None and not self.tokens.busy() and self.learning.ahead.expire():
                cause = Cause.EXPECTED_IN_VAIN
        self._settle_soon(self._session, cause)
