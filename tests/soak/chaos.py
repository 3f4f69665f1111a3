"""Chaos: faults around the sessions and changes by their users, in random order, each kind at least once."""

from __future__ import annotations

import datetime
import threading
import time
from typing import TYPE_CHECKING

from soak.host import CLOCK, profiles
from soak.watching import OrderWatch

from htppower import SessionClosed, load_profile
from htppower.backends.simulated.calls import FUNCTIONS
from htppower.votes.native_codes import FAILED, INVALID_INPUT, TRANSPORT

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from soak.host import Place
    from soak.tally import Tally
    from soak.turnstile import Turnstile

    from htppower import Cap, Hold, VoteController
    from htppower.backends import SimulatedHtp

# Without 13002 and 13004, which are remembered until the end: after a while nothing would be voted any more.
CODES = (FAILED, TRANSPORT, INVALID_INPUT)
# So long that votes that are not lowered are certainly late.
REST_US = 500_000
_AN_HOUR = datetime.timedelta(hours=1)


class _Owner:
    """An object that a hold may end with."""


class Chaos:
    """A thread that does something every 5 to 25 ms.

    Args:
        controller, simulated, places: the objects that it acts on.
        step: steps the wall clock.
        tally: counts the acts.
        turnstile: is passed between two acts.
        chance: chooses the next act.
    """

    def __init__(
        self,
        controller: VoteController,
        simulated: SimulatedHtp,
        places: tuple[Place, ...],
        step: Callable[[datetime.timedelta], object],
        tally: Tally,
        turnstile: Turnstile,
        chance: random.Random,
    ) -> None:
        self._controller = controller
        self._simulated = simulated
        self._places = places
        self._step = step
        self._tally = tally
        self._turnstile = turnstile
        self._chance = chance
        self._profiles = profiles()
        self._ahead = 0
        self._dead_until_us = 0
        self._holds: list[tuple[Hold, _Owner]] = []
        self._caps: list[Cap] = []
        self._unsubscribe: Callable[[], None] | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="chaos", daemon=True)
        self._acts: dict[Callable[[], None], int] = {
            self._fail: 30,
            self._restart: 12,
            self._kill: 1,
            self._delay: 12,
            self._step_clock: 24,
            self._change_profile: 48,
            self._hold: 32,
            self._end_hold: 32,
            self._cap: 8,
            self._lift_cap: 24,
            self._close: 16,
            self._subscribe: 8,
            self._rest: 3,
        }

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread, and undo its faults."""
        self._stopped.set()
        self._thread.join(30)
        self.calm()

    def calm(self) -> None:
        """Stop all faults, bring a dead DSP back, and end every hold and cap, while the other threads wait."""
        self._simulated.clear_faults()
        self._simulated.delay_calls(0)
        self._revive(CLOCK.now_us + self._dead_until_us)
        for hold, _ in self._holds:
            hold.release()
        for cap in self._caps:
            cap.lift()
        self._holds.clear()
        self._caps.clear()
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None

    def _work(self) -> None:
        first = list(self._acts)
        self._chance.shuffle(first)
        while not self._stopped.is_set():
            self._turnstile.through()
            act = first.pop() if first else self._chance.choices(list(self._acts), list(self._acts.values()))[0]
            try:
                act()
            except Exception as error:  # noqa: BLE001 - it is what the soak looks for
                self._tally.breach("chaos", f"{act.__name__} raised {error!r}")
            self._revive(CLOCK.now_us)
            time.sleep(self._chance.uniform(0.005, 0.025))

    def _fail(self) -> None:
        """Let one or two later calls fail; most of them are votes."""
        function = self._chance.choices(FUNCTIONS, (1, 8, 2))[0]
        nth, times, applied = self._chance.randint(1, 3), self._chance.randint(1, 2), self._chance.randint(0, 3)
        self._simulated.clear_faults()
        self._simulated.fail_next(self._chance.choice(CODES), function, nth=nth, times=times, applied=applied)
        self._tally.count("faults")

    def _restart(self) -> None:
        if not self._dead_until_us:
            self._simulated.restart_subsystem(forget_ids=self._chance.random() < 0.5)
            self._tally.count("SSRs")

    def _kill(self) -> None:
        if not self._dead_until_us:
            self._simulated.restart_subsystem(fatal=True)
            self._dead_until_us = CLOCK.now_us + self._chance.randrange(20_000, 200_000)
            self._tally.count("fatal SSRs")

    def _revive(self, now_us: int) -> None:
        if self._dead_until_us and now_us >= self._dead_until_us:
            self._simulated.restart_subsystem(forget_ids=self._chance.random() < 0.5)
            self._dead_until_us = 0

    def _delay(self) -> None:
        self._simulated.delay_calls(self._chance.choice((0, 100, 1000, 3000)), self._chance.choice(FUNCTIONS))
        self._tally.count("changes of delay")

    def _step_clock(self) -> None:
        """Step the wall clock by an hour in either direction, at most two hours from the real time."""
        hours = self._chance.choice([hours for hours in (-1, 1) if abs(self._ahead + hours) <= 2])
        self._ahead += hours
        self._step(hours * _AN_HOUR)
        self._tally.count("clock steps")

    def _change_profile(self) -> None:
        place = self._chance.choice(self._places)
        place.client.session.use(self._chance.choice(self._profiles))
        self._tally.count("profile changes")

    def _hold(self) -> None:
        """Begin a hold; it ends by its timeout, with its owner, by release, or when it is dropped."""
        session = self._chance.choice(self._places).client.session
        owner, profile = _Owner(), self._chance.choice(self._profiles)
        timeout_us = self._chance.choice((None, 20_000, 100_000))
        owned = owner if self._chance.random() < 0.5 else None
        self._holds.append((session.hold(profile, reason="chaos", timeout_us=timeout_us, owner=owned), owner))
        self._tally.count("holds")

    def _end_hold(self) -> None:
        """Release a hold, or drop it together with its owner."""
        if self._holds:
            hold, _ = self._holds.pop(self._chance.randrange(len(self._holds)))
            if self._chance.random() < 0.5:
                hold.release()

    def _cap(self) -> None:
        profile = load_profile(self._chance.choice(("balanced", "power_saver", "system_settings")))
        self._caps.append(self._controller.cap(profile, reason="chaos"))
        self._tally.count("caps")

    def _lift_cap(self) -> None:
        if self._caps:
            self._caps.pop(self._chance.randrange(len(self._caps))).lift()

    def _close(self) -> None:
        """Close a session that may be in use, check that it is closed, and open another."""
        place = self._chance.choice(self._places)
        place.close()
        try:
            place.client.session.use("burst")
        except SessionClosed:
            self._tally.count("closes")
        else:
            self._tally.breach("chaos", f"{place.client.session!r} was closed and takes a profile")
        place.open(self._chance.choice(self._profiles))

    def _rest(self) -> None:
        """Let a session infer, then change nothing, so that only its sustain timer lowers it."""
        if self._dead_until_us:
            return
        self.calm()
        place = self._chance.choice(self._places)
        place.rests_until_us = CLOCK.now_us + 2 * REST_US
        place.client.session.use(self._profiles[0])
        with place.client.used() as session, session.inference():
            pass
        time.sleep(REST_US / 1_000_000)
        self._tally.count("rests")

    def _subscribe(self) -> None:
        """Let a subscriber come, or go again."""
        if self._unsubscribe is None:
            self._unsubscribe = self._controller.subscribe(OrderWatch(self._tally, gapless=True))
            self._tally.count("subscribers")
        else:
            self._unsubscribe()
            self._unsubscribe = None
