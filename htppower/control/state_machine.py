"""The transition table of a session.

A transition is a call to the hardware, and a call to the hardware is a transition. The call is made before the state
changes, so that a failure leaves no wrong state behind.
"""

from __future__ import annotations

import attrs
import transitions

from htppower.events import State, Trigger


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


class TransitionTable:
    """The table as a machine of ``transitions``, which all sessions share.

    It is asked for the way and not fired: a machine that is fired swallows an exception such as Ctrl-C that comes in
    its last step (measured), and takes as long as several native calls (8 us).
    """

    def __init__(self) -> None:
        machine = transitions.Machine(
            model=None,
            states=State,
            transitions=[
                {"trigger": row.trigger.value, "source": list(row.sources), "dest": row.dest} for row in TRANSITIONS
            ],
            initial=State.UNVOTED,
            auto_transitions=False,
        )
        self._dests = {
            (trigger, State[str(source)]): State[str(way.dest)]
            for trigger in Trigger
            for source, ways in machine.events[trigger.value].transitions.items()
            for way in ways
        }

    def dest(self, trigger: Trigger, source: State) -> State:
        """Return the state in which a transition ends.

        Raises:
            transitions.MachineError: the table has no such transition from that state.
        """
        dest = self._dests.get((trigger, source))
        if dest is None:
            raise transitions.MachineError(f"no transition {trigger} from {source}")
        return dest
