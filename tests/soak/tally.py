"""The counts of a soak, and the broken rules."""

from __future__ import annotations

import threading
from collections import Counter

# A single fault of the controller may break a rule ten thousand times.
MOST_BREACHES = 20


class Tally:
    """Counts by name, largest values by name, and breaches; from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._largest: dict[str, int] = {}
        self._breaches: list[str] = []
        self._left_out = 0

    def count(self, what: str, times: int = 1) -> None:
        """Count something that happened."""
        with self._lock:
            self._counts[what] += times

    def largest(self, what: str, value: int) -> None:
        """Keep the value if it is the largest of its name so far."""
        with self._lock:
            self._largest[what] = max(value, self._largest.get(what, value))

    def breach(self, check: str, what: str) -> None:
        """Record a broken rule; the first ones are kept, the rest are counted."""
        with self._lock:
            if len(self._breaches) < MOST_BREACHES:
                self._breaches.append(f"{check}: {what}")
            else:
                self._left_out += 1

    def counted(self, what: str) -> int:
        """Return how often something happened."""
        with self._lock:
            return self._counts[what]

    def largest_of(self, what: str) -> int:
        """Return the largest value of this name; 0 if it has no value."""
        with self._lock:
            return self._largest.get(what, 0)

    @property
    def breaches(self) -> tuple[str, ...]:
        """The broken rules, in the order that they were found."""
        with self._lock:
            more = (f"and {self._left_out} more",) if self._left_out else ()
            return (*self._breaches, *more)
