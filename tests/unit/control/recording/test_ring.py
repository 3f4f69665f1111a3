"""What waits to be written is whole, whoever adds to it meanwhile."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from htppower.control.recording.ring import Ring, ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LABEL: Any = ("session", "plan")
# As long as another thread would need by far to add one, where nothing kept it from that.
LONG_ENOUGH_S = 0.05


def add(ring: Ring, at_ns: int) -> None:
    """Add an inference, as a recording does."""
    with ring.lock:
        ring.extend((ring.number(), LABEL, at_ns, at_ns + 1, False))


class _Interrupted(list[Any]):
    """A list to which another thread comes in the middle of a move, as it can without the interpreter's lock."""

    def __init__(self, meanwhile: Callable[[], object]) -> None:
        super().__init__()
        self._meanwhile = meanwhile

    def extend(self, fields: Iterable[Any]) -> None:
        """Take some, let the other thread come, and take the rest."""
        source = iter(fields)
        self.append(next(source))
        self.append(next(source))
        self._meanwhile()
        super().extend(source)


def test_what_is_added_during_a_move_tears_nothing() -> None:
    """Also where the ring is full, so that the oldest gives way: each is moved whole, or given way whole."""
    ring = Ring(2)
    add(ring, 0)
    add(ring, 10)
    other = threading.Thread(target=add, args=(ring, 20))

    def meanwhile() -> None:
        other.start()
        other.join(LONG_ENOUGH_S)

    taken, later = _Interrupted(meanwhile), list[Any]()
    ring.move_to(taken)
    other.join()
    ring.move_to(later)
    assert ended(taken + later) == [(0, LABEL, 0, 1, False), (1, LABEL, 10, 11, False), (2, LABEL, 20, 21, False)]


def test_the_oldest_give_way_to_the_latest() -> None:
    """What nobody has taken is lost from the oldest on, and the numbers tell how many."""
    ring, taken = Ring(2), list[Any]()
    for at_ns in range(5):
        add(ring, at_ns)
    ring.move_to(taken)
    assert [number for number, *_ in ended(taken)] == [3, 4]
    assert len(ring) == 0
