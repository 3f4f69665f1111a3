"""One cap on a controller, which something outside switches on and off."""
# ruff: noqa: SLF001 - it takes the parts that it shares with its controller out of that

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_part
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.control.claims.holds import Cap
    from htppower.control.controller import VoteController
    from htppower.profiles.profile import Profile


class CapSwitch:
    """Sets and lifts one cap of a controller, on a thread of its own, until it is closed.

    It is closed with its controller, and in a forked child, where the cap is the parent's.

    Args:
        controller: whose sessions the cap limits.
        profile: beyond which none goes while the cap is set: a name, a path or a profile.
        thread: the name of its thread.
        ended: called when it is closed, with its lock held, to end what switches it; again where it is closed again.

    Attributes:
        lock: protects what belongs to the cap. Reentrant: in virtual time a subscriber is told within a change, and may
            close.
        time: the controller's.
        profile: as it was loaded.
        closed: whether it was closed.

    Raises:
        TypeError: the controller is none.
        ProfileError: the profile can't be found, is invalid, or is refused on this platform.
        SessionClosed: the controller is closed.
    """

    def __init__(
        self,
        controller: VoteController,
        profile: str | os.PathLike[str] | Profile,
        thread: str,
        ended: Callable[[], object],
    ) -> None:
        checked_part(controller, "controller", ("cap",), "a VoteController")
        self.profile = controller._claims.check(profile)
        self.time = controller._time
        self.lock = whole_lock()
        self.closed = False
        # The newest first; each is kept until it is lifted, which an exception such as Ctrl-C may come before.
        self._caps: tuple[Cap, ...] = ()
        self._controller = controller
        self._ended = ended
        self._worker = self.time.worker(thread)
        # The controller may be closed, and close this, before it is known what ends that.
        self._unfollow: Callable[[], object] = lambda: None
        self._unfollow = controller._companions.add(self.close, self._disown)
        self.time.start()

    @property
    def cap(self) -> Cap | None:
        """The cap, where it is set. The host may have lifted it by a handle of ``VoteController.caps``."""
        return next((cap for cap in self._caps if cap.active), None)

    def post(self, action: Callable[[], object]) -> None:
        """Run an action soon, on the switch's thread."""
        self._worker.post(action)

    def set(self, reason: str) -> None:
        """Set the cap; nothing once it is closed, or the controller is.

        One that is set for another reason is lifted after that, so that no session goes beyond it in between.
        """
        with self.lock:
            cap = self.cap
            if self.closed or (cap is not None and cap.reason == reason):
                return
            try:
                self._caps = (self._controller.cap(self.profile, reason=reason), *self._caps)
            except SessionClosed:
                # The controller is being closed, and closes this next.
                return
            self._keep(0 if self.closed else 1)

    def lift(self) -> None:
        """Lift the cap, if it is set."""
        with self.lock:
            self._keep(0)

    def _keep(self, number: int) -> None:
        """Lift the caps but for the newest ones."""
        for cap in self._caps[number:]:
            cap.lift()
        self._caps = self._caps[:number]

    def close(self) -> None:
        """Lift the cap, and set none again. Closing twice is fine."""
        # What was asked for is done, also where an exception such as Ctrl-C comes before its end.
        try:
            self._close()
        except BaseException:
            self.time.call_soon(self._close)
            raise

    def _close(self) -> None:
        """Go through every step, each of which may be done twice: closing may have been interrupted between any two."""
        with self.lock:
            self.closed = True
            self.lift()
            self._ended()
            self._worker.close()
            self._unfollow()

    def _disown(self) -> None:
        self.lock = whole_lock()
        self.closed = True
        self._caps = ()
        # What switches it is the parent's.
        self._ended = lambda: None
