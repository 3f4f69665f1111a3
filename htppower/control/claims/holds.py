"""The handles of holds and caps."""

from __future__ import annotations

import abc
from typing import TYPE_CHECKING

from htppower.control.context_manager import ContextManager, in_closed_generator
from htppower.errors import printable
from htppower.events import HoldEnd

if TYPE_CHECKING:
    from htppower.control.claims.claims import Claims
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.precedence import Claim
    from htppower.control.registry import Registry
    from htppower.profiles.profile import Profile


class _Handle(ContextManager):
    """The handle of a hold or a cap, which ends when its ``with`` block is left."""

    __slots__ = ("__weakref__", "_claim", "_claims")

    def __init__(self, claims: Claims, claim: Claim) -> None:
        self._claims = claims
        self._claim = claim

    @property
    def profile(self) -> Profile:
        """The profile of the hold, or the limit of the cap."""
        return self._claim.profile

    @property
    def reason(self) -> str:
        """Why it was requested."""
        return self._claim.reason

    @abc.abstractmethod
    def _end(self, *, quiet: bool, soon: bool) -> None:
        """End the claim, unless it has ended.

        With ``quiet`` a failed call raises no error, and with ``soon`` this does not wait.
        """

    def _leave(self, *, quiet: bool) -> None:
        # The garbage collector may close a generator at any point, even while this thread holds a gate. So do not wait
        # then.
        self._end(quiet=quiet, soon=in_closed_generator())


class Hold(_Handle):
    """Another profile for a session, until the hold is released. ``Session.hold`` makes it.

    It ends by ``release``, at the end of its ``with`` block, after its timeout, with its owner, or with the session. A
    hold without timeout and owner also ends when no reference to it is left.
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
        """Whether the hold has not ended. A higher hold or a cap may still decide the profile of the session."""
        return self._claim in self._session.holds

    def release(self) -> None:
        """End the hold. Releasing it twice has no effect.

        If a generator that is being closed releases the hold, or a finalizer or signal handler that interrupts the
        controller's own work, another thread ends the hold soon after. Such a caller may hold a lock that the end
        needs.

        Raises:
            VoteRejected: the votes of the next profile failed and the controller has ``on_error="raise"``; the hold has
                still ended.
        """
        self._leave(quiet=False)

    def __repr__(self) -> str:
        """Return profile and reason."""
        return f"<Hold {self.profile.name} on session {self._session.number}: {printable(self.reason)}>"

    def _end(self, *, quiet: bool, soon: bool) -> None:
        self._claims.end_hold(self._session, self._claim, HoldEnd.RELEASED, quiet=quiet, soon=soon)


class Cap(_Handle):
    """A limit on every session of a controller, until it is lifted. ``VoteController.cap`` makes it.

    The cap also ends when no reference to it is left. ``VoteController.caps`` has the caps that are set.
    """

    __slots__ = ("_registry",)

    def __init__(self, registry: Registry, claims: Claims, claim: Claim) -> None:
        super().__init__(claims, claim)
        self._registry = registry
        claims.set_cap(claim, self)

    @property
    def active(self) -> bool:
        """Whether the cap has not been lifted."""
        return self._claim in self._registry.caps

    def lift(self) -> None:
        """Lift the cap.

        Lifting it twice has no effect. A failed call is logged and its votes are sent again; no error is raised.
        """
        self._leave(quiet=False)

    def __repr__(self) -> str:
        """Return profile and reason."""
        return f"<Cap {self.profile.name}: {printable(self.reason)}>"

    def _end(self, *, quiet: bool, soon: bool) -> None:  # noqa: ARG002 - lifting never raises a failed call
        self._claims.lift_cap(self._claim, soon=soon)
