"""The phases of a session: what begins and ends them, and their context managers.

An inference inside a sustain window costs a lock, a counter and a clock read. Where votes may have to change, the
reconciler settles the session.
"""

from __future__ import annotations

import functools
import traceback as tracebacks
from typing import TYPE_CHECKING

from htppower.errors import PhaseMisuse, VoteRejected
from htppower.events import Cause, Phase

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.tokens import Token


NO_BEGIN = "this inference does not run: its end has no begin, or is not the first"


class Phases:
    """Begins and ends the phases of one session, which is closed when this is collected."""

    __slots__ = ("__weakref__", "_session", "gate", "home")

    def __init__(self, session: SessionRecord) -> None:
        self.gate = session.gate
        self._session = session
        self.home = session.home

    @property
    def gone(self) -> bool:
        """Whether the session's ids are gone, as in a forked child, where no timer of the parent's may be touched."""
        return self._session.gone

    def wait_for_votes(self, token: Token) -> None:
        """Return when the votes of the inference that holds a token are in force."""
        self.home.run_settle(self._session, Cause.INFERENCE_BEGAN, Phase.INFERENCE, waits=self.waits(token))

    def waits(self, token: Token) -> int:
        """Take in that the inference that holds a token waits for its votes; return since when, in ns."""
        token.waited = True
        gate = self.gate
        learning = gate.learning
        if learning is not None:
            with gate.lock:
                learning.gaps.end_gap()
        return gate.time.now_ns()

    def begin_on_worker(self, waits: int) -> VoteRejected | None:
        """Raise the votes of an inference that waits since then, in ns; the line is held."""
        return self.home.settle_for(self._session, Cause.INFERENCE_BEGAN, Phase.INFERENCE, waits)

    def lower_on_worker(self) -> VoteRejected | None:
        """Lower the votes of a session that is idle still; the line is held."""
        return self.home.settle_for(self._session, Cause.INFERENCE_ENDED, Phase.INFERENCE, None)

    def after_step(self, error: VoteRejected | None, *, begins: bool, quiet: bool) -> None:
        """Raise what a phase raises after a step.

        Raises:
            VoteRejected, SessionClosed: as ``Session.inference`` says.
        """
        self.home.after_step(self._session, error, begins=begins, quiet=quiet)

    def look_again(self) -> None:
        """Settle the session soon: a begin or an end was interrupted."""
        self.home.settle_soon(self._session, Cause.INFERENCE_ENDED, Phase.INFERENCE)

    def end_inference(self, token: Token) -> None:
        """End an inference; raise nothing, and wait for no call."""
        if self.gate.end(token):
            self.look_again()

    def drop_inference(self, token: Token) -> None:
        """Take back the token of an inference that does not begin."""
        self.gate.drop(token)
        self.look_again()

    def soon(self, action: Callable[[Token], object], token: Token) -> None:
        """End or drop an inference soon: a generator may be collected while this thread holds a gate."""
        self.gate.time.call_soon(functools.partial(action, token))

    def expect(self, in_us: int | None, every_us: int | None) -> None:
        """Take a hint of when inferences begin."""
        if self.gate.expect(in_us, every_us):
            self.lower(quiet=True)

    def lower(self, *, quiet: bool) -> None:
        """Lower the votes of a session that is idle still."""
        self.home.run_settle(self._session, Cause.INFERENCE_ENDED, Phase.INFERENCE, quiet=quiet)

    def begin_preparation(self, phase: Phase) -> None:
        """Return when the votes of INIT or DE-INIT are in force."""
        cause = Cause.INIT_BEGAN if phase is Phase.INIT else Cause.DEINIT_BEGAN
        self.home.run_settle(self._session, cause, phase)

    def end_preparation(self, token: Token, phase: Phase, *, quiet: bool) -> None:
        """End INIT or DE-INIT."""
        self.gate.end_preparation(token, phase)
        cause = Cause.INIT_ENDED if phase is Phase.INIT else Cause.DEINIT_ENDED
        self.home.run_settle(self._session, cause, phase, quiet=quiet)

    def end_preparation_soon(self, token: Token, phase: Phase) -> None:
        """End INIT or DE-INIT soon: a generator may be collected while this thread holds a gate."""
        self.gate.time.call_soon(functools.partial(self._end_preparation_now, token, phase))

    def _end_preparation_now(self, token: Token, phase: Phase) -> None:
        self.gate.end_preparation(token, phase)
        cause = Cause.INIT_ENDED if phase is Phase.INIT else Cause.DEINIT_ENDED
        self.home.settle_soon(self._session, cause, phase)


def clear_frames(error: BaseException) -> None:
    """Let go of what the functions refer to that an exception has passed through, below the one that handles it.

    Those that run still are left alone: an exception that a handler keeps and raises again has passed through them.
    """
    tracebacks.clear_frames(error.__traceback__ and error.__traceback__.tb_next)


class Inference:
    """The context manager of one inference; it may be used again when it was left."""

    __slots__ = ("_phases", "_token")

    def __init__(self, phases: Phases) -> None:
        self._phases = phases
        self._token: Token | None = None

    def __enter__(self) -> None:
        gate, token = self._phases.gate, None
        try:
            try:
                token = gate.tokens.idle.pop()
            except IndexError:
                token = gate.token()
            if self._token is not None:
                gate.drop(token)
                raise PhaseMisuse("this inference is being run: call inference() for each")  # noqa: TRY301
            self._token = token
            if gate.learning is not None:
                token.begun_ns = gate.time.now_ns()
                token.within = gate.tokens.preparing
            if gate.open:
                return
            self._phases.wait_for_votes(token)
        except BaseException as error:
            gate.time.call_soon(self._phases.look_again)
            # The inference does not begin, so nobody will end it.
            if token is not None and self._token is token:
                self._token = None
                try:
                    gate.drop(token)
                except BaseException as interrupt:
                    # A token that was not dropped is counted when nothing refers to it any more.
                    token = None
                    clear_frames(error)
                    clear_frames(interrupt)
                    raise
                finally:
                    self._phases.look_again()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is not None and kind is GeneratorExit:  # most end without an exception
                self._end_soon()
                return
            gate = self._phases.gate
            with gate.lock:
                # Taken under the lock: of two threads that end it, one gets it.
                token = self._token
                if token is None:
                    raise PhaseMisuse(NO_BEGIN)  # noqa: TRY301
                self._token = None
                # Not at once: CPython 3.11 looks a slot up anew, each time it is called as a method (2 % of all).
                reference = token.reference
                if reference() is not None:
                    idle = token.home
                    if waited := token.waited:
                        token.waited = False
                        gate.unsaved += 1
                    else:
                        gate.saved += 1
                    sustain = gate.sustain
                    # Also where others are counted: one that waits for its votes may never begin.
                    sustain.ended_ns = gate.time.now_ns()
                    last = len(idle) + 1 >= gate.tokens.made
                    learning = gate.learning
                    if learning is not None and learning.gaps.end(
                        token, sustain.ended_ns, waited, last and not gate.tokens.preparing
                    ):
                        learning.begin_gap()
                    idle.append(token)
                    if not last or sustain.covered:
                        return
                    must_lower = gate.must_lower()
                else:
                    must_lower = gate.end(token)
            if must_lower:
                # It is another's now, and the traceback of a call that fails must not refer to it.
                token = None
                self._phases.lower(quiet=error is not None)
        except (VoteRejected, PhaseMisuse):
            raise
        except BaseException as interrupt:
            self._phases.gate.time.call_soon(self._phases.look_again)
            # A token that was not given back is counted when nothing refers to it any more.
            self._token = token = None
            clear_frames(interrupt)
            raise

    def end(self) -> None:
        """End the inference, unless it has ended; raise nothing."""
        with self._phases.gate.lock:
            token = self.take()
        if token is not None:
            self._phases.end_inference(token)

    @property
    def running(self) -> bool:
        """Whether it has begun and not ended."""
        return self._token is not None

    def take(self) -> Token | None:
        """Return the token of an inference that runs, to be ended by the caller: it ends with that.

        The lock of the gate is held: of two threads, one gets it.
        """
        token, self._token = self._token, None
        return token

    def _end_soon(self) -> None:
        # The collector may come where this thread must not take the lock.
        token = self.take()
        if token is None:
            raise PhaseMisuse(NO_BEGIN)
        self._phases.soon(self._phases.end_inference, token)


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
        token = self._token = self._phases.gate.prepare(self._phase)
        try:
            self._phases.begin_preparation(self._phase)
        except BaseException as error:
            self._phases.gate.time.call_soon(self._phases.look_again)
            # The phase does not begin, so nobody will end it.
            self._token = None
            try:
                self._phases.gate.drop_preparation(token)
            except BaseException as interrupt:
                # As in an inference: a token that was not dropped is counted when nothing refers to it any more.
                del token
                clear_frames(error)
                clear_frames(interrupt)
                raise
            finally:
                self._phases.look_again()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        token, self._token = self._token, None
        if token is None:
            raise PhaseMisuse(f"this {self._phase.value} does not run: its end has no begin, or is not the first")
        if kind is GeneratorExit:
            self._phases.end_preparation_soon(token, self._phase)
            return
        try:
            self._phases.end_preparation(token, self._phase, quiet=error is not None)
        except VoteRejected:
            raise
        except BaseException as interrupt:
            self._phases.gate.time.call_soon(self._phases.look_again)
            # Likewise; who keeps the exception, as a prompt does, would keep the phase running.
            token = None
            clear_frames(interrupt)
            raise
