"""Reports what happened to a session besides its transitions: saved calls, learnt sustain times and missing votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.control.gate.counts import count_begun
from htppower.events import CallsSaved, Degraded, SustainLearned

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.learning.learning import Learning
    from htppower.events import Degradation


def tell_saves(session: SessionRecord) -> None:
    """Report how many inferences have made no call since the last such event."""
    if session.gate.plan.casts:
        begun = count_begun(session.gate)
        inferences = begun - session.history.saves.told
        # This may be negative: an inference counts as one without a call until it waits for a call. Later inferences
        # make up for the difference.
        if inferences > 0:
            calls = 2 * inferences * len(session.core_ids)
            session.home.events.tell(CallsSaved, session, inferences=inferences, calls=calls)
            session.history.saved(begun)


def tell_learnt(session: SessionRecord, learning: Learning) -> None:
    """Report that a session has learnt another sustain time, or another time until its second power state."""
    for learners, further in learning.all_learners():
        with session.gate.lock:
            change = learners.take_change()
        if change is None:
            continue
        before_us, after_us, learnt = change
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
    """Report the votes that a session lacks now, and did not lack before."""
    for degradation in session.plan.degradations:
        if degradation not in before:
            session.home.events.tell(Degraded, session, degradation=degradation)
