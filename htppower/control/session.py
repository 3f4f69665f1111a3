"""A session: one client of the controller, as its user sees it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, overload

from htppower.control.arguments import check_reason, checked_close_timeout, checked_timeout_us
from htppower.control.claims.holds import Hold
from htppower.control.context_manager import Closing
from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import Inference, Phases, Preparation
from htppower.control.phases.streams import Function, Token, vote_on_calls, vote_on_stream
from htppower.control.phases.tickets import Ticket
from htppower.events import Phase

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Mapping

    from htppower.control.claims.claims import Claims
    from htppower.control.closer import Closer
    from htppower.control.core.session_record import SessionRecord
    from htppower.errors import VoteRejected
    from htppower.events import Degradation, State
    from htppower.profiles.profile import Profile


class Session(Closing):
    """One client: one profile, one power config id per core. Made by ``VoteController.session``.

    All methods may be called from any thread, and phases may overlap. A session is closed when no reference to it, or
    to an inference, a ticket or a stream of it, is left.
    """

    __slots__ = ("__weakref__", "_claims", "_closer", "_phases", "_record")

    def __init__(self, record: SessionRecord, claims: Claims, closer: Closer) -> None:
        self._record = record
        self._claims = claims
        self._closer = closer
        self._phases = Phases(record)

    @property
    def number(self) -> int:
        """One more than that of the session before it, from 1."""
        return self._record.number

    @property
    def owner(self) -> str | None:
        """What it is for."""
        return self._record.owner

    @property
    def device_id(self) -> int:
        """The device."""
        return self._record.device_id

    @property
    def core_ids(self) -> tuple[int, ...]:
        """The cores that it votes on."""
        return self._record.core_ids

    @property
    def power_config_ids(self) -> Mapping[int, int]:
        """Its power config ids by core id; none where it has none, as with a profile without votes."""
        return self._record.power_config_ids

    @property
    def state(self) -> State:
        """What is known of its votes."""
        return self._record.state

    @property
    def error(self) -> VoteRejected | None:
        """The call that failed last, None once one has succeeded since."""
        return self._record.error

    @property
    def in_flight(self) -> int:
        """How many inferences are running."""
        return self._record.gate.in_flight

    @property
    def profile(self) -> Profile:
        """The profile in use, which is the session's own, or that of a hold or a cap."""
        return self._record.plan.profile

    @property
    def own_profile(self) -> Profile:
        """The profile that the session was opened with, or that ``use`` gave it."""
        return self._record.own

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """The votes of the profile that this platform does not have."""
        return self._record.plan.degradations

    def init(self) -> Preparation:
        """Return a context manager around the initialisation of a graph: raised in it, lowered after it.

        Raises:
            VoteRejected, SessionClosed: as ``inference``.
        """
        return Preparation(self._phases, Phase.INIT)

    def inference(self) -> Inference:
        """Return a context manager around one inference.

        Entering it returns when the votes are in force; leaving it lowers at once, or after the profile's sustain time
        without an inference.

        Raises:
            VoteRejected: on entering, if raising fails and the controller has ``on_error="raise"``; the inference has
                then not begun. On leaving, if lowering fails, likewise.
            SessionClosed: on entering, if the session is closed, or is closed by another thread before its votes are in
                force; the inference has then not begun. Not while the process ends: it is let pass without votes.
            PhaseMisuse: on entering one that runs, and on leaving one that does not; nothing changes.
        """
        return Inference(self._phases)

    def ainference(self) -> AsyncInference:
        """Return an asynchronous context manager around one inference, for coroutines: see ``inference``.

        The loop never waits for a native call: raising and lowering run on another thread, and are awaited. Where the
        votes are up, entering does not suspend. A raise that is cancelled is lowered again.

        Raises:
            VoteRejected, SessionClosed: as ``inference``, in the coroutine.
        """
        return AsyncInference(self._phases)

    def begin(self, *, timeout_us: int | None = None) -> Ticket:
        """Begin an inference that ends elsewhere, as in a callback; return when the votes are in force.

        Args:
            timeout_us: it ends by itself after this many microseconds, 1 or more, and a WARNING in the log says so.

        Returns:
            The ticket, to ``end``. The inference ends also when that is garbage collected; ``status`` shows those that
            have not ended, with their age.

        Raises:
            VoteRejected, SessionClosed: as ``inference``; the inference has then not begun.
            TypeError: a timeout that is no whole number.
            ValueError: a timeout below 1 us.
        """
        return Ticket(self._phases, checked_timeout_us("timeout_us", timeout_us))

    def votes(self, function: Function) -> Function:
        """Decorate a function: every call is an inference. It may be a coroutine, and a generator of either kind.

        A generator is one inference from the first ``next`` until it is exhausted, closed, or garbage collected; where
        it is not exhausted, the inference is ended soon after, on another thread. A plain function that returns an
        iterator has ended before its first token: use ``stream`` for that.

        Raises:
            TypeError: it is a class, or can't be called.
        """
        return vote_on_calls(self._phases, function)

    @overload
    def stream(
        self, tokens: AsyncIterable[Token], *, idle_timeout_us: int | None = None
    ) -> AsyncGenerator[Token, None]: ...

    @overload
    def stream(
        self, tokens: Iterable[Token], *, idle_timeout_us: int | None = None
    ) -> Generator[Token, None, None]: ...

    def stream(
        self, tokens: AsyncIterable[Token] | Iterable[Token], *, idle_timeout_us: int | None = None
    ) -> AsyncGenerator[Token, None] | Generator[Token, None, None]:
        """Return a generator of the same tokens that is one inference, as a generator under ``votes`` is.

        Closing it closes the iterator, where that can be closed. One that is never begun casts no vote, and leaves the
        iterator alone.

        Args:
            tokens: an iterator, of which a loop waits for every token; or an asynchronous one, preferred where it is
                both.
            idle_timeout_us: the inference ends after this many microseconds, 1 or more, in which the reader has a token
                and asks for no other. It begins again, as ``inference`` does, when the reader asks once more. Without a
                timeout a reader that goes away keeps the votes up until the generator is closed or collected.

        Raises:
            TypeError: a timeout that is no whole number.
            ValueError: a timeout below 1 us.
        """
        idle_timeout_us = checked_timeout_us("idle_timeout_us", idle_timeout_us)
        return vote_on_stream(self._phases, tokens, idle_timeout_us)

    def deinit(self) -> Preparation:
        """Return a context manager around the release of a graph: raised in it, lowered after it.

        Raises:
            VoteRejected, SessionClosed: as ``inference``.
        """
        return Preparation(self._phases, Phase.DEINIT)

    def expect(self, *, in_us: int | None = None, every_us: int | None = None) -> None:
        """Say when the next inference begins, or how often they do; with neither, say that nothing is known any more.

        A profile whose sustain time is learnt lowers before a long gap and stays up through a short one; one that
        states ``raise_ahead_us`` has its votes raised before the begin, so that the inference does not wait. A wrong
        hint costs no more than the bound of that time, and what the first wrong raises may cost (docs/hints.md).

        Args:
            in_us: the next inference begins after so many microseconds from now on, 1 or more. The hint ends with that,
                unless it begins beside another: that one finds its votes up.
            every_us: so many microseconds lie between the begins, 1 or more, until another hint takes its place.

        Raises:
            TypeError: a time that is no whole number, or both.
            ValueError: a time below 1 us.
        """
        in_us = checked_timeout_us("in_us", in_us, "no hint")
        every_us = checked_timeout_us("every_us", every_us, "no hint")
        if in_us is not None and every_us is not None:
            raise TypeError("in_us and every_us: state one of them")
        self._phases.expect(in_us, every_us)

    def use(self, profile: str | os.PathLike[str] | Profile) -> None:
        """Change the profile: at once if votes are raised, otherwise at the next raise. A pending sustain ends.

        While a hold or a cap decides, the profile is used after it.

        Args:
            profile: a name, a path or a profile; its files are read again only where they have changed.

        Raises:
            ProfileError: the profile can't be found or is invalid; the session keeps the one it has.
            SessionClosed: the session is closed, or is being closed.
            VoteRejected: its votes failed and the controller has ``on_error="raise"``; the session has it all the same.
        """
        self._claims.use(self._record, profile)

    def hold(
        self,
        profile: str | os.PathLike[str] | Profile,
        *,
        reason: str,
        timeout_us: int | None = None,
        owner: object | None = None,
    ) -> Hold:
        """Use another profile until the hold is released; of several holds the highest in the vendor's order counts.

        It is in force as after ``use``: it raises nothing by itself. A cap wins over it.

        Args:
            profile: a name, a path or a profile.
            reason: what for, as shown in status and events.
            timeout_us: it ends by itself after this many microseconds, 1 or more.
            owner: it ends when this object is garbage collected; any object that can be referred to weakly.

        Returns:
            The hold, to ``release``, or to use as a context manager. It ends with the session, too; and, where it has
            neither timeout nor owner, when the handle is dropped.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            SessionClosed: the session is closed, or is being closed.
            VoteRejected: its votes failed and the controller has ``on_error="raise"``; the hold has then not begun.
            ValueError: no reason, or a timeout below 1 us.
            TypeError: the owner can't be referred to weakly, or the timeout is no whole number.
        """
        check_reason(reason, "hold")
        timeout_us = checked_timeout_us("timeout_us", timeout_us)
        if owner is not None:
            weakref.ref(owner)
        claim = self._claims.make_hold(self._record, profile, reason, timeout_us)
        return Hold(self._claims, self._record, claim, owner)

    def link_lost(self, code: int) -> None:
        """Tell that a graph call of the host was answered with a lost link: see ``VoteController.link_lost``.

        Raises:
            ValueError: likewise.
        """
        self._record.home.engine.link_lost(code)

    def close(self, timeout_s: float | None = None) -> None:
        """Stop the timer, lower, give back process-wide settings and destroy the ids. Closing twice is fine.

        Every step is tried even if the one before failed.

        Args:
            timeout_s: how long to wait for native calls, in real seconds from 0; None waits for every call. After that
                the session is closed when the call that hangs has returned.

        Raises:
            CloseTimedOut: a call has not returned within the time, whatever ``on_error`` says.
            VoteRejected: a step failed and the controller has ``on_error="raise"``; the first one that did.
            TypeError: the timeout is no number.
            ValueError: the timeout is negative, or longer than a thread can wait.
        """
        self._closer.close(self._record, checked_close_timeout(timeout_s))

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        return repr(self._record)
