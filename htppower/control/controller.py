"""The vote controller: the public face of the parts that send votes."""

from __future__ import annotations

import functools
import logging
import types
import weakref
from typing import TYPE_CHECKING, Literal

from htppower.backends import named_backend
from htppower.control.arguments import (
    check_backend,
    check_on_error,
    check_path,
    check_reason,
    check_time,
    checked_close_timeout,
    checked_cores,
    checked_heartbeat_us,
    checked_kinds,
    checked_timeout,
)
from htppower.control.claims.claims import Claims
from htppower.control.claims.holds import Cap
from htppower.control.clock.reading import ClockReaders
from htppower.control.closer import Closer
from htppower.control.companions import Companions
from htppower.control.context_manager import Closing
from htppower.control.core.engine import ENGINES
from htppower.control.core.heartbeat import DEFAULT_HEARTBEAT_US
from htppower.control.core.home import Home
from htppower.control.core.line import Urgency
from htppower.control.core.native_calls import NativeCalls
from htppower.control.core.session_record import SessionRecord
from htppower.control.ending import Ending
from htppower.control.event_bus import LONGEST_FLUSH_S, EventBus
from htppower.control.log import log_event, log_wants
from htppower.control.plans.plans import Missing, Planner
from htppower.control.recording.recorder import MOST_BYTES, MOST_PENDING, Recorder
from htppower.control.registry import Registry
from htppower.control.session import Session
from htppower.control.status.snapshot import controller_status
from htppower.control.termination import ProcessExit
from htppower.errors import printable
from htppower.events import Event
from htppower.profiles.cache import ProfileCache

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from htppower.backends.base import Backend
    from htppower.control.recording.recorder import Recording
    from htppower.control.status.controller_status import ControllerStatus
    from htppower.control.status.status_file import StatusFile
    from htppower.control.time.base import Time
    from htppower.profiles.profile import Profile


_LOGGER = logging.getLogger("htppower")
# The longest text of a backend in the repr of a controller.
_LONGEST_NAME = 40


class VoteController(Closing):
    """Raises the NPU's clocks while its sessions need them, and lowers them again.

    One controller in a process is enough, with a session for each client. RPC polling acts on the whole process, so all
    controllers on one backend share one value of it; the second controller logs a warning. Close the controller, or use
    it as a context manager; otherwise it is closed at interpreter exit.

    Args:
        backend: ``qnn`` (the vendor's library), ``simulated``, ``none``, ``qnn_or_none`` (no vote is sent if that
            library can't be used), or a backend of your own, which the controller does not close. If it is None, the
            environment variable ``HTPPOWER_BACKEND`` names the backend, and ``qnn`` is the default.
        time: clock and alarms; None for the system's clock.
        on_error: ``continue``: a failed vote is logged and sent again, and never fails an inference;
            ``raise``: a failed vote raises ``VoteRejected`` at the begin or the end of the phase.
        strict: refuse a profile if this platform lacks one of its votes; otherwise the session degrades.
        folders: the folders to search for profiles by name, after the shipped profiles.
        handle_sigterm: on SIGTERM and SIGHUP, lower all votes, then end the process with the signal. This replaces only
            the default action, even if the host restores the default action later (docs: "Servers").
        heartbeat_us: after this time without a native call, the votes of a raised session are sent again, unchanged and
            in the background, to notice a restart of the DSP; 0 for no heartbeat.
        learnt: a file that keeps the learnt sustain times of sessions with an owner, so that they start with these
            times after a restart. A damaged file is renamed to ``PATH.bad``, with a WARNING in the log.

    Raises:
        OSError: the ``learnt`` file can't be read, or its folder is missing.
        ProfileError: a folder of profiles can't be read.
        TypeError, ValueError: an argument has the wrong type, or is out of range.
        BackendUnavailable: the backend can't be used; the controller never falls back to another.

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
        check_on_error(on_error)
        if time is not None:
            check_time(time)
        owns_backend = backend is None or isinstance(backend, str)
        self._backend = named_backend(backend) if backend is None or isinstance(backend, str) else backend
        check_backend(self._backend)
        self._description = self._backend.describe()
        self._engine = ENGINES.enter(self._backend, self._description.path, time, _system_time)
        self._time = self._engine.time
        self._registry = Registry()
        if learnt is not None:
            check_path("learnt", learnt)
            from htppower.control.learning.learnt import Learnt  # noqa: PLC0415 - few hosts need it

            try:
                self._registry.learnt = Learnt(learnt, self._time, self._registry.all)
            except Exception:
                ENGINES.leave(self._engine, None)
                raise
        self._events = EventBus(self._time)
        self._events.add(log_event, log_wants)
        missing = Missing() if strict else self._engine.missing
        planner = Planner(self._description.platform, missing, strict=strict, hardware=self._description.hardware)
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
        # One function for all sessions: a bound method for each session would take 64 bytes.
        self._settle_soon = self._home.settle_soon
        self._companions = Companions()
        self._status_files = Companions()
        self._clocks = ClockReaders()
        self._recorder = Recorder(self._registry, self._time)
        self._process_exit = ProcessExit(self.close, self._end_process, self._disown)
        parts = (self._companions, self._clocks, self._recorder, self._registry.learnt, self._status_files)
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
        if self._description.path and not self._description.hardware:
            _LOGGER.warning(
                "votes change no clock: %s answers them without a Hexagon; run htppower doctor",
                self._description.library,
            )
        try:
            self._process_exit.begin(handle_sigterm=handle_sigterm)
        except Exception:
            # A warnings filter may turn this warning into an error. Then the caller gets no controller, so it is closed
            # here.
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
        """Open a session; its ``close`` undoes this.

        Args:
            profile: a name, a path or a profile.
            device_id: the device, from 0.
            core_ids: the cores to vote on, one power config id each.
            owner: the client or task of the session, as shown in status, events and logs.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            RuleBreach: a rule refuses the profile on this platform, or the platform lacks one of its votes and
                ``strict`` is set.
            VoteRejected: an id can't be created, for example on an unknown core (13001). If the DSP can't be reached,
                the session opens as UNKNOWN instead.
            SessionClosed: the controller is closed.
            TypeError: the owner is not a text, a device or core is not a whole number, or the profile has another type.
            ValueError: ``core_ids`` is empty or names a core twice, or a number is not a uint32_t.
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
        record = SessionRecord(
            self._home, number, owner, device_id, cores, own, plan, self._time, self._settle_soon, recall
        )
        record.decided_by = cap
        session = Session(record, self._claims, self._closer)
        # This consists of C functions only: a finalizer must take no lock, and the exception of a signal handler would
        # be lost in it.
        dropped = types.MethodType(self._time.call_soon, functools.partial(self._closer.close_soon, record))
        record.handle = weakref.ref(session._phases, dropped)  # noqa: SLF001 - a phase keeps its session open
        self._engine.run(functools.partial(self._home.lifetimes.open, record), Urgency.RAISE)
        return session

    def cap(self, profile: str | os.PathLike[str] | Profile, *, reason: str) -> Cap:
        """Limit every session, including those opened later, until the cap is lifted.

        If there are several caps, the lowest counts.

        If the profile of a session goes beyond the profile of the cap, in the vendor's order or with any clock, the
        session uses the profile of the cap. A cap has priority over holds. A failed call is logged, and its votes are
        sent again, even if ``on_error`` is ``raise``.

        Args:
            profile: a name, a path or a profile.
            reason: why the cap is needed; shown in status and events.

        Returns:
            The cap. ``lift`` it, or use it as a context manager. Keep a reference: the cap ends when no reference to it
                is left.

        Raises:
            ProfileError: the profile can't be found or is invalid.
            SessionClosed: the controller is closed.
            ValueError: the reason is empty.
        """
        check_reason(reason, "cap")
        return Cap(self._registry, self._claims, self._claims.make_cap(profile, reason))

    @property
    def caps(self) -> tuple[Cap, ...]:
        """The caps that are set, oldest first."""
        return self._claims.caps()

    def link_lost(self, code: int) -> None:
        """Report that a graph call of the host returned the code of a lost link: every vote of the process is lost.

        Another thread sends the votes of all sessions again, sessions with an inference in flight first; this method
        does not wait for it. Report every such call: a report within 1 s after a loss counts as the same loss and has
        no effect, unless it is a 1011 after a 1007. While another user of the library keeps a dead link (``HELD``),
        each report lets the device be created again. If no session is open, a report has no effect.

        Args:
            code: 1007 (``QNN_COMMON_ERROR_SYSTEM_COMMUNICATION``): the subsystem has restarted and the link is rebuilt;
                1011 (``QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL``): the link is not rebuilt, so the device is
                created again.

        Raises:
            ValueError: the code is neither 1007 nor 1011.
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

        The subscriber is called on its own thread, in order, one event at a time. It may be slow, wait for other
        threads, and use the controller. Its exceptions are logged. While 10,000 events are pending for it, new events
        are not delivered to it, and ``status`` counts them. With virtual time it is called on the thread that caused
        the event, after the native calls of that thread.

        Args:
            subscriber: a function that takes one event.
            kinds: the kinds of events that it receives.
            in_context: whether it is called in a copy of the context (``contextvars``) of the code that caused the
                event. There a tracer finds the span of the request whose inference raised the votes.

        Returns:
            A function that ends the subscription. It waits, up to 1 s, until the pending events are delivered.

        Raises:
            TypeError: the subscriber can't be called, or an element of ``kinds`` is not a kind of event.
        """
        asked = checked_kinds(subscriber, kinds)
        return self._events.subscribe(subscriber, lambda kind, _details: issubclass(kind, asked), in_context=in_context)

    def flush_events(self, timeout_s: float = LONGEST_FLUSH_S) -> bool:
        """Wait until all events up to now are delivered; return whether they are within the timeout, in seconds.

        Raises:
            TypeError: the timeout is not a number.
            ValueError: the timeout is negative, or longer than a thread can wait.
        """
        timeout_s = checked_timeout(timeout_s)
        return self._events.flush(timeout_s)

    def status(self) -> ControllerStatus:
        """Return the votes in force, with their sessions and causes, and the failures; wait for no native call."""
        return controller_status(
            self._time.now_us,
            self._description,
            self._home.number,
            self._engine,
            self._registry,
            self._events.lost,
            self._recorder.status(),
            self._clocks.statuses(),
        )

    def serve_status(self, path: str | os.PathLike[str] | None = None) -> StatusFile:
        """Write ``status`` as JSON to a file, for ``htppower status``: now, and on changes at most once a second.

        Args:
            path: the file. If it is None, a new file is made in the runtime folder of the user, so that ``htppower
                status`` finds it; this file is removed when it is closed.

        Returns:
            The file. ``close`` it, or use it as a context manager. Closing the controller also closes it.

        Raises:
            OSError: the file can't be written.
            SessionClosed: the controller is closed.
            TypeError: the path is not a path.
            ValueError: there is something else than a file at the path, or a file that is not a status.
        """
        from htppower.control.status.status_file import StatusFile  # noqa: PLC0415 - few hosts need it

        if path is not None:
            check_path("path", path)
        self._registry.require_open()
        return StatusFile(path, self.status, self._events.subscribe, self._time, self._status_files)

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

        Recording adds less than 1 us to the end of an inference. A background thread writes each inference within
        little more than 1 s. If the process is killed, the last inferences are missing, but every line in the file is
        complete. An inference that began before the recording is recorded only if its begin was timed already, for
        example to learn a sustain time.

        Args:
            path: the file. An older file at this path, or a full file, is renamed to ``PATH.1``; ``PATH.1`` is renamed
                to ``PATH.2``, and so on.
            most_bytes: the largest size of a file, in bytes, 4096 or more.
            files: how many files are kept, with the newest, 1 or more.
            most_pending: how many inferences may wait to be written, 1 or more; each takes about 250 bytes of memory.
                If the disk is too slow and more are pending, the oldest are lost; the file shows where inferences are
                missing, and how many.
            name: the name of the host, written into every file.

        Returns:
            The recording. ``close`` it, or use it as a context manager. Closing the controller also closes it.

        Raises:
            OSError: the file can't be written, for example because its folder is missing.
            SessionClosed: the controller is closed.
            TypeError: the path is not a path, a number is not a whole number, or the name is not a text.
            ValueError: a number is too small; the controller is recorded already; another controller, of this process
                or another one, writes the file; or a file to be renamed is not a recording.
        """
        check_path("path", path)
        return self._recorder.begin(path, most_bytes, files, most_pending, name)

    def close(self, timeout_s: float | None = None) -> None:
        """Close every session, then the backend if the controller made it. Closing twice is fine.

        Each session is lowered, in at most two tries, and its ids are destroyed. An id that can't be destroyed is gone
        with the device, or with the process. Ctrl-C interrupts only the wait: the sessions are still closed. If a
        finalizer or a signal handler that interrupts the controller's own work calls ``close``, another thread closes
        the controller later, and no error is raised: the interrupted work may hold a lock that the close needs.

        Args:
            timeout_s: how long to wait for native calls, in real seconds from 0; None waits for every call. A session
                that is not closed by then is closed when the call that hangs has returned.

        Raises:
            CloseTimedOut: a call has not returned within the timeout, whatever ``on_error`` is. All other sessions are
                closed.
            VoteRejected: the first failed call, if ``on_error`` is ``raise``. Every step is tried all the same.
            TypeError: the timeout is not a number.
            ValueError: the timeout is negative, or longer than a thread can wait.
        """
        self._ending.close(checked_close_timeout(timeout_s))

    def __repr__(self) -> str:
        """Return number, backend and count of open sessions; take no lock."""
        description, number = getattr(self, "_description", None), getattr(getattr(self, "_home", None), "number", None)
        if description is None or number is None:
            return "<VoteController, not made yet>"
        many = len(self._registry.sessions)
        backend = printable(str(description.name))[:_LONGEST_NAME]
        closed = ", closed" if self._registry.closed else ""
        return f"<VoteController {number} on {backend}, {many} session{'' if many == 1 else 's'}{closed}>"

    def _end_process(self, timeout_s: float) -> None:
        """Close the controller because the process ends: phases that still begin run without votes."""
        self._registry.ending = True
        self.close(timeout_s)

    def _disown(self) -> None:
        """In a forked child: forget the ids, which exist only in the parent, and send no votes."""
        self._ending.disown()


def _system_time() -> Time:
    from htppower.control.time.scheduler import SystemTime  # noqa: PLC0415 - its scheduler is imported only if it is used

    return SystemTime()
