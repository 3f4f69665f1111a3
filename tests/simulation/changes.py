"""Profiles, holds and caps, as the host changes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.demand import Claim, Use
from simulation.expectations import expected

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.program import Op
    from simulation.public_calls import PublicCalls
    from simulation.specification import Specification


class Owner:
    """What a hold may end with."""


class Changes:
    """Changes which profiles sessions use, and keeps account of which are possible.

    Args:
        specification: keeps the caps.
        public: calls the public API.
        run: does what is done while a hold or a cap stands.
    """

    def __init__(
        self, specification: Specification, public: PublicCalls, run: Callable[[tuple[Op, ...]], None]
    ) -> None:
        self._situation = specification.situation
        self._troubles = specification.troubles
        self._scheduler = specification.situation.scheduler
        self._public = public
        self._run = run

    def end_sustains(self, client: Client | None) -> None:
        """Take in that a profile may change, of one session or of all: pending sustains end."""
        for each in self._situation.clients if client is None else (client,):
            each.must_until_us = 0

    def _alone(self, client: Client) -> tuple[str, int] | None:
        """Return which profile an idle session uses, and what was asked of it; None where others ask, too."""
        possible = client.possible(self._situation.caps)
        asked = client.busy or client.unsettled or client.endings or self._situation.operations
        if asked or client in self._troubles or len(possible) > 1:
            return None
        return possible[0].profile.name, client.asked

    def _ends_sustain(self, client: Client, alone: tuple[str, int] | None) -> None:
        """Take in that its profile has changed: votes that were only sustained come down."""
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
        error = self._public.call("use", client, lambda: client.session.use(expected()[op.name].profile))
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
            scheduler.call_at(scheduler.now_us + timeout_us, lambda: self._runs_out(client, claim))
        begun_us = scheduler.now_us

        def hold() -> None:
            profile = expected()[op.name].profile
            claim.handle = client.session.hold(profile, reason="simulated", timeout_us=timeout_us, owner=owner)

        error = self._public.call("hold", client, hold)
        if error is not None:
            claim.certain = False
            claim.until_us = scheduler.now_us
            if claim in client.holds:
                client.holds.remove(claim)
            return
        in_time = timeout_us is None or scheduler.now_us < begun_us + timeout_us
        # A session that is being closed follows no hold any more.
        claim.certain = in_time and not client.closing
        claim.until_us = None if timeout_us is None else scheduler.now_us + timeout_us
        if claim.certain:
            self._ends_sustain(client, alone)
        if op.how == "timeout":
            claim.handle = None
        scheduler.sleep(op.us)
        self._run(op.inner)
        self._end_hold(client, claim, owner, op)

    def _end_hold(self, client: Client, claim: Claim, owner: Owner | None, op: Op) -> None:
        if op.how == "timeout":
            return
        claim.certain = False
        self.end_sustains(client)
        if op.how == "release":
            self._public.call("release", client, claim.handle.release)
            if claim in client.holds:
                client.holds.remove(claim)
            return
        claim.until_us = self._scheduler.now_us
        handle, claim.handle = claim.handle, None
        # Nothing but the list of what is to be collected may refer to them any more.
        self._scheduler.collect((handle, owner), op.us % 7 + 1, [handle] if owner is None else [owner])

    def _runs_out(self, client: Client, claim: Claim) -> None:
        claim.certain = False
        self.end_sustains(client)

    def cap(self, _client: Client, op: Op) -> None:
        """Cap all sessions for a while."""
        claim = Claim(op.name)
        self._situation.caps.append(claim)
        self.end_sustains(None)

        def cap() -> None:
            claim.handle = self._situation.controller.cap(expected()[op.name].profile, reason="simulated")

        if self._public.call("cap", None, cap) is not None:
            return
        claim.certain = True
        self._scheduler.sleep(op.us)
        self._run(op.inner)
        claim.certain = False
        self.end_sustains(None)
        self._public.call("lift", None, claim.handle.lift)
        if claim in self._situation.caps:
            self._situation.caps.remove(claim)
