"""The events of a session besides its transitions: calls saved, times learnt, votes that the platform lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import CallsSaved, Degraded, SustainLearned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.learning.pace import Pace
    from htppower.events import Degradation


def tell_saves(session: SessionRecord) -> None:
    """Tell how many inferences have made no call since that was last told."""
    if session.gate.plan.casts:
        begun = session.gate.begun
        inferences = begun - session.history.saves.told
        # Negative if one was counted that had begun, and was about to wait: the next ones make up for it.
        if inferences > 0:
            calls = 2 * inferences * len(session.core_ids)
            session.home.events.tell(CallsSaved, session, inferences=inferences, calls=calls)
            session.history.saved(begun)


def tell_learnt(session: SessionRecord, pace: Pace) -> None:
    """Tell that a session has learnt another sustain time, or time to relax further, since that was last told."""
    for learns, further in ((pace.watch, False), (pace.further, True)):
        if learns is None or learns.told_us == learns.learnt_us:
            continue
        with session.gate.lock:
            learner, after_us = learns.learner, learns.learnt_us
            before_us, learns.told_us = learns.told_us, after_us
            learnt = None if learner is None else learner.savings()
        if learnt is None or before_us is None or after_us is None:
            continue
        session.home.events.tell(
            SustainLearned,
            session,
            before_us=before_us,
            after_us=after_us,
            gaps=learnt.gaps,
            raised_us=learnt.raised_us,
            cold_starts=learnt.cold_starts,
            further=further,
        )


def tell_degradations(session: SessionRecord, before: Iterable[Degradation]) -> None:
    """Tell what a session lacks that it did not lack before."""
    for degradation in session.plan.degradations:
        if degradation not in before:
            session.home.events.tell(Degraded, session, degradation=degradation)
