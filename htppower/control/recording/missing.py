"""Which inferences are lost: their numbers are missing, and are so still when later ones are taken once more.

Until then a thread may have drawn a number and not added its inference yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.control.recording.ring import Ended


class Gap(NamedTuple):
    """Numbers that are missing.

    Attributes:
        first, end: from which on, and up to which, exclusively.
        ended_ns: when the inference ended that has come in their place.
    """

    first: int
    end: int
    ended_ns: int


class Missing(NamedTuple):
    """What is known of the numbers.

    Attributes:
        next: the number after the greatest that has come.
        gaps: what is missing below that.
    """

    next: int = 0
    gaps: tuple[Gap, ...] = ()

    def after(self, came: Sequence[Ended]) -> tuple[tuple[Gap, ...], Missing]:
        """Return what is lost now that these have come, and what is known then."""
        if not self.gaps and [number for number, *_ in came] == list(range(self.next, self.next + len(came))):
            return (), Missing(self.next + len(came))
        in_order = sorted(came, key=_number)
        late = [number for number, *_ in in_order if number < self.next]
        lost = tuple(part for gap in self.gaps for part in _without(gap, late))
        last = in_order[-1][0] if in_order else -1
        return lost, Missing(max(self.next, last + 1), tuple(self._new_gaps(in_order)))

    def _new_gaps(self, in_order: Sequence[Ended]) -> Iterator[Gap]:
        following = self.next
        for number, _, _, ended_ns, _ in in_order:
            if number > following:
                yield Gap(following, number, ended_ns)
            following = max(following, number + 1)


def _number(ended: Ended) -> int:
    return ended[0]


def _without(gap: Gap, numbers: Sequence[int]) -> Iterator[Gap]:
    """Yield the parts of a gap between the numbers, which are in order."""
    first = gap.first
    for number in numbers:
        if gap.first <= number < gap.end:
            if first < number:
                yield gap._replace(first=first, end=number)
            first = number + 1
    if first < gap.end:
        yield gap._replace(first=first)
