"""Holds and caps, as their users keep them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from htppower.control.context_manager import ContextManager
from htppower.events import HoldEnd

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

    from htppower.control.claims import Claims
    from htppower.control.precedence import Claim
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.profiles.profile import Profile


class Hold:
    """Another profile for a session, until it is released. Made by ``Session.hold``.

    It ends by ``release``, on leaving a ``with`` block, after its timeout, with its owner, or with the session. One
    that has neither timeout nor owner ends also when its handle is dropped: nobody could release it any more.
    """

    __slots__ = ("__weakref__", "_claim", "_claims", "_session", "_time")

    def __init__(self, claims: Claims, session: SessionRecord, claim: Claim, time: Time, owner: object | None) -> None:
        self._claims = claims
        self._session = session
        self._claim = claim
        self._time = time
        try:
            claims.begin_hold(session, claim)
            if owner is not None:
                claims.watch(session, claim, owner, HoldEnd.OWNER_GONE)
            elif claim.until_us is None:
                claims.watch(session, claim, self, HoldEnd.HANDLE_DROPPED)
        except BaseException:
            # Nobody gets the handle, so nobody would end it.
            claims.end_hold(session, claim, HoldEnd.RELEASED, quiet=True)
            raise

    @property
    def profile(self) -> Profile:
        """The profile that it asks for."""
        return self._claim.profile

    @property
    def reason(self) -> str:
        """What it was asked for."""
        return self._claim.reason

    @property
    def active(self) -> bool:
        """Whether it has not ended yet. A higher hold or a cap may still decide what the session uses."""
        return self._claim in self._session.holds

    def release(self) -> None:
        """End the hold. Releasing twice is fine.

        Raises:
            VoteRejected: the votes of the profile that follows failed and the controller has ``on_error="raise"``; the
                hold has ended nevertheless.
        """
        self._end(quiet=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is GeneratorExit:
            # A generator may be collected anywhere, also where this thread holds a lock that ending needs.
            released = HoldEnd.RELEASED
            self._time.call_soon(
                functools.partial(self._claims.end_hold, self._session, self._claim, released, quiet=True)
            )
        else:
            self._end(quiet=error is not None)

    def __repr__(self) -> str:
        """Return profile and reason."""
        return f"<Hold {self.profile.name} on session {self._session.number}: {self.reason}>"

    def _end(self, *, quiet: bool) -> None:
        self._claims.end_hold(self._session, self._claim, HoldEnd.RELEASED, quiet=quiet)


class Cap(ContextManager):
    """A limit on every session of a controller, until it is lifted. Made by ``VoteController.cap``.

    It stays when this handle is dropped; ``VoteController.caps`` has one for each cap that is set.
    """

    __slots__ = ("_claim", "_claims", "_registry", "_time")

    def __init__(self, registry: Registry, claims: Claims, claim: Claim, time: Time) -> None:
        self._registry = registry
        self._claims = claims
        self._claim = claim
        self._time = time

    @property
    def profile(self) -> Profile:
        """The profile beyond which no session goes."""
        return self._claim.profile

    @property
    def reason(self) -> str:
        """What it was asked for."""
        return self._claim.reason

    @property
    def active(self) -> bool:
        """Whether it was not lifted yet."""
        return self._claim in self._registry.caps

    def lift(self) -> None:
        """Lift the cap. Lifting twice is fine. A call that fails is logged and sent again; nothing is raised."""
        self._claims.lift_cap(self._claim)

    def _leave(self) -> None:
        self.lift()

    def _leave_soon(self) -> None:
        self._time.call_soon(self.lift)

    def __repr__(self) -> str:
        """Return profile and reason."""
        return f"<Cap {self.profile.name}: {self.reason}>"
