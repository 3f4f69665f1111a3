"""Which profile of a ladder is enough for a rate: learnt from the deadlines that were met and missed.

Pure: the caller states times, in ns. Three mechanisms decide:

- **Up** by Page's cumulative sum (E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954): it grows with each
  missed deadline and falls with each one that is met, by the logarithm of how much more likely that is at a rate of
  misses five times as high as allowed. It notices a profile that became too slow after a few misses, and shows how many
  inferences ago that began.
- **Down** by an exact binomial test (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934): the last inferences are
  replayed as they would run under a lower profile. That profile is chosen if so few of them would miss their deadline
  that it is unlikely, at a doubt of 5 %, that it misses more than allowed.
- **A credit of misses** grows with each inference by the allowed share. Each miss below the highest profile takes one.
  A lower profile is tried only if the credit pays for a trial that fails, and a spent credit raises the profile. So
  over a long time the share of misses that the choice has caused is kept, however wrong the predictions are.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import attrs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from htppower.profiles.profile import Profile

# The doubt that is left when a profile is found to be enough.
_DOUBT = 0.05
# The sum alarms when the evidence for too many misses is 500 to 1: after four misses in a row, if few are allowed.
_ALARM = math.log(500)
_WORSE = 5
# The longest sum, so that it falls again soon after a long overload.
_MOST_SUM = 2 * _ALARM
# A lower profile must be enough even if it is this much slower than predicted, as in the reserve of ``tune``.
_MARGIN = 1.03
# A trial that fails costs about this many misses until the sum alarms.
_TRIAL_MISSES = 5
_MOST_CREDIT = 2 * _TRIAL_MISSES
# A profile is tested on no fewer inferences than this, and on 1, 2 and 4 times as many as are needed: few show a change
# of load soon, many allow more misses.
_FEWEST = 60
_LENGTHS = (1, 2, 4)
# Each change costs calls, so there is at most one in this time.
_BETWEEN_NS = 1_000_000_000
# How many inferences before and after a change are compared to measure how fast both profiles are.
_COMPARED = 25
_FEWEST_COMPARED = 9
# After so many times the fewest inferences, a profile or a raise that was slower than the model says is measured again.
_MEASURED_FOR = 16
# A profile that failed soon after its choice is not chosen for the fewest inferences, or for this time if it is longer,
# doubled with each failure.
_BARRED_NS = 5_000_000_000
_MOST_DOUBLINGS = 4
# A new wait for a raise moves the average by this part.
_SMOOTHED = 4


@attrs.frozen
class Rung:
    """A profile of a ladder.

    Attributes:
        profile: the profile.
        speed: how fast the same work runs, by a device model.
        stays_up: whether its votes stay up from one inference to the next, so that none waits for a raise.
    """

    profile: Profile
    speed: float
    stays_up: bool


class Sample(NamedTuple):
    """One inference.

    Attributes:
        allowed_ns: as in ``Slot``.
        wait_ns: how long it waited for its votes.
        run_ns: how long it took after that.
    """

    allowed_ns: int | None
    wait_ns: int
    run_ns: int


@attrs.define
class _Known:
    """The facts about a rung.

    Attributes:
        above: the place of the rung that it was compared with, which is higher; None if its speed is the model's.
        ratio: how many times as long inferences took as on that rung.
        measured_at: how many inferences there were then.
        failures: how often it has failed soon after its choice.
        barred_until: it is not chosen until there are this many inferences.
    """

    above: int | None = None
    ratio: float = 1.0
    measured_at: int = 0
    failures: int = 0
    barred_until: int = 0


class Chooser:
    """Chooses a rung of a ladder.

    Args:
        rungs: the ladder, from the lowest profile to the highest; the highest is the first choice.
        period_ns: how long an inference may take from its slot to its end.
        miss_rate: the share of the deadlines that may be missed, between 0 and 1.
        raise_ns: how long an inference waits for a raise, as long as no wait was measured.

    Attributes:
        rungs: as above.
        at: the place of the choice.
        top: the highest place that may be chosen.
        keeps: whether the choice keeps the rate. False only at the top.
        tested: whether enough inferences have run under the choice to know whether a lower one is enough.
        changes: how often the choice has changed, except by ``limit``.
    """

    def __init__(self, rungs: Sequence[Rung], period_ns: int, miss_rate: float, raise_ns: float) -> None:
        self.rungs = tuple(rungs)
        self.at = self.top = len(self.rungs) - 1
        self.keeps = True
        self.changes = 0
        self._period_ns = period_ns
        self._miss_rate = miss_rate
        self._stated_raise_ns = self._raise_ns = raise_ns
        # How many inferences there were when a raise was measured last.
        self._raised_at = 0
        worse = min(_WORSE * miss_rate, (1 + miss_rate) / 2)
        self._for_a_miss = math.log(worse / miss_rate)
        self._for_a_hit = math.log((1 - worse) / (1 - miss_rate))
        # So many inferences without a miss are enough for the doubt: the "rule of three".
        self.fewest = max(math.ceil(math.log(_DOUBT) / math.log1p(-miss_rate)), _FEWEST)
        self._allowed = [_most_misses(length * self.fewest, miss_rate) for length in _LENGTHS]
        self._window: deque[Sample] = deque(maxlen=_LENGTHS[-1] * self.fewest)
        self._known = [_Known() for _ in self.rungs]
        self._count = 0
        self._credit = float(_TRIAL_MISSES)
        self._changed_ns: int | None = None
        self._on_trial = False
        self._arrived_at = 0
        # The place before the last change, and how long inferences ran there; None once both are compared.
        self._before: tuple[int, float] | None = None
        self._sum = 0.0
        # How many inferences ago the sum was 0.
        self._since = 0

    @property
    def tested(self) -> bool:
        """Whether enough inferences have run under the choice to know whether a lower profile is enough."""
        return len(self._window) >= self.fewest

    def add(self, sample: Sample, now_ns: int, *, missed: bool) -> bool:
        """Add an inference that ran under the choice and has ended now; return whether the choice changes."""
        self._count += 1
        self._window.append(sample)
        self._credit = min(self._credit + self._miss_rate, _MOST_CREDIT)
        if missed and self.at < self.top:
            self._credit -= 1
        self._sum = min(max(self._sum + (self._for_a_miss if missed else self._for_a_hit), 0.0), _MOST_SUM)
        self._since = self._since + 1 if self._sum else 0
        if not self.rungs[self.at].stays_up:
            self._raise_ns += (sample.wait_ns - self._raise_ns) / _SMOOTHED
            self._raised_at = self._count
        elif self._count - self._raised_at > _MEASURED_FOR * self.fewest:
            self._raise_ns = min(self._raise_ns, self._stated_raise_ns)
        if self._before is not None and self._count - self._arrived_at >= _COMPARED:
            self._compare()
        if self.at == self.top:
            self.keeps = self._sum < _ALARM if self.keeps else not self._sum
        # A trial of a lower profile that fails is ended at once.
        if not self._on_trial and self._changed_ns is not None and now_ns - self._changed_ns < _BETWEEN_NS:
            return False
        chosen = self._choose(missed=missed)
        if chosen is None:
            return False
        self._move(chosen, now_ns)
        self.changes += 1
        return True

    def limit(self, top: int, now_ns: int) -> None:
        """Choose no place above ``top`` from now on."""
        self.top, self.keeps = top, True
        if self.at > top:
            self._move(top, now_ns)

    def _choose(self, *, missed: bool) -> int | None:
        """Return the place of another rung, or None to stay."""
        spent = missed and self._credit <= -_TRIAL_MISSES
        if self.at < self.top and (self._sum >= _ALARM or spent):
            if self._count - self._arrived_at <= self.fewest:
                self._note_failure()
            # If the credit is spent by single misses, all inferences count; else only those since the change of load.
            recent = self._since if self._sum >= _ALARM else len(self._window)
            return self._enough_above(list(self._window)[-recent:])
        # One step takes the host up to 1 ms if 1 % are allowed, and 10 ms if 0.1 % are, so it is not done each time.
        due = self.tested and (self._count - self._arrived_at) % max(self.fewest // 4, 1) == 0
        return self._enough_below() if due and self._credit >= _TRIAL_MISSES and self.keeps else None

    def _enough_above(self, samples: Sequence[Sample]) -> int:
        """Return the lowest rung above the choice that would have been enough for these inferences, or the top."""
        most = int(len(samples) * self._miss_rate / 2)
        places = range(self.at + 1, self.top)
        return next((place for place in places if self._misses(samples, place, most) <= most), self.top)

    def _enough_below(self) -> int | None:
        """Return the lowest rung below the choice that is enough for the last inferences; None if none is."""
        samples = list(self._window)
        for place in range(self.at):
            known = self._known[place]
            if self._count < known.barred_until:
                continue
            aged = self._count - known.measured_at > _MEASURED_FOR * self.fewest
            if aged and self._speed(place) < self.rungs[place].speed:
                known.above = None
            for length, most in zip(_LENGTHS, self._allowed, strict=True):
                size = length * self.fewest
                if size <= len(samples) and self._misses(samples[-size:], place, most) <= most:
                    return place
        return None

    def _misses(self, samples: Iterable[Sample], place: int, most: int) -> int:
        """Return how many of some inferences would have missed their deadline under a rung, up to ``most`` + 1.

        The inferences run one after the other, as in Lindley's recursion for a queue: each begins later by what the one
        before it has overrun.
        """
        period_ns, here, there = self._period_ns, self.rungs[self.at], self.rungs[place]
        slower = self._speed(self.at) / self._speed(place)
        if place > self.at:
            # A part of the time, such as that after a raise, is the same under each profile. It makes a lower profile
            # look slower than it is for longer inferences, so the model limits what a higher one gains.
            slower = max(slower, here.speed / there.speed)
        slower *= _MARGIN
        lowers = here.stays_up and not there.stays_up
        wait_ns = _MARGIN * self._raise_ns if lowers else 0.0
        late_ns = taken_ns = 0.0
        misses = 0
        for allowed_ns, waited_ns, run_ns in samples:
            # The host also waits for the lowering, which takes about as long as a raise.
            late_ns = 0.0 if allowed_ns is None else late_ns + taken_ns + wait_ns - allowed_ns
            if late_ns < 0:
                late_ns = 0.0
            elif late_ns >= period_ns:
                late_ns %= period_ns
            taken_ns = slower * run_ns + (wait_ns or (0 if there.stays_up else waited_ns))
            if late_ns + taken_ns > period_ns:
                misses += 1
                if misses > most:
                    break
        return misses

    def _speed(self, place: int) -> float:
        """Return the speed of a rung: measured, or as the model says next to the rung above that was measured."""
        known = self._known[place]
        if known.above is not None:
            return self._speed(known.above) / known.ratio
        measured = (each for each in range(place + 1, len(self.rungs)) if self._known[each].above is not None)
        above = next(measured, None)
        scale = 1.0 if above is None else self._speed(above) / self.rungs[above].speed
        return self.rungs[place].speed * scale

    def _note_failure(self) -> None:
        """Bar a rung that has failed soon after its choice, and those below it, which are slower."""
        failed = self._known[self.at]
        failed.failures = min(failed.failures + 1, _MOST_DOUBLINGS)
        until = self._count + (max(self.fewest, _BARRED_NS // self._period_ns) << failed.failures)
        for known in self._known[: self.at + 1]:
            known.barred_until = max(known.barred_until, until)

    def _move(self, place: int, now_ns: int) -> None:
        if self._before is not None:
            self._compare()
        if place > self.at and self._count - self._arrived_at > _LENGTHS[-1] * self.fewest:
            self._known[self.at].failures = 0
        # After a change of load, only the inferences since then can be compared with later ones.
        recent = min(len(self._window), _COMPARED)
        if place > self.at and self._since:
            recent = min(recent, self._since)
        # If only a few inferences were measured, and most of these missed their deadlines, they are not typical.
        enough = recent >= _FEWEST_COMPARED
        self._before = (self.at, _typical(itertools.islice(reversed(self._window), recent))) if enough else None
        self._on_trial = place < self.at
        self.at, self.keeps = place, True
        self._changed_ns, self._arrived_at = now_ns, self._count
        self._window.clear()
        self._sum, self._since = 0.0, 0

    def _compare(self) -> None:
        """Measure the speed of the lower of two rungs by the inferences before and after a change between them."""
        if self._before is None or len(self._window) < _FEWEST_COMPARED:
            return
        place, before_ns = self._before
        self._before = None
        after_ns = _typical(itertools.islice(self._window, _COMPARED))
        low, high = sorted((place, self.at))
        ratio = before_ns / after_ns if place == low else after_ns / before_ns
        known = self._known[low]
        # A lower profile is not faster: then the load has changed at the same time.
        known.above, known.ratio, known.measured_at = high, max(ratio, 1.0), self._count


def _typical(samples: Iterable[Sample]) -> int:
    """Return the time that half of some inferences exceed, at least 1 ns."""
    times_ns = sorted(sample.run_ns for sample in samples)
    return max(times_ns[len(times_ns) // 2], 1)


def _most_misses(count: int, miss_rate: float) -> int:
    """Return how many misses of ``count`` are so few that a rate above ``miss_rate`` is unlikely."""
    likely, total, misses = math.exp(count * math.log1p(-miss_rate)), 0.0, -1
    while total + likely <= _DOUBT:
        total += likely
        misses += 1
        likely *= (count - misses) / (misses + 1) * miss_rate / (1 - miss_rate)
    return misses
