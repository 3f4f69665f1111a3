"""What inferences leave behind at their end, until it is written: bounded, and no disk is waited for."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from htppower.backends.whole_lock import whole_lock

if TYPE_CHECKING:
    from htppower.control.core.plans import Plan
    from htppower.control.core.session_record import SessionRecord


# An inference that has ended: which of the recording it is, from 0; its session, and what that cast; when it began, by
# the controller's clock, or NOT_TIMED for one that is lost; when it ended; and whether it had waited for a call.
Ended: TypeAlias = "tuple[int, tuple[SessionRecord, Plan], int, int, bool]"
_WIDTH = 5


class Ring:
    """The latest inferences that nobody has written yet; the oldest give way to the latest.

    Their fields follow each other in one queue: a tuple for each would be the collector's to look at, and costs more
    than all else.

    Args:
        most: how many there are at most.

    Attributes:
        lock: held by who adds one, and by who takes them out, but not while they are written. Without the
            interpreter's lock, others would add between the fields of one that is taken out.
        number: draws the number of an inference.
        extend: adds one, by its fields as in ``Ended``; a function in C, which no interrupt comes in.
    """

    __slots__ = ("_fields", "extend", "lock", "number")

    def __init__(self, most: int) -> None:
        self.lock = whole_lock()
        self._fields: deque[Any] = deque(maxlen=most * _WIDTH)
        self.number = itertools.count().__next__
        self.extend = self._fields.extend

    def __len__(self) -> int:
        return len(self._fields) // _WIDTH

    def move_to(self, taken: list[Any]) -> None:
        """Move the fields of what there is to the end of a list."""
        with self.lock:
            # In C from end to end: an interrupt finds each either here or there.
            taken.extend(itertools.starmap(self._fields.popleft, itertools.repeat((), len(self._fields))))


def ended(fields: list[Any]) -> list[Ended]:
    """Return the inferences of which a list has the fields."""
    return list(zip(*[iter(fields)] * _WIDTH, strict=True))
