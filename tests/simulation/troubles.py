"""Troubles: the failures and losses that explain wrong votes, and when that must end.

After 1007, and when the device was made anew, a trouble ends at once. Otherwise it ends with the longest back-off. Only
idle time counts, because a slow task or a long call makes a retry late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from simulation.binding import link_of

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.situation import Situation

# The longest back-off, and the first one if the link is well again before that is over.
LONGEST_BACKOFF_US = 8_000_000 + 1_000_000
# The same if another user of the library holds the link, or a call fails right after a renewal.
HELD_US = 60_000_000
# "After 3 failed calls in a row without success nothing is called until the alarm."
MOST_IN_A_ROW = 3


@attrs.define
class Trouble:
    """Why the votes of a session are wrong.

    Attributes:
        cores: the cores on which a call has failed; None if everything may be lost.
        own: whether a call of the session's own has failed, so that the session may wait for the back-off.
        at_once: whether the trouble must be over as soon as no task can run.
        quiet_us: the idle time when no task could run for the first time after it; None before.
    """

    cores: frozenset[int | None] | None = None
    own: bool = False
    at_once: bool = False
    quiet_us: int | None = None


class Troubles:
    """The trouble of each session; the trouble of the process's settings has the key None.

    Attributes:
        any_yet: whether there was a trouble in the run.
        row: how many calls have failed since the DSP last answered a call.
    """

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._by_client: dict[Client | None, Trouble] = {}
        self.any_yet = False
        self.row = 0

    def __contains__(self, client: Client | None) -> bool:
        return client in self._by_client

    @property
    def open(self) -> list[Client | None]:
        """Return the open sessions in trouble."""
        return [client for client in self._by_client if client is None or not client.closing]

    def of(self, client: Client | None) -> Trouble | None:
        """Return the trouble of a session; None for a session without trouble."""
        return self._by_client.get(client)

    def add(self, client: Client | None, call: NativeCall | None = None, *, own: bool = False) -> None:
        """Record that a session's votes, or the process's settings, may be wrong.

        ``call``: the failed call; None if everything may be lost. ``own``: the session may wait for the back-off.
        """
        self.any_yet = True
        cores = None if call is None else frozenset({call.core})
        before = self._by_client.get(client)
        if before is not None:
            cores = None if cores is None or before.cores is None else cores | before.cores
        own = own or call is not None or (before is not None and before.own)
        self._by_client[client] = Trouble(cores, own)
        if client is not None:
            client.troubles += 1
            client.must_until_us, client.open_at, client.ahead = 0, -1, None

    def lost(self, *, renewed: bool = False) -> None:
        """Record that everything is lost, or ``renewed``. Everything must be well again at once, with two exceptions.

        A session whose own call has failed waits for the back-off. All sessions wait after some failures in a row,
        until the device is made anew.
        """
        for client in (*self._situation.clients, None):
            before = self._by_client.get(client)
            self.add(client)
            own = before is not None and before.own
            self._by_client[client].at_once = not own and (renewed or self.row < MOST_IN_A_ROW)

    def told(self) -> None:
        """Record that everything is lost before a call has told the core."""
        for client in (*self._situation.clients, None):
            if client not in self._by_client:
                self.add(client)
                self._by_client[client].at_once = True

    def all_wait(self) -> None:
        """Record that everything may wait for the back-off."""
        for client in (*self._situation.clients, None):
            self.add(client)

    def over(self, client: Client | None) -> None:
        """Record that a session, or the process, is well; while no call may be made, the trouble continues."""
        if self.row < MOST_IN_A_ROW and self.link not in ("DEAD", "HELD"):
            self._by_client.pop(client, None)

    def quiet(self) -> None:
        """Record that no task can run."""
        for trouble in self._by_client.values():
            if trouble.quiet_us is None:
                trouble.quiet_us = self._situation.scheduler.idle_us

    @property
    def link(self) -> str:
        """The state of the link, as the controller says."""
        return link_of(self._situation.controller)

    @property
    def longest_us(self) -> int:
        """The longest time until a retry."""
        return HELD_US if self.link == "HELD" else LONGEST_BACKOFF_US

    def explain(self, client: Client | None, rule: str, details: str) -> None:
        """Fail, unless a trouble explains the broken rule, and the time for a retry is not over."""
        situation, trouble = self._situation, self._by_client.get(client)
        if trouble is None:
            situation.fail(rule, details)
            return
        if situation.out_of_reach:
            return
        longest_us = self.longest_us
        if trouble.at_once and longest_us != HELD_US:
            situation.fail(f"after a loss at once: {rule}", details)
            return
        waited_us = 0 if trouble.quiet_us is None else situation.scheduler.idle_us - trouble.quiet_us
        if waited_us > longest_us:
            situation.fail(f"within the back-off: {rule}", f"{waited_us / 1e6:.1f} s after the failure; {details}")
