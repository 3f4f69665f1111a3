"""Native calls: each is timed, told of, and asked whether it tells of a lost link. The only caller of a backend."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from htppower.control.history import LastCall
from htppower.errors import VoteRejected
from htppower.events import CallMade
from htppower.votes.native_codes import FAILED, LINK_LOST, SUCCESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.backends.base import Backend
    from htppower.backends.clock import Clock
    from htppower.control.event_bus import EventBus
    from htppower.control.session_record import SessionRecord
    from htppower.votes.vote_set import VoteSet


class NativeCalls:
    """Makes native calls for a session, or, with None, for the controller itself. The controller's lock protects it.

    Args:
        backend: what receives them.
        events: is told of each.
        clock: what times them.
    """

    def __init__(self, backend: Backend, events: EventBus, clock: Clock) -> None:
        self._backend = backend
        self._events = events
        self._clock = clock
        self._link_error: VoteRejected | None = None

    def create(self, session: SessionRecord | None, device_id: int, core_id: int) -> int:
        """Create a power config id.

        Raises:
            VoteRejected: the call failed.
        """
        with self._made(session, "createPowerConfigId", None) as outcome:
            created = self._backend.create_power_config_id(device_id, core_id)
            outcome.append(created)
        return created

    def set(self, session: SessionRecord | None, power_config_id: int, votes: VoteSet) -> None:
        """Send a vote set on an id.

        Raises:
            VoteRejected: the call failed.
        """
        with self._made(session, "setPowerConfig", power_config_id, votes):
            self._backend.set_power_config(power_config_id, votes)

    def destroy(self, session: SessionRecord | None, power_config_id: int) -> None:
        """Destroy an id.

        Raises:
            VoteRejected: the call failed.
        """
        with self._made(session, "destroyPowerConfigId", power_config_id):
            self._backend.destroy_power_config_id(power_config_id)

    def take_link_error(self) -> VoteRejected | None:
        """Return the call that last told that the link to the DSP was lost, once."""
        error, self._link_error = self._link_error, None
        return error

    @contextlib.contextmanager
    def _made(
        self, session: SessionRecord | None, function: str, power_config_id: int | None, votes: VoteSet | None = None
    ) -> Iterator[list[int]]:
        """Time the call that is made within, and tell of it when it has returned.

        A call that is interrupted, as by Ctrl-C, has an unknown result, and is not told.
        """
        created: list[int] = []
        began_us = self._clock.now_us
        failed: VoteRejected | None = None
        try:
            yield created
        except VoteRejected as error:
            failed = error
        except Exception as error:  # noqa: BLE001 - a backend that does not keep the protocol must not fail an inference
            failed = VoteRejected(FAILED, votes, function=function, power_config_id=power_config_id)
            failed.__cause__ = error
        ended_us = self._clock.now_us
        code = SUCCESS if failed is None else failed.code
        if failed is not None and code in LINK_LOST:
            self._link_error = failed
        on = created[0] if created else power_config_id
        call = LastCall(ended_us, function, on, code, ended_us - began_us)
        if session is not None:
            session.history.called(call, failed)
        self._events.tell(
            CallMade,
            None if session is None else session.identity,
            function=function,
            power_config_id=on,
            votes=votes,
            code=code,
            duration_us=call.duration_us,
        )
        if failed is not None:
            raise failed
