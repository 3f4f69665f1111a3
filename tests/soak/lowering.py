"""Checks that no session stays raised while the host does not use it."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from soak.host import CLOCK, LONGEST_SUSTAIN_US
from soak.watching import BOUND_US

from htppower import State

if TYPE_CHECKING:
    from soak.host import Client, Place
    from soak.tally import Tally

PERIOD_US = 10_000
# A machine that is too busy to lower may be too busy to look, so several looks must agree.
LOOKS = (LONGEST_SUSTAIN_US + BOUND_US) // PERIOD_US // 2


class LookOut:
    """Looks at every session each 10 ms, on a thread of its own."""

    def __init__(self, places: tuple[Place, ...], tally: Tally) -> None:
        self._places = places
        self._tally = tally
        # For each idle and raised session: since when it is idle, and how many looks have seen that.
        self.seen: dict[Client, tuple[int, int]] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="look-out", daemon=True)

    def start(self) -> None:
        """Start looking."""
        self._thread.start()

    def stop(self) -> None:
        """Stop looking."""
        self._stopped.set()
        self._thread.join(30)

    def _work(self) -> None:
        while not self._stopped.is_set():
            seen = (self.look(place.client) for place in self._places)
            self.seen = {client: (since_us, looks) for client, since_us, looks in seen if looks}
            time.sleep(PERIOD_US / 1_000_000)

    def look(self, client: Client) -> tuple[Client, int, int]:
        """Return since when a session is idle and raised, and how many looks have seen that; 0 if it is not."""
        since_us = client.idle_since_us
        raised = client.session.state is State.RAISED
        if since_us is None or not raised or client.idle_since_us != since_us:
            return client, 0, 0
        before_us, looks = self.seen.get(client, (since_us, 0))
        looks = looks + 1 if before_us == since_us else 1
        idle_us = CLOCK.now_us - since_us
        self._tally.largest("idle_raised_us", idle_us)
        if idle_us > LONGEST_SUSTAIN_US + BOUND_US and looks >= LOOKS:
            self._tally.breach("lowering", f"{client.session!r} is raised, and idle for {idle_us} us")
        return client, since_us, looks
