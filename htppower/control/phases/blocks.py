"""The phases of a session, and their context managers.

An inference inside the sustain time costs a lock, a counter and a clock read. If votes may have to change, the
reconciler settles the session.
"""

from __future__ import annotations

import functools
import traceback as tracebacks
import weakref
from typing import TYPE_CHECKING, Any

from htppower.control.time.base import armed_or_none
from htppower.errors import HtpPowerError, PhaseMisuse
from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.gate.tokens import Token

NO_BEGIN = "this inference does not run: it has not begun, or has ended already"
# The causes of settling when INIT and DE-INIT begin and end.
_CAUSES = {
    Phase.INIT: (Cause.INIT_BEGAN, Cause.INIT_ENDED),
    Phase.DEINIT: (Cause.DEINIT_BEGAN, Cause.DEINIT_ENDED),
}


class Phases:
    """Begins and ends the phases of one session. When this is garbage collected, the session is closed."""

    __slots__ = ("__weakref__", "gate", "home", "session")

    def __init__(self, session: SessionRecord) -> None:
        self.session = session
        self.gate = session.gate
        self.home = session.home

    def waits(self, token: Token) -> int:
        """Record that an inference begins to wait for its votes; return the time, in ns."""
        token.waited = True
        gate = self.gate
        learning = gate.learning
        if learning is not None:
            with gate.lock:
                learning.gaps.end_gap()
        return gate.time.now_ns()

    def settle(self, cause: Cause, phase: Phase = Phase.INFERENCE, **options: Any) -> None:
        """Settle the session and wait for it: see ``Home.settle``."""
        self.home.settle(self.session, cause, phase, **options)

    def settle_soon(self, cause: Cause = Cause.INFERENCE_ENDED, phase: Phase = Phase.INFERENCE) -> None:
        """Let the worker settle the session, without waiting."""
        self.home.settle_soon(self.session, cause, phase)

    def expect(self, in_us: int | None, every_us: int | None) -> None:
        """Take a hint when inferences begin."""
        if self.gate.expect(in_us, every_us):
            self.settle(Cause.INFERENCE_ENDED, quiet=True)

    def end_inference(self, token: Token) -> None:
        """End an inference, without raising or waiting for a call."""
        if self.gate.end(token):
            self.settle_soon()

    def end_preparation(self, token: Token, phase: Phase) -> None:
        """End INIT or DE-INIT, without raising or waiting for a call."""
        self.gate.end_preparation(token, phase)
        self.settle_soon(_CAUSES[phase][1], phase)

    def soon(self, action: Callable[..., object], *arguments: object) -> None:
        """Run an action soon, on another thread: a generator may be collected while this thread holds a gate."""
        self.gate.time.call_soon(functools.partial(action, *arguments))

    def arm(self, at_us: int, method: Callable[[], None], purpose: str) -> Any:
        """Call a method at this time, unless its object is gone by then; return a value for ``Time.cancel``."""
        # In a forked child the timers belong to the parent.
        ring = functools.partial(_call, weakref.WeakMethod(method))
        return None if self.session.gone else armed_or_none(self.gate.time, at_us, ring, purpose)

    def not_begun(self, token: Token | None) -> None:
        """Drop the token of an inference whose begin failed or was interrupted.

        The token is None if the inference has ended.
        """
        if token is not None:
            self.gate.drop(token)
        self.settle_soon()

    def cut_off(self, error: BaseException) -> None:
        """Record that the end of a phase was interrupted. The caller no longer refers to the token.

        The phase counts as ended when its token is garbage collected. But the traceback may live on, as an interactive
        prompt keeps the last one, and its frames refer to the token. So the frames below the caller's are cleared.
        """
        if not isinstance(error, HtpPowerError):
            tracebacks.clear_frames(error.__traceback__ and error.__traceback__.tb_next)
            self.gate.time.call_soon(self.settle_soon)


def _call(reference: weakref.WeakMethod[Callable[[], None]]) -> None:
    if (method := reference()) is not None:
        method()


class Inference:
    """The context manager of one inference; after its end it may be used again."""

    __slots__ = ("_phases", "_token")

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        self._token: Token | None = None

    def __enter__(self) -> None:
        if self._token is not None:
            raise PhaseMisuse("this inference is being run: call inference() for each")
        gate = self._phases.gate
        try:
            try:
                token = self._token = gate.tokens.idle.pop()
            except IndexError:
                token = self._token = gate.token()
            if gate.learning is not None:
                token.begun_ns = gate.time.now_ns()
                token.within = gate.tokens.preparing
                if gate.cpu is not None:
                    gate.hold_cpu(gate.cpu)
            if gate.open:
                return
            self._phases.settle(Cause.INFERENCE_BEGAN, waits=self._phases.waits(token))
        except BaseException:
            with gate.lock:
                # Another thread may have ended this inference, and a third may have begun it again with another token.
                taken = self.take() if self._token is not None and self._token is token else None
            self._phases.not_begun(taken)
            raise

    def __exit__(  # noqa: C901 - another call on the hot path would cost a tenth
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is not None and kind is GeneratorExit:  # the first test is quicker, and usually false
                # A generator that is garbage collected raises this, perhaps on a thread that must not take the lock
                # now.
                if (token := self.take()) is None:
                    raise PhaseMisuse(NO_BEGIN)  # noqa: TRY301
                self._phases.soon(self._phases.end_inference, token)
                return
            gate = self._phases.gate
            with gate.lock:
                # If two threads end the inference, only one of them gets the token.
                token = self._token
                if token is None:
                    raise PhaseMisuse(NO_BEGIN)  # noqa: TRY301
                self._token = None
                # Not ``token.reference()``: CPython 3.11 looks up the slot of such a call each time (2 % of the path).
                reference = token.reference
                if reference() is not None:
                    idle = token.idle_list
                    if waited := token.waited:
                        token.waited = False
                        gate.unsaved += 1
                    else:
                        gate.saved += 1
                    sustain = gate.sustain
                    # Set even if other inferences are counted: an inference that waits for its votes may never begin.
                    sustain.ended_ns = gate.time.now_ns()
                    last = len(idle) + 1 >= gate.tokens.made
                    learning = gate.learning
                    if learning is not None and learning.gaps.end(
                        token, sustain.ended_ns, waited, last and not gate.tokens.preparing
                    ):
                        learning.begin_gap()
                    idle.append(token)
                    if learning is not None:
                        gate.release_cpu()
                    if not last or sustain.covered:
                        return
                must_lower = gate.must_lower()
            if must_lower:
                # The token is idle from here on, and another inference may take it. The traceback of a failed call must
                # not refer to it either.
                token = None
                self._phases.settle(Cause.INFERENCE_ENDED, quiet=error is not None)
        except HtpPowerError:
            # The inference has ended, so ``_token`` is not cleared here: another thread may have begun a new inference
            # with this block, and then it is the token of that inference.
            raise
        except BaseException as interrupt:
            self._token = token = None
            self._phases.cut_off(interrupt)
            raise

    def end(self) -> bool:
        """End the inference, without raising or waiting; return False if it has ended already."""
        with self._phases.gate.lock:
            token = self.take()
        if token is not None:
            self._phases.end_inference(token)
        return token is not None

    @property
    def running(self) -> bool:
        """Whether the inference has begun and not ended."""
        return self._token is not None

    def take(self) -> Token | None:
        """Take the token of the inference, and return it; None if it does not run. The caller ends the inference.

        The lock of the gate is held, so if two threads end the inference, only one gets the token.
        """
        token, self._token = self._token, None
        return token


class Preparation:
    """The context manager of INIT or DE-INIT."""

    __slots__ = ("_phase", "_phases", "_token")

    def __init__(self, phases: Phases, phase: Phase) -> None:
        self._phases = phases
        self._phase = phase
        self._token: Token | None = None

    def __enter__(self) -> None:
        if self._token is not None:
            raise PhaseMisuse(f"this {self._phase.value} is being run: end it first")
        phases = self._phases
        try:
            self._token = phases.gate.prepare(self._phase)
            phases.settle(_CAUSES[self._phase][0], self._phase)
        except BaseException:
            token, self._token = self._token, None
            if token is not None:
                phases.gate.drop_preparation(token)
            phases.settle_soon()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        token, self._token = self._token, None
        if token is None:
            raise PhaseMisuse(f"this {self._phase.value} does not run: it has not begun, or has ended already")
        phases = self._phases
        try:
            if kind is GeneratorExit:
                phases.soon(phases.end_preparation, token, self._phase)
                return
            phases.gate.end_preparation(token, self._phase)
            phases.settle(_CAUSES[self._phase][1], self._phase, quiet=error is not None)
        except BaseException as interrupt:
            token = None
            phases.cut_off(interrupt)
            raise
