"""The vote controller: the public face of everything that casts votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.engine import Engine
from htppower.control.holds import Cap
from htppower.control.scoped import Scoped
from htppower.control.session import Session
from htppower.control.subscriptions import LONGEST_FLUSH_S
from htppower.events import Event

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from htppower.control.status.status_file import StatusFile
    from htppower.profiles.profile import Profile


class VoteController(Scoped, Engine):
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
            TypeError: the owner is no text.
            ValueError: no core, or one twice.
        """
        cores = tuple(core_ids)
        if not cores or len(set(cores)) < len(cores):
            raise ValueError(f"core_ids are {cores}: name at least one core, and none twice")
        if owner is not None and not isinstance(owner, str):
            raise TypeError(f"owner is {owner!r}: a text, or None")
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
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError("reason is empty: say what the cap is for, as status and events are to show it")
        loaded = self._load(profile)
        with self._keeper.lock:
            self._require_open()
            self._time.start()
            return Cap(self._chooser, self._chooser.set_cap(loaded, reason), self._time)

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The caps that are set, in the order in which they were."""
        return tuple(Cap(self._chooser, claim, self._time) for claim in self._chooser.caps)

    def subscribe(
        self, subscriber: Callable[[Event], object], kinds: type[Event] | Iterable[type[Event]] = Event
    ) -> Callable[[], None]:
        """Call the subscriber with every event of these kinds.

        It is called on a thread of its own, in order, one event at a time: it may be slow, wait for other threads, and
        use the controller. What it raises is logged. Once 10,000 events wait for it, the next ones are lost to it, as
        ``status`` tells. With virtual time it is called at once, on the thread that moves time on.

        Returns:
            What ends the subscription; it waits, up to 1 s, until the subscriber was told of everything up to then.

        Raises:
            TypeError: something in ``kinds`` is no kind of event.
        """
        asked = (kinds,) if isinstance(kinds, type) else tuple(kinds)
        if not all(isinstance(kind, type) and issubclass(kind, Event) for kind in asked):
            raise TypeError(f"kinds are {kinds!r}: kinds of events, such as (Transition,)")
        return self._journal.subscribe(lambda: self._keeper.lock, subscriber, lambda event: isinstance(event, asked))

    def flush_events(self, timeout_s: float = LONGEST_FLUSH_S) -> bool:
        """Wait until every subscriber was told of everything up to now; return whether that was so within the time."""
        return self._journal.flush(timeout_s)

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

    def _leave(self) -> None:
        self.close()

    def _leave_soon(self) -> None:
        self._time.call_soon(self.close)
