"""The handle of a pace, and its inferences."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from htppower.control.context_manager import Closing, in_closed_generator
from htppower.control.pace.chooser import Chooser
from htppower.control.pace.ladder import ladder_below, rungs_of, sorted_profiles
from htppower.control.pace.pacing import Pacing
from htppower.control.pace.slots import Slots
from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import Inference
from htppower.errors import HtpPowerError, PhaseMisuse

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from types import TracebackType

    from htppower.control.claims.claims import Claims
    from htppower.control.pace.pace_status import PaceStatus
    from htppower.control.pace.slots import Slot
    from htppower.control.phases.blocks import Phases
    from htppower.control.time.base import WaitingTime
    from htppower.profiles.profile import Profile

_LOGGER = logging.getLogger("htppower")
_S = 1_000_000_000
_US = 1_000_000


class Pace(Closing):
    """Keeps a rate with the lowest profile that is enough for it. ``Session.pace`` makes it.

    It ends by ``close``, at the end of its ``with`` block, with the session, or when no reference to it is left. The
    session then uses its own profile again.
    """

    __slots__ = ("__weakref__", "_claims", "_pacing", "_phases")

    def __init__(
        self,
        phases: Phases,
        claims: Claims,
        *,
        per_s: float,
        miss_rate: float,
        profiles: Iterable[str | os.PathLike[str] | Profile] | None,
        wait: bool,
        device: str | os.PathLike[str],
    ) -> None:
        session = phases.session
        speeds = claims.profiles.device_speeds(device)
        if profiles is None:
            ladder = ladder_below(session.own, lambda name: claims.check(name, session))
        else:
            ladder = sorted_profiles([claims.check(each, session) for each in profiles])
        slots = Slots(max(round(_S / per_s), 1), waits=wait)
        rungs = rungs_of(ladder, speeds.stated, _US / per_s)
        self._phases = phases
        self._claims = claims
        self._pacing = Pacing(
            slots, Chooser(rungs, slots.period_ns, miss_rate, 1000 * speeds.raise_late_us), per_s, miss_rate
        )
        claims.begin_pace(session, self._pacing, self)

    @property
    def profile(self) -> Profile:
        """The profile that it has chosen. A hold or a cap may replace it, see ``Session.profile``."""
        return self._pacing.profile

    @property
    def status(self) -> PaceStatus:
        """The profile that it has chosen, and its counts."""
        return self._pacing.status()

    def inference(self) -> PacedInference:
        """Return a context manager for one inference, as ``Session.inference`` does.

        Entering it waits for the slot of the inference, unless the pace was made with ``wait=False``, and then for the
        votes. The inference has met its deadline if its block ends within a period of its slot. A block that raises an
        error is not counted.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as ``Session.inference``.
            PhaseMisuse: the pace is closed; or on entering a running inference, or on leaving one that does not run.
        """
        return PacedInference(self._run())

    def ainference(self) -> AsyncPacedInference:
        """Return an asynchronous context manager for one inference, for coroutines: see ``inference``.

        The coroutine awaits its slot and its votes. If it is cancelled before, the inference has not begun.

        Raises:
            VoteRejected, SessionClosed, PhaseMisuse: for the same reasons as ``inference``.
        """
        return AsyncPacedInference(self._run())

    def close(self) -> None:
        """End the pace: the session uses its own profile again. Closing it twice has no effect.

        Raises:
            VoteRejected: the votes of the session's own profile failed and the controller has ``on_error="raise"``; the
                pace has still ended.
        """
        self._leave(quiet=False)

    def __repr__(self) -> str:
        """Return the session, and why it uses its profile."""
        return f"<Pace of {self._phases.session!r}: {self._pacing.reason}>"

    def _run(self) -> _Run:
        return _Run(self._phases, self._claims, self._pacing)

    def _leave(self, *, quiet: bool) -> None:
        # As for a hold: the garbage collector may close a generator while this thread holds a gate.
        self._claims.end_pace(self._phases.session, self._pacing, quiet=quiet, soon=in_closed_generator())


class _Run:
    """One inference of a pace: its slot, and when it waited, began and ended."""

    __slots__ = ("_begun_ns", "_claims", "_entered_ns", "_pacing", "_slot", "_under", "phases")

    def __init__(self, phases: Phases, claims: Claims, pacing: Pacing) -> None:
        self.phases = phases
        self._claims = claims
        self._pacing = pacing
        self._slot: Slot | None = None
        self._entered_ns = self._begun_ns = 0
        self._under: Profile | None = None

    def ask(self) -> int | None:
        """Take the next slot; return the time to wait for, in us, or None if the inference is not early."""
        session, gate = self.phases.session, self.phases.gate
        if session.pace is not self._pacing and not session.gone:
            raise PhaseMisuse("this pace is closed: make a new one with session.pace()")
        slot = self._slot = self._pacing.next_slot(gate.time.now_ns(), overlaps=gate.in_flight > 0)
        return None if slot.begin_ns <= slot.asked_ns else -(-slot.begin_ns // 1000)

    def enter(self) -> None:
        """Record that it begins to wait for its votes."""
        self._entered_ns = self.phases.gate.time.now_ns()

    def begin(self) -> None:
        """Record that its votes are in force."""
        gate = self.phases.gate
        self._begun_ns, self._under = gate.time.now_ns(), gate.plan.profile

    def end(self, ended_ns: int | None, *, failed: bool) -> None:
        """Record its end; unless it failed, count it, and let the session use the profile that the pace has chosen.

        ``ended_ns`` is None if an interrupt came before the clock was read.
        """
        slot, self._slot = self._slot, None
        session, pacing = self.phases.session, self._pacing
        if slot is None or ended_ns is None:
            return
        if failed:
            # No lock is taken: the garbage collector may close a generator in its inference at any point.
            pacing.slots.ended(ended_ns)
            return
        under = self._under if session.plan.profile is self._under else None
        kept = pacing.chooser.keeps
        caps = self.phases.home.registry.caps
        pacing.ended(slot, self._entered_ns, self._begun_ns, ended_ns, under, caps)
        if kept and not pacing.chooser.keeps:
            _LOGGER.warning("%r: %s", session, pacing.reason)
        # Compared each time: an interrupt may have come between an earlier choice and this.
        if pacing.is_new and not session.gone:
            self._claims.move_pace(session, pacing)


class PacedInference:
    """The context manager of one inference of a pace; after its end it may be used again."""

    __slots__ = ("_inference", "_run")

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._inference = Inference(run.phases)

    def __enter__(self) -> None:
        if self._inference.running:
            raise PhaseMisuse("this inference is being run: call inference() for each")
        due_us = self._run.ask()
        if due_us is not None:
            cast("WaitingTime", self._run.phases.gate.time).wait_until(due_us)
        try:
            self._run.enter()
            self._inference.__enter__()
            self._run.begin()
        except BaseException:
            self._inference.end()
            self._run.end(self._run.phases.gate.time.now_ns(), failed=True)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ended_ns = None
        try:
            ended_ns = self._run.phases.gate.time.now_ns()
            self._inference.__exit__(kind, error, traceback)
        except BaseException as failure:
            if not isinstance(failure, HtpPowerError):  # an interrupt, perhaps before the inference has ended
                self._inference.end()
            raise
        finally:
            self._run.end(ended_ns, failed=kind is not None)


class AsyncPacedInference:
    """The asynchronous context manager of one inference of a pace."""

    __slots__ = ("_inference", "_run")

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._inference = AsyncInference(run.phases)

    async def __aenter__(self) -> None:
        if self._inference.running:
            raise PhaseMisuse("this inference is being run: call ainference() for each")
        due_us, time = self._run.ask(), self._run.phases.gate.time
        if due_us is not None:
            import asyncio  # noqa: PLC0415 - a host without coroutines doesn't need it

            while (early_us := due_us - time.now_us) > 0:  # noqa: ASYNC110 - the clock is the controller's
                await asyncio.sleep(early_us / _US)
        try:
            self._run.enter()
            await self._inference.__aenter__()
            self._run.begin()
        except BaseException:
            self._inference.end()
            self._run.end(self._run.phases.gate.time.now_ns(), failed=True)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        ended_ns = None
        try:
            ended_ns = self._run.phases.gate.time.now_ns()
            await self._inference.__aexit__(kind, error, traceback)
        except BaseException as failure:
            if not isinstance(failure, HtpPowerError):  # an interrupt, perhaps before the inference has ended
                self._inference.end()
            raise
        finally:
            self._run.end(ended_ns, failed=kind is not None)
