"""The session's states and its transition table.

A transition is a call to the hardware, and a call to the hardware is a transition. So the call is made in the
transition's ``before`` callback, where a failure leaves the old state (measured: one in ``on_enter`` or ``after``
leaves the new one).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs
import transitions

from htppower.events import State, Trigger

if TYPE_CHECKING:
    from collections.abc import Callable


@attrs.frozen
class Row:
    """One row of the transition table."""

    trigger: Trigger
    sources: tuple[State, ...]
    dest: State
    meaning: str


MEANINGS = {
    State.UNVOTED: "nothing is voted",
    State.RAISED: "the profile's votes are in force",
    State.LOWERED: "the power state's votes are in force",
    State.UNKNOWN: "the last call failed, or the DSP restarted: nothing is known to be in force",
    State.DESTROYED: "the power config ids are gone",
}

_LIVE = (State.UNVOTED, State.RAISED, State.LOWERED, State.UNKNOWN)

TRANSITIONS = (
    Row(Trigger.RAISE, (State.UNVOTED, State.LOWERED, State.UNKNOWN), State.RAISED, "cast the profile's votes"),
    Row(
        Trigger.REVISE,
        (State.RAISED,),
        State.RAISED,
        "cast other votes: a new profile, or votes that may be lost",
    ),
    Row(Trigger.LOWER, (State.RAISED, State.UNKNOWN), State.LOWERED, "cast the power state's votes"),
    Row(Trigger.LOSE, _LIVE, State.UNKNOWN, "a call failed, or the DSP restarted"),
    Row(Trigger.RELEASE, _LIVE, State.UNVOTED, "change to a profile without votes: destroy the ids"),
    Row(Trigger.DESTROY, _LIVE, State.DESTROYED, "give back process-wide settings, destroy the ids"),
)


def _perform(call: Callable[[], None]) -> None:
    call()


_NAME = "htppower"


class _OwnMachineFilter(logging.Filter):
    """Leaves out what transitions logs of this machine: three INFO records each time, which an event tells better.

    The records of a host's own machines pass.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        return not (isinstance(record.args, tuple) and record.args[:1] == (f"{_NAME}: ",))


class SessionMachine:
    """The machine that all sessions of a controller share: the table once, the state in each session.

    It binds nothing to a session (measured: some 4 KiB each), and takes its events by enumerator, so that a misspelt
    one fails at import. It has no lock of its own; the controller's protects it.
    """

    def __init__(self) -> None:
        logger = logging.getLogger("transitions.core")
        if not any(isinstance(known, _OwnMachineFilter) for known in logger.filters):
            logger.addFilter(_OwnMachineFilter())
        self._machine = transitions.Machine(
            model=None,
            states=State,
            transitions=[
                {
                    "trigger": row.trigger.value,
                    "source": list(row.sources),
                    "dest": row.dest,
                    "before": _perform,
                }
                for row in TRANSITIONS
            ],
            initial=State.UNVOTED,
            name=_NAME,
            auto_transitions=False,
            model_attribute="state",
        )

    def fire(self, session: object, trigger: Trigger, call: Callable[[], None]) -> None:
        """Make the call, then change the session's ``state``; if the call raises, the state stays.

        Raises:
            transitions.MachineError: the table has no such transition from the session's state.
        """
        self._machine.events[trigger.value].trigger(session, call)
