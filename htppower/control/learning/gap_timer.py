"""Times the gaps between the inferences of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from htppower.control.gate.tokens import NOT_TIMED

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.gate.tokens import Token, Tokens
    from htppower.control.learning.learners import Learners
    from htppower.control.learning.raise_ahead import RaiseAhead
    from htppower.control.plans.plans import Plan

# The function that records an inference. It gets the session and its plan, begin and end in ns, and whether the
# inference waited for its votes.
Record: TypeAlias = "Callable[[Any, int, int, bool], object]"
# Stands for a time after every begin.
_LATE = 1 << 62
# The hot path collects this many short gaps before the session learns from them, all at once.
_TOGETHER = 64


class GapTimer:
    """Times the gaps between the inferences of one session. The lock of its gate is held.

    A gap lasts from the end of the last inference to the first begin after it. The session does not learn from a gap in
    which INIT or DE-INIT runs, or the profile changes.

    Args:
        tokens: the tokens of the session's phases.
        ahead: gets the begins, if it predicts inferences.

    Attributes:
        learners: learn the sustain time from the gaps.
        record: called with each inference that ends, or None.
        label: the session and its plan, which ``record`` gets.
    """

    def __init__(self, tokens: Tokens, ahead: RaiseAhead, learners: Learners) -> None:
        self._tokens = tokens
        self._ahead = ahead
        self.learners = learners
        self._short_gaps_ns = learners.short_gaps_ns
        # The first begin since the session was idle, and whether it ends a gap from which the session has not learnt
        # yet. A begin within INIT or DE-INIT does not end a gap, and neither does a begin while an inference runs that
        # was not timed.
        self._first_ns = NOT_TIMED if tokens.in_flight else _LATE
        self._ends_gap = False
        self._idle_ns = _LATE
        # A gap shorter than this is only appended to the list.
        self._hot_ns = 0
        self.record: Record | None = None
        self.label: tuple[Any, Plan] | None = None

    @property
    def idle_us(self) -> int | None:
        """When the current gap began; None if there is none."""
        return None if self._idle_ns == _LATE else self._idle_ns // 1000

    def end(self, token: Token, ended_ns: int, waited: bool, last: bool) -> bool:
        """Record the end of an inference; return whether a gap begins whose timeout must be chosen.

        ``last``: whether the session is idle now.
        """
        begun_ns, token.begun_ns = token.begun_ns, NOT_TIMED
        if self.record is not None and begun_ns != NOT_TIMED:
            self.record(self.label, begun_ns, ended_ns, waited)
        # The usual case comes first, since this is the hot path.
        gap_ns = begun_ns - self._idle_ns
        if last and 0 <= gap_ns < self._hot_ns:
            self._idle_ns = ended_ns
            short_gaps_ns = self._short_gaps_ns
            short_gaps_ns.append(gap_ns)
            if len(short_gaps_ns) >= _TOGETHER:
                self.learners.sum_up()
            return False
        learns = self.learners.current is not None
        if not learns and not self._ahead.predicts:
            self._first_ns = _LATE if last else self._first_ns
            return False
        self._note_begin(begun_ns, ends_gap=begun_ns != NOT_TIMED and not token.within)
        if not last:
            return False
        self._end_gap(waited=False)
        self._first_ns, self._idle_ns = _LATE, ended_ns
        if learns and not self._ahead.predicts:
            self._hot_ns = 1000 * (self.learners.time_out_us or 0)
        return learns or self._ahead.lead_us > 0

    def end_gap(self) -> None:
        """Learn from the current gap if an inference has begun.

        That inference may still wait for its votes, or never end.
        """
        first = self._tokens.first()
        if first is not None:
            self._note_begin(first.begun_ns, ends_gap=not first.within)
        self._end_gap(waited=first is not None and first.waited and first.begun_ns == self._first_ns)
        if not self._tokens.in_flight:
            self._first_ns = _LATE

    def break_gap(self) -> None:
        """Learn from the current gap as ``end_gap`` does, but not from the time between now and the next inference."""
        self.end_gap()
        self._idle_ns = _LATE
        self._hot_ns = 0
        if (learner := self.learners.current) is not None:
            learner.forget_hint()

    def predict(self) -> None:
        """Pass all later begins to ``ahead``, and the begin that ended the last gap, if its inference still runs."""
        if not self._ahead.predicts and not self._ends_gap and self._first_ns not in (_LATE, NOT_TIMED):
            self._ahead.began(self._first_ns // 1000, waited=True)
        self._ahead.predicts = True
        self._hot_ns = 0

    def miss(self, inferences: int, now_ns: int) -> None:
        """Record that inferences were garbage collected.

        It is unknown when they began, so begins while they ran do not count.
        """
        self._note_begin(NOT_TIMED, ends_gap=False)
        self._ahead.end(right=True)
        if self.record is not None:
            for _ in range(inferences):
                self.record(self.label, NOT_TIMED, now_ns, False)

    def _note_begin(self, begun_ns: int, *, ends_gap: bool) -> None:
        if begun_ns < self._first_ns:
            self._first_ns, self._ends_gap = begun_ns, ends_gap
        self._hot_ns = 0

    def _end_gap(self, *, waited: bool) -> None:
        if not self._ends_gap:
            return
        self._ends_gap = False
        if self._ahead.predicts:
            self._ahead.began(self._first_ns // 1000, waited=waited)
        idle_ns, self._idle_ns = self._idle_ns, _LATE
        learner = self.learners.current
        if idle_ns != _LATE and learner is not None:
            learner.learn(max(0, self._first_ns - idle_ns) // 1000, waited=waited)
