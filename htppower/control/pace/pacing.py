"""The state of one pace: its slots, its choice of a profile, and what it has counted."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

from htppower.backends.whole_lock import whole_lock
from htppower.control.pace.chooser import Sample
from htppower.control.pace.pace_status import PaceStatus
from htppower.control.plans.precedence import exceeds

if TYPE_CHECKING:
    import weakref
    from collections.abc import Sequence

    from htppower.control.pace.chooser import Chooser
    from htppower.control.pace.slots import Slot, Slots
    from htppower.control.plans.precedence import Claim
    from htppower.profiles.profile import Profile

# The rate and the recent misses are those of so many inferences.
_RECENT = 100
_S = 1_000_000_000


class Pacing:
    """The state of one pace.

    Its lock is taken alone: no call is made and no other lock is taken under it.

    Args:
        slots: when each inference begins.
        chooser: chooses the profile.
        per_s: the rate.
        miss_rate: the share of the deadlines that may be missed.

    Attributes:
        slots, chooser: as above.
        claim: the choice as a claim on the session. It is replaced under the line.
        watch: the weak reference that ends the pace when its handle is gone.
    """

    def __init__(self, slots: Slots, chooser: Chooser, per_s: float, miss_rate: float) -> None:
        self.slots = slots
        self.chooser = chooser
        self.claim: Claim | None = None
        self.watch: weakref.ref[Any] | None = None
        self._per_s = per_s
        self._miss_rate = miss_rate
        self._caps: Sequence[Claim] = ()
        self._inferences = self._misses = 0
        self._ends_ns: deque[int] = deque(maxlen=_RECENT)
        self._recent: deque[bool] = deque(maxlen=_RECENT)
        self._lock = whole_lock()

    @property
    def profile(self) -> Profile:
        """The profile that it has chosen."""
        return self.chooser.rungs[self.chooser.at].profile

    @property
    def reason(self) -> str:
        """Why the session uses that profile, as shown in status and events."""
        rate, chooser = f"{self._per_s:g} a second", self.chooser
        limited = chooser.top < len(chooser.rungs) - 1
        if not chooser.keeps:
            return f"{rate}: no profile {'up to the cap' if limited else 'of the pace'} keeps it"
        if limited and chooser.at == chooser.top:
            return f"{rate}: the highest profile up to the cap"
        if chooser.changes or chooser.tested:
            return f"{rate}: the lowest profile that keeps it"
        return f"{rate}: the inferences are measured first"

    def next_slot(self, now_ns: int, *, overlaps: bool) -> Slot:
        """Return the slot of an inference that is asked for now; ``overlaps``: another one is still running."""
        with self._lock:
            return self.slots.next(now_ns, overlaps=overlaps)

    @property
    def is_new(self) -> bool:
        """Whether the choice or its reason differs from the claim on the session."""
        claim = self.claim
        return claim is None or claim.profile is not self.profile or claim.reason != self.reason

    def ended(
        self,
        slot: Slot,
        entered_ns: int,
        begun_ns: int,
        ended_ns: int,
        under: Profile | None,
        caps: Sequence[Claim],
    ) -> None:
        """Record the end of an inference.

        Args:
            slot: its slot.
            entered_ns: when it began to wait for its votes.
            begun_ns: when they were in force.
            ended_ns: when it ended.
            under: the profile that it ran under; None if that has changed while it ran.
            caps: the caps that are set.
        """
        with self._lock:
            missed = self.slots.missed(slot, ended_ns)
            self._inferences += 1
            self._misses += missed
            self._ends_ns.append(ended_ns)
            self._recent.append(missed)
            if caps is not self._caps:
                self._limit(caps, ended_ns)
            if under is None or (under is not self.profile and under != self.profile):
                # A hold or a cap decides, or the profile is being changed: this shows nothing about the choice.
                return
            at = self.chooser.at
            sample = Sample(slot.allowed_ns, begun_ns - entered_ns, ended_ns - begun_ns)
            self.chooser.add(sample, ended_ns, missed=missed)
            if self.chooser.at > at:
                self.slots.start_anew()

    def _limit(self, caps: Sequence[Claim], now_ns: int) -> None:
        """Let only the profiles be chosen that no cap forbids; all if none is left, since the cap decides then."""
        self._caps, rungs = caps, self.chooser.rungs
        left = itertools.takewhile(lambda rung: not any(exceeds(rung.profile, cap.profile) for cap in caps), rungs)
        self.chooser.limit((len(list(left)) or len(rungs)) - 1, now_ns)

    def status(self) -> PaceStatus:
        """Return what it has chosen and counted."""
        with self._lock:
            ends_ns = self._ends_ns
            lasted_ns = ends_ns[-1] - ends_ns[0] if ends_ns else 0
            recent_per_s = (len(ends_ns) - 1) * _S / lasted_ns if lasted_ns > 0 else None
            return PaceStatus(
                per_s=self._per_s,
                miss_rate=self._miss_rate,
                profile=self.profile.name,
                keeps=self.chooser.keeps,
                inferences=self._inferences,
                misses=self._misses,
                recent_per_s=recent_per_s,
                recent_misses=sum(self._recent),
                changes=self.chooser.changes,
            )

    def disown(self) -> None:
        """In a forked child: use a new lock, since a thread of the parent may have held the old one."""
        self._lock = whole_lock()
