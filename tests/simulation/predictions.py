"""When the votes of an idle session may, and must, be up for an inference that is predicted to begin.

Written from ``docs/hints.md`` alone. What the host did is known to lie between two times, when it called and when the
call returned; where more than one thread used a session it is not known in which order, and the prediction is *vague*.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from simulation.expectations import Expected

# "Eight intervals between begins in a row, none of them more than a tenth away from the middle one."
EVEN_INTERVALS = 8
EVEN_PART = 10
LONGEST_PERIOD_US = 30_000_000
# In quarters of a raise: "a purse with 2 raises in it"; one that was right "puts it back, and a quarter", "up to 4".
PRICE, FIRST, MOST = 4, 8, 16


@attrs.frozen
class Span:
    """Some time between two, in us, the later one included."""

    earliest_us: int
    latest_us: int

    @property
    def exact(self) -> bool:
        """Whether it is known to the microsecond."""
        return self.earliest_us == self.latest_us


@attrs.frozen
class Hint:
    """A hint of the host.

    Attributes:
        at: when the next inference is to begin; None where that was not said.
        every_us: how long is between two begins; None where that was not said.
        since_us: from when on a begin is the next one: one in the very microsecond of the hint may be that of the
            inference that ran then.
    """

    at: Span | None = None
    every_us: int | None = None
    since_us: int = 0


@attrs.define(eq=False)
class Foresight:
    """What is predicted of a session.

    Attributes:
        hints: those that may count; of several any. None where it is certain that there is none.
        begins: the last begins out of idleness, as far as they are certain.
        windows: when votes may be up for a predicted begin.
        must: when they must be; None where nothing is certain.
        asked: how many calls there were that concern the session when that became certain.
        profile: which was in use then. The end of a hold takes its predictions with it.
        vague: whether begins or hints are not known any more.
        up_us: since when votes have been up for a prediction that is vague.
        purse: what is in the purse at least.
        taken: how much less that is since the last gap began, or the last hint came in one: the raise may be made.
        right: how many predictions may have been right.
        watched: how many of the last begins the controller has watched for certain.
    """

    hints: list[Hint] = attrs.field(factory=list)
    begins: list[Span] = attrs.field(factory=list)
    windows: list[tuple[int, int]] = attrs.field(factory=list)
    must: tuple[int, int] | None = None
    asked: int = 0
    profile: Expected | None = None
    vague: bool = False
    up_us: int | None = None
    purse: int = FIRST
    taken: int = 0
    right: int = 0
    watched: int = 0

    def blurred(self) -> None:
        """Take in that something was asked of the session beside something else."""
        self.vague, self.must, self.purse = True, None, 0

    def expect(self, hint: Hint | None, *, certain: bool) -> None:
        """Take in a hint, or with None that the host has taken it back."""
        self.must = self.up_us = None
        if certain and not self.vague:
            self.hints = [] if hint is None else [hint]
        else:
            self.blurred()

    def began(self, span: Span, asked: int, *, first: bool, certain: bool, watched: bool) -> None:
        """Take in that an inference has begun.

        Args:
            span: when.
            asked: how many calls there were that concern the session, with this one.
            first: whether the session was idle before.
            certain: whether nothing else is asked of it.
            watched: whether each profile that may be in use raises ahead.
        """
        self.up_us = None
        if self.vague or any(begin_us <= span.latest_us for begin_us, _ in self.windows):
            self.right += 1
        if not certain:
            self.blurred()
        elif first:
            begins_at_us = min((begin_us for begin_us, _ in self.windows), default=None)
            if begins_at_us is not None and span.latest_us < begins_at_us:
                # Nothing was raised yet.
                self.purse += self.taken
            elif (
                self.must is not None
                and self.must[0] < span.earliest_us
                and span.latest_us < self.must[1]
                # "Another profile takes back what was due before."
                and asked == self.asked + 1
            ):
                self.purse = min(MOST, self.purse + PRICE + 1)
            # "Those in one microsecond count as one", as two may be of which that is not known.
            last = self.begins.pop() if self.begins and span.earliest_us <= self.begins[-1].latest_us else None
            begin = span if last is None else Span(last.earliest_us, span.latest_us)
            self.begins = [*self.begins, begin][-EVEN_INTERVALS - 1 :]
            self.watched = self.watched + (last is None) if watched else 0
            if any(span.earliest_us < hint.since_us <= span.latest_us for hint in self.hints if hint.at):
                # It may be the begin that was meant, or the one before.
                self.blurred()
            # "in_us is for the next begin alone."
            self.hints = [hint for hint in self.hints if hint.at is None or span.latest_us < hint.since_us]
            self.nothing_due()

    def nothing_due(self) -> None:
        """Take in that nothing is raised for what was predicted before."""
        self.windows, self.must, self.up_us = [], None, None

    def idle(self, idle: Span, possible: list[Expected], asked: int, *, certain: bool) -> tuple[int, ...]:
        """Take in that a gap begins, or that a hint comes in one; return when to look at the votes.

        Args:
            idle: when that was.
            possible: the profiles that may be in use.
            asked: how many calls there were that concern the session.
            certain: whether nothing else is asked of it.
        """
        lead_us = max(each.raise_ahead_us for each in possible)
        self.must = self.up_us = None
        if not lead_us or self.vague:
            return ()
        due = self._due(idle)
        if not certain:
            self.blurred()
            return ()
        # Votes that are up for one stay up until that is over.
        self.windows = [window for window in self.windows if window[0] <= idle.latest_us < window[1]]
        self.windows += [(each.earliest_us - lead_us, each.latest_us + lead_us) for each in due]
        if not due:
            return ()
        self.taken = min(PRICE, self.purse)
        self.purse -= self.taken
        down_us = idle.latest_us + max(each.most_us for each in possible)
        sure = self.taken == PRICE and len(possible) == len(due) == 1 and due[0].exact and idle.exact
        needed = 0 if self._said_when else 1 if self.hints else EVEN_INTERVALS + 1
        # An even rate is certain only where all begins are.
        sure = sure and (bool(self.hints) or all(begin.exact for begin in self.begins))
        sure = sure and self.watched >= needed and len(self.windows) == 1
        if sure and due[0].earliest_us - lead_us > down_us:
            self.must, self.asked, self.profile = self.windows[0], asked, possible[0]
        return tuple(time_us for window in self.windows for time_us in window)

    @property
    def _said_when(self) -> bool:
        return any(hint.at is not None for hint in self.hints)

    def _due(self, idle: Span) -> list[Span]:
        """Return when the next inference may be predicted to begin."""
        ahead = [hint.at for hint in self.hints if hint.at is not None and hint.at.latest_us > idle.earliest_us]
        if self._said_when:
            return ahead
        if not self.begins:
            return []
        periods = [Span(hint.every_us, hint.every_us) for hint in self.hints if hint.every_us is not None]
        return [each for period in periods or self._even() for each in self._following(period, idle)]

    def _even(self) -> list[Span]:
        """Return which period the begins may have by themselves."""
        if len(self.begins) <= EVEN_INTERVALS:
            return []
        pairs = list(zip(self.begins, self.begins[1:], strict=False))
        shortest = sorted(later.earliest_us - before.latest_us for before, later in pairs)
        longest = sorted(later.latest_us - before.earliest_us for before, later in pairs)
        period = Span(shortest[EVEN_INTERVALS // 2], longest[EVEN_INTERVALS // 2])
        even = (longest[0] - period.earliest_us) * EVEN_PART >= -period.latest_us
        even = even and (shortest[-1] - period.latest_us) * EVEN_PART <= period.latest_us
        return [period] if even and period.latest_us > 0 and period.earliest_us <= LONGEST_PERIOD_US else []

    def _following(self, period: Span, idle: Span) -> list[Span]:
        """Return when the first begin of a period is that comes after a time."""
        last = self.begins[-1]
        first = max(1, (idle.earliest_us - last.latest_us) // max(1, period.latest_us) + 1)
        most = max(1, (idle.latest_us - last.earliest_us) // max(1, period.earliest_us) + 1)
        if most - first > 8:
            # Too many to list: any time from the first on.
            return [Span(last.earliest_us + first * period.earliest_us, last.latest_us + most * period.latest_us)]
        return [
            Span(last.earliest_us + number * period.earliest_us, last.latest_us + number * period.latest_us)
            for number in range(first, most + 1)
        ]

    def may_be_up(self, now_us: int) -> bool:
        """Return whether votes may be up for a predicted begin."""
        return any(begin_us <= now_us < end_us for begin_us, end_us in self.windows)

    def must_be_up(self, now_us: int, asked: int, possible: list[Expected]) -> bool:
        """Return whether votes must be up for one."""
        same = self.asked == asked and possible == [self.profile]
        return self.must is not None and same and self.must[0] <= now_us < self.must[1]

    def may_be_up_vaguely(self, now_us: int, possible: list[Expected]) -> int | None:
        """Take in that votes are up while it is vague; return until when they may be, None where they may not."""
        lead_us = max(each.raise_ahead_us for each in possible)
        if not self.vague or not lead_us:
            return None
        if self.up_us is None:
            self.up_us = now_us
        # Two predictions in a row may have votes up, the second one before the first is over.
        until_us = self.up_us + 4 * lead_us
        return until_us if now_us < until_us else None
