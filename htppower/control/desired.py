"""What a session should have, and the next step to it: functions of values, without lock, clock or call."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from htppower.events import State, Trigger

if TYPE_CHECKING:
    from htppower.control.gate import Use
    from htppower.control.plans import Plan
    from htppower.votes.vote_set import VoteSet


class Step(NamedTuple):
    """A transition to be made.

    Attributes:
        trigger: which.
        votes: what it casts; None for one that gives the ids back.
    """

    trigger: Trigger
    votes: VoteSet | None = None


def desired(use: Use, plan: Plan, state: State, *, has_ids: bool, now_us: int) -> State:
    """Return the state that a session should be in.

    Args:
        use: what is made of it.
        plan: what it casts.
        state: the state that it is in.
        has_ids: whether it has power config ids.
        now_us: the time, on the clock of the use's deadline.
    """
    if state is State.DESTROYED:
        return state
    if use.closing:
        return State.LOWERED if state in (State.RAISED, State.UNKNOWN) and has_ids else State.DESTROYED
    if not plan.raised:
        return State.UNVOTED
    if state is State.UNVOTED and not use.busy:
        return state
    # An alarm that rings at its deadline must lower: <, and not <=.
    stays_up = use.busy or (now_us < use.deadline_us and state is not State.LOWERED)
    return State.RAISED if stays_up else State.LOWERED


def next_step(target: State, plan: Plan, state: State, *, has_ids: bool, differs: bool) -> Step | None:
    """Return the transition that brings a session nearer to its target, None where it is there.

    Args:
        target: the state that it should be in.
        plan: what it casts.
        state: the state that it is in.
        has_ids: whether it has power config ids.
        differs: whether the raised votes are not known to be in force.
    """
    if target is State.RAISED:
        if state is State.RAISED:
            return Step(Trigger.REVISE, plan.raised) if differs else None
        return Step(Trigger.RAISE, plan.raised)
    if target is State.LOWERED:
        return None if state is State.LOWERED else Step(Trigger.LOWER, plan.lowered)
    if target is State.UNVOTED:
        given_back = state is State.UNVOTED and not has_ids
        return None if plan.raised or given_back else Step(Trigger.RELEASE)
    return None if state is State.DESTROYED else Step(Trigger.DESTROY)
