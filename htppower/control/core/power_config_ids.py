"""Power config ids: created for sessions and for the controller, and destroyed, at the latest by the back-off.

An id is its session's until the call that destroys it has returned: where that is interrupted, the session destroys it
when it is settled next. One that could not be destroyed is an orphan, which is kept until that has succeeded.

After a restart of the DSP in which the library has forgotten all ids, it may give the number of one again, to any
controller on the backend, while whoever had it before makes a call on it, which reaches the new one then. So nobody
uses it: it becomes an orphan, who had it before has none, and who was given it is given another.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.ledger import Ledger
from htppower.control.core.shared_backend import GivenId
from htppower.errors import VoteRejected, without_frames
from htppower.votes.clock_votes import HVX_REMOVED
from htppower.votes.native_codes import LINK_LOST, NULL_CLIENT
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.core.shared_backend import SharedBackend


@attrs.define(eq=False, repr=False)
class PowerConfigIds:
    """Creates and destroys ids.

    Args:
        shared: knows what each id was given for last, by any controller on the backend.
        lost: called where calls may have reached the id of another: nothing is known of any vote.
    """

    _calls: NativeCalls
    _registry: Registry
    _recovery: Recovery
    _shared: SharedBackend
    _lost: Callable[[], object]

    def create(self, session: SessionRecord, core_id: int) -> None:
        """Create the id of a core, where the session has none. Its turn is held.

        Raises:
            VoteRejected: the call failed.
        """
        if core_id not in session.ledgers:
            ends = self._shared.ends
            made = Ledger(power_config_id=self._calls.create(session, session.device_id, core_id))
            session.take_id(core_id, made)
            self._registry.note_core(session.device_id, core_id)
            # A number that another had is left alone; a library that gives the same one twice has no other.
            spoiled: set[int] = set()
            while self._take(made, ends) and made.power_config_id not in spoiled:
                spoiled.add(made.power_config_id)
                self._spoil(made.power_config_id)
                ends = self._shared.ends
                made.power_config_id = self._calls.create(session, session.device_id, core_id)

    def give_up(self, session: SessionRecord, core_id: int, told_of: SessionRecord | None) -> VoteRejected | None:
        """Destroy the id of a core, which is the session's no longer; return the call that failed. Its turn is held.

        ``told_of``: the session that the call is told of, if any.
        """
        ledger = session.ledgers[core_id]
        power_config_id = ledger.power_config_id
        # Where the call is interrupted, it may have been made.
        session.doubted |= {core_id}
        failed = self._destroy(told_of, ledger)
        try:
            session.give_up_id(core_id)
        finally:
            # Wherever an interrupt comes, it is the session's or an orphan, and not both.
            if failed is not None and core_id not in session.ledgers:
                with self._shared.lock:
                    if ledger.power_config_id != NULL_CLIENT:
                        self._registry.orphans[power_config_id] = ledger
        if failed is not None:
            self._recovery.failed(None, failed)
        return failed

    def use_a_new_one(self, use: Callable[[int], object], *, alone: bool) -> None:
        """Create an id for the controller itself, use it, and destroy it; on another core where the first refuses.

        ``alone``: whether the lock of what is left is held. Then one that could not be destroyed is used again: each
        try would leave one more.

        Raises:
            VoteRejected: it can't be created, or what its use raises, on the core where an id was created last.
        """
        cores = reversed(list(self._registry.cores) or [(0, 0)])
        on_any(functools.partial(self._use_a_new_one_on, core, use, alone=alone) for core in cores)

    def _use_a_new_one_on(self, core: tuple[int, int], use: Callable[[int], object], *, alone: bool) -> None:
        registry, left, ends = self._registry, self._left_on(core) if alone else None, self._shared.ends
        ledger = Ledger(power_config_id=self._calls.create(None, *core)) if left is None else left
        made = ledger.power_config_id
        try:
            registry.borrowed.add(made)
            registry.orphans[made] = ledger
            try:
                if left is None:
                    self._take(ledger, ends, orphan=True)
                if alone:
                    registry.left[core] = ledger
                use(made)
            finally:
                self._destroy_orphan(made)
        finally:
            registry.borrowed.discard(made)

    def _left_on(self, core: tuple[int, int]) -> Ledger | None:
        """Return what the controller made for itself on a core and could not destroy, None for none."""
        ledger = self._registry.left.get(core)
        if ledger is None or self._registry.orphans.get(ledger.power_config_id) is not ledger:
            return None
        return ledger

    def destroy_orphans(self) -> VoteRejected | None:
        """Destroy the ids that no session has any more, until the link is lost; return the last failure.

        By one thread at a time, which holds the lock of what is left.
        """
        failed = None
        for power_config_id in self._registry.all_orphans():
            if power_config_id in self._registry.borrowed:
                # Since a moment ago.
                continue
            failed = self._destroy_orphan(power_config_id) or failed
            if failed is not None and failed.code in LINK_LOST:
                break
        return failed

    def _destroy_orphan(self, power_config_id: int) -> VoteRejected | None:
        """Destroy an orphan, which it is until the call has succeeded; return the call that failed."""
        ledger = self._registry.orphans.get(power_config_id)
        if ledger is None:
            return None
        failed = self._destroy(None, ledger)
        if failed is None:
            with self._shared.lock:
                self._drop_orphan(power_config_id, ledger)
        else:
            self._recovery.failed(None, failed)
        return failed

    def _take(self, made: Ledger, ends: int, *, orphan: bool = False) -> bool:
        """Take in that the library has given an id; return whether calls of another may reach it, or have.

        That is so where another had one of that number before: it has none from now on. Not where it is just being
        destroyed, and no vote was lost since it was given: the library gives the number anew as soon as it is free.
        ``ends``: how many old ids were destroyed when the call began. That of this number may have been since, and this
        one with it. ``orphan``: whether it is one; another of this number is none any more.
        """
        shared, number = self._shared, made.power_config_id
        with shared.lock:
            before, losses = shared.given.get(number), shared.losses
            shared.given[number] = GivenId(made, losses)
            if before is not None and before.ledger is not made and not (before.ending and before.losses == losses):
                before.ledger.power_config_id = NULL_CLIENT
                self._drop_orphan(number, before.ledger)
                lost = True
            else:
                lost = shared.ended.get(number, 0) > ends
            if orphan:
                self._registry.orphans[number] = made
        if not lost:
            return False
        self._lost()
        return True

    def crossed(self, power_config_id: int) -> None:
        """Take in that a call was made on an id of which the library has given the number to another meanwhile."""
        self._spoil(power_config_id)
        self._lost()

    def _spoil(self, power_config_id: int) -> None:
        """Let nobody use an id that calls of another may have reached, or will; it is destroyed with what is left."""
        with self._shared.lock:
            given = self._shared.given.get(power_config_id)
            if given is None or self._registry.orphans.get(power_config_id) is given.ledger:
                return
            given.ledger.power_config_id = NULL_CLIENT
            given.ledger = self._registry.orphans[power_config_id] = Ledger(power_config_id=power_config_id)
        self._recovery.lacks(None)

    def _drop_orphan(self, power_config_id: int, ledger: Ledger) -> None:
        """Take in that what an id was given for is no orphan, if it was one."""
        if self._registry.orphans.get(power_config_id) is ledger:
            del self._registry.orphans[power_config_id]

    def _note_end(self, ledger: Ledger, power_config_id: int, *, ending: bool) -> bool:
        """Take in that an id is being destroyed, or that this has failed; return whether it is another's now."""
        with self._shared.lock:
            given = self._shared.given.get(power_config_id)
            if given is None or given.ledger is not ledger:
                return given is not None
            given.ending = ending
            return False

    def _forget(self, ledger: Ledger, power_config_id: int) -> None:
        """Take in that an id is destroyed, unless it was given to another."""
        with self._shared.lock:
            shared, given = self._shared, self._shared.given.get(power_config_id)
            if given is None or given.ledger is not ledger:
                return
            del shared.given[power_config_id]
            if given.losses != shared.losses:
                shared.ends += 1
                shared.ended[power_config_id] = shared.ends

    def _destroy(self, session: SessionRecord | None, ledger: Ledger) -> VoteRejected | None:
        """Destroy an id, for a session if there is one; return the call that failed. One that is another's is left."""
        power_config_id = ledger.power_config_id
        if power_config_id == NULL_CLIENT:
            return None
        self._note_end(ledger, power_config_id, ending=True)
        failed = self._try_to_destroy(session, ledger, power_config_id)
        if ledger.power_config_id != power_config_id:
            self.crossed(power_config_id)
        elif failed is None:
            self._forget(ledger, power_config_id)
        return failed

    def _try_to_destroy(
        self, session: SessionRecord | None, ledger: Ledger, power_config_id: int
    ) -> VoteRejected | None:
        """Destroy an id; where that fails, remove its votes at least. Return the call that failed."""
        try:
            self._calls.destroy(session, power_config_id)
        except VoteRejected as error:
            if self._note_end(ledger, power_config_id, ending=False):
                # The library has given its number to another: it was gone already.
                return None
            if error.code in LINK_LOST:
                return without_frames(error)
            try:
                # The clocks' vote at least, as far as the library does that.
                self._calls.set(None, power_config_id, VoteSet(dcvs_v3=HVX_REMOVED))
            except VoteRejected as second:
                return without_frames(second if second.code in LINK_LOST else error)
            return without_frames(error)
        return None


def on_any(actions: Iterable[Callable[[], object]]) -> None:
    """Run actions on one core after the other, until no call fails in one, or the link is lost.

    Raises:
        VoteRejected: each has failed, as the first did; or the link is lost.
    """
    first: VoteRejected | None = None
    for action in actions:
        try:
            action()
        except VoteRejected as error:
            if error.code in LINK_LOST:
                raise
            first = first or without_frames(error)
        else:
            return
    if first is not None:
        # A copy: the traceback of what is raised holds this frame, and with it the inputs of an inference.
        raise without_frames(first)
