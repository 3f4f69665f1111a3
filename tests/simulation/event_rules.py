"""What must hold of events: every one, in order, and as the native calls were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.events import CallMade, Cause, Event, SustainLearned, Transition, Trigger

if TYPE_CHECKING:
    from simulation.specification import Specification


class EventRules:
    """The events of a controller, kept, and what must hold of them in the end."""

    def __init__(self, specification: Specification) -> None:
        self._specification = specification
        self._events: list[Event] = []

    def take(self, event: Event) -> None:
        """Take an event in; subscribed with the first."""
        self._events.append(event)

    def check(self, controller: Any) -> None:
        """Fail where an event is missing, out of order, or not as the calls were."""
        events, interrupted = self._events, self._specification.situation.interrupted
        if controller.status().events_lost:
            return
        orders = [event.order for event in events]
        if orders != sorted(orders) or (not interrupted and orders != list(range(1, len(orders) + 1))):
            self._fail(f"orders are {orders[:50]}")
        if interrupted:
            # An interrupt may go through the telling, too.
            return
        times = [event.time_us for event in events]
        if times != sorted(times):
            self._fail("times go back")
        states: dict[int, str] = {}
        for event in events:
            if isinstance(event, Transition):
                before = states.get(event.session, "UNVOTED")
                if str(event.source) != before:
                    self._fail(f"{event} follows {before}")
                states[event.session] = str(event.dest)
        if any(state != "DESTROYED" for state in states.values()):
            self._fail(f"the sessions end as {states}")
        self._check_learnt()
        self._check_calls()

    def _check_learnt(self) -> None:
        """Fail where more was learnt than there was to learn, or where more raises were wrong than may be."""
        clients = {client.number: client for client in self._specification.situation.clients}
        wrong: dict[int, int] = {}
        lowered: dict[int, int] = {}
        for event in self._events:
            if isinstance(event, SustainLearned):
                # The gaps of the second power state begin where votes are relaxed, whatever raises them then.
                most = lowered.get(event.session, 0) if event.further else clients[event.session].costs.gaps
                if event.gaps > most:
                    self._fail(f"session {event.session} has learnt from {event.gaps} gaps of {most}")
            elif isinstance(event, Transition) and event.trigger is Trigger.LOWER:
                lowered[event.session] = lowered.get(event.session, 0) + 1
                if event.cause is Cause.EXPECTED_IN_VAIN:
                    wrong[event.session] = wrong.get(event.session, 0) + 1
        for number, client in clients.items():
            right = client.foresight.right
            if wrong.get(number, 0) > 2 + right // 4 and not client.troubles:
                self._fail(f"of session {number} {wrong[number]} raises ahead were wrong, and at most {right} right")

    def _check_calls(self) -> None:
        told: dict[object, list[object]] = {}
        made: dict[object, list[object]] = {}
        for event in self._events:
            if isinstance(event, CallMade):
                told.setdefault(event.power_config_id, []).append((event.function, event.code))
        for call in self._specification.calls.made:
            failed_create = call.function == "createPowerConfigId" and call.code
            on = None if failed_create else call.known_as
            made.setdefault(on, []).append((call.function, call.code))
        # Of several that open sessions at the same time, either may tell first that it could not; so of those
        # that have the same number one after the other.
        for on in (None, *self._specification.situation.numbers.given_again):
            for each in (told, made):
                each.get(on, []).sort(key=repr)
        if told != made:
            differing = {on for on in {*told, *made} if told.get(on) != made.get(on)}
            details = {on: (told.get(on), made.get(on)) for on in differing}
            self._fail(f"told, and made: {details}")

    def _fail(self, details: str) -> None:
        self._specification.situation.fail("events tell what happened, in order", details)
