"""Profiles, holds and caps, as the host changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.demand import Claim, Use
from simulation.expectations import expected

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.program import Op
    from simulation.specification import Specification


class Owner:
    """The owner of a hold, which ends with its owner."""


class Changes:
    """Changes the profiles of sessions, and tracks which profiles are possible."""

    def __init__(self, specification: Specification, run: Callable[[tuple[Op, ...]], None]) -> None:
        self._situation = specification.situation
        self._troubles = specification.troubles
        self._scheduler = specification.situation.scheduler
        self._call = specification.call
        self._run = run

    def end_sustains(self, client: Client | None) -> None:
        """Record that the profile of a session, or of all sessions, may change. This ends sustain times."""
        for each in self._situation.clients if client is None else (client,):
            each.must_until_us = 0

    def _alone(self, client: Client) -> tuple[str, int] | None:
        """Return the profile of an idle session, and how many calls concerned it; None if other calls are under way."""
        possible = client.possible(self._situation.caps)
        asked = client.busy or client.unsettled or client.endings or self._situation.operations
        if asked or client in self._troubles or len(possible) > 1:
            return None
        return possible[0].profile.name, client.asked

    def _ends_sustain(self, client: Client, alone: tuple[str, int] | None) -> None:
        """Record that a session's profile has changed, so that votes which were only sustained are lowered."""
        now = self._alone(client)
        if alone is not None and now is not None and now[0] != alone[0] and now[1] == alone[1] + 1:
            client.may_until_us = min(client.may_until_us, self._scheduler.now_us)

    def use(self, client: Client, op: Op) -> None:
        """Change a session's own profile."""
        begun_at = self._scheduler.steps
        alone = self._alone(client)
        use = Use(op.name)
        client.uses.append(use)
        self.end_sustains(client)
        error = self._call("use", client, lambda: client.session.use(expected()[op.name].profile))
        if error is None:
            client.used(use, self._scheduler.steps, begun_at)
            self._ends_sustain(client, alone)
        else:
            use.returned_at = self._scheduler.steps

    def hold(self, client: Client, op: Op) -> None:
        """Hold a profile for a while."""
        scheduler = self._scheduler
        alone = self._alone(client)
        claim, owner = Claim(op.name), Owner() if op.how == "owner" else None
        timeout_us = max(op.us, 1) if op.how == "timeout" else None
        client.holds.append(claim)
        self.end_sustains(client)
        if timeout_us is not None:
            scheduler.call_at(scheduler.now_us + timeout_us, lambda: self._ends(client, claim))
        begun_us = scheduler.now_us

        def hold() -> None:
            profile = expected()[op.name].profile
            claim.handle = client.session.hold(profile, reason="simulated", timeout_us=timeout_us, owner=owner)

        if self._call("hold", client, hold) is not None:
            claim.certain = False
            claim.until_us = scheduler.now_us
            if claim in client.holds:
                client.holds.remove(claim)
            return
        in_time = timeout_us is None or scheduler.now_us < begun_us + timeout_us
        # A session that is being closed ignores a new hold.
        claim.certain = in_time and not client.closing
        claim.until_us = None if timeout_us is None else scheduler.now_us + timeout_us
        if claim.certain:
            self._ends_sustain(client, alone)
        if op.how == "timeout":
            claim.handle = None
        scheduler.sleep(op.us)
        self._run(op.inner)
        if op.how != "timeout":
            self._end_hold(client, claim, owner, op)

    def _end_hold(self, client: Client, claim: Claim, owner: Owner | None, op: Op) -> None:
        self._ends(client, claim)
        if op.how == "release":
            self._call("release", client, claim.handle.release)
            if claim in client.holds:
                client.holds.remove(claim)
            return
        claim.until_us = self._scheduler.now_us
        handle, claim.handle = claim.handle, None
        # Only the garbage collector may still refer to the handle and the owner.
        self._scheduler.collect((handle, owner), op.us % 7 + 1, [handle] if owner is None else [owner])

    def _ends(self, client: Client | None, claim: Claim) -> None:
        """Record that a hold or a cap ends, or is about to end."""
        claim.certain = False
        self.end_sustains(client)
        for each in self._situation.clients if client is None else (client,):
            each.ahead = None

    def cap(self, _client: Client, op: Op) -> None:
        """Cap all sessions for a while."""
        claim, caps = Claim(op.name), self._situation.caps
        caps.append(claim)
        self.end_sustains(None)

        def cap() -> None:
            claim.handle = self._situation.controller.cap(expected()[op.name].profile, reason="simulated")

        if self._call("cap", None, cap) is not None:
            return
        claim.certain = True
        self._scheduler.sleep(op.us)
        self._run(op.inner)
        self._ends(None, claim)
        self._call("lift", None, claim.handle.lift)
        if claim in self._situation.caps:
            self._situation.caps.remove(claim)
