"""Casting: from a step that a session is to make to native calls, and to what came of them."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.ledger import NOTHING
from htppower.control.core.power_config_ids import on_any
from htppower.control.core.process_settings import merged
from htppower.control.time.locks import FOREVER_S, run_if_free
from htppower.errors import VoteRejected, without_frames
from htppower.events import Degradation
from htppower.votes.native_codes import (
    INVALID_INPUT,
    LINK_LOST,
    NOT_ON_THIS_PLATFORM,
    NULL_CLIENT,
    SYSTEM_COMMUNICATION,
)
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.ledger import Carried
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.power_config_ids import PowerConfigIds
    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.registry import Registry
    from htppower.control.core.session_record import SessionRecord
    from htppower.votes.native import Option


@attrs.frozen(repr=False, eq=False)
class Outcome:
    """What came of a step.

    Attributes:
        error: the first call that failed, where the step failed with it.
        not_given_back: the calls that failed while ids were given back, with the ids, None where the session had none;
            the step is done nevertheless, unless there is an error.
    """

    error: VoteRejected | None = None
    not_given_back: tuple[tuple[int | None, VoteRejected], ...] = ()


DONE = Outcome()


@attrs.define(eq=False, repr=False)
class Executor:
    """Sends what differs between what is known and what a session should have. A session's turn is held.

    Args:
        missing: where to note the options that the library refuses as not on this platform.
        strict: take no 13002 or 13004 as "this platform does not have it".
    """

    _calls: NativeCalls
    _ids: PowerConfigIds
    _registry: Registry
    _settings: ProcessSettings
    _missing: dict[Option, Degradation]
    _strict: bool = attrs.field(kw_only=True)

    def run(self, session: SessionRecord, votes: VoteSet | None, *, in_time: bool = False) -> Outcome:
        """Cast votes, or, with None, give the ids back.

        ``in_time``: whether to wait until the settings of the process are in force, too.
        """
        if votes is None:
            return self._give_back(session)
        try:
            self._cast(session, votes, in_time=in_time)
        except VoteRejected as error:
            return Outcome(without_frames(error))
        return DONE

    def cast_again(self, session: SessionRecord) -> VoteRejected | None:
        """Send what was sent last on each id, though it is in force; return the call that failed.

        Where a session votes for settings of the process and nothing else, these are sent.
        """
        for core_id, ledger in session.ledgers.items():
            votes, power_config_id = ledger.now.known or ledger.now.doubtful, ledger.power_config_id
            # Where another was given its number, that tells so.
            if votes and power_config_id != NULL_CLIENT:
                try:
                    self._calls.set(session, power_config_id, votes)
                except VoteRejected as error:
                    if error.code == INVALID_INPUT:
                        session.refused |= {core_id}
                    return without_frames(error)
                finally:
                    if ledger.power_config_id != power_config_id:
                        self._ids.crossed(power_config_id)
        if not any(ledger.now.known or ledger.now.doubtful for ledger in session.ledgers.values()):
            self._settings.forget()
            return self.cast_settings(session, tuple(session.ledgers))
        return None

    def differs(self, session: SessionRecord, votes: VoteSet) -> bool:
        """Return whether anything must be sent for a session's votes to be in force."""
        votes = votes.where_absent(*list(self._missing))
        ledgers = session.ledgers
        return (
            len(ledgers) < len(session.core_ids)
            or any(ledger.difference(votes) for ledger in ledgers.values())
            or not self._settings.asks_for(session.number, votes)
            or bool(self._settings.difference())
        )

    def cast_settings(
        self, session: SessionRecord | None = None, core_ids: Iterable[int] = (), *, wait: bool = False
    ) -> VoteRejected | None:
        """Send the settings of the process that differ; return the call that failed.

        Args:
            session: on an id of which; an id is made for the call, and destroyed, where there is none. Without one the
                lock of what is left is held.
            core_ids: on which of its cores: on the first that takes them; on none, an id is made, too.
            wait: whether to wait where they are just being cast. Whoever casts them looks again afterwards, so it is
                not needed for what others are to see.
        """
        try:
            if session is not None and core_ids:
                on_any(functools.partial(self._cast_settings_on, session, core_id, wait=wait) for core_id in core_ids)
            elif self._settings.difference():
                self._ids.use_a_new_one(
                    lambda made: self._cast_settings(functools.partial(self._send_settings, made), wait=wait),
                    alone=session is None,
                )
        except VoteRejected as error:
            return without_frames(error)
        return None

    def _cast_settings_on(self, session: SessionRecord, core_id: int, *, wait: bool) -> None:
        def send(settings: VoteSet) -> None:
            self._set(session, core_id, session.ledgers[core_id].carrying(NOTHING), settings)

        self._call_on(session, core_id, functools.partial(self._cast_settings, send, wait=wait))

    def _cast_settings(self, send: Callable[[VoteSet], None], *, wait: bool) -> None:
        def cast() -> None:
            settings = self._settings.take()
            if settings:
                send(settings)

        while self._settings.difference():
            if not run_if_free(self._settings.turn, cast, FOREVER_S if wait else 0):
                return

    def _send_settings(self, power_config_id: int, settings: VoteSet) -> None:
        """Send settings of the process on an id that is the controller's own; one by one where one is refused."""
        since, apart = self._settings.sending(settings), []
        try:
            self._calls.set(None, power_config_id, settings)
            self._settings.sent(settings, since)
        except VoteRejected as error:
            options = settings.options
            if error.code not in NOT_ON_THIS_PLATFORM or (len(options) == 1 and not self._settings.give_up(*options)):
                raise
            apart = [VoteSet.of({option: settings.get(option)}) for option in options if len(options) > 1]
        for setting in apart:
            self._send_settings(power_config_id, setting)

    def _cast(self, session: SessionRecord, votes: VoteSet, *, in_time: bool) -> None:
        """Send what differs, one call per core; settings of the process go with the first.

        Raises:
            VoteRejected: of the first call that fails. The other cores are tried nevertheless, unless the link is lost.
        """
        asks = self._settings.ask(session.number, votes)
        first: VoteRejected | None = None
        for core_id in session.core_ids:
            try:
                if core_id not in session.ledgers:
                    self._ids.create(session, core_id)
                self._call_on(session, core_id, functools.partial(self._send, session, core_id, votes, asks=asks))
            except VoteRejected as error:
                if error.code in LINK_LOST:
                    raise
                first = first or without_frames(error)
        if first is None and asks and self._settings.difference() is not NOTHING:
            # Where another session was just casting them.
            first = self.cast_settings(session, tuple(session.ledgers), wait=in_time)
        if first is not None:
            raise without_frames(first)

    def _call_on(self, session: SessionRecord, core_id: int, send: Callable[[], object]) -> None:
        """Send something on the id of a core; where the library may know that no longer, on a new one."""
        is_anothers = session.ledgers[core_id].power_config_id == NULL_CLIENT
        if is_anothers or (core_id in session.refused and core_id in session.doubted):
            self._replace_id(session, core_id)
        try:
            send()
        except VoteRejected as error:
            if error.code != INVALID_INPUT:
                raise
            # After a restart of the subsystem the library may know the id no longer. Another call may be the one that
            # is told of the restart, now or soon.
            is_anothers = session.ledgers[core_id].power_config_id == NULL_CLIENT
            if not is_anothers and core_id not in session.doubted and session.epoch == self._registry.epoch:
                raise
            self._replace_id(session, core_id)
            send()

    def _send(self, session: SessionRecord, core_id: int, votes: VoteSet, *, asks: bool) -> None:
        ledger, missing = session.ledgers[core_id], list(self._missing)
        own = ledger.carrying_difference(votes.where_absent(*missing) if missing else votes)
        differs = asks and self._settings.difference() is not NOTHING
        if differs and self._sent_with_settings(session, core_id, own):
            return
        if own.votes is not NOTHING:
            self._set(session, core_id, own, NOTHING)

    def _sent_with_settings(self, session: SessionRecord, core_id: int, own: Carried) -> bool:
        """Send votes with the settings of the process; return False where another thread is just casting these."""
        sent = False

        def send() -> None:
            nonlocal sent
            settings = self._settings.take()
            if settings:
                self._set(session, core_id, own, settings)
                sent = True

        run_if_free(self._settings.turn, send)
        return sent

    def _set(self, session: SessionRecord, core_id: int, own: Carried, settings: VoteSet) -> None:
        """Make one setPowerConfig call; one that a platform refuses in part is made again, vote by vote."""
        ledger = session.ledgers[core_id]
        power_config_id = ledger.power_config_id
        votes = own.votes if settings is NOTHING else merged(own.votes, settings)
        if own.refused:
            # Before the library does.
            raise VoteRejected(INVALID_INPUT, votes, power_config_id=power_config_id)
        ledger.now = own.during
        since = None if settings is NOTHING else self._settings.sending(settings)
        try:
            self._calls.set(session, power_config_id, votes)
        except VoteRejected as error:
            if error.code == INVALID_INPUT:
                session.refused |= {core_id}
            if error.code not in NOT_ON_THIS_PLATFORM or self._strict:
                raise
            if not self._set_one_by_one(session, core_id, votes, error.code):
                raise
        else:
            if session.doubted or session.refused:
                session.trust_id(core_id)
            ledger.now = own.after
            if since is not None:
                self._settings.sent(settings, since)
        finally:
            if ledger.power_config_id != power_config_id:
                self._ids.crossed(power_config_id)

    def _set_one_by_one(self, session: SessionRecord, core_id: int, votes: VoteSet, code: int) -> bool:
        """Find out which option the platform lacks: the code alone does not tell. It is remembered.

        Return False where it has them all, so that the call has failed.
        """
        ledger, options = session.ledgers[core_id], votes.options
        holder = {option: self._settings if option in PROCESS_WIDE else ledger for option in options}
        if len(options) > 1:
            for option in options:
                # What needs an HVX vote can't be sent where that has just turned out to be missing.
                lacks_hvx = VOTE_OPTIONS[option].needs_hvx and ledger.now.known.hvx is None
                if option in self._missing or lacks_hvx:
                    holder[option].refused(option)
                else:
                    self._set_in_part(session, core_id, VoteSet.of({option: votes.get(option)}))
            return True
        (option,) = options
        rule = VOTE_OPTIONS[option].rule_if_missing
        # What was accepted before is there: that it is refused now is a failure, and the vote may still be up.
        if not rule or option in holder[option].now.accepted:
            return False
        instead = votes.where_absent(option)
        cast = f", and {instead} is cast" if instead else ""
        message = f"the library answered {code} to {option.name}: this platform does not have it{cast}"
        self._missing[option] = Degradation(rule, message, option)
        holder[option].refused(option)
        if instead:
            self._set_in_part(session, core_id, instead)
        return True

    def _set_in_part(self, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        """Make a call with what was part of one that failed."""
        settings = votes.without(*(option for option in votes.options if option not in PROCESS_WIDE)) or NOTHING
        own = session.ledgers[core_id].carrying(votes.without(*PROCESS_WIDE))
        self._set(session, core_id, own, settings)

    def _give_back(self, session: SessionRecord) -> Outcome:
        """Give back the settings of the process, destroy the ids.

        Every step is tried even if the one before failed, unless the DSP has restarted: others are to be voted again
        first. No id is used again afterwards.
        """
        asked = self._settings.ask(session.number, None)
        failures: list[tuple[int | None, VoteRejected]] = []
        ids = session.power_config_ids
        failed: VoteRejected | None = None
        if asked:
            known = tuple(core_id for core_id in session.ledgers if core_id in ids and core_id not in session.doubted)
            failed = self.cast_settings(session, known)
            if failed is not None:
                first = next(iter(known or session.ledgers or session.core_ids))
                failures.append((ids.get(first), failed))
        for core_id in session.ledgers:
            if failed is not None and failed.code == SYSTEM_COMMUNICATION:
                return Outcome(failed, tuple(failures))
            failed = self._ids.give_up(session, core_id, session)
            if failed is not None:
                failures.append((ids.get(core_id), failed))
        return Outcome(not_given_back=tuple(failures))

    def _replace_id(self, session: SessionRecord, core_id: int) -> None:
        """Create an id anew. The library destroys unknown ids without complaint, so the old one can't linger."""
        failed = self._ids.give_up(session, core_id, None)
        if failed is not None and failed.code in LINK_LOST:
            raise without_frames(failed)
        self._ids.create(session, core_id)
