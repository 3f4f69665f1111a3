"""The vote controller: the public face of everything that casts votes."""

from __future__ import annotations

import functools
import logging
import types
import weakref
from typing import TYPE_CHECKING, Literal

from htppower.backends import named_backend
from htppower.backends.base import Backend
from htppower.control.arguments import (
    check_path,
    check_reason,
    checked_close_timeout,
    checked_cores,
    checked_heartbeat_us,
    checked_kinds,
    checked_part,
    checked_timeout,
)
from htppower.control.claims.claims import Claims
from htppower.control.claims.holds import Cap
from htppower.control.closer import Closer
from htppower.control.companions import Companions
from htppower.control.context_manager import Closing
from htppower.control.core.engine import ENGINES
from htppower.control.core.heartbeat import DEFAULT_HEARTBEAT_US
from htppower.control.core.home import Home
from htppower.control.core.line import Urgency
from htppower.control.core.native_calls import NativeCalls
from htppower.control.core.registry import Registry
from htppower.control.core.session_record import SessionRecord
from htppower.control.ending import Ending
from htppower.control.event_bus import LONGEST_FLUSH_S, EventBus
from htppower.control.log import log_event, log_wants
from htppower.control.plans.plans import Missing, Planner
from htppower.control.recording.recorder import MOST_BYTES, MOST_PENDING, Recorder
from htppower.control.session import Session
from htppower.control.status.snapshot import controller_status
from htppower.control.termination import ProcessExit
from htppower.errors import printable
from htppower.events import Event
from htppower.profiles.cache import ProfileCache

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from htppower.control.event_bus import Wants
    from htppower.control.recording.recorder import Recording
    from htppower.control.status.controller_status import ControllerStatus
    from htppower.control.status.status_file import StatusFile
    from htppower.control.time.base import Time
    from htppower.profiles.profile import Profile


_LOGGER = logging.getLogger("htppower")
# The repr cuts the name of a backend.
_LONGEST_NAME = 40
# What a controller asks of its backend and its time; of a time of one's own, the rest where it is needed.
_BACKEND = tuple(name for name in vars(Backend) if not name.startswith("_"))
_TIME = ("call_at", "cancel", "worker")


class VoteController(Closing):
    """Raises the NPU's clocks as long as its sessions need them, and lowers them again.

    One per process is enough, with a session for each client. RPC polling acts on the whole process, and is arbitrated
    here, over all controllers on one backend; the second one logs a warning. Close it, or use it as a context manager;
    it is closed at interpreter exit otherwise.

    Args:
        backend: ``qnn`` (the vendor's library), ``simulated``, ``none``, ``qnn_or_none`` (nothing is voted if that
            library can't be used), or a backend of your own, which is left open. If none is given, the environment
            variable ``HTPPOWER_BACKEND`` names it, and ``qnn`` is the default.
        time: clock and alarms; the system's where none is given.
        on_error: ``continue``: a vote that fails never fails an inference, it is logged and sent again;
            ``raise``: it raises ``VoteRejected`` where the phase begins or ends.
        strict: refuse a profile of which this platform lacks a vote, where otherwise the session degrades.
        folders: where to look for profiles by name, after the shipped ones.
        handle_sigterm: on SIGTERM and SIGHUP, lower everything, then die of it. This stands in the place of the default
            action, also where a handler of the host's own gives way to that later (docs: "Servers").
        heartbeat_us: how long a session that is up may make no native call before its votes are cast again, in the
            background and as they are, so that a restart of the DSP is noticed; 0 for no heartbeat.
        learnt: a file that keeps what sessions with an owner have learnt of their sustain times: they begin with it
            after a restart. One that is damaged is renamed to ``PATH.bad``, as the log says.

    Raises:
        OSError: that file can't be read, or its folder is missing.
        ProfileError: a folder of profiles can't be read.
        TypeError, ValueError: a setting is none of those above.
        BackendUnavailable: the backend can't be used; nothing falls back to another.

    Warns:
        RuntimeWarning: SIGTERM should be handled and can't be, since the controller is not made in the main thread.
    """

    def __init__(
        self,
        backend: str | Backend | None = None,
        *,
        time: Time | None = None,
        on_error: Literal["continue", "raise"] = "continue",
        strict: bool = False,
        folders: Iterable[str | os.PathLike[str]] = (),
        handle_sigterm: bool = True,
        heartbeat_us: int = DEFAULT_HEARTBEAT_US,
        learnt: str | os.PathLike[str] | None = None,
    ) -> None:
        profiles = ProfileCache(folders)
        beat_us = checked_heartbeat_us(heartbeat_us)
        if on_error not in ("continue", "raise"):
            raise ValueError(f"on_error is {on_error!r}: 'continue' or 'raise'")
        if time is not None:
            checked_part(time, "time", _TIME, "None for the system's, or such as testing.VirtualTime()")
        owns_backend = backend is None or isinstance(backend, str)
        self._backend = named_backend(backend) if backend is None or isinstance(backend, str) else backend
        checked_part(self._backend, "backend", _BACKEND, "'qnn', 'simulated', or a backend of your own")
        self._description = self._backend.describe()
        self._engine = ENGINES.enter(self._backend, self._description.path, time, _system_time)
        self._time = self._engine.time
        self._registry = Registry()
        if learnt is not None:
            check_path("learnt", learnt)
            from htppower.control.learning.learnt import Learnt  # noqa: PLC0415 - few hosts pay for it

            try:
                self._registry.learnt = Learnt(learnt, self._time, self._registry.all)
            except Exception:
                ENGINES.leave(self._engine, None)
                raise
        self._events = EventBus(self._time)
        self._events.add(log_event, log_wants)
        missing = Missing() if strict else self._engine.missing
        planner = Planner(self._description.platform, missing, strict=strict)
        raises = on_error == "raise"
        calls = NativeCalls(self._backend, self._events, self._time, self._engine.recovery, raises=raises)
        self._home = Home(
            self._engine,
            self._registry,
            planner,
            self._events,
            calls,
            strict=strict,
            raises=raises,
            heartbeat_us=beat_us,
        )
        self._claims = Claims(self._home, profiles, self._time)
        self._closer = Closer(self._home, self._claims)
        # Made once: a bound method for each session would weigh 64 bytes.
        self._ring = self._home.settle_soon
        self._companions = Companions()
        self._status_files = Companions()
        self._recorder = Recorder(self._registry, self._time)
        self._process_exit = ProcessExit(self.close, self._end_process, self._disown)
        parts = (self._companions, self._recorder, self._registry.learnt, self._status_files)
        self._ending = Ending(
            self._home,
            self._closer,
            self._time,
            tuple(part for part in parts if part is not None),
            self._process_exit.end,
            owns_backend=owns_backend,
            owns_time=time is None,
        )
        ENGINES.join(self._engine, self._home)
        self._engine.warn_of_others(self._home, self._description.library)
        try:
            self._process_exit.begin(handle_sigterm=handle_sigterm)
        except BaseException:
            # Nobody gets this controller: a filter of warnings may have made an error of one.
            self.close()
            raise

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
            TypeError: the owner is no text, a device or core no whole number, or the profile none of those above.
            ValueError: no core, one twice, or a number that is no uint32_t.
        """
        device_id, cores = checked_cores(device_id, core_ids)
        if owner is not None and not isinstance(owner, str):
            raise TypeError(f"owner is {owner!r}: a text, or None")
        own = self._claims.profiles.load(profile)
        self._registry.require_open()
        plan, cap = self._claims.plan(own)
        self._time.start()
        number = self._registry.next_number()
        recall = None if self._registry.learnt is None else self._registry.learnt.make
        record = SessionRecord(self._home, number, owner, device_id, cores, own, plan, self._time, self._ring, recall)
        record.decided_by = cap
        session = Session(record, self._claims, self._closer)
        # A C function from end to end: a finalizer takes no lock, and what a handler raises in it would be lost.
        dropped = types.MethodType(self._time.call_soon, functools.partial(self._closer.close_soon, record))
        record.handle = weakref.ref(session._phases, dropped)  # noqa: SLF001 - a held phase keeps its session open
        self._engine.run(functools.partial(self._home.reconciler.open, record), Urgency.RAISE)
        return session

    def cap(self, profile: str | os.PathLike[str] | Profile, *, reason: str) -> Cap:
        """Limit every session, also those to come, until the cap is lifted; the lowest of several counts.

        A session whose profile goes beyond the cap's, in the vendor's order or with any clock, uses the cap's in its
        place; a cap wins over holds. A call that fails is logged and sent again, whatever ``on_error`` says.

        Args:
            profile: a name, a path or a profile.
            reason: what for, as shown in status and events.

        Returns:
            The cap, to ``lift``, or to use as a context manager. Keep it: the cap ends when no reference to it is left.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            SessionClosed: the controller is closed.
            ValueError: no reason.
        """
        check_reason(reason, "cap")
        return Cap(self._registry, self._claims, self._claims.make_cap(profile, reason))

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The caps that are set, in the order in which they were."""
        return self._claims.caps()

    def link_lost(self, code: int) -> None:
        """Tell that a graph call of the host was answered with a lost link: every vote of the process is lost.

        The sessions are voted again on other threads, those with an inference in flight first; this waits for none of
        them. Tell it of every call that fails so: what is told within 1 s of a loss is the same loss and has no effect,
        but a 1011 after a 1007. While another user of the library holds a dead link (``HELD``), the device is made anew
        each time. Once every session is closed it has no effect.

        Args:
            code: 1007 (``QNN_COMMON_ERROR_SYSTEM_COMMUNICATION``): the subsystem has restarted and the link is rebuilt;
                1011 (``QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL``): it is not, so the device is made anew.

        Raises:
            ValueError: another code.
        """
        self._engine.link_lost(code)

    def subscribe(
        self,
        subscriber: Callable[[Event], object],
        kinds: type[Event] | Iterable[type[Event]] = Event,
        *,
        in_context: bool = False,
    ) -> Callable[[], None]:
        """Call the subscriber with every event of these kinds.

        It is called on a thread of its own, in order, one event at a time: it may be slow, wait for other threads, and
        use the controller. What it raises is logged. Once 10,000 events wait for it, the next ones are lost to it, as
        ``status`` tells. With virtual time it is called on the thread that caused the event, once its calls are made.

        Args:
            subscriber: what is called.
            kinds: the kinds of events that it is called with.
            in_context: whether it is called in a copy of the context (``contextvars``) in which the event came about:
                there a tracer finds the span of the request whose inference raised.

        Returns:
            What ends the subscription; it waits, up to 1 s, until the subscriber was told of everything up to then.

        Raises:
            TypeError: the subscriber can't be called, or something in ``kinds`` is no kind of event.
        """
        asked = checked_kinds(subscriber, kinds)
        return self._subscribe(subscriber, lambda kind, _details: issubclass(kind, asked), in_context=in_context)

    def flush_events(self, timeout_s: float = LONGEST_FLUSH_S) -> bool:
        """Wait until every subscriber was told of everything up to now; return whether that was so within the time.

        Raises:
            TypeError: the time is no number.
            ValueError: the time, in seconds, is negative, or longer than a thread can wait.
        """
        timeout_s = checked_timeout(timeout_s)
        return self._events.flush(timeout_s)

    def status(self) -> ControllerStatus:
        """Return the votes in force, for which session and why, and what failed; wait for no native call."""
        return controller_status(
            self._time.now_us,
            self._description,
            self._home.number,
            self._engine,
            self._registry,
            self._events.lost,
            self._recorder.status(),
        )

    def serve_status(self, path: str | os.PathLike[str] | None = None) -> StatusFile:
        """Write ``status`` as JSON to a file, for ``htppower status``: now, on change, and at most once a second.

        Args:
            path: the file; None: a new file in the runtime folder of the user, where ``htppower status`` finds it. Such
                a file is removed when it is closed.

        Returns:
            The file, to ``close``, or to use as a context manager; closing the controller closes it, too.

        Raises:
            OSError: the file can't be written.
            SessionClosed: the controller is closed.
            TypeError: the path is not a path.
            ValueError: the path leads to something else than a file, or to a file that is not a status.
        """
        from htppower.control.status.status_file import StatusFile  # noqa: PLC0415 - few hosts pay for it

        if path is not None:
            check_path("path", path)
        self._registry.require_open()
        return StatusFile(path, self.status, self._subscribe, self._time, self._status_files)

    def record(
        self,
        path: str | os.PathLike[str],
        *,
        most_bytes: int = MOST_BYTES,
        files: int = 2,
        most_pending: int = MOST_PENDING,
        name: str | None = None,
    ) -> Recording:
        """Record when each inference begins and ends, for ``htppower trace`` and ``htppower tune``.

        An inference that ends costs less than 1 us more. It is written in the background, within 1 s and a little: a
        process that is killed leaves whole lines, without what ended last. One that has begun before is in it only
        where its begin was timed already, as for a sustain time that is learnt.

        Args:
            path: the file. What is there is renamed to ``PATH.1``, as is a file that is full, and what was called so
                to ``PATH.2``, and so on.
            most_bytes: the largest size of a file, in bytes, 4096 or more.
            files: how many files are kept, the newest included, 1 or more.
            most_pending: how many inferences wait to be written at most, 1 or more, each with about 250 bytes of
                memory. Where the disk is too slow for more, the oldest are lost; the file says where, and how many.
            name: what the host is, as every file says.

        Returns:
            The recording, to ``close``, or to use as a context manager; closing the controller closes it, too.

        Raises:
            OSError: the file can't be written, as where its folder is missing.
            SessionClosed: the controller is closed.
            TypeError: the path is none, a number no whole number, or the name no text.
            ValueError: a number is too small; the controller is recorded already; another controller, of this process
                or another, writes the file; or a file that would be renamed holds something else than a recording.
        """
        check_path("path", path)
        return self._recorder.begin(path, most_bytes, files, most_pending, name)

    def close(self, timeout_s: float | None = None) -> None:
        """Close every session, then the backend if the controller made it. Closing twice is fine.

        Each session is lowered, in two tries, and its ids are destroyed. What can't be destroyed then goes with the
        device, or with the process. Ctrl-C interrupts the wait, and the sessions are closed all the same.
        In a finalizer or a signal handler that comes in the middle of the controller's own work it is closed soon
        after, on another thread, and nothing is raised: this thread may hold what others wait for.

        Args:
            timeout_s: how long to wait for native calls, in real seconds from 0; None waits for every call. A session
                that is not closed by then is closed when the call that hangs has returned.

        Raises:
            CloseTimedOut: a call has not returned within the time, whatever ``on_error`` says. The rest is closed.
            VoteRejected: a step failed and ``on_error`` is ``raise``; the first one that did. Every step is tried.
            TypeError: the timeout is no number.
            ValueError: the timeout is negative, or longer than a thread can wait.
        """
        self._ending.close(checked_close_timeout(timeout_s))

    def __repr__(self) -> str:
        """Return which controller it is, on what, and how many sessions are open; take no lock, at any time."""
        description, number = getattr(self, "_description", None), getattr(getattr(self, "_home", None), "number", None)
        if description is None or number is None:
            return "<VoteController, not made yet>"
        many = len(self._registry.sessions)
        backend = printable(str(description.name))[:_LONGEST_NAME]
        closed = ", closed" if self._registry.closed else ""
        return f"<VoteController {number} on {backend}, {many} session{'' if many == 1 else 's'}{closed}>"

    def _subscribe(
        self, subscriber: Callable[[Event], object], wants: Wants, *, in_context: bool = False
    ) -> Callable[[], None]:
        return self._events.subscribe(subscriber, wants, in_context=in_context)

    def _end_process(self, timeout_s: float) -> None:
        """Close because the process is being ended: phases that still begin are let pass without votes."""
        self._registry.ending = True
        self.close(timeout_s)

    def _disown(self) -> None:
        """In a forked child: the ids are the parent's, and nothing is cast here."""
        self._ending.disown()


def _system_time() -> Time:
    from htppower.control.time.scheduler import SystemTime  # noqa: PLC0415 - its scheduler is paid for only where it is used

    return SystemTime()
