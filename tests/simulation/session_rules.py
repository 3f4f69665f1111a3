"""What must hold of a session: its votes, its count, its profile, and who waits for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.demand import Use

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.situation import Situation
    from simulation.troubles import Troubles

# What waits for native calls at most, and what waits for nothing where calls are made side by side.
_WAITS_FOR_CALLS = frozenset({"begin", "end", "use", "hold", "release", "cap", "lift", "open", "link_lost", "expect"})
_NEVER_WAITS = frozenset({"status", "subscribe"})


class SessionRules:
    """What must hold of sessions."""

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self._situation = situation
        self._troubles = troubles
        # The sessions in use that 1007 has lost, and that no call was made on since.
        self._lost_in_use: list[Client] = []

    def check_in_use(self, client: Client) -> None:
        """Fail where a session that is surely in use lacks its votes, and nothing explains that."""
        situation = self._situation
        if client not in self._troubles and situation.must_be_up(client) and situation.lacking(client):
            situation.fail("votes in use are in force", situation.tell(client))

    def check_begun(self, client: Client) -> None:
        """Fail where a phase has begun and its votes lack; where a call has failed, each other core must have them."""
        self.check_in_use(client)
        situation, trouble = self._situation, self._troubles.of(client)
        if trouble is None or trouble.cores is None or not situation.must_be_up(client):
            return
        untried = [core for core in situation.lacking(client) if core not in trouble.cores]
        if untried:
            what = "an id could not be created for" if trouble.creating else "a call has failed on"
            situation.fail(f"each core is tried, though {what} another", f"cores {untried}; {situation.tell(client)}")

    def check_known(self) -> None:
        """Fail where nothing is known of a session's votes, though no call has failed and none were lost so far."""
        for client in () if self._troubles.any_yet else self._situation.clients:
            if client.session is not None and str(client.session.state) == "UNKNOWN":
                self._situation.fail("votes are known until something fails", self._situation.tell(client))

    def told(self) -> None:
        """Take in that the core is told of a restart."""
        situation = self._situation
        self._lost_in_use = [each for each in situation.clients if each.busy and situation.must_be_up(each)]

    def check_order(self, call: NativeCall, client: Client | None) -> None:
        """Fail where a session that is idle is voted again while one that is in use waits for it."""
        situation = self._situation
        if client in self._lost_in_use:
            self._lost_in_use.remove(client)
        operation = situation.operations.get(call.task)
        asked_for = operation is not None and operation.client is client
        if client is None or client.busy or client.unsettled or client.closing or asked_for:
            return
        waiting = [each for each in self._lost_in_use if each.busy and not each.unsettled and not each.closing]
        if waiting and call.function == "setPowerConfig" and situation.promises.in_flight_first:
            situation.fail("after 1007 those in use are voted first", f"{call} before {situation.tell(waiting[0])}")

    def look(self, client: Client) -> None:
        """Look at a session when nobody can go on; fail where it is not as it must be."""
        session, situation = client.session, self._situation
        if session is None or client.closing:
            return
        self._settle(client)
        if not client.unsettled:
            self._check_told(client)
        why = self._wrong(client)
        if why is None:
            settled = situation.must_be_up(client) or not situation.may_be_up(client)
            if settled and not situation.out_of_reach:
                self._troubles.over(client)
            return
        self._troubles.explain(client, why, situation.tell(client))

    def check_operations(self) -> None:
        """Fail where somebody waits when nobody can go on, and for no call that he may wait for."""
        situation = self._situation
        calls, side_by_side = situation.under_way, situation.promises.side_by_side
        for task, operation in situation.operations.items():
            kind, client = operation.kind, operation.client
            if kind not in _WAITS_FOR_CALLS and not (side_by_side and kind in _NEVER_WAITS):
                continue
            reasons = [
                call
                for call in calls
                if client is None
                or situation.waits_for(call, client)
                # It is not opened where its controller is closed meanwhile. Then, what is left is destroyed first.
                or (kind == "open" and client.other and situation.brings_down_what_is_left(call.task))
            ]
            if not reasons or (side_by_side and kind in _NEVER_WAITS):
                waits_for = getattr(task, "waits_for", None)
                situation.fail("nobody waits for nothing", f"{task} waits for {waits_for} in {kind}; {calls}")

    def _wrong(self, client: Client) -> str | None:
        """Return which rule a session's votes break."""
        situation, state = self._situation, str(client.session.state)
        if situation.must_be_up(client) and situation.lacking(client):
            if state == "RAISED" and not situation.out_of_reach:
                situation.fail("RAISED is in force", situation.tell(client))
            return "votes in use are in force"
        if self._must_be_up_ahead(client) and situation.lacking(client):
            return "votes are raised ahead of a predicted begin"
        if situation.is_down(client):
            client.foresight.up_us = None
        else:
            if not situation.may_be_up(client) and not self._may_be_up_vaguely(client):
                return "what is idle is lowered"
            if state == "LOWERED" and not client.unsettled and not situation.out_of_reach:
                return "LOWERED is lowered"
        if state == "LOWERED" and not client.unsettled and not situation.out_of_reach and not situation.rests(client):
            return "what ended last says what is voted then"
        # It may be right by luck: a call that failed may have been carried out. It is made again nevertheless.
        return "what is UNKNOWN is voted again" if state == "UNKNOWN" else None

    def _must_be_up_ahead(self, client: Client) -> bool:
        """Return whether a session's votes must be in force for an inference that is predicted to begin."""
        situation = self._situation
        sure = not client.closing and not client.unsettled and not situation.operations
        possible = client.possible(situation.caps)
        return sure and client.foresight.must_be_up(situation.scheduler.now_us, client.asked, possible)

    def _may_be_up_vaguely(self, client: Client) -> bool:
        """Return whether a session's votes may be in force for one of which nobody knows when."""
        situation = self._situation
        if str(client.session.state) != "RAISED":
            # What a call that failed has left up is up for no prediction.
            client.foresight.up_us = None
            return False
        until_us = client.foresight.may_be_up_vaguely(situation.scheduler.now_us, client.possible(situation.caps))
        if until_us is not None:
            situation.scheduler.call_at(until_us, _nothing)
        return until_us is not None

    def _check_told(self, client: Client) -> None:
        """Fail where a session does not tell what was asked of it."""
        session, situation = client.session, self._situation
        if session.in_flight != client.inferences:
            situation.fail("in_flight counts inferences", f"{session.in_flight}; {situation.tell(client)}")
        names = [each.profile.name for each in client.possible(situation.caps)]
        if session.profile.name not in names:
            details = f"{session.profile.name}, not {names}; {situation.tell(client)}"
            situation.fail("holds and caps are honoured", details)

    def _settle(self, client: Client) -> None:
        """Take in what has happened by itself: holds that ran out, or whose handles are gone, have ended."""
        situation = self._situation
        if any(operation.client in (client, None) for operation in situation.operations.values()):
            return
        now_us = situation.scheduler.now_us
        # Of several that end one after the other, it may have used the profile of each.
        client.meet(situation.caps)
        client.holds = [
            hold for hold in client.holds if (hold.certain if hold.until_us is None else now_us < hold.until_us)
        ]
        own = client.session.own_profile.name
        if own not in {use.name for use in client.uses}:
            situation.fail("the own profile is what was asked for", f"{own}; {situation.tell(client)}")
        client.uses = [Use(own, situation.scheduler.steps)]


def _nothing() -> None:
    """Do nothing."""
