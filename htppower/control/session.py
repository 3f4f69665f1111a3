"""A session: one client of the controller."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, overload

from htppower.control.arguments import (
    check_reason,
    checked_close_timeout,
    checked_miss_rate,
    checked_part,
    checked_profiles,
    checked_rate,
    checked_timeout_us,
)
from htppower.control.claims.holds import Hold
from htppower.control.context_manager import Closing
from htppower.control.modes.mode_session import ModeSession, named_profiles
from htppower.control.phases.async_blocks import AsyncInference
from htppower.control.phases.blocks import Inference, Phases, Preparation
from htppower.control.phases.streams import Function, Token, vote_on_calls, vote_on_stream
from htppower.control.phases.tickets import Ticket
from htppower.events import Phase
from htppower.profiles.speeds import DEFAULT_DEVICE

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncGenerator, AsyncIterable, Generator, Iterable, Mapping

    from htppower.control.claims.claims import Claims
    from htppower.control.closer import Closer
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.pace.pace import Pace
    from htppower.errors import VoteRejected
    from htppower.events import Degradation, State
    from htppower.profiles.profile import Profile


class Session(Closing):
    """One client: one profile, one power config id per core. ``VoteController.session`` opens it.

    All methods may be called from any thread, and phases may overlap. A session is closed when no reference to it, or
    to an inference, a ticket, a stream or a pace of it, is left.
    """

    __slots__ = ("__weakref__", "_claims", "_closer", "_phases", "_record")

    def __init__(self, record: SessionRecord, claims: Claims, closer: Closer) -> None:
        self._record = record
        self._claims = claims
        self._closer = closer
        self._phases = Phases(record)

    @property
    def number(self) -> int:
        """The number of the session, from 1 in the order of opening."""
        return self._record.number

    @property
    def owner(self) -> str | None:
        """The client or task of the session."""
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
        """The power config ids by core id; empty if the profile has no votes, for example."""
        return self._record.power_config_ids

    @property
    def state(self) -> State:
        """The state of the session."""
        return self._record.state

    @property
    def error(self) -> VoteRejected | None:
        """The last failed call; None after a success."""
        return self._record.error

    @property
    def in_flight(self) -> int:
        """How many inferences are running."""
        return self._record.gate.in_flight

    @property
    def profile(self) -> Profile:
        """The profile in use, which is the session's own or the profile of a hold, a cap, a pace or a mode."""
        return self._record.plan.profile

    @property
    def own_profile(self) -> Profile:
        """The profile that the session was opened with, or the last one that ``use`` has set."""
        return self._record.own

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """The votes of the profile that this platform does not have."""
        return self._record.plan.degradations

    def init(self) -> Preparation:
        """Return a context manager for the creation of a graph: votes are raised in its block, and lowered after it.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as ``inference``.
        """
        return Preparation(self._phases, Phase.INIT)

    def inference(self) -> Inference:
        """Return a context manager for one inference.

        Entering it returns when the votes are in force. Leaving it lowers the votes at once, or after the profile's
        sustain time without an inference.

        Raises:
            VoteRejected: on entering, if raising fails and the controller has ``on_error="raise"``; then the inference
                has not begun. On leaving, if lowering fails and the controller has ``on_error="raise"``.
            SessionClosed: on entering, if the session is closed, or another thread closes it before its votes are in
                force; then the inference has not begun. While the process ends, the inference runs without votes
                instead.
            PhaseMisuse: on entering a running inference, or on leaving one that does not run; then nothing changes.
        """
        return Inference(self._phases)

    def ainference(self) -> AsyncInference:
        """Return an asynchronous context manager for one inference, for coroutines: see ``inference``.

        The event loop never waits for a native call: another thread raises and lowers, and the coroutine awaits it. If
        the votes are up, entering does not suspend the coroutine. If a raise is cancelled, the votes are lowered again.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as ``inference``, raised in the coroutine.
        """
        return AsyncInference(self._phases)

    def begin(self, *, timeout_us: int | None = None) -> Ticket:
        """Begin an inference that ends in other code, such as a callback; return when the votes are in force.

        Args:
            timeout_us: the inference ends by itself after this many microseconds, 1 or more, with a WARNING in the log.

        Returns:
            The ticket, whose ``end`` ends the inference. The inference also ends when the ticket is garbage collected.
            ``status`` shows the tickets that have not ended, with their age.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as ``inference``; then the inference has not begun.
            TypeError: the timeout is not a whole number.
            ValueError: the timeout is below 1 us.
        """
        return Ticket(self._phases, checked_timeout_us("timeout_us", timeout_us))

    def votes(self, function: Function) -> Function:
        """Decorate a function, so that every call is an inference.

        It may also be a coroutine function or a generator function.

        A generator is one inference from the first ``next`` until it is exhausted, closed, or garbage collected. If it
        is not exhausted, another thread ends the inference soon after. A plain function that returns an iterator ends
        before the first token: use ``stream`` for the iterator.

        Raises:
            TypeError: the function is a class, or can't be called.
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
        """Return a generator of the same tokens; as a whole it is one inference, like a generator under ``votes``.

        Closing the generator closes the iterator, if that can be closed. A generator that is never begun sends no vote,
        and does not use the iterator.

        Args:
            tokens: an iterator, which blocks an event loop at every token; or an asynchronous iterator, an object that
                is both is used as an asynchronous iterator.
            idle_timeout_us: the inference ends if the reader does not request the next token for this many
                microseconds, 1 or more. With the next request it begins again, as ``inference`` does. Without a timeout
                a reader that stops keeps the votes up until the generator is closed or garbage collected.

        Raises:
            TypeError: the timeout is not a whole number.
            ValueError: the timeout is below 1 us.
        """
        idle_timeout_us = checked_timeout_us("idle_timeout_us", idle_timeout_us)
        return vote_on_stream(self._phases, tokens, idle_timeout_us)

    def deinit(self) -> Preparation:
        """Return a context manager for the release of a graph: votes are raised in its block, and lowered after it.

        Raises:
            VoteRejected, SessionClosed: for the same reasons as ``inference``.
        """
        return Preparation(self._phases, Phase.DEINIT)

    def expect(self, *, in_us: int | None = None, every_us: int | None = None) -> None:
        """Give a hint when the next inference begins, or how often they begin; without arguments, remove the hint.

        If the sustain time of the profile is learnt, votes are lowered at the begin of a long gap, and stay up in a
        short gap. If the profile states ``raise_ahead_us``, votes are raised before the begin, so that the inference
        does not wait. The cost of wrong hints is bounded (docs/hints.md).

        Args:
            in_us: the next inference begins in this many microseconds from now, 1 or more. The hint ends with that
                inference; an inference that begins while another runs does not end it, since it finds its votes up.
            every_us: inferences begin this many microseconds apart, 1 or more, until the next hint.

        Raises:
            TypeError: a time is not a whole number, or both are given.
            ValueError: a time is below 1 us.
        """
        in_us = checked_timeout_us("in_us", in_us, "no hint")
        every_us = checked_timeout_us("every_us", every_us, "no hint")
        if in_us is not None and every_us is not None:
            raise TypeError("in_us and every_us: state one of them")
        self._phases.expect(in_us, every_us)

    def use(self, profile: str | os.PathLike[str] | Profile) -> None:
        """Change the profile: at once if votes are raised, otherwise at the next raise. A sustain time that runs ends.

        If a hold or a cap decides the profile, the new profile is used only after its end.

        Args:
            profile: a name, a path or a profile; only files that have changed are read again.

        Raises:
            ProfileError: the profile can't be found or is invalid; the session keeps its profile.
            SessionClosed: the session is closed, or is being closed.
            VoteRejected: the votes of the new profile failed and the controller has ``on_error="raise"``; the profile
                has still changed.
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
        """Use another profile until the hold is released. Of several holds, the highest in the vendor's order counts.

        A hold changes the profile as ``use`` does, so a hold alone raises no votes. A cap has priority over it.

        Args:
            profile: a name, a path or a profile.
            reason: why the hold is needed; shown in status and events.
            timeout_us: the hold ends by itself after this many microseconds, 1 or more.
            owner: the hold ends when this object is garbage collected; it must support weak references.

        Returns:
            The hold. ``release`` it, or use it as a context manager. It also ends with the session. A hold without
            timeout and owner also ends when no reference to the hold is left.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            SessionClosed: the session is closed, or is being closed.
            VoteRejected: the votes of the hold failed and the controller has ``on_error="raise"``; then the hold has
                not begun.
            ValueError: the reason is empty, or the timeout is below 1 us.
            TypeError: the owner does not support weak references, or the timeout is not a whole number.
        """
        check_reason(reason, "hold")
        timeout_us = checked_timeout_us("timeout_us", timeout_us)
        if owner is not None:
            weakref.ref(owner)
        claim = self._claims.make_hold(self._record, profile, reason, timeout_us)
        return Hold(self._claims, self._record, claim, owner)

    def pace(
        self,
        *,
        fps: float | None = None,
        tokens_per_second: float | None = None,
        miss_rate: float = 0.01,
        profiles: Iterable[str | os.PathLike[str] | Profile] | None = None,
        wait: bool = True,
        device: str | os.PathLike[str] = DEFAULT_DEVICE,
    ) -> Pace:
        """Keep a rate of inferences with the lowest profile that is enough for it, until the pace is closed.

        Run the inferences by ``Pace.inference`` or ``Pace.ainference``. The pace begins with the highest profile and
        measures. It then chooses the lowest profile that keeps the rate, and a higher one as soon as too many deadlines
        are missed; at most one change a second. Holds and caps have priority over it (docs/pace.md).

        Args:
            fps: the rate in inferences per second, such as frames; or use ``tokens_per_second``.
            tokens_per_second: the same for tokens.
            miss_rate: the share of the deadlines that may be missed, from 0.001 to 0.5.
            profiles: the profiles to choose among, by name or path, in any order; None for the session's own profile
                and the shipped profiles that are lower.
            wait: whether an inference that is asked for early waits for its slot.
            device: the device model, by name or path, that states how fast each profile is until that is measured.

        Returns:
            The pace. ``close`` it, or use it as a context manager. It also ends when no reference to it is left.

        Raises:
            ProfileError: a profile or the device model can't be found or is invalid.
            SessionClosed: the session is closed, or is being closed.
            TypeError: not exactly one rate is given, or an argument has the wrong type.
            ValueError: the session has a pace already, a number is out of range, or a profile sends no votes.
            VoteRejected: the votes of the first profile failed and the controller has ``on_error="raise"``.
        """
        from htppower.control.pace.pace import Pace  # noqa: PLC0415 - few hosts need it

        per_s, miss_rate = checked_rate(fps, tokens_per_second), checked_miss_rate(miss_rate)
        if wait:
            checked_part(self._record.gate.time, "time", ("wait_until",), "one that can wait, or pace(wait=False)")
        return Pace(
            self._phases,
            self._claims,
            per_s=per_s,
            miss_rate=miss_rate,
            profiles=checked_profiles(profiles),
            wait=wait,
            device=device,
        )

    def modes(self, modes: Mapping[str, str | os.PathLike[str] | Profile] | Iterable[str]) -> ModeSession:
        """Return a form of this session whose inferences each name their mode; the highest mode in flight counts.

        The profile of this session is the mode of an inference that names none, and the highest that any mode gets: a
        mode that goes beyond it, as beyond a cap, uses it instead. From now on begin all inferences of this session by
        its modes, and do not call ``use``.

        Args:
            modes: a profile for each name of a mode, or a list of names of profiles.

        Raises:
            ProfileError: a profile can't be found or is invalid.
            SessionClosed: the session is closed, or is being closed.
            TypeError: the modes are one text, or the name of a mode is not a text.
            ValueError: the session has modes already, which something still refers to.
        """
        loaded = {name: self._claims.check(profile, self._record) for name, profile in named_profiles(modes).items()}
        return ModeSession(self._phases, loaded)

    def link_lost(self, code: int) -> None:
        """Report that a graph call of the host returned the code of a lost link: see ``VoteController.link_lost``.

        Raises:
            ValueError: the code is neither 1007 nor 1011.
        """
        self._record.home.engine.link_lost(code)

    def close(self, timeout_s: float | None = None) -> None:
        """Lower the votes, and destroy the power config ids. Closing twice has no effect.

        Before that its timer is stopped; between the two the settings of the process are sent without the session's
        wishes. Every step is tried even if an earlier one failed.

        Args:
            timeout_s: how long to wait for native calls, in real seconds from 0; None waits for every call. If the
                session is not closed by then, it is closed when the call that hangs has returned.

        Raises:
            CloseTimedOut: a call has not returned within the timeout, whatever ``on_error`` is.
            VoteRejected: the first failed call, if the controller has ``on_error="raise"``.
            TypeError: the timeout is not a number.
            ValueError: the timeout is negative, or longer than a thread can wait.
        """
        self._closer.close(self._record, checked_close_timeout(timeout_s))

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        return repr(self._record)
