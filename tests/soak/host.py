"""The host: eight threads use four sessions, in every phase, with pauses that let sustain timers expire."""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import TYPE_CHECKING

import attrs

from htppower import Lowering, Profile, SessionClosed, State, VoteController, VoteRejected, load_profile
from htppower.backends.clock import MonotonicClock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from soak.tally import Tally
    from soak.turnstile import Turnstile

    from htppower import Session

SESSIONS = 4
THREADS = 8
LONGEST_SUSTAIN_US = 50_000
LULLS_US = (60_000, 100_000, 150_000, 300_000)
CLOCK = MonotonicClock()

# An inference never runs with votes that were lowered, or never cast. A session is UNKNOWN after a failure until the
# retry, UNVOTED under a profile without votes, and DESTROYED after it was closed.
_IN_A_PHASE = frozenset({State.RAISED, State.UNKNOWN, State.UNVOTED, State.DESTROYED})


def profiles() -> tuple[Profile, ...]:
    """Return the profiles of the sessions: sustained, lowered at once, lowered in the background, without votes."""
    return (
        _relaxing("burst", after_inference_us=20_000),
        _relaxing("burst", after_init_us=30_000, after_inference_us=LONGEST_SUSTAIN_US),
        _relaxing("high_performance", lowering=Lowering.BACKGROUND),
        load_profile("balanced"),
        load_profile("power_saver"),
        load_profile("system_settings"),
    )


def _relaxing(name: str, **relax: object) -> Profile:
    profile = load_profile(name)
    assert profile.relax is not None
    return attrs.evolve(profile, relax=attrs.evolve(profile.relax, **relax))  # type: ignore[arg-type]


class Client:
    """A session and the use that the host makes of it, by the host's own account."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.closing = False
        self._lock = threading.Lock()
        self._users = 0
        self._idle_since_us = CLOCK.now_us

    @property
    def idle_since_us(self) -> int | None:
        """The time since the session is not used; None while it is."""
        with self._lock:
            return None if self._users else self._idle_since_us

    @contextlib.contextmanager
    def used(self) -> Iterator[Session]:
        """Use it."""
        with self._lock:
            self._users += 1
        try:
            yield self.session
        finally:
            with self._lock:
                self._users -= 1
                self._idle_since_us = CLOCK.now_us


class Place:
    """The place of a session; after the session is closed, the next one takes it."""

    def __init__(self, controller: VoteController, number: int) -> None:
        self._controller = controller
        self._number = number
        self._core_ids = (0, 1) if number == 0 else (number % 2,)
        # Until when the host leaves the session alone.
        self.rests_until_us = 0
        self.client = self.open(profiles()[0])

    def open(self, profile: Profile) -> Client:
        """Open a session; try again if the create of an id fails."""
        while True:
            try:
                session = self._controller.session(profile, core_ids=self._core_ids, owner=f"client {self._number}")
            except VoteRejected:
                continue
            self.client = Client(session)
            return self.client

    def close(self) -> None:
        """Close the session."""
        self.client.closing = True
        self.client.session.close()


class _ModelFailed(Exception):  # noqa: N818 - reads as what it is
    """An exception that a model raises in the middle of a phase."""


class Host:
    """Eight threads that run phases, until they are stopped.

    Args:
        places: the sessions.
        tally: is told.
        turnstile: is passed between two acts.
        seed: of what the threads do.
    """

    def __init__(self, places: tuple[Place, ...], tally: Tally, turnstile: Turnstile, seed: int) -> None:
        self._places = places
        self._tally = tally
        self._turnstile = turnstile
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._work, args=(seed * THREADS + number,), name=f"host-{number}", daemon=True)
            for number in range(THREADS)
        ]

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads, each after its act."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(30)
            if thread.is_alive():
                self._tally.breach("threads", f"{thread.name} hangs")

    def _work(self, seed: int) -> None:
        chance = random.Random(seed)
        while not self._stopped.is_set():
            self._turnstile.through()
            place = chance.choice(self._places)
            if CLOCK.now_us >= place.rests_until_us:
                self._act(place, chance)
            time.sleep(chance.uniform(0, 0.003))

    def _act(self, place: Place, chance: random.Random) -> None:
        client = place.client
        try:
            with client.used() as session:
                self._run_phase(session, chance)
        except _ModelFailed:
            self._tally.count("exceptions in a phase")
        except SessionClosed:
            if not client.closing:
                self._tally.breach("host", f"{client.session!r} is closed, and nobody closed it")
        except Exception as error:  # noqa: BLE001 - it is what the soak looks for
            self._tally.breach("host", f"a phase raised {error!r}")
        if chance.random() < 0.04:
            place.rests_until_us = CLOCK.now_us + chance.choice(LULLS_US)

    def _run_phase(self, session: Session, chance: random.Random) -> None:
        number = chance.random()
        phase: AbstractContextManager[object] = session.inference()
        if number < 0.03:
            phase = session.init()
        elif number < 0.06:
            phase = session.deinit()
        else:
            self._tally.count("inferences")
        with phase:
            if session.state not in _IN_A_PHASE:
                self._tally.breach("host", f"a phase runs on {session!r}")
            time.sleep(chance.uniform(0, 0.002))
            if chance.random() < 0.02:
                raise _ModelFailed
