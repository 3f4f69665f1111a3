"""Power config ids: created for sessions and for the controller, and destroyed, at the latest by the back-off.

An id is its session's until the call that destroys it has returned: where that is interrupted, the session destroys it
when it is settled next. One that could not be destroyed is an orphan, which is kept until that has succeeded.

Where the library gives the number of an id again while calls of whoever had it before may reach it, nobody uses it: it
becomes an orphan, who had it before has none, and who was given it is given another.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.ledger import Ledger
from htppower.errors import VoteRejected, without_frames
from htppower.votes.clock_votes import HVX_REMOVED
from htppower.votes.native_codes import LINK_LOST, NULL_CLIENT
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.given_ids import Given, GivenIds
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord

# How often a session is given a number that calls of another may reach until it uses it: there may be no other.
MOST_CROSSED = 8


@attrs.define(eq=False, repr=False)
class PowerConfigIds:
    """Creates and destroys ids.

    Args:
        given: knows what each id was given for, over all controllers on the backend.
        ids_crossed: called where calls may have reached the id of another: nothing is known of any vote.
    """

    _calls: NativeCalls
    _registry: Registry
    _recovery: Recovery
    _given: GivenIds
    _ids_crossed: Callable[[], object]

    def create(self, session: SessionRecord, core_id: int) -> None:
        """Create the id of a core, where the session has none. Its turn is held.

        Raises:
            VoteRejected: the call failed.
        """
        crossed: list[int] = []
        while core_id not in session.ledgers:
            made, is_last = Ledger(), bool(crossed) and crossed.count(crossed[-1]) == MOST_CROSSED
            try:
                crossed.append(self._create(session, (session.device_id, core_id), made, at_any_rate=is_last))
                if made not in self._registry.orphans:
                    session.take_id(core_id, made)
                    self._registry.note_core(session.device_id, core_id)
            finally:
                # Wherever an interrupt comes, it is the session's or an orphan, and not both.
                if made.power_config_id != NULL_CLIENT and session.ledgers.get(core_id) is not made:
                    self._registry.orphans[made] = None
                    self._recovery.lacks(None)

    def _create(self, session: SessionRecord | None, core: tuple[int, int], made: Ledger, *, at_any_rate: bool) -> int:
        """Create an id, return its number. It is an orphan where calls of another may reach it, or used at any rate."""
        begun = self._given.begin_create()
        made.power_config_id = number = self._calls.create(session, *core)
        take = functools.partial(self._given.take, at_any_rate=at_any_rate)
        self._crossing(functools.partial(take, made, begun, self._registry.orphans))
        return number

    def give_up(self, session: SessionRecord, core_id: int, told_of: SessionRecord | None) -> VoteRejected | None:
        """Destroy the id of a core, which is the session's no longer; return the call that failed. Its turn is held.

        ``told_of``: the session that the call is told of, if any.
        """
        ledger = session.ledgers[core_id]
        # Where the call is interrupted, it may have been made.
        session.doubted |= {core_id}
        failed = self._destroy(told_of, ledger)
        try:
            session.give_up_id(core_id)
        finally:
            # Wherever an interrupt comes, it is the session's or an orphan, and not both.
            if failed is not None and core_id not in session.ledgers:
                self._registry.orphans[ledger] = None
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
        registry = self._registry
        ledger = registry.left.get(core) if alone else None
        if ledger not in registry.orphans or ledger.power_config_id == NULL_CLIENT:
            ledger = Ledger()
        try:
            registry.borrowed.add(ledger)
            registry.orphans[ledger] = None
            try:
                # On which id the settings of the process are sent makes no difference.
                number = ledger.power_config_id or self._create(None, core, ledger, at_any_rate=True)
                if alone:
                    registry.left[core] = ledger
                use(number)
            finally:
                self._destroy_orphan(ledger)
        finally:
            registry.borrowed.discard(ledger)

    def destroy_orphans(self) -> VoteRejected | None:
        """Destroy the ids that no session has any more, until the link is lost; return the last failure.

        By one thread at a time, which holds the lock of what is left.
        """
        failed = None
        for ledger in self._registry.all_orphans():
            failed = self._destroy_orphan(ledger) or failed
            if failed is not None and failed.code in LINK_LOST:
                break
        return failed

    def _destroy_orphan(self, ledger: Ledger) -> VoteRejected | None:
        """Destroy an orphan, which it is until the call has succeeded; return the call that failed."""
        failed = self._destroy(None, ledger)
        if failed is None:
            self._registry.orphans.pop(ledger, None)
        else:
            self._recovery.failed(None, failed)
        return failed

    def crossed(self, power_config_id: int) -> None:
        """Take in that votes may have reached the id of another, or will: it is destroyed with what is left."""
        self._crossing(functools.partial(self._given.take_away, power_config_id, self._registry.orphans))

    def _crossing(self, step: Callable[[], bool]) -> None:
        """Tell where votes may be lost, as a step says. Nothing is known of any vote then, nor if it is interrupted."""
        try:
            if step():
                self._ids_crossed()
        except BaseException:
            self._registry.doubtful = True
            self._given.lost()
            self._ids_crossed()
            raise

    def _destroy(self, session: SessionRecord | None, ledger: Ledger) -> VoteRejected | None:
        """Destroy an id, for a session if there is one; return the call that failed. One that is another's is left."""
        given: Given | None = None
        try:
            given = self._given.begin_destroy(ledger)
            if given is None:
                return None
            try:
                self._calls.destroy(session, given.number)
            except VoteRejected as error:
                if self._given.not_destroyed(ledger):
                    return self._remove_votes(ledger, given.number, without_frames(error))
                # The library has given its number to another: it was gone already.
            self._destroyed(given)
        except BaseException:
            if not self._given.not_destroyed(ledger) and given is not None:
                self._destroyed(given)
            raise
        return None

    def _destroyed(self, given: Given) -> None:
        self._crossing(functools.partial(self._given.destroyed, given, self._registry.orphans))

    def _remove_votes(self, ledger: Ledger, power_config_id: int, failed: VoteRejected) -> VoteRejected:
        """Remove at least the clocks' vote of an id that was not destroyed; return what failed, or a lost link."""
        if failed.code in LINK_LOST:
            return failed
        try:
            self._calls.set(None, power_config_id, VoteSet(dcvs_v3=HVX_REMOVED))
        except VoteRejected as error:
            failed = without_frames(error) if error.code in LINK_LOST else failed
        finally:
            if ledger.power_config_id != power_config_id:
                self.crossed(power_config_id)
        return failed


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
