"""The vote controller: the public face of everything that casts votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from htppower import backends
from htppower.caster import Caster
from htppower.errors import SessionClosed
from htppower.journal import Journal
from htppower.keeper import Keeper
from htppower.lifetime import Lifetime
from htppower.loading import load_profile
from htppower.plans import Planner
from htppower.profiles import Profile
from htppower.session import Session
from htppower.status import ControllerStatus, controller_status

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from typing_extensions import Self

    from htppower.backends.base import Backend
    from htppower.errors import VoteRejected
    from htppower.events import Event
    from htppower.plans import Plan
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
        self._caster = Caster(self._backend, self._planner.missing, strict=strict)
        self._keeper = Keeper(self._caster, self._planner, self._journal, self._time, raises=self._raises)
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
        plan = self._plan(profile)
        with self._keeper.lock:
            if self._closed:
                raise SessionClosed("the controller is closed: make a new one")
            self._opened += 1
            session = Session(self, self._keeper, self._time, plan, self._opened, device_id, cores, owner)
            self._keeper.open(session)
            return session

    def subscribe(self, subscriber: Callable[[Event], None]) -> Callable[[], None]:
        """Call the subscriber with every event; return what ends the subscription.

        It is called under the controller's lock, in order, and must be quick; what it raises is logged.
        """
        with self._keeper.lock:
            self._journal.add(subscriber)

        def unsubscribe() -> None:
            with self._keeper.lock:
                self._journal.remove(subscriber)

        return unsubscribe

    def status(self) -> ControllerStatus:
        """Return what is in force, for whom, and what failed."""
        with self._keeper.lock:
            return controller_status(self._description, self._keeper.sessions.values(), self._caster)

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
                    failures += self._keeper.close(session)
                except BaseException as error:  # noqa: BLE001 - raised below, when every session was tried
                    interrupt = interrupt or error
            self._ended = self._keeper.stop() or interrupt is None
        if self._ended:
            self._lifetime.end()
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
        """Change a session's profile (called by ``Session.use``)."""
        self._keeper.use(session, self._plan(profile))

    def close_session(self, session: Usage) -> None:
        """Close a session (called by ``Session.close``)."""
        failures = self._keeper.close(session)
        if failures and self._raises:
            raise failures[0]

    def end_process(self) -> None:
        """Close because the process is being ended: phases that still begin are let pass without votes."""
        self._keeper.ending = True
        self.close()

    def disown(self) -> None:
        """In a forked child: the ids are the parent's, and nothing is cast here."""
        self._closed = self._ended = True
        self._keeper.disown()

    def _plan(self, profile: str | os.PathLike[str] | Profile) -> Plan:
        loaded = profile if isinstance(profile, Profile) else load_profile(profile, self._folders)
        with self._keeper.lock:
            return self._planner.plan(loaded)


def _system_time() -> Time:
    from htppower.sustain import SystemTime  # noqa: PLC0415 - its scheduler is paid for only where it is used

    return SystemTime()
