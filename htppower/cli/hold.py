"""A profile held up on a backend while a command runs, for some time, or until Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import TYPE_CHECKING

import attrs
import click

from htppower.cli.child import PlainChild, SpawnedChild
from htppower.cli.signals import SIGNALED, BlockedSignals, PolledSignals, can_block
from htppower.controller import VoteController
from htppower.events import Cause, ReleaseFailed, Transition
from htppower.machine import State, Trigger
from htppower.votes import PROCESS_WIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.backends.base import Backend
    from htppower.cli.child import Child
    from htppower.cli.signals import Taken
    from htppower.events import Event
    from htppower.profiles import Profile
    from htppower.session import Session


@attrs.frozen
class Holding:
    """What is held up, and how long.

    Attributes:
        profile: what is raised.
        device_id, core_ids: where.
        command: what is run meanwhile; empty for none.
        seconds: for how long; None for as long as the command runs, or until Ctrl-C.
        revote_s: how often everything is voted again. Only a call tells that the DSP has restarted, and a command that
            restarts it would go on without its votes.
    """

    profile: Profile
    device_id: int
    core_ids: tuple[int, ...]
    command: tuple[str, ...]
    seconds: float | None
    revote_s: float = 10


def hold(holding: Holding, open_backend: Callable[[], Backend], stdout: int | None) -> int:
    """Raise the profile, wait, lower it and destroy the ids; return the exit code.

    Args:
        holding: what to do.
        open_backend: makes the backend; called once signals are blocked, since it may start threads.
        stdout: the descriptor that a command writes to, None for this process's own.

    Raises:
        BackendUnavailable: there is nothing to vote on.
        VoteRejected: the profile could not be raised; then the command is not run.
        CommandFailed: the command could not be started.
    """
    signals = BlockedSignals() if can_block() else PolledSignals()
    holding = attrs.evolve(holding, profile=_without_process_settings(holding.profile))
    polled = isinstance(signals, PolledSignals)
    with contextlib.closing(open_backend()) as backend, VoteController(backend, handle_sigterm=polled) as controller:
        backend_is = backend.describe()
        if not holding.command:
            click.echo(f"htppower: {_what(holding)} on {backend_is.library}", err=True)
        if not backend_is.hardware:
            click.echo("htppower: no clock is moved: this has no Hexagon behind it", err=True)
        return _Wait(holding, controller, signals, stdout).run()


def _without_process_settings(profile: Profile) -> Profile:
    """Leave out what acts on the process that casts it: the inferences are another's, and polling would cost CPU."""
    if profile.relax is None:
        return profile
    state = attrs.evolve(profile.relax.to, votes=profile.relax.to.votes.without(*PROCESS_WIDE))
    relax = attrs.evolve(profile.relax, to=state)
    return attrs.evolve(profile, votes=profile.votes.without(*PROCESS_WIDE), relax=relax)


def _what(holding: Holding) -> str:
    until = "until Ctrl-C" if holding.seconds is None else f"for {holding.seconds:g} s"
    return f"{holding.profile.name} {until}"


class _Wait:
    """The wait under a raised profile."""

    def __init__(
        self, holding: Holding, controller: VoteController, signals: BlockedSignals | PolledSignals, stdout: int | None
    ) -> None:
        self._holding = holding
        self._controller = controller
        self._signals = signals
        self._stdout = stdout
        self._child: Child | None = None
        self._until_s = None if holding.seconds is None else time.monotonic() + holding.seconds

    def run(self) -> int:
        """Wait to the end, lowered while the process is stopped; return the exit code."""
        while True:
            with self._raised() as session:
                if self._child is None and self._holding.command:
                    self._child = self._start()
                taken = self._wait(session)
            if isinstance(taken, int):
                return taken
            self._stop(taken)

    def _start(self) -> Child:
        if isinstance(self._signals, BlockedSignals):
            return SpawnedChild(self._holding.command, self._signals.mask, self._stdout)
        return PlainChild(self._holding.command, self._stdout)

    @contextlib.contextmanager
    def _raised(self) -> Iterator[Session]:
        holding = self._holding
        session = self._controller.session(
            holding.profile, device_id=holding.device_id, core_ids=holding.core_ids, owner="htppower profile"
        )
        unsubscribe: Callable[[], None] | None = None
        try:
            with session.inference():
                # A command that runs already, before a stop, goes on; the votes are tried again meanwhile.
                if session.error is not None and self._child is None:
                    raise session.error
                for lost in () if self._child is not None else session.degradations:
                    click.echo(f"htppower: without {lost.option.name}: {lost.rule}: {lost.message}", err=True)
                unsubscribe = self._controller.subscribe(_tell)
                yield session
        finally:
            session.close()
            if unsubscribe is not None:
                unsubscribe()

    def _wait(self, session: Session) -> int | Taken:
        """Wait for the end, and return the exit code; or for SIGTSTP, and return that."""
        revote_s = time.monotonic() + self._holding.revote_s
        while True:
            if self._child is not None and (code := self._child.ended()) is not None:
                return code
            now_s = time.monotonic()
            if self._until_s is not None and now_s >= self._until_s:
                return 0
            if now_s >= revote_s:
                _vote_again(session)
                revote_s = time.monotonic() + self._holding.revote_s
            until_s = revote_s if self._until_s is None else min(revote_s, self._until_s)
            taken = self._signals.next(until_s - now_s)
            if taken is None or taken.number == getattr(signal, "SIGCHLD", None):
                continue
            if taken.number == getattr(signal, "SIGTSTP", None):
                return taken
            if self._child is None:
                return 0 if taken.number == signal.SIGINT else SIGNALED + taken.number
            if not taken.to_the_group:
                self._child.send(taken.number)

    def _stop(self, taken: Taken) -> None:
        """Stop, as Ctrl-Z asks: with nothing voted, until the shell continues this process."""
        if self._child is not None and not taken.to_the_group:
            self._child.send(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGSTOP)
        if self._child is not None and not taken.to_the_group:
            self._child.send(signal.SIGCONT)


def _vote_again(session: Session) -> None:
    """Cast everything again, as after an INIT: what was cast before it may be lost."""
    with session.init():
        pass
    with session.inference():
        pass


def _tell(event: Event) -> None:
    """Tell of what a user must know while nothing else is shown."""
    if isinstance(event, ReleaseFailed):
        click.echo(f"htppower: {event.error}", err=True)
    elif isinstance(event, Transition):
        if event.trigger is Trigger.LOSE:
            why = event.error or "the link to the DSP was lost"
            click.echo(f"htppower: nothing is known to be voted: {why}", err=True)
        elif event.source is State.UNKNOWN and event.cause in (Cause.LINK_LOST, Cause.RETRIED):
            click.echo("htppower: voted again", err=True)
