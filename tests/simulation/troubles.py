"""Troubles: the failures and restarts that explain why votes are not as they should be, and when that must end.

After 1007 it ends at once, and otherwise when the longest back-off is over (``docs/state_machine.md``, "Failure and
recovery"). Only idle time counts: a task that is slow, or a call that takes long, makes a retry late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.situation import Situation

LONGEST_BACKOFF_US = 8_000_000
# "If 1007 comes again and again while the sessions are voted again, the fourth within a second leaves them to the
# back-off."
MOST_RESTARTS = 3
WITHIN_US = 1_000_000


@attrs.define
class Trouble:
    """Why votes are not as they should be.

    Attributes:
        number: of the failure; later ones have greater numbers.
        cores: on which a call has failed; None where that is no matter: everything was lost.
        creating: whether one that failed was to create an id.
        quiet_us: the idle time when nobody could go on for the first time after it: the back-off runs from there on at
            the latest.
    """

    number: int
    cores: frozenset[int | None] | None = None
    creating: bool = False
    quiet_us: int | None = None


class Troubles:
    """The trouble of each session, and with None that of the process's settings."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._by_client: dict[Client | None, Trouble] = {}
        self._failures = 0
        # The number of the latest failure when the core was last told of a restart that is not left to the back-off.
        self._told = 0
        # When the core was told of restarts, since everybody was last as they should be.
        self._told_us: list[int] = []

    def __contains__(self, client: Client | None) -> bool:
        return client in self._by_client

    @property
    def open(self) -> list[Client | None]:
        """Who has any, but for sessions that are closed."""
        return [client for client in self._by_client if client is None or not client.closing]

    def of(self, client: Client | None) -> Trouble | None:
        """Return the trouble of a session, or of the process."""
        return self._by_client.get(client)

    def add(self, client: Client | None, call: NativeCall | None = None) -> None:
        """Take in that a session's votes, or the process's settings, may not be as they should.

        Args:
            client: the session.
            call: what failed, where that was one call on one core.
        """
        self._failures += 1
        cores = None if call is None else frozenset({call.core})
        creating = call is not None and call.function == "createPowerConfigId"
        before = self._by_client.get(client)
        if before is not None:
            cores = None if cores is None or before.cores is None else cores | before.cores
            creating = creating or before.creating
        self._by_client[client] = Trouble(self._failures, cores, creating)
        if client is not None:
            client.must_until_us = 0
            client.troubles += 1
            client.foresight.must = None

    def add_to_all(self) -> None:
        """Take in that everything may be lost."""
        for client in (*self._situation.clients, None):
            self.add(client)

    def told(self, *, again: bool) -> None:
        """Take in that the core is told of a restart; ``again`` where it may be told of the same a second time."""
        now_us = self._situation.scheduler.clock.prompt_us
        self._told_us = [each for each in self._told_us if now_us - each < WITHIN_US]
        # Where a task is slow the core may not have taken in what was told before, and counts both.
        if not again or now_us in self._told_us:
            self._told_us.append(now_us)
        if len(self._told_us) <= MOST_RESTARTS:
            self._told = self._failures

    def over(self, client: Client | None) -> None:
        """Take in that a session, or the process, is as it should be."""
        self._by_client.pop(client, None)

    def all_right(self) -> None:
        """Take in that everybody is: restarts are counted from here on."""
        self._told_us.clear()

    def quiet(self) -> None:
        """Take in that nobody can go on."""
        for trouble in self._by_client.values():
            if trouble.quiet_us is None:
                trouble.quiet_us = self._situation.scheduler.clock.idle_us

    def explain(self, client: Client | None, rule: str, details: str) -> None:
        """Fail, unless a failure explains it and is seen to in time."""
        situation, trouble = self._situation, self._by_client.get(client)
        if trouble is None:
            situation.fail(rule, details)
            return
        if situation.out_of_reach:
            return
        if trouble.number <= self._told:
            if situation.promises.told_to_anybody:
                situation.fail(f"after 1007 at once: {rule}", details)
            return
        waited_us = 0 if trouble.quiet_us is None else situation.scheduler.clock.idle_us - trouble.quiet_us
        if waited_us > LONGEST_BACKOFF_US:
            situation.fail(
                f"within the longest back-off: {rule}", f"{waited_us / 1e6:.1f} s after the failure; {details}"
            )
