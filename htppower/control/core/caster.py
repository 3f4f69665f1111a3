"""The caster: makes the native calls that put a session's votes in force. The line is held.

A call carries votes of its id, or settings of the process, never both: the device library sends the two separately, and
if it refuses a setting, it does not send the clocks of the same call (measured). The call with the clocks is made
first.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from htppower.control.core.meaning import Meaning, meaning_of
from htppower.control.ledger.ledger import NOTHING, Ledger
from htppower.errors import VoteRejected, without_frames
from htppower.events import Degradation
from htppower.votes.native_codes import INVALID_INPUT
from htppower.votes.options import VOTE_OPTIONS
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.control.core.native_calls import NativeCalls
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.ledger.ledger import Effect
    from htppower.control.ledger.process_settings import ProcessSettings
    from htppower.control.plans.plans import Missing
    from htppower.votes.native import Option

# A setting that FastRPC refuses degrades under this rule.
_REFUSED_SETTING = "RPC-7"
_ENDS_CASTING = (Meaning.LOST, Meaning.DEAD)


@attrs.define(eq=False, repr=False)
class Caster:
    """Sends the votes that a session should have and that are not known to be in force.

    Args:
        missing: the options that the platform lacks, as far as calls have shown.
        strict: whether a missing option is an error.
    """

    _calls: NativeCalls
    _recovery: Recovery
    _settings: ProcessSettings
    _missing: Missing
    _strict: bool = attrs.field(kw_only=True)

    def differs(self, session: SessionRecord, votes: VoteSet) -> bool:
        """Return whether a call is needed to put a session's votes in force."""
        votes = votes.where_absent(*self._missing.options)
        return (
            len(session.ledgers) < len(session.core_ids)
            or any(ledger.difference(votes) for ledger in session.ledgers.values())
            or not self._settings.asks_for(session, votes)
            or bool(self._settings.difference())
        )

    def create_ids(self, session: SessionRecord) -> None:
        """Create the ids of those cores that have no id in the session yet.

        Raises:
            VoteRejected: a call failed.
        """
        for core_id in session.core_ids:
            self._create_id(session, core_id)

    def _create_id(self, session: SessionRecord, core_id: int) -> None:
        if core_id not in session.ledgers:
            number = self._calls.create(session, session.device_id, core_id)
            session.ledgers = {**session.ledgers, core_id: Ledger(power_config_id=number)}

    def cast(self, session: SessionRecord, votes: VoteSet, *, lowers: bool) -> None:
        """Send the votes of each id that differ from those in force, then the settings that differ.

        With ``lowers``, a refused setting raises no error, even if ``strict`` is set: the votes must come down in any
        case.

        Raises:
            VoteRejected: the first failed call. The other cores are still tried, unless the link is lost.
        """
        self._settings.ask(session, votes)
        first: VoteRejected | None = None
        for core_id in session.core_ids:
            if first is not None and not self._recovery.may_call():
                break
            try:
                self._create_id(session, core_id)
                self._cast_on(session, core_id, votes)
            except VoteRejected as error:
                if meaning_of(error) in _ENDS_CASTING:
                    raise
                first = first or without_frames(error)
        if first is not None:
            raise without_frames(first)
        self._cast_settings(session, strict=self._strict and not lowers)

    def cast_again(self, session: SessionRecord) -> None:
        """Repeat the last votes of each id although they are in force, so that a restart of the DSP is noticed.

        If the ids have no votes, the settings of the process are repeated.

        Raises:
            VoteRejected: a call failed.
        """
        for ledger in session.ledgers.values():
            votes = ledger.now.known or ledger.now.doubtful
            if votes:
                self._calls.set(session, ledger.power_config_id, votes)
        if not any(ledger.now.known or ledger.now.doubtful for ledger in session.ledgers.values()):
            self._settings.forget()
            self._cast_settings(session, strict=False)

    def _cast_on(self, session: SessionRecord, core_id: int, votes: VoteSet) -> None:
        ledger = session.ledgers[core_id]
        missing = self._missing.options
        own = ledger.carrying_difference(votes.where_absent(*missing) if missing else votes)
        if own.votes is NOTHING:
            return
        try:
            self._set(session, ledger, own)
        except VoteRejected as error:
            if meaning_of(error) is not Meaning.BAD_ID or own.refused:
                raise
        else:
            return
        # The library may not know the id, for example after another user of the library has freed the device.
        self._replace(session, core_id)
        fresh = session.ledgers[core_id]
        self._set(session, fresh, fresh.carrying_difference(votes.where_absent(*missing)))

    def _replace(self, session: SessionRecord, core_id: int) -> None:
        """Create an id again.

        The library destroys an unknown id without an error, so the old id can't be left behind.
        """
        number = session.ledgers[core_id].power_config_id
        if self._destroy(session, number) is not None:
            self._destroy_later(number)
        session.ledgers = {other: ledger for other, ledger in session.ledgers.items() if other != core_id}
        self._create_id(session, core_id)

    def _set(self, session: SessionRecord, ledger: Ledger, own: Effect) -> None:
        """Make a call with votes of an id; if the platform lacks one of the options, send each vote alone."""
        if own.refused:
            # The library would refuse the call, too, so it is not made.
            raise VoteRejected(INVALID_INPUT, own.votes, power_config_id=ledger.power_config_id)
        ledger.now = own.during
        try:
            self._calls.set(session, ledger.power_config_id, own.votes)
        except VoteRejected as error:
            if meaning_of(error) is not Meaning.ABSENT or self._strict:
                raise
            refused = without_frames(error)
        else:
            ledger.now = own.after
            return
        # Sent outside of the except clause: inside it, a later error would have this one as its context, and would keep
        # the frames of the inference alive.
        if not self._set_one_by_one(session, ledger, own.votes, refused.code):
            raise refused

    def _set_one_by_one(self, session: SessionRecord, ledger: Ledger, votes: VoteSet, code: int) -> bool:
        """Find out which option the platform lacks, since the code does not say, and remember it.

        Return False if no option is missing. Then the first call has failed for another reason.
        """
        options = votes.options
        if len(options) > 1:
            for option in options:
                # A vote that needs an HVX vote can't be sent if HVX has just turned out to be missing.
                lacks_hvx = VOTE_OPTIONS[option].needs_hvx and ledger.now.known.hvx is None
                if option in self._missing.options or lacks_hvx:
                    ledger.refused(option)
                else:
                    self._set(session, ledger, ledger.carrying(VoteSet.of({option: votes.get(option)})))
            return True
        (option,) = options
        rule = VOTE_OPTIONS[option].rule_if_missing
        # An option that was accepted before is not missing: this refusal is a failure, and the earlier vote may still
        # be up.
        if not rule or option in ledger.now.accepted:
            return False
        instead = votes.where_absent(option)
        cast = f", and {instead} is cast" if instead else ""
        message = f"the library answered {code} to {option.name}: this platform does not have it{cast}"
        self._missing.add(Degradation(rule, message, option))
        ledger.refused(option)
        if instead:
            self._set(session, ledger, ledger.carrying(instead))
        return True

    def _cast_settings(self, session: SessionRecord, *, strict: bool) -> None:
        """Send the settings of the process that differ, on an id of a session.

        Raises:
            VoteRejected: the link is lost, or a setting is refused although ``strict`` is set.
        """
        settings = self._settings.difference()
        if not settings:
            return
        self.create_ids(session)
        ledger = next(iter(session.ledgers.values()))
        self._send_settings(session, ledger.power_config_id, settings, strict=strict)

    def _send_settings(self, session: SessionRecord | None, number: int, settings: VoteSet, *, strict: bool) -> None:
        options = settings.options
        self._settings.sending(settings)
        try:
            self._calls.set_settings(session, number, settings)
        except VoteRejected as error:
            means, code = meaning_of(error), error.code
            if means in _ENDS_CASTING or (strict and len(options) == 1):
                raise
        else:
            self._settings.sent(settings)
            return
        # Handled outside of the except clause, so that a later error does not keep this one as its context.
        if means is Meaning.BAD_ID and session is None:
            # No session owns the id any more, and the library does not know it. The settings go with the next votes of
            # a session.
            return
        if len(options) == 1:
            self._degrade(options[0], code, means)
            return
        # The code does not say which setting is refused. The library has sent the settings before it in the list.
        for option in options:
            single = VoteSet.of({option: settings.get(option)})
            self._send_settings(session, number, single, strict=strict)

    def _degrade(self, option: Option, code: int, means: Meaning) -> None:
        """Leave a refused setting out of all later calls.

        If the setting was accepted before, it is first tried once more, with the next votes: FastRPC also refuses
        settings, with the same code, while its link fails.
        """
        if option in self._settings.now.accepted:
            self._settings.doubt(option)
            return
        self._settings.refused(option)
        refused = means is not Meaning.ABSENT
        rule = _REFUSED_SETTING if refused else VOTE_OPTIONS[option].rule_if_missing
        by = "FastRPC on this platform refuses it" if refused else "this platform does not have it"
        message = f"the library answered {code} to {option.name}: {by}; clocks are voted all the same"
        self._missing.add(Degradation(rule, message, option), refused=refused)

    def give_back(self, session: SessionRecord) -> list[tuple[int, VoteRejected]]:
        """Send the settings without this session's wish, destroy its ids, and return the failures, each with its id.

        Every call is tried even if an earlier one failed. If no call can be made, because the link fails, the back-off
        makes the calls later.
        """
        self._settings.ask(session, None)
        numbers = [ledger.power_config_id for ledger in session.ledgers.values()]
        failures: list[tuple[int, VoteRejected]] = []
        may_destroy = self._recovery.may_destroy_ids
        carrier = numbers[0] if numbers else self._recovery.any_id()
        settings = self._settings.difference()
        if settings and carrier is not None and may_destroy:
            try:
                self._send_settings(session, carrier, settings, strict=False)
            except VoteRejected as error:
                failures.append((carrier, without_frames(error)))
        for number in numbers:
            failed = self._destroy(session, number) if may_destroy else self._recovery.link.error
            if failed is not None:
                failures.append((number, failed))
                self._destroy_later(number)
        session.ledgers = {}
        return failures

    def _destroy_later(self, number: int) -> None:
        """Have the back-off destroy an id later."""
        self._recovery.orphans[number] = functools.partial(self._destroy_orphan, number)
        self._recovery.retry_later()

    def _destroy_orphan(self, number: int) -> None:
        """Send the settings that sessions still wish for, then destroy an id that no session has any more.

        Raises:
            VoteRejected: a call failed.
        """
        settings = self._settings.difference()
        if settings:
            carrier = self._recovery.any_id()
            self._send_settings(None, number if carrier is None else carrier, settings, strict=False)
        self._calls.destroy(None, number)

    def _destroy(self, session: SessionRecord, number: int) -> VoteRejected | None:
        """Destroy an id; return the failed call, or None if it worked."""
        try:
            self._calls.destroy(session, number)
        except VoteRejected as error:
            return None if meaning_of(error) is Meaning.BAD_ID else without_frames(error)
        return None
