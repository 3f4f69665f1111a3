"""Native calls: each is timed, told of, and asked whether it tells of a lost link. The only caller of a backend."""

from __future__ import annotations

import _thread
import functools
import operator
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.core.session_record import LastCall
from htppower.control.time.interrupts import is_from_outside
from htppower.errors import CallUnderWay, VoteRejected, kept
from htppower.events import CallMade
from htppower.votes.native_codes import FAILED, INVALID_INPUT, LINK_LOST, NULL_CLIENT, SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.backends.base import Backend
    from htppower.backends.clock import Clock
    from htppower.control.core.event_bus import EventBus
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.shared_backend import SharedBackend
    from htppower.control.time.fair_lock import FairLock
    from htppower.votes.vote_set import VoteSet


@attrs.define(eq=False, repr=False)
class NativeCalls:
    """Makes native calls for a session, or, with None, for the controller itself.

    Args:
        backend: what receives them.
        registry: is told where nobody knows what a call has told.
        shared: counts the restarts that calls have told of.
        events: is told of each.
        clock: what times them.
        link_lost: called with a call that told that the link to the DSP was lost, with how many restarts had been told
            of when it began, and with how long it took, in us.
        interrupted: called where an exception such as Ctrl-C came, so that nobody knows what a call has told.
        raises: whether the host is to see what failed, so that errors keep what caused them, with its frames, until the
            host drops them. Otherwise only its text is kept: its frames hold the inputs of an inference.
        line: where the backend takes no calls side by side, the lock under which they are made.
    """

    _backend: Backend
    _registry: Registry
    _shared: SharedBackend
    _events: EventBus
    _clock: Clock
    _link_lost: Callable[[VoteRejected, int, int], None]
    _interrupted: Callable[[], None]
    _raises: bool = attrs.field(kw_only=True)
    _line: FairLock | None = attrs.field(kw_only=True)
    _make: Callable[..., Any] = attrs.field(init=False)
    # By thread, the session, the function, the id and the beginning of the call that it makes.
    _under_way: dict[int, tuple[int, str, int | None, int]] = attrs.field(init=False, factory=dict)

    @_make.default
    def _(self) -> Callable[..., Any]:
        return self._call if self._line is None else functools.partial(self._line.run, self._call)

    @property
    def under_way(self) -> tuple[CallUnderWay, ...]:
        """The calls that have not returned yet, in the order in which they began."""
        now_us = self._clock.now_us
        calls = [CallUnderWay(*call, lasted_us=now_us - call[-1]) for call in self._under_way.copy().values()]
        return tuple(sorted(calls, key=lambda call: call.since_us))

    def create(self, session: SessionRecord | None, device_id: int, core_id: int) -> int:
        """Create a power config id.

        Raises:
            VoteRejected: the call failed, or gave id 0.
        """
        created: int = self._make(session, "createPowerConfigId", None, None, self._create, device_id, core_id)
        return created

    def _create(self, device_id: int, core_id: int) -> int:
        """Create an id at the backend; 0 is none, since a vote on it may override all others of the process."""
        made = operator.index(self._backend.create_power_config_id(device_id, core_id))
        if made == NULL_CLIENT:
            raise VoteRejected(INVALID_INPUT, function="createPowerConfigId", core=(device_id, core_id))
        return made

    def set(self, session: SessionRecord | None, power_config_id: int, votes: VoteSet) -> None:
        """Send a vote set on an id.

        Raises:
            VoteRejected: the call failed, or the id is 0, on which none is made.
        """
        if power_config_id == NULL_CLIENT:
            raise VoteRejected(INVALID_INPUT, votes, power_config_id=power_config_id)
        set_votes = self._backend.set_power_config
        self._make(session, "setPowerConfig", power_config_id, votes, set_votes, power_config_id, votes)

    def destroy(self, session: SessionRecord | None, power_config_id: int) -> None:
        """Destroy an id.

        Raises:
            VoteRejected: the call failed.
        """
        destroy = self._backend.destroy_power_config_id
        self._make(session, "destroyPowerConfigId", power_config_id, None, destroy, power_config_id)

    def _call(
        self,
        session: SessionRecord | None,
        function: str,
        power_config_id: int | None,
        votes: VoteSet | None,
        call: Callable[..., Any],
        *arguments: Any,
    ) -> Any:
        """Make a call and tell of it. Nothing is told of one that an exception such as Ctrl-C has interrupted."""
        failed: VoteRejected | None = None
        made = None
        restarts = self._shared.restarts
        thread = _thread.get_ident()
        try:
            began_us = self._clock.now_us
            whose = 0 if session is None else session.number
            self._under_way[thread] = (whose, function, power_config_id, began_us)
            try:
                made = call(*arguments)
            except VoteRejected as error:
                failed = error
            except Exception as error:  # a backend that does not keep the protocol must not fail an inference
                if is_from_outside(error):
                    raise
                failed = VoteRejected(FAILED, votes, function=function, power_config_id=power_config_id)
                failed.__cause__ = error
            ended_us = self._clock.now_us
            if failed is not None and failed.code in LINK_LOST:
                self._link_lost(failed, restarts, ended_us - began_us)
        except BaseException:
            # First, and no call: another exception may come in what follows.
            self._registry.doubtful = True
            self._shared.given.lost()
            self._interrupted()
            raise
        finally:
            self._under_way.pop(thread, None)
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
        if failed is not None:
            try:
                raise failed if self._raises else kept(failed)
            finally:
                # Its traceback holds this frame.
                del failed
        return made
