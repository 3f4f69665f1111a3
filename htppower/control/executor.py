"""Casting: from the votes that a session should have to native calls."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from htppower.control.ledger import Ledger
from htppower.control.process_settings import ProcessSettings
from htppower.errors import VoteRejected, kept
from htppower.events import Degradation
from htppower.profiles.profile import NO_VOTES
from htppower.rules import table as rules
from htppower.rules.case import Case
from htppower.votes.clock_votes import HVX_REMOVED
from htppower.votes.native_codes import INVALID_INPUT, LINK_LOST, NOT_ON_THIS_PLATFORM
from htppower.votes.options import VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.control.native_calls import NativeCalls
    from htppower.control.session_record import SessionRecord
    from htppower.votes.native import Option

_ASKED_AT_THE_CALL = rules.ids(lambda rule: rule.asked_at_the_call)


class Executor:
    """Sends what differs between the ledger and what a session should have. The controller's lock protects it.

    Args:
        calls: makes them.
        missing: where to note the options that the library refuses as not on this platform.
        strict: take no 13002 or 13004 as "this platform does not have it".
    """

    def __init__(self, calls: NativeCalls, missing: dict[Option, Degradation], *, strict: bool) -> None:
        self._calls = calls
        self._strict = strict
        self.missing = missing
        self.ledger = Ledger()
        self.process_settings = ProcessSettings()
        # Ids that could not be destroyed, with what may still be voted on them. They are used for nothing else.
        self.orphans: list[int] = []
        # Where the last id was, for a call that needs one when no session has any.
        self._where = (0, 0)

    def create_ids(self, session: SessionRecord) -> None:
        """Create the power config ids that a session lacks.

        Raises:
            VoteRejected: of the first that can't be created; those before it stay.
        """
        for core_id in session.core_ids:
            if core_id not in session.power_config_ids:
                session.power_config_ids[core_id] = self._calls.create(session, session.device_id, core_id)

    def wish(self, session: SessionRecord, votes: VoteSet | None) -> None:
        """Take a session's votes into the process-wide settings, or, with None, out of them."""
        self.process_settings.replace(session.wish, votes)
        session.wish = votes

    def differs(self, session: SessionRecord, votes: VoteSet) -> bool:
        """Take these votes as the session's wish, and return whether anything must be sent for them to be in force."""
        self.wish(session, votes)
        ids = session.power_config_ids
        return len(ids) < len(session.core_ids) or any(
            self.ledger.difference(power_config_id, self._wanted(votes)) for power_config_id in ids.values()
        )

    def cast(self, session: SessionRecord, votes: VoteSet) -> None:
        """Send what differs, one call per core; process-wide settings go with the first.

        Raises:
            VoteRejected: of the first call that fails. The other cores are tried nevertheless, unless the link is lost.
        """
        self.wish(session, votes)
        self.create_ids(session)
        first: VoteRejected | None = None
        for core_id in session.core_ids:
            try:
                self._cast_on(session, core_id, votes)
            except VoteRejected as error:
                first = first or error
                if error.code in LINK_LOST:
                    break
        if first is not None:
            raise first
        session.ids_doubted = False

    def release(self, session: SessionRecord) -> list[tuple[int, VoteRejected]]:
        """Give back the process-wide settings, destroy the ids; return the calls that failed, with their ids.

        Every step is tried even if the one before failed; afterwards no id is used again.
        """
        self.wish(session, None)
        ids = tuple(session.power_config_ids.values())
        failures = []
        if ids:
            self._where = (session.device_id, session.core_ids[0])
            error = self.settle_process(session, None if session.ids_doubted else ids[0])
            failures = [] if error is None else [(ids[0], error)]
        self.orphans += ids
        session.power_config_ids.clear()
        for power_config_id in ids:
            self.ledger.drop(power_config_id)
        return failures + self.destroy_orphans(session, ids)

    @property
    def process_differs(self) -> bool:
        """Whether the process-wide settings that are wanted are not known to be in force."""
        return bool(self._process_difference())

    def settle_process(
        self, session: SessionRecord | None = None, power_config_id: int | None = None
    ) -> VoteRejected | None:
        """Send the process-wide settings that differ, on any id, and for a session where one asks; return the failure.

        Where no session has an id left, one is made for the call and destroyed.
        """
        settings = self._process_difference()
        if not settings:
            return None
        try:
            if power_config_id is not None:
                self._set(session, power_config_id, settings)
                return None
            made = self._calls.create(session, *self._where)
            self.orphans.append(made)
            self._set(session, made, settings)
        except VoteRejected as error:
            return kept(error)
        finally:
            if power_config_id is None:
                self.destroy_orphans()
        return None

    def destroy_orphans(
        self, session: SessionRecord | None = None, ids: tuple[int, ...] = ()
    ) -> list[tuple[int, VoteRejected]]:
        """Destroy the ids that no session has any more; return the calls that failed, with their ids.

        Args:
            session: the one that has just given up the ``ids``; other ids are nobody's.
            ids: see there.
        """
        failures = []
        for power_config_id in tuple(self.orphans):
            try:
                self._calls.destroy(session if power_config_id in ids else None, power_config_id)
            except VoteRejected as error:
                failures.append((power_config_id, kept(error)))
                if error.code not in LINK_LOST:
                    self._remove_votes(power_config_id)
            else:
                self.orphans.remove(power_config_id)
        return failures

    def _remove_votes(self, power_config_id: int) -> None:
        """Take the clocks' vote from an id that can't be destroyed, as far as the library does that."""
        with contextlib.suppress(VoteRejected):
            self._calls.set(None, power_config_id, VoteSet(dcvs_v3=HVX_REMOVED))

    def take_link_error(self) -> VoteRejected | None:
        """Return the call that last told that the link to the DSP was lost, once."""
        return self._calls.take_link_error()

    def forget(self, session: SessionRecord) -> None:
        """Know no longer what is in force for a session."""
        for power_config_id in session.power_config_ids.values():
            self.ledger.forget(power_config_id)

    def doubt(self, session: SessionRecord) -> None:
        """Know no longer what is in force for a session, process-wide settings included."""
        self.forget(session)
        self.ledger.forget_process()

    def _cast_on(self, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        try:
            self._send(session, core_id, votes)
        except VoteRejected as error:
            if error.code != INVALID_INPUT or not session.ids_doubted:
                raise
            # After a restart of the subsystem the library may know the id no longer.
            self._replace_id(session, core_id)
            self._send(session, core_id, votes)

    def _send(self, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        power_config_id = session.power_config_ids[core_id]
        differing = self.ledger.difference(power_config_id, self._wanted(votes))
        if differing:
            self._set(session, power_config_id, differing)

    def _wanted(self, votes: VoteSet) -> VoteSet:
        """Return a session's votes with the process's settings, without what the platform has turned out to lack."""
        return self.process_settings.arbitrate(votes).where_absent(*self.missing)

    def _process_difference(self) -> VoteSet:
        return self.ledger.process_difference(self._wanted(NO_VOTES))

    def _set(self, session: SessionRecord | None, power_config_id: int, votes: VoteSet) -> None:
        """Make one setPowerConfig call; one that a platform refuses in part is made again, vote by vote."""
        self._check(power_config_id, votes)
        self.ledger.sending(power_config_id, votes)
        try:
            self._calls.set(session, power_config_id, votes)
        except VoteRejected as error:
            if error.code not in NOT_ON_THIS_PLATFORM or self._strict:
                raise
            self._set_one_by_one(session, power_config_id, votes, error)
        else:
            self.ledger.sent(power_config_id, votes)

    def _set_one_by_one(
        self, session: SessionRecord | None, power_config_id: int, votes: VoteSet, error: VoteRejected
    ) -> None:
        """Find out which option the platform lacks: the code alone does not tell. It is remembered."""
        options = votes.options
        if len(options) > 1:
            for option in options:
                if option not in self.missing:
                    self._set(session, power_config_id, VoteSet.of({option: votes.get(option)}))
            return
        (option,) = options
        # What was accepted before is there: that it is refused now is a failure, and the vote may still be up.
        rule = VOTE_OPTIONS[option].rule_if_missing
        if not rule or self.ledger.was_accepted(power_config_id, option):
            raise error
        instead = votes.where_absent(option)
        cast = f", and {instead} is cast" if instead else ""
        message = f"the library answered {error.code} to {option.name}: this platform does not have it{cast}"
        self.missing[option] = Degradation(rule, message, option)
        self.ledger.refused(power_config_id, option)
        if instead:
            self._set(session, power_config_id, instead)

    def _check(self, power_config_id: int, votes: VoteSet) -> None:
        """Refuse what the rules refuse of a vote that needs an HVX vote, before the library does."""
        if not any(VOTE_OPTIONS[option].needs_hvx for option in votes.options):
            return
        case = Case(votes, in_force=self.ledger.in_force(power_config_id))
        if rules.check(case, _ASKED_AT_THE_CALL):
            raise VoteRejected(INVALID_INPUT, votes, power_config_id=power_config_id)

    def _replace_id(self, session: SessionRecord, core_id: int) -> None:
        """Create an id anew. The library destroys unknown ids without complaint, so the old one can't linger."""
        old = session.power_config_ids.pop(core_id)
        self.ledger.drop(old)
        self.orphans.append(old)
        self.destroy_orphans()
        self.create_ids(session)
