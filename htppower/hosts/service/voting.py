"""The sessions of all clients, and who watches them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
from typing import TYPE_CHECKING

from htppower.errors import HtpPowerError, shortened
from htppower.events import Degraded, ProfileChanged, State, Transition
from htppower.hosts.service.messages import Wrong
from htppower.profiles.discovery import SUFFIXES
from htppower.profiles.profile import without_process_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.controller import VoteController
    from htppower.control.session import Session
    from htppower.events import Event
    from htppower.hosts.service.limits import Allowed
    from htppower.hosts.service.messages import Hold
    from htppower.hosts.service.peer import Peer
    from htppower.profiles.cache import ProfileCache
    from htppower.profiles.profile import Profile

_LOGGER = logging.getLogger("htppower.service")
# The events that a client can watch.
WATCHED = (Transition, ProfileChanged, Degraded)
_MOST_CLOSERS = 4
# The sums over all leases are counted anew after this time, in seconds, so that many questions cost little.
_SUMS_AGE_S = 0.1


class Voting:
    """Votes on behalf of clients. Used by one event loop.

    Args:
        controller: sends the votes. The caller closes it, after ``close``.
        name: the name of the service.
        profiles: finds profiles by name.
        profile_names: the names that a client is told.
    """

    def __init__(
        self, controller: VoteController, name: str, profiles: ProfileCache, profile_names: Iterable[str]
    ) -> None:
        self.name = name
        self.profile_names = tuple(profile_names)
        self._controller = controller
        self._profiles = profiles
        # The profiles without settings of the process, by name, each with the profile that it was made from.
        self._made: dict[str, tuple[Profile, Profile]] = {}
        self._sessions: set[Session] = set()
        self._closing: set[asyncio.Task[None]] = set()
        # Threads of their own: the raises of other clients may take all of the loop's.
        self._closers = concurrent.futures.ThreadPoolExecutor(_MOST_CLOSERS, "htppower-lower")
        self._watches: dict[int, Callable[[Event], None]] = {}
        self._unsubscribe: Callable[[], None] | None = None
        self._sums: tuple[float, dict[str, int]] = (-1, {})

    def open(self, hold: Hold, owner: str, peer: Peer, allowed: Allowed) -> Session:
        """Open a session for a lease; called on another thread, since it makes native calls and looks up a user.

        Raises:
            ProfileError, RuleBreach, VoteRejected, SessionClosed: as for ``VoteController.session``.
        """
        profile = self._profile(hold.profile, allowed)
        # What the kernel says comes first, so that no text of a client can pass for it.
        shown = f"{peer}: {owner}: {hold.reason}"
        session = self._controller.session(profile, device_id=hold.device_id, core_ids=hold.core_ids, owner=shown)
        self._sessions.add(session)
        return session

    def use(self, session: Session, name: str, allowed: Allowed) -> None:
        """Change the profile of a session; called on another thread. Its errors are those of ``Session.use``."""
        session.use(self._profile(name, allowed))

    def _profile(self, name: str, allowed: Allowed) -> Profile:
        if name.endswith(SUFFIXES):
            raise Wrong("profile", f"{shortened(repr(name))} is a path", "name a profile", "profile")
        loaded = self._profiles.load(name)
        made = self._made.get(name)
        if made is None or made[0] is not loaded:
            made = self._made[name] = (loaded, without_process_settings(loaded))
        return allowed.limited(made[1])

    def close_soon(self, session: Session) -> None:
        """Lower the votes of a session, and destroy its ids, on another thread."""
        task = asyncio.get_running_loop().create_task(self.end(session))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def end(self, session: Session) -> None:
        """Lower the votes of a session, and destroy its ids."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._closers, session.close)
        except HtpPowerError:
            _LOGGER.exception("a session could not be closed in order")
        self._sessions.discard(session)

    def sums(self) -> dict[str, int]:
        """Return how many leases there are, how many of them have their votes up, and how many inferences run."""
        at_s, sums = self._sums
        now_s = asyncio.get_running_loop().time()
        if now_s - at_s > _SUMS_AGE_S:
            live = [each for each in tuple(self._sessions) if each.state is not State.DESTROYED]
            sums = {
                "leases": len(live),
                "raised": sum(each.state is State.RAISED for each in live),
                "in_flight": sum(each.in_flight for each in live),
            }
            self._sums = (now_s, sums)
        return sums

    def watch(self, session: int, tell: Callable[[Event], None] | None) -> None:
        """Let a function have the events of a session, by its number, on the event loop; None ends this."""
        if tell is None:
            self._watches.pop(session, None)
            return
        self._watches[session] = tell
        if self._unsubscribe is None:
            loop = asyncio.get_running_loop()

            def deliver(event: Event) -> None:
                if event.session in self._watches:
                    loop.call_soon_threadsafe(self._tell, event)

            self._unsubscribe = self._controller.subscribe(deliver, WATCHED)

    def _tell(self, event: Event) -> None:
        tell = self._watches.get(event.session)
        if tell is not None:
            tell(event)

    async def close(self) -> None:
        """End the events, and wait until the sessions whose clients are gone are closed."""
        if self._unsubscribe is not None:
            await asyncio.to_thread(self._unsubscribe)
        await asyncio.gather(*self._closing)
        self._closers.shutdown(wait=False)
