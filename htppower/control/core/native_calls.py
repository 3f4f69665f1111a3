"""Native calls: makes them, times each call, reports it as an event, and passes the answer to the recovery.

No other module creates, sets or destroys power config ids. The line is held.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.core.session_record import LastCall
from htppower.errors import CallUnderWay, VoteRejected, kept
from htppower.events import CallMade
from htppower.votes.native_codes import FAILED, INVALID_INPUT, NULL_CLIENT, SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.base import Backend
    from htppower.backends.clock import Clock
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.event_bus import EventBus
    from htppower.votes.vote_set import VoteSet


@attrs.define(eq=False, repr=False)
class NativeCalls:
    """Makes native calls for a session, or, if the session is None, for the controller itself.

    Args:
        backend: receives the calls.
        events: reports each call.
        clock: times each call.
        recovery: gets the answer of each call.
        raises: whether failed calls are raised to the host. If so, an error keeps its cause and its frames for the
            host. If not, only the text of the cause is kept, since the frames would keep the inputs of an inference
            alive.
    """

    backend: Backend
    _events: EventBus
    _clock: Clock
    _recovery: Recovery
    _raises: bool = attrs.field(kw_only=True)
    _under_way: tuple[int, str, int | None, int] | None = attrs.field(init=False, default=None)

    @property
    def under_way(self) -> tuple[CallUnderWay, ...]:
        """The call that has not returned yet; empty if there is none."""
        call = self._under_way
        return () if call is None else (CallUnderWay(*call, lasted_us=self._clock.now_us - call[-1]),)

    def create(self, session: SessionRecord, device_id: int, core_id: int) -> int:
        """Create a power config id.

        Raises:
            VoteRejected: the call failed, or returned id 0.
        """
        made: int = self._call(session, "createPowerConfigId", None, None, self._create, device_id, core_id)
        return made

    def _create(self, device_id: int, core_id: int) -> int:
        """Create an id.

        An id of 0 counts as a failure, since a vote on it may override all other votes of the process.
        """
        made = operator.index(self.backend.create_power_config_id(device_id, core_id))
        if made == NULL_CLIENT:
            raise VoteRejected(INVALID_INPUT, function="createPowerConfigId", core=(device_id, core_id))
        return made

    def set(self, session: SessionRecord, power_config_id: int, votes: VoteSet) -> None:
        """Send votes of an id.

        Raises:
            VoteRejected: the call failed.
        """
        self.set_settings(session, power_config_id, votes)
        # The DSP has answered. Calls of other kinds do not prove that the link works.
        self._recovery.link.worked()

    def set_settings(self, session: SessionRecord | None, power_config_id: int, settings: VoteSet) -> None:
        """Send settings of the process.

        Raises:
            VoteRejected: the call failed.
        """
        set_votes = self.backend.set_power_config
        self._call(session, "setPowerConfig", power_config_id, settings, set_votes, power_config_id, settings)

    def destroy(self, session: SessionRecord | None, power_config_id: int) -> None:
        """Destroy a power config id.

        Raises:
            VoteRejected: the call failed.
        """
        destroy = self.backend.destroy_power_config_id
        self._call(session, "destroyPowerConfigId", power_config_id, None, destroy, power_config_id)

    def _call(
        self,
        session: SessionRecord | None,
        function: str,
        power_config_id: int | None,
        votes: VoteSet | None,
        call: Callable[..., Any],
        *arguments: Any,
    ) -> Any:
        failed: VoteRejected | None = None
        made = None
        began_us = self._clock.now_us
        self._under_way = (0 if session is None else session.number, function, power_config_id, began_us)
        try:
            made = call(*arguments)
        except VoteRejected as error:
            failed = error
            if error.function != function or error.votes != votes:
                # The meaning of the failure depends on the function and the votes. A backend of the host's own may
                # leave these out of its error.
                failed = VoteRejected(error.code, votes, function=function, power_config_id=power_config_id)
                failed.__cause__ = error.__cause__
        except Exception as error:  # noqa: BLE001 - a backend that does not keep the protocol must not fail an inference
            failed = VoteRejected(FAILED, votes, function=function, power_config_id=power_config_id)
            failed.__cause__ = error
        finally:
            self._under_way = None
        ended_us = self._clock.now_us
        code = SUCCESS if failed is None else failed.code
        on = made if power_config_id is None else power_config_id
        if session is not None:
            session.history.called(LastCall(ended_us, function, on, code, ended_us - began_us), failed)
        self._events.tell(
            CallMade,
            session,
            function=function,
            power_config_id=on,
            votes=votes,
            code=code,
            duration_us=ended_us - began_us,
        )
        if failed is None:
            return made
        self._recovery.failed(kept(failed))
        try:
            raise failed if self._raises else kept(failed)
        finally:
            # The error's traceback refers to this frame, and the frame to the error. This breaks the cycle.
            del failed
