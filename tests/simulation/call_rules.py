"""Rules for each native call: one at a time, on ids that exist, few to a dead link. And rules for events."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

from simulation.backend import BAD_ID, CREATE, DESTROY, RENEW, SET
from simulation.binding import orphans_of
from simulation.situation import DEAD, LONGEST_BACKOFF_US, LOST
from support.inside import clients_of

from htppower.events import CallMade, Event, LinkChanged, LinkState, Transition

if TYPE_CHECKING:
    from simulation.backend import NativeCall
    from simulation.demand import Client
    from simulation.situation import Operation, Situation, Troubles

# "At most 10 failed native calls in 5 s on a dead link."
MOST_FAILURES, WITHIN_US = 10, 5_000_000
# The third failed step in a row on one core waits for an alarm, and a step makes at most two calls.
MOST_ON_A_CORE, FIRST_RETRY_US = 7, 1_000_000


class CallRules:
    """Judges the native calls of a run, and keeps all of them in ``made``."""

    def __init__(self, situation: Situation, troubles: Troubles) -> None:
        self.made: list[NativeCall] = []
        self.situation = situation
        self._troubles = troubles
        self._scheduler = situation.scheduler
        # The ids that were destroyed, and those that were created before the device was created again.
        self._gone: set[int] = set()
        # The ids that a retry must destroy, each with the idle time at its failed destroy.
        self._orphans: dict[int, int] = {}
        self._failures: deque[int] = deque()
        self._on_core: dict[int | None, list[int]] = defaultdict(list)
        # The idle time since when the device can be created again.
        self._dead_us: int | None = None

    def begins(self, call: NativeCall, client: Client | None) -> None:
        """Judge a call that begins."""
        situation, number = self.situation, call.power_config_id
        if situation.under_way is not None:
            situation.fail("one call at a time", f"{call} beside {situation.under_way}")
        if self._scheduler.collecting:
            situation.fail("a finalizer makes no call", f"{call}")
        gates = [lock for lock in call.task.held if "gate" in str(lock)]
        if gates:
            situation.fail("no native call under a gate", f"{call} under {gates}")
        if situation.closed and call.function not in (DESTROY, RENEW) and number not in situation.failed_destroys:
            situation.fail("a closed controller only destroys what it could not", f"{call}")
        if number in self._gone:
            situation.fail("no call on an id that is gone", f"{call}")
        failed = number in situation.failed_destroys
        if client is not None and call.function == DESTROY and not failed and self._casts(client):
            is_kept = client.session is None or number in client.session.power_config_ids.values()
            if is_kept and not (client.closing or client.troubles or situation.is_asked(client)):
                situation.fail("a session keeps its ids", f"{call}; {situation.tell(client)}")
            well = client not in self._troubles and not situation.out_of_reach
            if client.closing and well and not situation.has(client):
                situation.fail("votes are lowered before their id is destroyed", f"{call}; {situation.tell(client)}")
        situation.under_way = call
        self.made.append(call)
        operation = situation.operations.get(call.task)
        if operation is not None:
            self._count_in(operation, call)

    def _count_in(self, operation: Operation, call: NativeCall) -> None:
        operation.calls += 1
        unknown, operation.unknown = operation.unknown, None
        if unknown is not None and (call.function, call.power_config_id) != (DESTROY, unknown):
            self.situation.fail("an id that is answered 13001 is replaced", f"{call} after that on id {unknown}")

    def _casts(self, client: Client) -> bool:
        """Return whether a session surely keeps its ids. Under a profile without votes it destroys them."""
        return all(each.raised is not None for each in client.possible(self.situation.caps))

    def applied(self, call: NativeCall, client: Client | None) -> None:
        """Record the ids that a call has created or destroyed."""
        number = call.power_config_id
        if call.function == CREATE and not call.code and number is not None:
            if client is not None:
                client.ids.append(number)
        elif call.function == DESTROY and not call.code and number is not None:
            self._gone.add(number)
        elif call.function == RENEW:
            self._gone.update(made.power_config_id for made in self.made if made.power_config_id is not None)
            self._orphans.clear()
            self.situation.failed_destroys.clear()

    def ended(self, call: NativeCall) -> None:
        """Judge a call that has returned."""
        situation, number = self.situation, call.power_config_id
        situation.under_way = None
        if call.function == DESTROY and number is not None:
            if call.code:
                situation.failed_destroys.add(number)
                # A retry ends at its first failure, so the other ids wait for the next retry.
                self._orphans = dict.fromkeys((*self._orphans, number), self._scheduler.idle_us)
            else:
                self._orphans.pop(number, None)
        operation = situation.operations.get(call.task)
        if call.function == SET and call.votes:
            self._count_on_core(call)
            # If an id gets 13001 right after its create, the controller keeps it.
            old = operation is not None and number not in operation.created | situation.failed_destroys
            if operation is not None and old and call.code == BAD_ID:
                operation.unknown = number
        elif call.function == CREATE and operation is not None:
            operation.created.add(number)
        if call.votes and not call.code:
            # Only if the link is not dead.
            self._failures.clear()
        if call.code and not call.injected and call.code not in (LOST, BAD_ID) and not call.settings:
            self._count_failure(call)

    def _count_failure(self, call: NativeCall) -> None:
        now_us, failures = self._scheduler.now_us, self._failures
        failures.append(now_us)
        while failures[0] <= now_us - WITHIN_US:
            failures.popleft()
        if len(failures) > MOST_FAILURES:
            self.situation.fail("10 calls fail in 5 s on a dead link at most", f"{call} is number {len(failures)}")

    def _count_on_core(self, call: NativeCall) -> None:
        """Fail if the calls on one core fail again and again without a back-off."""
        times = self._on_core[call.core]
        if not call.code or call.code in (LOST, DEAD):
            times.clear()
            return
        times.append(call.begun_us)
        if len(times) > MOST_ON_A_CORE and times[-1] - times[-1 - MOST_ON_A_CORE] < FIRST_RETRY_US:
            self.situation.fail("what fails waits for the back-off", f"{call} on core {call.core}: {times[-8:]}")

    def new_session(self, client: Client) -> None:
        """Forget earlier failures on the cores of a new session."""
        for core in client.cores:
            self._on_core[core].clear()

    def check_closed(self, client: Client) -> None:
        """Fail if an id of a closed session still exists, and the status does not list it."""
        situation = self.situation
        left = [each for each in client.ids if each in clients_of(situation.htp)]
        if situation.under_way is not None and situation.under_way.function == RENEW:
            # Creating the device again destroys these ids.
            return
        for number in left:
            self._orphans.setdefault(number, self._scheduler.idle_us)
        # If the destroy of an id fails, the id is listed again.
        untold = (
            set(left) - orphans_of(situation.controller) - {situation.under_way and situation.under_way.power_config_id}
        )
        if untold:
            situation.fail("a closed session leaves no id", f"session {client.place}: {sorted(untold)}")

    def take_in_orphans(self) -> None:
        """Record the ids that a closed session has left for a retry, because the link had failed before."""
        for number in orphans_of(self.situation.controller) - self._orphans.keys():
            self._orphans[number] = self._scheduler.idle_us
            self.situation.failed_destroys.add(number)

    def look(self) -> None:
        """Judge the ids that are left, and a dead link, while no task can run and no call is under way."""
        situation, idle_us = self.situation, self._scheduler.idle_us
        if situation.out_of_reach:
            self._orphans = dict.fromkeys(self._orphans, idle_us)
        for number, since_us in self._orphans.items():
            late = idle_us - since_us > LONGEST_BACKOFF_US and idle_us - since_us > self._troubles.longest_us
            if late and number in clients_of(situation.htp) and not situation.closed:
                situation.fail("what could not be destroyed is, within the back-off", f"id {number}")
        backend = situation.backend
        open_ = [client.session for client in situation.clients if client.session is not None and not client.closing]
        lacks = any(str(session.state) == "UNKNOWN" for session in open_) and not situation.closed
        if not (backend.dead and backend.dsp_is_up and lacks and self._failures):
            self._dead_us = None
            return
        self._dead_us = idle_us if self._dead_us is None else self._dead_us
        if idle_us - self._dead_us > 2 * self._troubles.longest_us + LONGEST_BACKOFF_US:
            situation.fail("a dead device is made anew", f"not for {idle_us - self._dead_us} us")


class EventRules:
    """Keeps the events of a controller, and judges them at the end."""

    def __init__(self, calls: CallRules) -> None:
        self._calls = calls
        self._events: list[Event] = []

    def take(self, event: Event) -> None:
        """Keep an event. This function is the first subscriber."""
        self._events.append(event)

    def check(self, controller: Any) -> None:
        """Fail if an event is missing, out of order, or does not fit the calls."""
        events = self._events
        if controller.status().events_lost:
            return
        orders = [event.order for event in events]
        if orders != list(range(1, len(orders) + 1)):
            self._fail(f"orders are {orders[:50]}")
        times = [event.time_us for event in events]
        if times != sorted(times):
            self._fail("times go back")
        states: dict[int, str] = {}
        link = LinkState.WELL
        for event in events:
            if isinstance(event, Transition):
                before = states.get(event.session, "UNVOTED")
                if str(event.source) != before:
                    self._fail(f"{event} follows {before}")
                states[event.session] = str(event.dest)
            elif isinstance(event, LinkChanged):
                if event.source is not link or event.dest is link:
                    self._fail(f"{event} follows {link}")
                link = event.dest
        if any(state != "DESTROYED" for state in states.values()):
            self._fail(f"the sessions end as {states}")
        self._check_calls()

    def _check_calls(self) -> None:
        told = [
            (event.function, event.power_config_id, event.code) for event in self._events if isinstance(event, CallMade)
        ]
        made = [(call.function, call.power_config_id, call.code) for call in self._calls.made if call.function != RENEW]
        if told != made:
            place = next(
                (at for at, (one, other) in enumerate(zip(told, made, strict=False)) if one != other),
                min(len(told), len(made)),
            )
            self._fail(f"call {place} of {len(told)} told and {len(made)} made: {told[place:][:3]}, {made[place:][:3]}")

    def _fail(self, details: str) -> None:
        self._calls.situation.fail("events tell what happened, in order", details)
