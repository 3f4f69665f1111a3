"""The parts of a controller, put together: each is given those that it needs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from htppower.control.backend_list import SHARED_BACKENDS
from htppower.control.claims.claims import Claims
from htppower.control.closer import Closer
from htppower.control.core.event_bus import EventBus
from htppower.control.core.executor import Executor
from htppower.control.core.heartbeat import Heartbeat
from htppower.control.core.native_calls import NativeCalls
from htppower.control.core.other_controllers import OtherControllers
from htppower.control.core.plans import Planner
from htppower.control.core.power_config_ids import PowerConfigIds
from htppower.control.core.process_settings import ProcessSettings
from htppower.control.core.reconciler import Reconciler
from htppower.control.core.recovery import Recovery
from htppower.control.core.remains import Remains
from htppower.control.core.state_machine import SessionTransitions
from htppower.control.core.stepper import Stepper
from htppower.control.log import log_event, log_wants
from htppower.control.opener import Opener

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.base import Backend, Description
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.shared_backend import Member
    from htppower.control.time.base import Time
    from htppower.profiles.cache import ProfileCache

_LOGGER = logging.getLogger("htppower")


class Parts:
    """What a controller is made of, but for what it has of its own process and of files.

    Args:
        backend, description: what receives the native calls, and what it says of itself.
        time: clock and alarms.
        registry: the open sessions.
        profiles: reads the profiles of names and paths.
        raises: whether a failed vote raises where a phase begins or ends.
        strict: whether a profile is refused of which the platform lacks a vote.
        heartbeat_us: how long a session that is raised may make no call; 0 for no heartbeat.
        close_again: closes the controller once nothing is left of what its closing could not bring down.
    """

    def __init__(
        self,
        backend: Backend,
        description: Description,
        time: Time,
        registry: Registry,
        profiles: ProfileCache,
        *,
        raises: bool,
        strict: bool,
        heartbeat_us: int,
        close_again: Callable[[], object],
    ) -> None:
        planner = Planner(description.platform, strict=strict)
        self.events = events = EventBus(time)
        events.add(log_event, log_wants)
        shared = SHARED_BACKENDS.find(backend, description.path)
        self.settings = settings = ProcessSettings(planner.missing, shared)
        self.recovery = recovery = Recovery(registry, settings, time, self._retry)
        others = OtherControllers(registry, settings, recovery, shared, time, self._after_turn)
        self.calls = calls = NativeCalls(
            backend,
            registry,
            shared,
            events,
            time,
            others.link_lost,
            others.call_interrupted,
            raises=raises,
            line=shared.calls if description.one_call_at_a_time else None,
        )
        ids = PowerConfigIds(calls, registry, recovery, shared.given, others.ids_crossed)
        executor = Executor(calls, ids, registry, settings, planner.missing, strict=strict)
        transitions = SessionTransitions(registry, executor, events, time)
        heartbeat = Heartbeat(registry, executor, transitions, recovery, time, self._if_free, heartbeat_us)
        stepper = Stepper(registry, settings, planner, events, executor, transitions, recovery, heartbeat, time)
        self.reconciler = Reconciler(registry, stepper, recovery, events, time, planner, others, raises=raises)
        self.remains = Remains(
            registry, executor, ids, settings, others, recovery, stepper, self.reconciler, close_again
        )
        self.opener = Opener(
            registry, ids, executor, transitions, recovery, stepper, self.reconciler, self.remains, events
        )
        self.claims = Claims(registry, self.reconciler, planner, profiles, events, time)
        self.closer = Closer(registry, self.claims, self.reconciler, self.remains, calls, time)
        settings.peer = others

    # Those that are made before the reconciler ask it later.

    def _retry(self) -> None:
        self.remains.retry()

    def _after_turn(self) -> None:
        self.reconciler.after_turn()

    def _if_free(self, session: SessionRecord, action: Callable[[], object]) -> None:
        self.reconciler.if_free(session, action)


def warn_of_others(settings: ProcessSettings, library: str) -> None:
    """Log, once for each backend, that another controller is on it.

    Args:
        settings: those of the process, as the new controller has them.
        library: what the backend is, in words.
    """
    others = settings.others
    if others and settings.shared.is_to_warn():
        _LOGGER.warning(
            "controller %d is made while %s open on the same backend, %s: the settings of the process, such as RPC"
            " polling, are settled over all of them; one controller with a session for each client does the same",
            settings.number,
            " and ".join(map(_named, others)) + (" is" if len(others) == 1 else " are"),
            library,
        )


def _named(member: Member) -> str:
    owners = () if member.peer is None else member.peer.owners
    return f"controller {member.number}" + (f" ({', '.join(owners)})" if owners else "")
