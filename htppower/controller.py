"""The vote controller: the public face of everything that casts votes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

from htppower import backends
from htppower.calls import Calls
from htppower.caster import Caster
from htppower.choosing import Chooser
from htppower.errors import SessionClosed
from htppower.events import Event
from htppower.holds import Cap, Hold
from htppower.journal import Journal
from htppower.keeper import Keeper
from htppower.lifetime import Lifetime
from htppower.loading import load_profile
from htppower.plans import Planner
from htppower.profiles import Profile
from htppower.serving import Serving
from htppower.session import Session
from htppower.status import ControllerStatus, controller_status
from htppower.subscribers import logs
from htppower.subscriptions import LONGEST_FLUSH_S
from htppower.worker import ThreadWorker

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from typing_extensions import Self

    from htppower.backends.base import Backend
    from htppower.errors import VoteRejected
    from htppower.status_file import StatusFile
    from htppower.timing import Time
    from htppower.usage import Usage


class VoteController:
    """Raises the NPU's clocks as long as its sessions need them, and lowers them again.

    Use one controller per process and backend: RPC polling acts on the whole process, and is arbitrated here. Close it,
    or use it as a context manager; it is closed at interpreter exit otherwise.

    Args:
        backend: ``qnn`` (the vendor's library), ``simulated``, or a backend of your own, which is left open.
        time: clock and alarms; the system's where none is given.
        on_error: ``continue``: a vote that fails never fails an inference, it is logged and sent again;
            ``raise``: it raises ``VoteRejected`` where the phase begins or ends.
        strict: refuse a profile of which this platform lacks a vote, where otherwise the session degrades.
        folders: where to look for profiles by name, after the shipped ones.
        handle_sigterm: on SIGTERM, lower everything, then die of it. Taken only where the process has no handler of
            its own, and only when made in the main thread.

    Raises:
        BackendUnavailable: the backend can't be used; nothing falls back to another.
    """

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
        self._backend = backends.named_backend(backend) if isinstance(backend, str) else backend
        self._own_backend = isinstance(backend, str)
        self._time = _system_time() if time is None else time
        self._own_time = time is None
        self._raises = on_error == "raise"
        self._folders = tuple(folders)
        self._description = self._backend.describe()
        self._planner = Planner(self._description.platform, strict=strict)
        self._journal = Journal(self._time)
        self._journal.add(logs.log_event, logs.wants)
        calls = Calls(self._backend, self._journal, self._time)
        self._caster = Caster(calls, self._planner.missing, strict=strict)
        self._keeper = Keeper(self._caster, self._planner, self._journal, self._time, raises=self._raises)
        self._chooser = Chooser(self._keeper, self._planner, self._journal, self._time)
        self._off_thread = ThreadWorker("htppower-async")
        self._followers: list[Callable[[], object]] = []
        self._serving = Serving(self.status, partial(self._journal.subscribe, self._keeper.lock), self._time)
        self._opened = 0
        self._closed = False
        self._ended = False
        self._lifetime = Lifetime(self, handle_sigterm=handle_sigterm)

    def session(
        self,
        profile: str | os.PathLike[str] | Profile,
        *,
        device_id: int = 0,
        core_ids: Iterable[int] = (0,),
        owner: str | None = None,
    ) -> Session:
        """Open a session; its ``close`` undoes it.

        Args:
            profile: a name, a path or a profile.
            device_id: the device, from 0.
            core_ids: the cores to vote on, one power config id each.
            owner: what it is for, as shown in status, events and logs.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            RuleBreach: a rule refuses it on this platform; with ``strict``, also where it would degrade.
            VoteRejected: an id can't be created, such as on an unknown core (13001). Where the DSP is out of reach,
                the session opens as UNKNOWN instead.
            SessionClosed: the controller is closed.
            ValueError: no core, or one twice.
        """
        cores = tuple(core_ids)
        if not cores or len(set(cores)) < len(cores):
            raise ValueError(f"core_ids are {cores}: name at least one core, and none twice")
        own = self._load(profile)
        with self._keeper.lock:
            self._require_open()
            plan = self._chooser.plan(own)
            self._time.start()
            self._opened += 1
            session = Session(self, self._keeper, self._time, plan, own, self._opened, device_id, cores, owner)
            self._chooser.take_in(session)
            self._keeper.open(session)
            return session

    def cap(self, profile: str | os.PathLike[str] | Profile, *, reason: str) -> Cap:
        """Limit every session, also those to come, until the cap is lifted; the lowest of several counts.

        A session whose profile goes beyond the cap's, in the vendor's order or with any clock, uses the cap's in its
        place; a cap wins over holds. A call that fails is logged and sent again, whatever ``on_error`` says.

        Args:
            profile: a name, a path or a profile.
            reason: what for, as shown in status and events.

        Returns:
            The cap, to ``lift``, or to use as a context manager. It stays when the handle is dropped; see ``caps``.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            SessionClosed: the controller is closed.
            ValueError: no reason.
        """
        if not reason:
            raise ValueError("reason is empty: say what the cap is for, as status and events are to show it")
        loaded = self._load(profile)
        with self._keeper.lock:
            self._require_open()
            return Cap(self._chooser, self._chooser.set_cap(loaded, reason))

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The caps that are set, in the order in which they were."""
        return tuple(Cap(self._chooser, claim) for claim in self._chooser.caps)

    def subscribe(
        self, subscriber: Callable[[Event], object], kinds: tuple[type[Event], ...] = (Event,)
    ) -> Callable[[], None]:
        """Call the subscriber with every event of these kinds.

        It is called on a thread of its own, in order, one event at a time: it may be slow, wait for other threads, and
        use the controller. What it raises is logged. Once 10,000 events wait for it, the next ones are lost to it, as
        ``status`` tells. With virtual time it is called at once, on the thread that moves time on.

        Returns:
            What ends the subscription; it waits, up to 1 s, until the subscriber was told of everything up to then.
        """
        return self._journal.subscribe(self._keeper.lock, subscriber, lambda event: isinstance(event, kinds))

    def flush_events(self, timeout_s: float = LONGEST_FLUSH_S) -> bool:
        """Wait until every subscriber was told of everything up to now; return whether that was so within the time."""
        return self._journal.flush(timeout_s)

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

    def serve_status(self, path: str | os.PathLike[str]) -> StatusFile:
        """Write ``status`` as JSON to a file, for ``htppower status``: now, on change, and at most once a second.

        Returns:
            The file, to ``close``, or to use as a context manager; closing the controller closes it, too.

        Raises:
            OSError: it can't be written.
            SessionClosed: the controller is closed.
            ValueError: there is something of that name that is no file.
        """
        self._require_open()
        return self._serving.open(path)

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
            self._ended = self._keeper.stop() or interrupt is None
        if self._ended:
            self._lifetime.end()
            for follower in tuple(self._followers):
                follower()
            self._off_thread.close()
            self._serving.close()
            self._journal.flush(LONGEST_FLUSH_S)
            self._journal.close()
            if self._own_time:
                self._time.close()
            if self._own_backend:
                self._backend.close()
        if interrupt is not None:
            raise interrupt
        if failures and self._raises:
            raise failures[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

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

    def follow(self, closed: Callable[[], object]) -> Callable[[], None]:
        """Call back once the sessions are closed, with no lock held; return what ends that."""
        self._followers.append(closed)
        return lambda: self._followers.remove(closed) if closed in self._followers else None

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
        self._journal.disown()
        self._keeper.disown()

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
    from htppower.sustain import SystemTime  # noqa: PLC0415 - its scheduler is paid for only where it is used

    return SystemTime()
