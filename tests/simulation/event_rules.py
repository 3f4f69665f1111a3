"""Rules for events: all arrive, in order, and as the native calls were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simulation.backend import RENEW

from htppower.events import CallMade, Event, LinkChanged, LinkState, Transition

if TYPE_CHECKING:
    from simulation.specification import Specification


class EventRules:
    """Keeps the events of a controller, and judges them at the end."""

    def __init__(self, specification: Specification) -> None:
        self._specification = specification
        self._events: list[Event] = []

    def take(self, event: Event) -> None:
        """Keep an event; this is the first subscriber."""
        self._events.append(event)

    def check(self, controller: Any) -> None:
        """Fail if an event is missing, out of order, or not as the calls were."""
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
        made = [
            (call.function, call.power_config_id, call.code)
            for call in self._specification.calls.made
            if call.function != RENEW
        ]
        if told != made:
            place = next(
                (at for at, (one, other) in enumerate(zip(told, made, strict=False)) if one != other),
                min(len(told), len(made)),
            )
            self._fail(f"call {place} of {len(told)} told and {len(made)} made: {told[place:][:3]}, {made[place:][:3]}")

    def _fail(self, details: str) -> None:
        self._specification.situation.fail("events tell what happened, in order", details)
