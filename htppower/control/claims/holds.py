"""The handles of holds and caps."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from htppower.control.context_manager import ContextManager, in_closed_generator
from htppower.errors import printable
from htppower.events import HoldEnd

if TYPE_CHECKING:
    from htppower.control.claims.claims import Claims
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.precedence import Claim
    from htppower.profiles.profile import Profile


class _Handle(ContextManager):
    """A claim, which leaving a ``with`` block ends."""

    __slots__ = ("__weakref__", "_claim", "_claims")

    def __init__(self, claims: Claims, claim: Claim) -> None:
        self._claims = claims
        self._claim = claim

    @property
    def profile(self) -> Profile:
        """The profile that it asks for; a cap lets no session go beyond it."""
        return self._claim.profile

    @property
    def reason(self) -> str:
        """Why it was asked for."""
        return self._claim.reason

    @abc.abstractmethod
    def _end(self, *, quiet: bool, soon: bool) -> None:
        """End the claim, if it has not ended before; ``quiet`` raises no failed call, ``soon`` waits for nothing."""

    def _leave(self, *, quiet: bool) -> None:
        # The collector may close a generator anywhere.
        self._end(quiet=quiet, soon=in_closed_generator())


class Hold(_Handle):
    """Another profile for a session, until it is released. Made by ``Session.hold``.

    It ends by ``release``, on leaving a ``with`` block, after its timeout, with its owner, or with the session. A hold
    without timeout and owner ends also when its handle is dropped.
    """

    __slots__ = ("_session",)

    def __init__(self, claims: Claims, session: SessionRecord, claim: Claim, owner: object | None) -> None:
        super().__init__(claims, claim)
        self._session = session
        watched = owner if owner is not None else (self if claim.until_us is None else None)
        end = HoldEnd.HANDLE_DROPPED if owner is None else HoldEnd.OWNER_GONE
        claims.begin_hold(session, claim, watched, end)

    @property
    def active(self) -> bool:
        """Whether it has not ended yet. A higher hold or a cap may still decide what the session uses."""
        return self._claim in self._session.holds

    def release(self) -> None:
        """End the hold. Releasing twice is fine.

        A generator that is being closed, and a finalizer or a signal handler in the middle of the controller's own
        work, may hold a lock that others wait for. There the hold ends soon after, on another thread.

        Raises:
            VoteRejected: the votes of the profile that follows failed and the controller has ``on_error="raise"``; the
                hold has ended nevertheless.
        """
        self._leave(quiet=False)

    def __repr__(self) -> str:
        """Return profile and reason."""
        return f"<Hold {self.profile.name} on session {self._session.number}: {printable(self.reason)}>"

    def _end(self, *, quiet: bool, soon: bool) -> None:
        self._claims.end_hold(self._session, self._claim, HoldEnd.RELEASED, quiet=quiet, soon=soon)


class Cap(_Handle):
    """A limit on every session of a controller, until it is lifted. Made by ``VoteController.cap``.

    It ends also when this handle is dropped; ``VoteController.caps`` has those that are set.
    """

    __slots__ = ("_registry",)

    def __init__(self, registry: Registry, claims: Claims, claim: Claim) -> None:
        super().__init__(claims, claim)
        self._registry = registry
        claims.set_cap(claim, self)

    @property
    def active(self) -> bool:
        """Whether it was not lifted yet."""
        return self._claim in self._registry.caps

    def lift(self) -> None:
        """Lift the cap. Lifting twice is fine. A call that fails is logged and sent again; nothing is raised."""
        self._leave(quiet=False)

    def __repr__(self) -> str:
        """Return profile and reason."""
        return f"<Cap {self.profile.name}: {printable(self.reason)}>"

    def _end(self, *, quiet: bool, soon: bool) -> None:  # noqa: ARG002 - lifting raises nothing in any case
        self._claims.lift_cap(self._claim, soon=soon)
