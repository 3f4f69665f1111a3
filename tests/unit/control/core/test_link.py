"""The link: every event in every state, and when the link may be called."""

from __future__ import annotations

import itertools

import attrs
import pytest

from htppower.control.core.link import TABLE, Link, LinkEvent
from htppower.control.core.meaning import Meaning
from htppower.errors import VoteRejected
from htppower.events import LinkState

WELL, LOST, SUSPECT, DEAD, HELD = LinkState
# The events that lead into each state, from WELL.
WAYS = {
    WELL: (),
    LOST: (LinkEvent.LOST,),
    SUSPECT: (LinkEvent.SUSPECT,),
    DEAD: (LinkEvent.DEAD,),
    HELD: (LinkEvent.DEAD, LinkEvent.IN_VAIN),
}
# Written by hand: the next state for WORKED, LOST, SUSPECT, DEAD, IN_VAIN and TOLD.
FOLLOWS = {
    WELL: (WELL, LOST, SUSPECT, DEAD, WELL, WELL),
    LOST: (WELL, LOST, SUSPECT, DEAD, LOST, LOST),
    SUSPECT: (WELL, LOST, SUSPECT, DEAD, SUSPECT, SUSPECT),
    DEAD: (WELL, LOST, DEAD, DEAD, HELD, DEAD),
    HELD: (WELL, LOST, HELD, HELD, HELD, DEAD),
}
ERROR = VoteRejected(13003, power_config_id=1)


@attrs.define
class Told:
    """A link, and the states that it has left."""

    left: list[LinkState] = attrs.field(factory=list)
    link: Link = attrs.field(init=False)

    @link.default
    def _(self) -> Link:
        return Link(self.left.append)

    def bring(self, state: LinkState) -> Link:
        """Bring the link into a state."""
        for event in WAYS[state]:
            self.link.fire(event)
        self.left.clear()
        return self.link


def test_the_table_has_a_cell_for_each_state_and_event() -> None:
    """The table lists every event in every state, so none is ignored by accident."""
    assert set(TABLE) == set(FOLLOWS) == set(LinkState)
    assert {len(dests) for dests in TABLE.values()} == {len(LinkEvent)}


@pytest.mark.parametrize(("state", "event"), list(itertools.product(LinkState, LinkEvent)))
def test_every_state_against_every_event(state: LinkState, event: LinkEvent) -> None:
    """The link takes the state from the table, calls back if its state changes, and counts a loss of all votes."""
    told = Told()
    link = told.bring(state)
    epoch = link.epoch
    link.fire(event)
    follows = FOLLOWS[state][list(LinkEvent).index(event)]
    assert (link.state, told.left) == (follows, [] if follows is state else [state])
    died = follows is DEAD and state not in (DEAD, HELD)
    assert link.epoch - epoch == (event is LinkEvent.LOST or died)


@pytest.mark.parametrize("state", LinkState)
def test_which_states_may_be_called(state: LinkState) -> None:
    """A dead link may be called only after a renewal; any other link once its back-off is over."""
    link = Told().bring(state)
    link.closed_until_us = 10
    down = state in (DEAD, HELD)
    assert [link.needs_renewal, link.may_call(9), link.may_call(10)] == [down, False, not down]
    link.was_renewed()
    link.closed_until_us = 10
    assert [link.needs_renewal, link.may_call(9), link.may_call(10)] == [False, False, True]


@pytest.mark.parametrize(
    ("means", "states"),
    [
        (Meaning.LOST, [LOST] * 5),
        (Meaning.DEAD, [DEAD] * 5),
        (Meaning.SUSPECT, [SUSPECT, SUSPECT, SUSPECT, DEAD, DEAD]),
        (Meaning.REFUSED, [WELL] * 5),
    ],
)
def test_failures_in_a_row(means: Meaning, states: list[LinkState]) -> None:
    """The fourth suspect failure in a row makes a dead link; a refused call does not change the link.

    A link that was rebuilt after a back-off allows one more call before the next back-off.
    """
    link = Told().link
    found = []
    for nth in range(1, 6):
        link.failed(means, ERROR)
        found.append(link.state)
        rows = [1, 2, 3, 2, 3] if means is Meaning.LOST else [1, 2, 3, 4, 5]
        assert (link.failures, link.error) == (rows[nth - 1], ERROR)
    assert found == states


def test_a_success_begins_the_row_anew() -> None:
    """A call that the DSP answers resets the count of failures and the back-off."""
    link = Told().link
    for _ in range(3):
        link.failed(Meaning.SUSPECT, ERROR)
    link.closed_until_us = 10
    link.worked()
    assert (link.failures, link.error, link.state, link.may_call(0)) == (0, None, WELL, True)
    link.failed(Meaning.SUSPECT, ERROR)
    assert link.state is SUSPECT


@pytest.mark.parametrize(
    ("means", "states"),
    [
        (Meaning.SUSPECT, [DEAD, HELD]),
        (Meaning.DEAD, [HELD, HELD]),
        (Meaning.LOST, [LOST, LOST]),
        (Meaning.REFUSED, [DEAD, DEAD]),
    ],
)
def test_failures_after_a_renewal(means: Meaning, states: list[LinkState]) -> None:
    """A link that is still dead after a renewal is HELD; before that, one suspect failure is permitted."""
    link = Told().bring(DEAD)
    link.failures = 4
    link.was_renewed()
    found = []
    for _ in range(2):
        link.failed(means, ERROR)
        found.append(link.state)
    assert found == states


@pytest.mark.parametrize("means", [Meaning.LOST, Meaning.DEAD])
@pytest.mark.parametrize("state", LinkState)
def test_what_a_host_tells(state: LinkState, means: Meaning) -> None:
    """The host's report makes a working link lost or dead. On a dead link it requests a renewal, without a back-off."""
    link = Told().bring(state)
    link.closed_until_us = 10
    link.host_reported(means, ERROR)
    assert link.state is (DEAD if state in (DEAD, HELD) else LOST if means is Meaning.LOST else DEAD)
    assert link.closed_until_us == 0
