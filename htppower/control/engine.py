"""The engine of a controller: its parts put together, and taken apart in the end."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Literal

from htppower.backends import named_backend
from htppower.control import log
from htppower.control.claims import Chooser
from htppower.control.event_bus import Journal
from htppower.control.executor import Caster
from htppower.control.holds import Hold
from htppower.control.native_calls import Calls
from htppower.control.plans import Planner
from htppower.control.process_exit import Lifetime
from htppower.control.reconciler import Keeper
from htppower.control.status.controller_status import ControllerStatus, controller_status
from htppower.control.status.served_files import Serving
from htppower.control.subscriptions import LONGEST_FLUSH_S
from htppower.control.time.workers import ThreadWorker
from htppower.errors import SessionClosed
from htppower.profiles.loading import load_profile
from htppower.profiles.profile import Profile

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from htppower.backends.base import Backend
    from htppower.control.gate import Usage
    from htppower.control.time.base import Time
    from htppower.errors import VoteRejected


_LOGGER = logging.getLogger("htppower")


class Engine:
    """What a controller, its sessions and what else ships with it share. The public face is ``VoteController``."""

    def __init__(
        self,
        backend: str | Backend = "qnn",
        *,
        time: Time | None = None,
        on_error: Literal["continue", "raise"] = "continue",
        strict: bool = False,
        folders: Iterable[str | os.PathLike[str]] = (),
        handle_sigterm: bool = True,
    ) -> None:
        if on_error not in ("continue", "raise"):
            raise ValueError(f"on_error is {on_error!r}: 'continue' or 'raise'")
        self._backend = named_backend(backend) if isinstance(backend, str) else backend
        self._own_backend = isinstance(backend, str)
        self._time = _system_time() if time is None else time
        self._own_time = time is None
        self._raises = on_error == "raise"
        self._folders = tuple(folders)
        self._description = self._backend.describe()
        self._planner = Planner(self._description.platform, strict=strict)
        self._journal = Journal(self._time)
        self._journal.add(log.log_event, log.wants)
        calls = Calls(self._backend, self._journal, self._time)
        self._caster = Caster(calls, self._planner.missing, strict=strict)
        self._keeper = Keeper(self._caster, self._planner, self._journal, self._time, raises=self._raises)
        self._chooser = Chooser(self._keeper, self._planner, self._journal, self._time)
        self._off_thread = ThreadWorker("htppower-async")
        # What is called when the controller is closed, and what in a forked child.
        self._followers: list[tuple[Callable[[], object], Callable[[], object]]] = []
        self._serving = Serving(self.status, partial(self._journal.subscribe, lambda: self._keeper.lock), self._time)
        self._opened = 0
        self._closed = False
        self._ended = False
        self._lifetime = Lifetime(self, handle_sigterm=handle_sigterm)

    def status(self) -> ControllerStatus:
        """Return what is in force, for whom, and what failed."""
        with self._keeper.lock:
            return controller_status(
                self._time.now_us,
                self._description,
                tuple(self._keeper.sessions.values()),
                self._caster,
                self._chooser.caps,
                self._journal.lost,
            )

    def close(self) -> None:
        """Close every session, then the backend if the controller made it. Closing twice is fine.

        An exception that passes through, such as Ctrl-C, is raised when every session was tried; closing again, as
        happens at interpreter exit, goes on with what it left.

        Raises:
            VoteRejected: a step failed and ``on_error`` is ``raise``; the first one that did. Every step is tried.
        """
        failures: list[VoteRejected] = []
        interrupt: BaseException | None = None
        with self._keeper.lock:
            if self._ended:
                return
            self._closed = True
            for session in tuple(self._keeper.sessions.values()):
                try:
                    failures += self._close(session)
                except BaseException as error:  # noqa: BLE001 - raised below, when every session was tried
                    interrupt = interrupt or error
            stopped = False
            try:
                stopped = self._keeper.stop()
            except BaseException as error:  # noqa: BLE001 - raised below, as those of the sessions
                interrupt = interrupt or error
            self._ended = stopped or interrupt is None
        if self._ended:
            self._end()
        if interrupt is not None:
            raise interrupt
        if failures and self._raises:
            raise failures[0]

    def use(self, session: Usage, profile: str | os.PathLike[str] | Profile) -> None:
        """Change a session's own profile (called by ``Session.use``)."""
        self._chooser.own(session, self._load(profile))

    def hold(
        self,
        session: Usage,
        profile: str | os.PathLike[str] | Profile,
        reason: str,
        timeout_us: int | None,
        owner: object | None,
    ) -> Hold:
        """Begin a hold on a session (called by ``Session.hold``)."""
        claim = self._chooser.hold(session, self._load(profile), reason, timeout_us)
        return Hold(self._chooser, session, claim, self._time, owner)

    @property
    def time(self) -> Time:
        """Clock and alarms."""
        return self._time

    def check(self, profile: str | os.PathLike[str] | Profile) -> Profile:
        """Return a profile, loaded and found to be usable on this platform.

        Raises:
            ProfileError: the profile can't be found or is invalid, or a rule refuses it here.
        """
        loaded = self._load(profile)
        with self._keeper.lock:
            self._require_open()
            self._planner.plan(loaded)
        return loaded

    def follow(self, closed: Callable[[], object], disowned: Callable[[], object]) -> Callable[[], None]:
        """Call back once the sessions are closed, or in a forked child, with no lock held; return what ends that.

        Raises:
            SessionClosed: the controller is closed.
        """
        follower = (closed, disowned)
        with self._keeper.lock:
            self._require_open()
            self._followers.append(follower)
        return lambda: self._followers.remove(follower) if follower in self._followers else None

    def off_thread(self, action: Callable[[], object]) -> None:
        """Run an action that may wait for a native call on another thread; on the caller's once this is closed."""
        self._off_thread.post_or_run(action)

    def close_session(self, session: Usage) -> None:
        """Close a session (called by ``Session.close``)."""
        failures = self._close(session)
        if failures and self._raises:
            raise failures[0]

    def end_process(self) -> None:
        """Close because the process is being ended: phases that still begin are let pass without votes."""
        self._keeper.ending = True
        self.close()

    def disown(self) -> None:
        """In a forked child: the ids are the parent's, and nothing is cast here."""
        self._closed = self._ended = True
        self._off_thread = ThreadWorker("htppower-async")
        self._off_thread.close()
        self._serving.disown()
        for _, disowned in self._followers:
            disowned()
        self._journal.disown()
        self._keeper.disown()

    def _end(self) -> None:
        """Let go of everything that is left once the votes are down and the ids are gone."""
        self._lifetime.end()
        for closed, _ in tuple(self._followers):
            try:
                closed()
            except Exception:
                # It must not keep the rest from being let go of.
                _LOGGER.exception("%r failed at the end of a controller", closed)
        self._off_thread.close()
        self._serving.close()
        self._journal.flush(LONGEST_FLUSH_S)
        self._journal.close()
        if self._own_time:
            self._time.close()
        if self._own_backend:
            self._backend.close()

    def _close(self, session: Usage) -> list[VoteRejected]:
        with self._keeper.lock:
            self._chooser.end_holds(session)
            return self._keeper.close(session)

    def _load(self, profile: str | os.PathLike[str] | Profile) -> Profile:
        return profile if isinstance(profile, Profile) else load_profile(profile, self._folders)

    def _require_open(self) -> None:
        if self._closed:
            raise SessionClosed("the controller is closed: make a new one")


def _system_time() -> Time:
    from htppower.control.time.scheduler import SystemTime  # noqa: PLC0415 - its scheduler is paid for only where it is used

    return SystemTime()
