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
# "1007 again and again: the fourth restart in a row, each told by a call that began within a second of the one before,
# leaves the sessions to the back-off."
MOST_RESTARTS = 3
CALM_US = 1_000_000


@attrs.define
class Trouble:
    """Why votes are not as they should be.

    Attributes:
        number: of the failure; later ones have greater numbers.
        cores: on which a call has failed; None where that is no matter: everything was lost.
        creating: whether one that failed was to create an id.
        at_once: whether it must be over when nobody can go on.
        quiet_us: the idle time when nobody could go on for the first time after it: the back-off runs from there on at
            the latest.
    """

    number: int
    cores: frozenset[int | None] | None = None
    creating: bool = False
    at_once: bool = False
    quiet_us: int | None = None


class Troubles:
    """The trouble of each session, and with None that of the process's settings."""

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self._by_client: dict[Client | None, Trouble] = {}
        self._failures = 0
        # Whether votes were in question so far by more than that a call has reached the id of another.
        self.any_yet = False
        # The number of the latest failure when the core was last told of a restart that is not left to the back-off.
        self._told = 0
        # How many restarts the core was told of in a row; and when the last was, also in the time in which nobody was
        # slow.
        self._restarts = 0
        self._last_us = (-CALM_US, -CALM_US)

    def __contains__(self, client: Client | None) -> bool:
        return client in self._by_client

    @property
    def open(self) -> list[Client | None]:
        """Who has any, but for sessions that are closed."""
        return [client for client in self._by_client if client is None or not client.closing]

    def of(self, client: Client | None) -> Trouble | None:
        """Return the trouble of a session, or of the process."""
        return self._by_client.get(client)

    def is_told(self, client: Client | None) -> bool:
        """Return whether the trouble of a session is a restart that the core was told of, and nothing later."""
        trouble = self._by_client.get(client)
        return trouble is not None and trouble.number <= self._told

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
        self.any_yet = True
        for client in (*self._situation.clients, None):
            self.add(client)

    def told(self, call: NativeCall) -> None:
        """Take in that a call has told the core of a restart; one that began earlier may tell of the one before."""
        clock, (last_us, last_prompt_us) = self._situation.scheduler.clock, self._last_us
        # Where a task was slow since, the core may have taken in later what was told before.
        slow_us = clock.now_us - last_us - (clock.prompt_us - last_prompt_us)
        if call.begun_us - last_us - slow_us >= CALM_US:
            self._restarts = 0
        # It may not have taken it in yet, and counts both.
        if not call.earlier or clock.prompt_us == last_prompt_us:
            self._restarts += 1
            self._last_us = (clock.now_us, clock.prompt_us)
        if self._restarts <= MOST_RESTARTS:
            self._told = self._failures

    def crossed(self, call: NativeCall) -> None:
        """Take in that a call has reached the id of another, or that others may: nothing is known of any vote.

        Where that has destroyed it, it may take a call on it to find that out, which fails.
        """
        for client in (*self._situation.clients, None):
            if client not in self._by_client:
                self.add(client)
                self._by_client[client].at_once = call.function != "destroyPowerConfigId"

    def over(self, client: Client | None) -> None:
        """Take in that a session, or the process, is as it should be."""
        self._by_client.pop(client, None)

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
        if trouble.at_once or trouble.number <= self._told:
            if situation.promises.told_to_anybody:
                situation.fail(f"after 1007 at once: {rule}", details)
            return
        waited_us = 0 if trouble.quiet_us is None else situation.scheduler.clock.idle_us - trouble.quiet_us
        if waited_us > LONGEST_BACKOFF_US:
            situation.fail(
                f"within the longest back-off: {rule}", f"{waited_us / 1e6:.1f} s after the failure; {details}"
            )
