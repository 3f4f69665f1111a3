"""The slots of a pace: when each inference may begin, and by when it must end.

Pure: the caller states the time. All times are in ns.
"""

from __future__ import annotations

from typing import NamedTuple


class Slot(NamedTuple):
    """The slot of one inference. Its deadline is one period after its begin.

    Attributes:
        begin_ns: when the inference is due; it may wait until then.
        asked_ns: when the host asked for it.
        allowed_ns: how long the inference before may have taken without delaying this one. None if this one does not
            depend on it: it is the first, the host was away, or both run at the same time.
    """

    begin_ns: int
    asked_ns: int
    allowed_ns: int | None

    @property
    def ready_ns(self) -> int:
        """When the inference can begin: when it is due and asked for."""
        return max(self.begin_ns, self.asked_ns)


class Slots:
    """The slots of one pace, one after the other.

    An inference that is asked for early waits for the next slot, or, without waiting, gets a slot of its own. If an
    inference overran its slot, the next one still has the deadline of its own slot; slots that are over are skipped.
    The slots start anew if the host itself was away for a period or longer, and with a higher profile: otherwise its
    first inferences would miss their deadlines because of what a lower one has overrun.

    Args:
        period_ns: the time from one slot to the next.
        waits: whether an inference waits for its slot.

    Attributes:
        period_ns, waits: as above.
    """

    __slots__ = ("_begin_ns", "_ended_ns", "period_ns", "waits")

    def __init__(self, period_ns: int, *, waits: bool) -> None:
        self.period_ns = period_ns
        self.waits = waits
        self._begin_ns: int | None = None
        self._ended_ns = 0

    def next(self, now_ns: int, *, overlaps: bool) -> Slot:
        """Return the slot of an inference that the host asks for now; ``overlaps``: another one is still running."""
        period_ns, before_ns = self.period_ns, self._begin_ns
        # How long the host itself needed since the last inference has ended.
        host_ns = 0 if overlaps else now_ns - self._ended_ns
        if before_ns is None or host_ns >= period_ns:
            slot = Slot(now_ns, now_ns, None)
        else:
            due_ns = before_ns + period_ns
            overran = now_ns >= due_ns and (self.waits or self._ended_ns > due_ns)
            allowed_ns = period_ns - host_ns if self.waits else period_ns
            if overran:
                due_ns += (now_ns - due_ns) // period_ns * period_ns
            elif not self.waits:
                # The host asks when it has work. A host that asks more often than the rate is not slower for that.
                due_ns, allowed_ns = now_ns, max(now_ns - before_ns, period_ns)
            slot = Slot(due_ns, now_ns, None if overlaps else allowed_ns)
        self._begin_ns = slot.begin_ns
        return slot

    def start_anew(self) -> None:
        """Let the next inference have its slot at once."""
        self._begin_ns = None

    def ended(self, ended_ns: int) -> None:
        """Record the end of an inference."""
        self._ended_ns = max(self._ended_ns, ended_ns)

    def missed(self, slot: Slot, ended_ns: int) -> bool:
        """Record the end of an inference; return whether it has missed its deadline."""
        self.ended(ended_ns)
        return ended_ns > slot.begin_ns + self.period_ns
