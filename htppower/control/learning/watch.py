"""What is noted of the inferences of a session: the gaps from which its sustain time is learnt, and all, for a record.

Most sessions have none of it, and no begin of theirs reads a clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from htppower.control.core.tokens import AHEAD, NOT_TIMED
from htppower.control.learning.learners import Learners
from htppower.control.learning.raise_ahead import RaiseAhead
from htppower.profiles.sustain import Adaptive

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.plans import Plan
    from htppower.control.core.sustain_timer import SustainTimer
    from htppower.control.core.tokens import Token, Tokens, Waited
    from htppower.control.time.base import Time
    from htppower.profiles.sustain import Sustain
    from htppower.sustain.learner import Learner

# Takes in a session and what it casts, when an inference of it began and ended, in ns, and whether that had waited.
Record: TypeAlias = "Callable[[Any, int, int, bool], object]"
# Later than every begin.
_LATE = 1 << 62
# Gaps within the time-out change only sums, so they are learnt from together: the hot path appends to a list.
_TOGETHER = 64


class Watch:
    """Measures the gaps between the inferences of one session. The lock of its gate is held.

    A gap is from the end of the last inference to the first begin after it. One in which INIT or DE-INIT runs, or the
    sustain time becomes another, is no gap.

    Attributes:
        ahead: what predicts begins, and has the votes raised ahead of them; None where nobody asks for that.
        record: called with what is recorded of each inference that ends, or None where nothing is.
        label: the session, and what it casts.
        told_us: the time-out that was told last.
    """

    __slots__ = (
        "_counts",
        "_first_ns",
        "_hot_ns",
        "_idle_ns",
        "_learner",
        "_learners",
        "_time",
        "_timer",
        "_tokens",
        "_within_ns",
        "ahead",
        "label",
        "record",
        "told_us",
    )

    def __init__(self, time: Time, timer: SustainTimer, tokens: Tokens, label: tuple[Any, Plan]) -> None:
        self._time = time
        self._timer = timer
        self._tokens = tokens
        self.ahead: RaiseAhead | None = None
        self._learners = Learners()
        self._learner: Learner | None = None
        # The first begin since no inference ran, as far as is known, and whether it ends a gap: one within INIT or
        # DE-INIT does not, nor does one that was taken in.
        self._counts = True
        self._first_ns = self._idle_ns = _LATE
        # Gaps within the time-out, to be learnt from; and how long one is at most of which nothing else is to be noted.
        self._within_ns: list[int] = []
        self._hot_ns = 0
        self.record: Record | None = None
        self.label = label
        self.told_us: int | None = None

    def follow(self, sustain: Sustain, raise_ahead_us: int, profile: str, make: Callable[[Adaptive], Learner]) -> None:
        """Learn the time of another profile from now on, or none, and raise ahead by so much.

        ``make`` returns what it is learnt with, where the session has not used such a profile before.
        """
        self._sum_up()
        self.forget_gap()
        if raise_ahead_us:
            self.predict()
        if self.ahead is not None:
            self.ahead.lead_us = raise_ahead_us
        self._learner = None
        if isinstance(sustain, Adaptive):
            self._learner = self._learners.find(profile, sustain, make)
        self.told_us = self.learnt_us

    @property
    def learner(self) -> Learner | None:
        """What learns the sustain time, and knows all gaps up to now; None where the time is fixed."""
        self._sum_up()
        return self._learner

    def learnt(self) -> list[tuple[str, Adaptive, dict[str, int | list[int]]]]:
        """Return the profiles that the session has used, how their time is learnt, and what is known of it."""
        self._sum_up()
        return self._learners.states()

    @property
    def time_out_us(self) -> int | None:
        """The sustain time of the gap that comes next, or None where it is fixed."""
        return None if self._learner is None else self._learner.time_out_us

    @property
    def learnt_us(self) -> int | None:
        """The sustain time that was learnt, whatever a hint says of one gap; None where it is fixed."""
        return None if self._learner is None else self._learner.learnt_us

    def predict(self) -> RaiseAhead:
        """Predict the begins of inferences from now on."""
        if self.ahead is None:
            self.ahead = RaiseAhead(self._time, self._timer)
            self._hot_ns = 0
        return self.ahead

    def choose(self, now_us: int | None = None) -> int | None:
        """Return the time-out of the gap that has begun, by a hint where there is one; None where the time is fixed.

        A gap that has not begun just now, but before ``now_us``, keeps its time-out where that is over: the votes came
        down by it. Where this is no gap, there is no hint for it.
        """
        if self._learner is None:
            return None
        if self._idle_ns == _LATE:
            return self._learner.time_out_us
        idle_us = self._idle_ns // 1000
        passed_us = 0 if now_us is None else now_us - idle_us
        is_up = now_us is None or passed_us < self._learner.time_out_us
        if is_up and self.ahead is not None and self.ahead.prediction.hinted:
            begin_us = self.ahead.prediction.next_us(idle_us + passed_us)
            if begin_us is not None:
                self._learner.hint(begin_us - idle_us, passed_us)
        return self._learner.time_out_us

    def forget_gap(self) -> None:
        """Take the time since the last inference for no gap, and expect none after it."""
        self.forget_first()
        self._idle_ns = _LATE
        self._hot_ns = 0
        if self._learner is not None:
            self._learner.forget_hint()
        if self.ahead is not None:
            self.ahead.disarm()
            self.ahead.give_up()

    def forget_first(self) -> None:
        """Take in the first begin; where no inference runs, also since the last one is dropped, forget it."""
        if self._first_ns != _LATE and self._counts:
            # Of several inferences the first has ended, and what was predicted was its begin.
            self._end_gap(waited=False)
        self._counts = False
        if not self._tokens.in_flight:
            self._first_ns = _LATE

    def begun_before(self) -> None:
        """Take in that an inference runs, or did, of which nobody knows when it began: no begin beside it counts."""
        self._begin(NOT_TIMED, counts=False)

    def record_to(self, record: Record | None, label: tuple[Any, Plan]) -> None:
        """Record the inferences that end from now on under this label, or, with None, no longer."""
        self.label, self.record = label, record

    def miss(self, inferences: int, now_ns: int) -> None:
        """Take in inferences that nobody has ended, and that are collected: nobody knows any more when they began."""
        self.begun_before()
        if self.ahead is not None:
            self.ahead.missed()
        if self.record is not None:
            for _ in range(inferences):
                self.record(self.label, NOT_TIMED, now_ns, False)

    def runs(self, token: Token) -> None:
        """Take in that an inference has begun which runs still: learn from the gap that it ends, if it was first."""
        self._begin(token.begun_ns, counts=not token.within)
        if token.begun_ns != self._first_ns or not self._counts:
            return
        if not token.waited and self.ahead is not None and self.ahead.made_calls:
            # It may be about to wait: its token says that no call is saved, in either case.
            token.waited = AHEAD
        self._end_gap(waited=token.waited)

    def end(self, token: Token, ended_ns: int, waited: Waited, last: bool) -> bool:
        """Take in that the inference of a token has ended; return whether to choose a time-out.

        ``last``: whether the session is idle now.
        """
        begun_ns, token.begun_ns = token.begun_ns, NOT_TIMED
        if self.record is not None and begun_ns != NOT_TIMED:
            self.record(self.label, begun_ns, ended_ns, waited is True)
        # First the hot path: without a learner no gap is so short.
        gap_ns = begun_ns - self._idle_ns
        if last and 0 <= gap_ns < self._hot_ns:
            self._idle_ns = ended_ns
            within_ns = self._within_ns
            within_ns.append(gap_ns)
            if len(within_ns) >= _TOGETHER:
                self._sum_up()
            return False
        ahead = self.ahead
        if self._learner is None and ahead is None:
            return False
        # One that was not timed began before all that were: what has begun beside it is no begin.
        self._begin(begun_ns, counts=begun_ns != NOT_TIMED and not token.within)
        if not last:
            return False
        if self._counts:
            self._end_gap(waited=False)
        self._first_ns, self._idle_ns = _LATE, ended_ns
        self._set_hot()
        # Without either the begins are noted nevertheless: another profile may ask for them.
        return self._learner is not None or (ahead is not None and ahead.lead_us > 0)

    def _begin(self, begun_ns: int, *, counts: bool) -> None:
        if begun_ns < self._first_ns or (counts and begun_ns == self._first_ns):
            self._first_ns, self._counts = begun_ns, counts
        self._hot_ns = 0

    def _end_gap(self, *, waited: Waited) -> None:
        """Learn from the gap that has ended, unless that was done."""
        if self.ahead is not None:
            self.ahead.began(self._first_ns // 1000, waited=bool(waited))
        idle_ns, self._idle_ns = self._idle_ns, _LATE
        learner = self.learner
        if idle_ns != _LATE and learner is not None:
            learner.learn(max(0, self._first_ns - idle_ns) // 1000, waited=waited is True)

    def _set_hot(self) -> None:
        hot = self.ahead is None and self._learner is not None
        self._hot_ns = 1000 * (self.time_out_us or 0) if hot else 0

    def _sum_up(self) -> None:
        if self._within_ns and self._learner is not None:
            within_ns, self._within_ns = self._within_ns, []
            self._learner.learn_within([gap_ns // 1000 for gap_ns in within_ns])
