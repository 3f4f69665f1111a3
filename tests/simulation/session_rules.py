"""Rules for a session: its votes, its count, its profile, and the order of its calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulation.demand import Use

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.situation import Operation, Situation, Troubles

# These calls wait for no native call.
_NEVER_WAITS = frozenset({"status", "subscribe"})
# These calls also wait for subscribers.
_WAITS_FOR_OTHERS = frozenset({"unsubscribe", "close"})
# At most 16 later requests go before a request. In addition, one may be under way, and one may have just ended.
MOST_OVERTAKING = 16 + 2


class SessionRules:
    """Judges sessions."""

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self._situation = situation
        self._troubles = troubles
        # The sessions that were in use when votes were lost, with the session whose call found this; and those in use
        # if no call found it.
        self._first: list[Client | None] = []
        self._lost_in_use: list[Client] = []

    def link_is_told_of(self) -> None:
        """Record that the host reports a lost link: all votes are sent again, although no call has failed."""
        self._situation.is_told = True
        for client in self._situation.clients:
            client.open_at = -1
            # Votes that were relaxed are relaxed again.
            client.troubles += 1

    def check_in_use(self, client: Client) -> None:
        """Fail if a session that is surely in use lacks its votes, and no trouble explains this."""
        situation = self._situation
        if client not in self._troubles and situation.must_be_up(client) and situation.lacking(client):
            situation.fail("votes in use are in force", situation.tell(client))

    def check_each_core(self, client: Client) -> None:
        """Fail if a phase has begun after a failed call on one core, and another core lacks its votes."""
        situation, trouble = self._situation, self._troubles.of(client)
        if trouble is None or trouble.cores is None or situation.out_of_reach or not situation.must_be_up(client):
            return
        untried = [core for core in situation.lacking(client) if core not in trouble.cores]
        if untried:
            details = f"cores {untried}; {situation.tell(client)}"
            situation.fail("each core is tried, though a call has failed on another", details)

    def lost(self, met: Client | None) -> None:
        """Record that all votes are lost; ``met``: the session whose call has found this."""
        situation = self._situation
        every = [each for each in situation.clients if each.inferences and situation.must_be_up(each)]
        self._lost_in_use = [each for each in every if (trouble := self._troubles.of(each)) and trouble.at_once]
        self._first = [*self._lost_in_use, met]

    def check_order(self, call: NativeCall, client: Client | None) -> None:
        """Fail if an idle session makes calls while a session in use waits, after a loss or for the line."""
        situation = self._situation
        if client in self._lost_in_use:
            self._lost_in_use.remove(client)
        if client is None or not call.votes:
            return
        if client.busy:
            # The step that raises a session may also lower it, if its profile has changed.
            self._first.append(client)
            return
        kinds = [operation.kind for operation in situation.operations.values() if operation.client is client]
        is_lowering = len(kinds) >= client.unsettled and all(kind in ("end", "close") for kind in kinds)
        if is_lowering and client not in self._troubles and not situation.out_of_reach:
            self._count_lowering(client)
        waiting = [each for each in self._lost_in_use if each.inferences and not each.unsettled and not each.closing]
        idle = not (client.unsettled or client.closing or situation.is_asked(client))
        if waiting and idle and client not in self._first:
            situation.fail("after a loss those in use are voted first", f"{call} before {situation.tell(waiting[0])}")

    def _count_lowering(self, client: Client) -> None:
        for task, operation in self._situation.operations.items():
            waits = task.waits_for is not None and operation.kind == "begin"
            if waits and operation.client is not client and operation.last_lowered is not client:
                operation.last_lowered = client
                operation.lowered += 1
                if operation.lowered > 2:
                    details = f"{operation.lowered} sessions were lowered while {task} waits to begin"
                    self._situation.fail("a raise waits behind one lowering", details)

    def overtaken(self, by: Operation) -> None:
        """When a call of the public API has made native calls, count it for all earlier calls that still wait."""
        situation = self._situation
        for task, operation in situation.operations.items():
            if task.waits_for is None or task.waits_since >= by.begun_at:
                continue
            operation.made += 1
            if operation.kind == "end" and operation.made > MOST_OVERTAKING:
                details = f"{task} waits in {operation.kind} behind {operation.made} later ones"
                situation.fail("a request is overtaken by at most 16 later ones", details)

    def look(self, client: Client) -> None:
        """Judge a session while no task can run and no call is under way."""
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
        """Fail if a call of the public API waits for anything but a native call, or for one that must not delay it."""
        situation, call = self._situation, self._situation.under_way
        for task, operation in situation.operations.items():
            kind, client = operation.kind, operation.client
            if kind in _WAITS_FOR_OTHERS:
                continue
            inside = kind == "begin" and client is not None and operation.inside and client not in self._troubles
            if call is None or kind in _NEVER_WAITS or inside:
                waits = "an inference in its window" if inside and call else "nothing"
                situation.fail(f"{waits} waits for nothing", f"{task} waits for {task.waits_for} in {kind}; {call}")

    def _wrong(self, client: Client) -> str | None:
        """Return the rule that a session's votes break; None if they break no rule."""
        situation, state = self._situation, str(client.session.state)
        if situation.must_be_up(client) and situation.lacking(client):
            if state == "RAISED" and not situation.out_of_reach:
                situation.fail("RAISED is in force", situation.tell(client))
            return "votes in use are in force"
        if self._must_be_up_ahead(client) and situation.lacking(client):
            return "votes are raised ahead of a predicted begin"
        if situation.has(client):
            client.up_us = None
        elif not situation.may_be_up(client) and not self._may_be_up_ahead(client):
            return "what is idle is lowered"
        rests = client.unsettled or situation.out_of_reach or situation.has(client, client.rests(situation.caps))
        if state == "LOWERED" and not rests:
            return "what ended last says what is voted then"
        # The votes may be right by chance, if a failed call had its effect. They are sent again all the same.
        return "what is UNKNOWN is voted again" if state == "UNKNOWN" else None

    def _must_be_up_ahead(self, client: Client) -> bool:
        """Return whether a session's votes must be in force for a predicted inference."""
        situation, ahead = self._situation, client.ahead
        if ahead is None or client.asked != ahead[2] or situation.operations or client.closing or client.unsettled:
            return False
        return ahead[0] <= situation.scheduler.now_us < ahead[1]

    def _may_be_up_ahead(self, client: Client) -> bool:
        """Return whether a session's votes may be in force for a predicted inference, or for two in a row."""
        situation, now_us = self._situation, self._situation.scheduler.now_us
        lead_us = max(each.raise_ahead_us for each in client.possible(situation.caps))
        if not lead_us or str(client.session.state) != "RAISED":
            client.up_us = None
            return False
        if client.up_us is None:
            client.up_us = now_us
        until_us = client.up_us + 6 * lead_us
        situation.scheduler.call_at(until_us, lambda: None)
        return now_us < until_us

    def _check_told(self, client: Client) -> None:
        """Fail if a session's status does not show what the host has requested."""
        session, situation = client.session, self._situation
        if session.in_flight != client.inferences:
            situation.fail("in_flight counts inferences", f"{session.in_flight}; {situation.tell(client)}")
        names = [each.profile.name for each in client.possible(situation.caps)]
        if session.profile.name not in names:
            details = f"{session.profile.name}, not {names}; {situation.tell(client)}"
            situation.fail("holds and caps are honoured", details)

    def _settle(self, client: Client) -> None:
        """Record the holds that have ended by themselves, by a timeout or without a handle."""
        situation = self._situation
        if situation.is_asked(client):
            return
        now_us = situation.scheduler.now_us
        # If several holds end one after the other, the session may have used the profile of each.
        client.meet(situation.caps)
        client.holds = [
            hold for hold in client.holds if (hold.certain if hold.until_us is None else now_us < hold.until_us)
        ]
        own = client.session.own_profile.name
        if own not in {use.name for use in client.uses}:
            situation.fail("the own profile is what was asked for", f"{own}; {situation.tell(client)}")
        client.uses = [Use(own, situation.scheduler.steps)]
