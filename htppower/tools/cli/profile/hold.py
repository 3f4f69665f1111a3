"""A profile held up on a backend while a command runs, for some time, or until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

import attrs

from htppower.control.clock.reader import ClockReader
from htppower.control.controller import VoteController
from htppower.errors import VoteRejected, printable
from htppower.events import Cause, LinkChanged, LinkState, ReleaseFailed, State, Transition, Trigger
from htppower.profiles.profile import without_process_settings
from htppower.tools.cli.profile.process import (
    ENDING,
    SIGNALED,
    STOPPING,
    Signals,
    TakenSignal,
    in_this_group,
    keep_from_children,
    open_descriptors,
    start,
    take_signals,
)
from htppower.tools.cli.status.wording import values
from htppower.tools.cli.terminal import echo
from htppower.tools.report.words import duration
from htppower.tools.review.link_words import LINK_MEANINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.backends.base import Backend
    from htppower.control.clock.reading import ClockSource
    from htppower.control.session import Session
    from htppower.events import Event
    from htppower.profiles.profile import Profile
    from htppower.tools.cli.profile.process import Child

# How often to check for the end of a command, if no signal reports it.
_LONGEST_WAIT_S = 10


@attrs.frozen
class Holding:
    """The profile to hold up, and how long.

    Attributes:
        profile: the profile to raise.
        device_id, core_ids: the device and the cores.
        command: the command to run under the profile; empty for none.
        seconds: how long; None for as long as the command runs, or until Ctrl-C.
        clock: where the measured clock is read; None to measure none.
        revote_s: how often the controller's heartbeat votes everything again, since the command may restart the DSP.
    """

    profile: Profile
    device_id: int
    core_ids: tuple[int, ...]
    command: tuple[str, ...]
    seconds: float | None
    clock: ClockSource | None = None
    revote_s: float = 10


def hold(holding: Holding, open_backend: Callable[[], Backend], stdout: int | None) -> int:
    """Raise the profile, wait, lower it and destroy the ids; return the exit code.

    Args:
        holding: the profile to hold up.
        open_backend: makes the backend. It is called after signals are blocked, since it may start threads.
        stdout: the descriptor of the command's standard output; None for this process's own.

    Raises:
        BackendUnavailable: votes can't be sent here.
        VoteRejected: the profile was not raised, and the command was not run.
        CommandFailed: the command can't be started.
    """
    signals = take_signals()
    holding = attrs.evolve(holding, profile=without_process_settings(holding.profile))
    ours = open_descriptors()
    heartbeat_us = round(holding.revote_s * 1_000_000)
    # These signals are taken already, but Windows reports a closed console only to its own kind of handler.
    on_console = os.name == "nt"
    with (
        contextlib.closing(open_backend()) as backend,
        VoteController(backend, handle_sigterm=on_console, heartbeat_us=heartbeat_us) as controller,
    ):
        keep_from_children(open_descriptors() - ours)
        backend_is = backend.describe()
        if not holding.command:
            until = "until Ctrl-C" if holding.seconds is None else f"for {duration(round(holding.seconds * 1_000_000))}"
            _print_error(f"{holding.profile.name} {until} on {backend_is.library}")
        if not backend_is.hardware:
            _print_error(f"no clock changes: {backend_is.name} has no Hexagon behind it here")
        return _Wait(holding, controller, signals, stdout).run()


def _serve_status(controller: VoteController) -> None:
    """Let ``htppower status`` list this process. If that fails, the command runs anyway."""
    try:
        controller.serve_status()
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename} "
        _print_error(f"htppower status does not list this process: {where}{error.strerror or error}")
    except ValueError as error:
        _print_error(f"htppower status does not list this process: {error}")


class _Wait:
    """The wait under a raised profile."""

    def __init__(self, holding: Holding, controller: VoteController, signals: Signals, stdout: int | None) -> None:
        self._holding = holding
        self._controller = controller
        self._signals = signals
        self._stdout = stdout
        self._child: Child | None = None
        self._left_s = holding.seconds
        self._served = False
        self._clock: ClockReader | None = None

    def run(self) -> int:
        """Wait until the end, lowered while the process is stopped, and return the exit code."""
        while True:
            with self._raised():
                if not self._served:
                    # The status is served after the profile is raised, so that the command finds the raised profile in
                    # it.
                    self._served = True
                    _serve_status(self._controller)
                ended = self._wait()
            if isinstance(ended, int):
                self._tell_clock()
                return ended
            self._stop(ended)

    @contextlib.contextmanager
    def _raised(self) -> Iterator[None]:
        """Keep the profile raised. While a command runs, a failure is printed and the command goes on."""
        session = self._open()
        if session is None:
            yield
            return
        unsubscribe: Callable[[], None] | None = None
        try:
            with session.inference():
                if session.error is not None:
                    self._failed(session.error)
                for lost in () if self._child is not None else session.degradations:
                    _print_error(f"without {lost.option.name}: {lost.rule}: {lost.message}")
                self._tell_cpu_latency()
                unsubscribe = self._controller.subscribe(_print_event)
                yield
        finally:
            session.close()
            if unsubscribe is not None:
                unsubscribe()

    def _tell_cpu_latency(self) -> None:
        """Print why the profile's limit for the CPUs can't be requested."""
        limits = (each.cpu_latency for each in self._controller.status().sessions)
        for problem in (limit.problem for limit in limits if limit is not None and self._child is None):
            if problem is not None:
                _print_error(f"without cpu_latency_us: {problem}; htppower explain cpu_latency_us")

    def _open(self) -> Session | None:
        holding = self._holding
        try:
            return self._controller.session(
                holding.profile, device_id=holding.device_id, core_ids=holding.core_ids, owner="htppower profile"
            )
        except VoteRejected as rejected:
            self._failed(rejected)
            return None

    def _failed(self, error: VoteRejected) -> None:
        if self._child is None:
            raise error
        _print_error(f"the votes are unknown: {error}")

    def _wait(self) -> int | TakenSignal:
        """Wait for the end and return the exit code, or for a signal that stops the process and return it."""
        begun_s = time.monotonic()
        taken = self._signals.next(0)
        while True:
            ended = self._end(taken)
            if ended is not None:
                if self._left_s is not None:
                    self._left_s -= time.monotonic() - begun_s
                return ended
            if taken is None and self._child is None and self._holding.command:
                # The command starts only after every signal that has arrived is handled.
                self._child = start(self._holding.command, self._signals.mask, self._stdout)
            if self._clock is None and (self._child is not None or not self._holding.command):
                self._measure()
            if self._child is not None and (code := self._child.exit_code()) is not None:
                return code
            left_s = _LONGEST_WAIT_S if self._left_s is None else begun_s + self._left_s - time.monotonic()
            if left_s <= 0:
                return 0
            taken = self._signals.next(min(left_s, _LONGEST_WAIT_S))

    def _measure(self) -> None:
        """Measure the clock, once the command has started, so that it inherits no descriptor of a source."""
        if self._holding.clock is not None:
            self._clock = ClockReader(self._controller, self._holding.clock)

    def _tell_clock(self) -> None:
        """Print the last reading, or why there is none."""
        if self._clock is not None:
            seen = self._clock.status()
            if seen.reading is None:
                _print_error(f"not measured by {seen.source}: {seen.problem or 'nothing was read yet'}")
            else:
                _print_error(f"measured by {seen.source}: {values(attrs.asdict(seen.reading)) or 'nothing yet'}")

    def _end(self, taken: TakenSignal | None) -> int | TakenSignal | None:
        """Handle a signal. Return what ends the wait, or None if the wait goes on."""
        if taken is None:
            return None
        if taken.number in STOPPING:
            return taken
        if taken.number in ENDING and self._child is None:
            return 0 if taken.number == signal.SIGINT and not self._holding.command else SIGNALED + taken.number
        if taken.number in ENDING:
            self._pass_on(taken)
        return None

    def _pass_on(self, taken: TakenSignal) -> None:
        """Send the command a signal, unless the terminal has sent it already."""
        if self._child is None or (taken.by_a_key and in_this_group(self._child)):
            return
        try:
            self._child.send(taken.number)
        except OSError as error:
            _print_error(f"can't pass {signal.Signals(taken.number).name} on to the command: {error.strerror}")

    def _stop(self, taken: TakenSignal) -> None:
        """Stop until the shell continues this process. Nothing is voted until then."""
        self._pass_on(taken)
        self._signals.stop()
        self._pass_on(TakenSignal(signal.SIGCONT, by_a_key=False))


def _print_event(event: Event) -> None:
    """Print events that the user must know about."""
    if isinstance(event, ReleaseFailed):
        _print_error(str(event.error))
    elif isinstance(event, LinkChanged):
        if event.dest in (LinkState.DEAD, LinkState.HELD):
            _print_error(f"the link to the DSP is {event.dest}: {LINK_MEANINGS[event.dest]}")
    elif isinstance(event, Transition):
        if event.trigger is Trigger.LOSE:
            _print_error(f"the votes are unknown: {event.error or 'the link to the DSP was lost'}")
        elif event.source is State.UNKNOWN and event.cause in (Cause.LINK_LOST, Cause.RETRIED):
            _print_error("voted again")


def _print_error(what: str) -> None:
    """Print on the standard error. A closed standard error must not end the command."""
    with contextlib.suppress(OSError):
        echo(f"htppower: {printable(what)}", err=True)
