"""Casting: from a step that a session is to make to native calls, and to what came of them."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import attrs

from htppower.control.ledger import NOTHING
from htppower.control.process_settings import merged
from htppower.errors import VoteRejected, kept
from htppower.events import Degradation
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.clock_votes import HVX_REMOVED
from htppower.votes.native_codes import INVALID_INPUT, LINK_LOST, NOT_ON_THIS_PLATFORM
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.control.desired import Step
    from htppower.control.native_calls import NativeCalls
    from htppower.control.process_settings import ProcessSettings
    from htppower.control.registry import Registry
    from htppower.control.session_record import SessionRecord
    from htppower.votes.native import Option


_ASKED_AT_THE_CALL = rules.ids(lambda rule: rule.asked_at_the_call)


@attrs.frozen
class Outcome:
    """What came of a step.

    Attributes:
        error: the first call that failed, where the step failed with it.
        not_given_back: the calls that failed while ids were given back, with the ids; the step is done nevertheless.
    """

    error: VoteRejected | None = None
    not_given_back: tuple[tuple[int, VoteRejected], ...] = ()


DONE = Outcome()


class Executor:
    """Sends what differs between what is known and what a session should have. A session's turn is held.

    Args:
        calls, registry, settings: makes the calls, has the ids that no session has, and what the process is to have.
        missing: where to note the options that the library refuses as not on this platform.
        strict: take no 13002 or 13004 as "this platform does not have it".
    """

    def __init__(
        self,
        calls: NativeCalls,
        registry: Registry,
        settings: ProcessSettings,
        missing: dict[Option, Degradation],
        *,
        strict: bool,
    ) -> None:
        self._calls = calls
        self._registry = registry
        self._settings = settings
        self._missing = missing
        self._strict = strict

    def run(self, session: SessionRecord, step: Step) -> Outcome:
        """Make the calls of a step."""
        if step.votes is None:
            return Outcome(not_given_back=tuple(self._give_back(session)))
        try:
            self._cast(session, step.votes)
        except VoteRejected as error:
            return Outcome(kept(error))
        return DONE

    def create_ids(self, session: SessionRecord) -> None:
        """Create the power config ids that a session lacks.

        Raises:
            VoteRejected: of the first that can't be created; those before it stay.
        """
        for core_id in session.core_ids:
            if core_id not in session.ledgers:
                made = self._calls.create(session, session.device_id, core_id)
                session.take_id(core_id, made)

    def differs(self, session: SessionRecord, votes: VoteSet) -> bool:
        """Return whether anything must be sent for a session's votes to be in force."""
        votes = votes.where_absent(*self._missing)
        ledgers = session.ledgers
        return (
            len(ledgers) < len(session.core_ids)
            or any(ledger.difference(votes) for ledger in ledgers.values())
            or bool(self._settings.difference())
        )

    def cast_settings(self, session: SessionRecord | None = None) -> VoteRejected | None:
        """Send the settings of the process that differ; return the call that failed.

        Args:
            session: on an id of which; an id is made for the call, and destroyed, where there is none.
        """
        made = None
        with self._settings.turn:
            settings = self._settings.difference()
            if not settings:
                return None
            try:
                if session is not None:
                    self._set(session, next(iter(session.ledgers)), NOTHING, settings)
                    return None
                made = self._calls.create(None, *self._registry.last_core)
                self._registry.orphans[made] = None
                since = self._settings.sending(settings)
                self._calls.set(None, made, settings)
                self._settings.sent(settings, since)
            except VoteRejected as error:
                return kept(error)
            finally:
                if made is not None:
                    self._destroy(None, made)
        return None

    def destroy_orphans(self) -> VoteRejected | None:
        """Destroy the ids that no session has any more; return the last call that failed."""
        failed = None
        for power_config_id in tuple(self._registry.orphans):
            failed = self._destroy(None, power_config_id) or failed
        return failed

    def _destroy(self, session: SessionRecord | None, power_config_id: int) -> VoteRejected | None:
        """Destroy an orphan, for the session that has given it up where there is one; return the call that failed.

        Where another thread is about to destroy it, nothing is done.
        """
        with self._registry.lock:
            if power_config_id not in self._registry.orphans:
                return None
            del self._registry.orphans[power_config_id]
        gone = False
        try:
            self._calls.destroy(session, power_config_id)
            gone = True
        except VoteRejected as error:
            if error.code not in LINK_LOST:
                # The clocks' vote at least, as far as the library does that.
                with contextlib.suppress(VoteRejected):
                    self._calls.set(None, power_config_id, VoteSet(dcvs_v3=HVX_REMOVED))
            return kept(error)
        finally:
            if not gone:
                self._registry.orphans[power_config_id] = None
        return None

    def _cast(self, session: SessionRecord, votes: VoteSet) -> None:
        """Send what differs, one call per core; settings of the process go with the first.

        Raises:
            VoteRejected: of the first call that fails. The other cores are tried nevertheless, unless the link is lost.
        """
        self._settings.ask(session.number, votes)
        self.create_ids(session)
        first: VoteRejected | None = None
        for core_id in session.core_ids:
            try:
                self._cast_on(session, core_id, votes)
            except VoteRejected as error:
                first = first or error
                if error.code in LINK_LOST:
                    break
        if first is None:
            # Where another session was just casting them.
            first = self.cast_settings(session)
        if first is not None:
            raise first

    def _cast_on(self, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        try:
            self._send(session, core_id, votes)
        except VoteRejected as error:
            if error.code != INVALID_INPUT or core_id not in session.doubted:
                raise
            # After a restart of the subsystem the library may know the id no longer.
            self._replace_id(session, core_id)
            self._send(session, core_id, votes)

    def _send(self, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        own = session.ledgers[core_id].difference(votes.where_absent(*self._missing))
        if self._settings.difference() and self._settings.turn.acquire(blocking=False):
            try:
                settings = self._settings.difference()
                if own or settings:
                    self._set(session, core_id, own, settings)
            finally:
                self._settings.turn.release()
        elif own:
            self._set(session, core_id, own, NOTHING)

    def _set(self, session: SessionRecord, core_id: int, own: VoteSet, settings: VoteSet) -> None:
        """Make one setPowerConfig call; one that a platform refuses in part is made again, vote by vote."""
        ledger, power_config_id = session.ledgers[core_id], session.power_config_ids[core_id]
        votes = merged(own, settings) if settings else own
        _check(ledger.now.known, votes, power_config_id)
        ledger.sending(own)
        since = self._settings.sending(settings) if settings else None
        try:
            self._calls.set(session, power_config_id, votes)
        except VoteRejected as error:
            if error.code not in NOT_ON_THIS_PLATFORM or self._strict:
                raise
            self._set_one_by_one(session, core_id, votes, error)
        else:
            session.doubted -= {core_id}
            ledger.sent(own)
            if since is not None:
                self._settings.sent(settings, since)

    def _set_one_by_one(self, session: SessionRecord, core_id: int, votes: VoteSet, error: VoteRejected) -> None:
        """Find out which option the platform lacks: the code alone does not tell. It is remembered."""
        options = votes.options
        if len(options) > 1:
            for option in options:
                # What needs an HVX vote can't be sent where that has just turned out to be missing.
                lacks_hvx = VOTE_OPTIONS[option].needs_hvx and session.ledgers[core_id].now.known.hvx is None
                if option not in self._missing and not lacks_hvx:
                    one = VoteSet.of({option: votes.get(option)})
                    own, settings = (NOTHING, one) if option in PROCESS_WIDE else (one, NOTHING)
                    self._set(session, core_id, own, settings)
            return
        (option,) = options
        rule = VOTE_OPTIONS[option].rule_if_missing
        known = self._settings.now if option in PROCESS_WIDE else session.ledgers[core_id].now
        # What was accepted before is there: that it is refused now is a failure, and the vote may still be up.
        if not rule or option in known.accepted:
            raise error
        message = f"the library answered {error.code} to {option.name}: this platform does not have it"
        self._missing[option] = Degradation(rule, message, option)
        if option in PROCESS_WIDE:
            self._settings.refused(option)
        else:
            session.ledgers[core_id].refused(option)

    def _give_back(self, session: SessionRecord) -> list[tuple[int, VoteRejected]]:
        """Give back the settings of the process, destroy the ids; return the calls that failed, with their ids.

        Every step is tried even if the one before failed; afterwards no id is used again.
        """
        self._settings.ask(session.number, None)
        failures = []
        ids = session.power_config_ids
        if ids:
            core_id = next(iter(ids))
            self._registry.last_core = (session.device_id, core_id)
            failed = self.cast_settings(session if core_id not in session.doubted else None)
            if failed is not None:
                failures.append((ids[core_id], failed))
        for core_id, power_config_id in ids.items():
            self._registry.orphans[power_config_id] = None
            session.give_up_id(core_id)
            failed = self._destroy(session, power_config_id)
            if failed is not None:
                failures.append((power_config_id, failed))
        return failures

    def _replace_id(self, session: SessionRecord, core_id: int) -> None:
        """Create an id anew. The library destroys unknown ids without complaint, so the old one can't linger."""
        old = session.power_config_ids[core_id]
        self._registry.orphans[old] = None
        session.give_up_id(core_id)
        self._destroy(None, old)
        self.create_ids(session)


def _check(in_force: VoteSet, votes: VoteSet, power_config_id: int) -> None:
    """Refuse what the rules refuse of a vote that needs an HVX vote, before the library does."""
    needs_hvx = any(VOTE_OPTIONS[option].needs_hvx for option in votes.options)
    if needs_hvx and rules.check(Case(votes, in_force=in_force), _ASKED_AT_THE_CALL):
        raise VoteRejected(INVALID_INPUT, votes, power_config_id=power_config_id)
