"""The other controllers on a backend: what one meets is told to all, and what it leaves is seen to by the rest.

The library may tell a restart of the DSP to one call only, of whichever controller. The others make none while they are
up, so they are told. Each settles its own sessions, on threads of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.votes.native_codes import SYSTEM_COMMUNICATION_FATAL

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.shared_backend import SharedBackend
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected


@attrs.define(eq=False, repr=False)
class OtherControllers:
    """Tells them what is lost, and hears of it. Who tells holds the lock of no registry.

    Args:
        registry, settings, recovery, time: has the lock of what is told, knows the other controllers, puts right what
            is lost, and has threads.
        shared: counts the restarts that calls have told of.
        settle: settles whom a loss concerns; called on a thread of the controller's.
    """

    _registry: Registry
    _settings: ProcessSettings
    _recovery: Recovery
    _shared: SharedBackend
    _time: Time
    _settle: Callable[[], None]

    def link_lost(self, error: VoteRejected, restarts: int | None = None, lasted_us: int = 0) -> None:
        """Take in that the link to the DSP was lost, and tell the other controllers.

        Args:
            error: the call that told of it.
            restarts: how many restarts had been told of when the call began; None for one of a host's own.
            lasted_us: how long it took.
        """
        try:
            self._link_lost(error, restarts, lasted_us)
        except BaseException:
            # It may be taken in here, and not told to the others: whoever tells it again tells no news then.
            self._shared.given.lost()
            self.call_interrupted()
            raise

    def _link_lost(self, error: VoteRejected, restarts: int | None, lasted_us: int) -> None:
        by_host = restarts is None
        with self._registry.lock:
            earlier = self._is_earlier(restarts)
            # First: an id that a session of the new epoch is given must not count as given before the loss.
            self._shared.given.lost()
            is_news = self._recovery.link_lost(error, earlier=earlier, by_host=by_host, lasted_us=lasted_us)
            if is_news and error.code != SYSTEM_COMMUNICATION_FATAL:
                self._shared.restarted()
        if is_news:
            self._settle_soon()
        for peer in self._settings.peers if is_news else ():
            peer.lost_elsewhere(error, restarts, earlier=earlier, lasted_us=lasted_us)

    def call_interrupted(self) -> None:
        """Take in that an exception such as Ctrl-C came when a call returned: it may have told of a lost link."""
        self._recovery.call_interrupted()
        for peer in self._settings.peers:
            peer.lost_elsewhere(None, None, earlier=False, lasted_us=0)

    def ids_crossed(self) -> None:
        """Take in that calls may have reached the id of another, so that nothing is known of any vote."""
        self.call_interrupted()
        self._settle_soon()

    def _settle_soon(self) -> None:
        """Settle those whom a loss concerns on another thread: who has met it may go on with a call that hangs."""
        self._time.call_soon(self._settle)

    def lost_elsewhere(
        self, error: VoteRejected | None, restarts: int | None, *, earlier: bool, lasted_us: int
    ) -> None:
        """Take in what another controller has met, as ``Peer`` says."""
        if error is None:
            self._recovery.call_interrupted()
        else:
            with self._registry.lock:
                # Who tells of a dead DSP may not have heard yet of a restart that this one was told of since.
                earlier = earlier or (error.code == SYSTEM_COMMUNICATION_FATAL and self._is_earlier(restarts))
                by_host = restarts is None
                is_news = self._recovery.link_lost(error, earlier=earlier, by_host=by_host, lasted_us=lasted_us)
            if not is_news:
                return
        self._settle_soon()

    def _is_earlier(self, restarts: int | None) -> bool:
        """Return whether a call was under way when a restart was told of, by the restarts as it began."""
        return restarts is not None and restarts < self._shared.restarts

    def take_over(self) -> bool:
        """See to what a controller has left when it was closed, as ``Peer`` says."""
        self._recovery.lacks(None)
        return not self._recovery.stopped

    @property
    def none(self) -> bool:
        """Whether there is no other controller on the backend."""
        return not self._settings.others

    @property
    def owners(self) -> tuple[str, ...]:
        """What the open sessions are for, as far as they say so."""
        return tuple(session.owner for session in self._registry.all() if session.owner)
