"""Power config ids: created for sessions and for the controller, and destroyed, at the latest by the back-off.

An id that is to be destroyed is an orphan first: no session's any more, and kept until the call has succeeded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import VoteRejected, without_frames
from htppower.votes.clock_votes import HVX_REMOVED
from htppower.votes.native_codes import LINK_LOST
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.native_calls import NativeCalls
    from htppower.control.recovery import Recovery
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord


@attrs.define(eq=False, repr=False)
class PowerConfigIds:
    """Creates and destroys ids."""

    _calls: NativeCalls
    _registry: Registry
    _recovery: Recovery

    def create(self, session: SessionRecord, core_id: int) -> None:
        """Create the id of a core, where the session has none. Its turn is held.

        Raises:
            VoteRejected: the call failed.
        """
        if core_id not in session.ledgers:
            made = self._calls.create(session, session.device_id, core_id)
            # After a restart the library may give the number of an orphan again.
            self._registry.orphans.pop(made, None)
            session.take_id(core_id, made)

    def give_up(self, session: SessionRecord, core_id: int, told_of: SessionRecord | None) -> VoteRejected | None:
        """Destroy the id of a core, which is the session's no longer; return the call that failed. Its turn is held.

        ``told_of``: the session that the call is told of, if any.
        """
        registry, power_config_id = self._registry, session.ledgers[core_id].power_config_id
        try:
            registry.borrowed.add(power_config_id)
            registry.orphans[power_config_id] = None
            session.give_up_id(core_id)
            return self._destroy(told_of, power_config_id)
        finally:
            registry.borrowed.discard(power_config_id)

    def use_a_new_one(self, use: Callable[[int], object]) -> None:
        """Create an id for the controller itself, use it, and destroy it.

        Raises:
            VoteRejected: it can't be created, or what its use raises.
        """
        registry = self._registry
        made = self._calls.create(None, *registry.last_core)
        try:
            registry.borrowed.add(made)
            registry.orphans[made] = None
            try:
                use(made)
            finally:
                self._destroy(None, made)
        finally:
            registry.borrowed.discard(made)

    def destroy_orphans(self) -> VoteRejected | None:
        """Destroy the ids that no session has any more, until the link is lost; return the last failure."""
        failed = None
        for power_config_id in self._registry.all_orphans():
            if power_config_id in self._registry.borrowed:
                continue
            failed = self._destroy(None, power_config_id) or failed
            if failed is not None and failed.code in LINK_LOST:
                break
        return failed

    def _destroy(self, session: SessionRecord | None, power_config_id: int) -> VoteRejected | None:
        """Destroy an orphan, for the session that has given it up where there is one; return the call that failed.

        Where another thread is about to destroy it, nothing is done.
        """
        failed = self._try_to_destroy(session, power_config_id)
        if failed is not None:
            self._recovery.failed(None, failed)
        return failed

    def _try_to_destroy(self, session: SessionRecord | None, power_config_id: int) -> VoteRejected | None:
        gone = True
        try:
            with self._registry.lock:
                if power_config_id not in self._registry.orphans:
                    return None
                gone = False
                del self._registry.orphans[power_config_id]
            self._calls.destroy(session, power_config_id)
            gone = True
        except VoteRejected as error:
            if error.code in LINK_LOST:
                return without_frames(error)
            try:
                # The clocks' vote at least, as far as the library does that.
                self._calls.set(None, power_config_id, VoteSet(dcvs_v3=HVX_REMOVED))
            except VoteRejected as second:
                return without_frames(second if second.code in LINK_LOST else error)
            return without_frames(error)
        finally:
            if not gone:
                self._registry.orphans[power_config_id] = None
        return None
