"""The common part of the caps by temperature and by power profiles: a cap that a separate thread sets and lifts."""
# ruff: noqa: SLF001 - it uses private parts of its controller

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock
from htppower.control.arguments import checked_part
from htppower.control.context_manager import Closing
from htppower.errors import SessionClosed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.control.claims.holds import Cap
    from htppower.control.controller import VoteController
    from htppower.profiles.profile import Profile


class SwitchedCap(Closing):
    """One cap of a controller, which its own thread sets and lifts. It is closed with the controller.

    If Ctrl-C interrupts the constructor, the controller still closes the object. If Ctrl-C interrupts ``close``, call
    ``close`` again.
    """

    def __init__(self, controller: VoteController, profile: str | os.PathLike[str] | Profile) -> None:
        checked_part(controller, "controller", ("cap",), "a VoteController")
        self._profile = controller._claims.check(profile)
        self._controller = controller
        self._time = controller._time
        # The lock is reentrant: in virtual time a subscriber is called during a change, and may close this object.
        self._lock = whole_lock()
        self._current: Cap | None = None
        self._closed = self._forked = False
        self._leave_controller: Callable[[], object] = lambda: None

    def _join_controller(self) -> None:
        """Let the controller close this object.

        The constructor calls this last, since another thread may close it at once.
        """
        self._leave_controller = self._controller._companions.add(self.close, self._disown)

    @property
    def cap(self) -> Cap | None:
        """The cap if it is set. The host may have lifted it through its handle in ``VoteController.caps``."""
        current = self._current
        return current if current is not None and current.active else None

    def close(self) -> None:
        """Lift the cap, and set none again, without waiting for a sensor or a bus. Closing twice has no effect."""
        with self._lock:
            self._closed = True
            self._switch(None)
            if not self._forked:
                self._stop()
        self._leave_controller()

    def _switch(self, reason: str | None) -> None:
        """Set the cap for a reason, or lift it if the reason is None; the new cap is set before the old is lifted."""
        with self._lock:
            before, cap = self.cap, None
            if before is not None and before.reason == reason:
                return
            if reason is not None and not self._closed:
                try:
                    cap = self._controller.cap(self._profile, reason=reason)
                except SessionClosed:
                    # The controller is being closed, and will close this, too.
                    return
            self._current = cap
            if before is not None:
                before.lift()
            if self._closed and cap is not None:
                cap.lift()

    @abc.abstractmethod
    def _stop(self) -> None:
        """End the thread, without waiting for it. The lock is held."""

    def _disown(self) -> None:
        """In a forked child: leave the cap and its thread to the parent."""
        self._lock = whole_lock()
        self._closed = self._forked = True
        self._current = None


def listed(given: Any) -> tuple[Any, ...]:
    """Return a text, or a list of texts, as a tuple."""
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
