"""The link to the DSP: its state, and whether a native call may be made now.

``TABLE`` has the next state for each state and event. The table is run by the library ``transitions``. Its events are
the answers of native calls, reports of the host, and the creation of a new device. The line is held.
"""

from __future__ import annotations

import enum
from types import MappingProxyType
from typing import TYPE_CHECKING

import transitions

from htppower.control.core.meaning import Meaning
from htppower.events import LinkState

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.errors import VoteRejected

# After this many failures without a success between them, no call is made until the timer of the back-off fires. So on
# a dead link at most 10 calls fail in 5 s, however busy the host is.
FAILURES_BEFORE_BACK_OFF = 3
# After this many failures in a row that look like a dead link, the link counts as dead. The last of them was made after
# a back-off.
FAILURES_OF_A_DEAD_LINK = 4
FIRST_RETRY_US = 1_000_000
LONGEST_RETRY_US = 8_000_000
# Another user of the library keeps the dead link open: only the host can free it.
HELD_RETRY_US = 60_000_000


class LinkEvent(str, enum.Enum):
    """An event that may change the state of the link."""

    WORKED = "the DSP has answered a call"
    LOST = "a call answered 1007, or the host reports a 1007"
    SUSPECT = "a call failed as it does on a dead link"
    DEAD = "a call answered 1011, the host reports a 1011, or calls fail again and again"
    IN_VAIN = "calls failed right after the device was created again"
    TOLD = "the host reports a loss while the link is dead, so it may have freed its NPU session"

    __str__ = str.__str__


_WELL, _LOST, _SUSPECT, _DEAD, _HELD = LinkState
TABLE = MappingProxyType(
    {
        _WELL: (_WELL, _LOST, _SUSPECT, _DEAD, _WELL, _WELL),
        _LOST: (_WELL, _LOST, _SUSPECT, _DEAD, _LOST, _LOST),
        _SUSPECT: (_WELL, _LOST, _SUSPECT, _DEAD, _SUSPECT, _SUSPECT),
        _DEAD: (_WELL, _LOST, _DEAD, _DEAD, _HELD, _DEAD),
        _HELD: (_WELL, _LOST, _HELD, _HELD, _HELD, _DEAD),
    }
)
_EVENTS = MappingProxyType(
    {Meaning.LOST: LinkEvent.LOST, Meaning.DEAD: LinkEvent.DEAD, Meaning.SUSPECT: LinkEvent.SUSPECT}
)


class Link:
    """The state of the link, and the failures that led to it.

    Args:
        changed: called after each change of the state, with the old state.

    Attributes:
        state: the state; the machine writes it.
        epoch: how often all votes were lost. Votes that were sent in an earlier epoch are gone.
        error: the last failed call; None after a success.
        failures: how many calls have failed since the last success.
        renewed: whether the device was created again, and no call has shown yet whether the link now works.
        closed_until_us: the time before which no call is made; the back-off sets it.
    """

    def __init__(self, changed: Callable[[LinkState], object]) -> None:
        self._changed = changed
        self.state = LinkState.WELL
        self.epoch = 0
        self.error: VoteRejected | None = None
        self.failures = 0
        self.renewed = False
        self.closed_until_us = 0
        self._machine = transitions.Machine(
            model=None,
            name="htppower",
            states=LinkState,
            transitions=[
                {"trigger": event.name, "source": source, "dest": dest}
                for source, dests in TABLE.items()
                for event, dest in zip(LinkEvent, dests, strict=True)
            ],
            initial=LinkState.WELL,
            auto_transitions=False,
        )

    @property
    def needs_renewal(self) -> bool:
        """Whether the device must be created again before the next call."""
        return self.state in (LinkState.DEAD, LinkState.HELD) and not self.renewed

    def may_call(self, now_us: int) -> bool:
        """Return whether a call may be made now."""
        return now_us >= self.closed_until_us and not self.needs_renewal

    def was_renewed(self) -> None:
        """Record that the device was created again: the next calls show whether the link works."""
        self.renewed, self.failures, self.closed_until_us = True, 0, 0

    def worked(self) -> None:
        """Note that the DSP has answered a call."""
        if self.failures or self.state is not LinkState.WELL:
            self.failures, self.error, self.renewed = 0, None, False
            self.closed_until_us = 0
            self.fire(LinkEvent.WORKED)

    def failed(self, means: Meaning, error: VoteRejected) -> None:
        """Note that a call has failed."""
        self.error = error
        self.failures += 1
        if means is Meaning.LOST and self.failures > FAILURES_BEFORE_BACK_OFF:
            # The library has rebuilt the link, and this call was made after a back-off. The next call works, so it must
            # not wait for another back-off.
            self.failures = FAILURES_BEFORE_BACK_OFF - 1
        event = _EVENTS.get(means)
        if event is None:
            return
        if self.renewed and means is Meaning.SUSPECT and self.failures == 1:
            # A healthy link may give this answer once, so the link is not dead yet.
            return
        if self.renewed and means is not Meaning.LOST:
            event = LinkEvent.IN_VAIN
        elif means is Meaning.SUSPECT and self.state is LinkState.SUSPECT and self.failures >= FAILURES_OF_A_DEAD_LINK:
            event = LinkEvent.DEAD
        self.renewed = False
        self.fire(event)

    def host_reported(self, means: Meaning, error: VoteRejected) -> None:
        """Note that a call of the host returned the code of a lost link."""
        self.error = error
        self.closed_until_us = 0
        self.fire(LinkEvent.TOLD if self.needs_renewal else _EVENTS[means])

    def fire(self, event: LinkEvent) -> None:
        """Send an event to the machine; begin a new epoch if all votes are gone."""
        before = self.state
        self._machine.events[event.name].trigger(self)
        died = self.state is LinkState.DEAD and before not in (LinkState.DEAD, LinkState.HELD)
        if event is LinkEvent.LOST or died:
            self.epoch += 1
        if self.state is not before:
            self._changed(before)
