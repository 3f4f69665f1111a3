"""The state that a session should have, and the next step towards it: all cases, against tables written by hand."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import attrs
import pytest

from htppower import State, load_profile
from htppower.control.core.state_machine import TRANSITIONS, Step, desired, next_step
from htppower.control.gate.tokens import Use
from htppower.control.plans.plans import Missing, Plan, Planner
from htppower.events import Trigger
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterator

DEADLINE_US = 300_000
TIMES = {"before": DEADLINE_US - 1, "at": DEADLINE_US, "after": DEADLINE_US + 1}
VOTING = Planner(None, Missing(), strict=False).plan(load_profile("burst"))
VOTELESS = attrs.evolve(VOTING, raised=VoteSet(), lowered=VoteSet())
# Only failures and closing fire these triggers, so ``next_step`` never returns them.
OTHERS = (Trigger.LOSE, Trigger.DESTROY)
DESTS = {(row.trigger, source): row.dest for row in TRANSITIONS for source in row.sources}

# Left: the session's state (by its letter: U is UNVOTED, R is RAISED, L is LOWERED, K is UNKNOWN, D is DESTROYED),
# whether a phase runs, the time relative to the deadline, whether the profile has votes, and whether the session has
# IDs; * means any. Right: the state it should be in, and the next transition; > means only if its votes are not known
# to be in force.
TABLE = """
    states  busy  time       votes  ids  |  should be  step
    D       *     *          *      *    |  DESTROYED  -

    RLK     *     *          no     *    |  UNVOTED    release
    U       *     *          no     yes  |  UNVOTED    release
    U       *     *          no     no   |  UNVOTED    -

    ULK     yes   *          yes    *    |  RAISED     raise
    R       yes   *          yes    *    |  RAISED     >revise

    U       no    *          yes    *    |  UNVOTED    -
    L       no    *          yes    *    |  LOWERED    -
    R       no    before     yes    *    |  RAISED     >revise
    K       no    before     yes    *    |  RAISED     raise
    RK      no    at,after   yes    *    |  LOWERED    lower
"""
LETTERS = {"U": State.UNVOTED, "R": State.RAISED, "L": State.LOWERED, "K": State.UNKNOWN, "D": State.DESTROYED}
YES_NO = {"yes": (True,), "no": (False,), "*": (True, False)}

# Key: state, busy, time, votes, ids of a session. Value: the state that it should have, and the step.
Session = tuple[State, bool, str, bool, bool]
Line = tuple[str, str]


def lines() -> Iterator[tuple[Session, Line]]:
    """Yield each session that a line of the table covers, with that line."""
    for text in TABLE.splitlines()[2:]:
        if not text.strip():
            continue
        states, busy, time, votes, ids, _, should_be, step = text.split()
        for session in itertools.product(
            [LETTERS[letter] for letter in (LETTERS if states == "*" else states)],
            YES_NO[busy],
            TIMES if time == "*" else time.split(","),
            YES_NO[votes],
            YES_NO[ids],
        ):
            yield session, (should_be, step)


LINES = dict(lines())
SESSIONS: list[Session] = list(itertools.product(State, (True, False), TIMES, (True, False), (True, False)))


def plan_of(*, votes: bool) -> Plan:
    """Return a plan with or without votes."""
    return VOTING if votes else VOTELESS


def desired_of(session: Session) -> State:
    """Return the state that a session should be in."""
    state, busy, time, votes, _ = session
    use = Use(closing=False, busy=busy, deadline_us=DEADLINE_US)
    return desired(use, plan_of(votes=votes), state, now_us=TIMES[time])


def step_of(session: Session, *, differs: bool) -> Step | None:
    """Return the next step of a session."""
    state, _, _, votes, ids = session
    return next_step(desired_of(session), plan_of(votes=votes), state, has_ids=ids, differs=differs)


def test_the_table_has_one_line_for_each_session() -> None:
    """Each combination is covered by exactly one line."""
    assert sorted(map(str, (session for session, _ in lines()))) == sorted(map(str, SESSIONS))
    assert len(SESSIONS) == 120


@pytest.mark.parametrize("state", State)
def test_what_a_session_should_be(state: State) -> None:
    """A session should be in the state that the table gives."""
    wrong = {session: desired_of(session) for session in SESSIONS if desired_of(session).name != LINES[session][0]}
    assert not {session: to for session, to in wrong.items() if session[0] is state}


@pytest.mark.parametrize("differs", [True, False])
@pytest.mark.parametrize("state", State)
def test_the_next_step(state: State, *, differs: bool) -> None:
    """The next step is the one in the table, and has the votes of its trigger."""
    for session in SESSIONS:
        if session[0] is not state:
            continue
        plan, name = plan_of(votes=session[3]), LINES[session][1]
        votes = {"raise": plan.raised, "revise": plan.raised, "lower": plan.lowered}
        if name == "-" or (name[0] == ">" and not differs):
            wanted = None
        else:
            trigger = Trigger(name.removeprefix(">"))
            wanted = Step(trigger, votes.get(trigger.value))
        assert step_of(session, differs=differs) == wanted, session


@pytest.mark.parametrize("differs", [True, False])
def test_every_step_is_in_the_transition_table(*, differs: bool) -> None:
    """A step is always a valid transition, and every transition except LOSE and DESTROY is the step of some session."""
    taken = set()
    for session in SESSIONS:
        step = step_of(session, differs=differs)
        if step is not None:
            assert (step.trigger, session[0]) in DESTS
            taken.add((step.trigger, session[0]))
    rows = {(row.trigger, source) for row in TRANSITIONS for source in row.sources if row.trigger not in OTHERS}
    second = {(Trigger.LOWER_FURTHER, State.LOWERED)}
    assert rows - taken == (second if differs else {*second, (Trigger.REVISE, State.RAISED)})


def test_relaxed_votes_that_are_to_relax_further() -> None:
    """The votes of the second power state are sent only after those of the first."""
    then = attrs.evolve(VOTING, then=VOTING.raised)
    for session in SESSIONS:
        state, _, _, votes, ids = session
        if votes:
            step = next_step(desired_of(session), then, state, has_ids=ids, differs=True, further=True)
            lowered = desired_of(session) is state is State.LOWERED
            assert step == (Step(Trigger.LOWER_FURTHER, then.then) if lowered else step_of(session, differs=True))


@pytest.mark.parametrize("state", State)
def test_a_session_whose_inference_is_expected(state: State) -> None:
    """A predicted inference counts as a running phase until the deadline, and not after it."""
    for session in SESSIONS:
        if session[0] is state and not session[1]:
            _, _, time, votes, _ = session
            use = Use(closing=False, busy=False, deadline_us=DEADLINE_US, expected=True)
            found = desired(use, plan_of(votes=votes), state, now_us=TIMES[time])
            raised = time == "before" and state in (State.LOWERED, State.UNVOTED) and votes
            assert found is (State.RAISED if raised else desired_of(session)), session


@pytest.mark.parametrize("differs", [True, False])
def test_steps_end_where_a_session_should_be(*, differs: bool) -> None:
    """Any session reaches the state that it should be in within three steps, and stays there."""
    for start in SESSIONS:
        session, steps = start, 0
        while (step := step_of(session, differs=differs and steps == 0)) is not None:
            steps += 1
            assert steps <= 3, start
            dest = DESTS[step.trigger, session[0]]
            has_ids = session[4] if step.trigger is Trigger.LOWER else step.votes is not None
            session = (dest, *session[1:4], has_ids)
        assert desired_of(session) is session[0], start


@pytest.mark.parametrize(
    ("target", "state", "trigger"),
    [
        (State.LOWERED, State.RAISED, Trigger.LOWER),
        (State.LOWERED, State.UNKNOWN, Trigger.LOWER),
        (State.RAISED, State.UNKNOWN, Trigger.RAISE),
        (State.LOWERED, State.UNVOTED, None),
        (State.DESTROYED, State.RAISED, None),
    ],
)
def test_a_target_other_than_the_desired_one(target: State, state: State, trigger: Trigger | None) -> None:
    """``next_step`` leads to the given target, even if it is not the desired state."""
    step = next_step(target, VOTING, state, has_ids=True, differs=True)
    assert (None if step is None else step.trigger) is trigger


@pytest.mark.parametrize("now_us", [-1, 0])
def test_a_deadline_that_was_never_set_is_over(now_us: int) -> None:
    """The deadline of a new session is 0 and counts as past: raised votes are lowered at once, even at time 0."""
    use = Use(closing=False, busy=False, deadline_us=0)
    target = desired(use, VOTING, State.RAISED, now_us=now_us)
    assert target is (State.LOWERED if now_us == 0 else State.RAISED)


@pytest.mark.parametrize("busy", [True, False])
@pytest.mark.parametrize("state", State)
def test_a_session_that_is_being_closed_stays_as_it_is(state: State, *, busy: bool) -> None:
    """A session that is being closed keeps its state until the closing lowers and destroys it."""
    for votes, now_us in itertools.product((True, False), TIMES.values()):
        use = Use(closing=True, busy=busy, deadline_us=DEADLINE_US)
        assert desired(use, plan_of(votes=votes), state, now_us=now_us) is state
