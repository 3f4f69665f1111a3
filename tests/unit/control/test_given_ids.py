"""The table of what each power config id was given for: whose a number is, and where calls may cross."""

from __future__ import annotations

import threading

import pytest

from htppower.control.core.given_ids import MOST_HITS, GivenIds
from htppower.control.core.ledger import Ledger


class Table:
    """A table, and the controller's orphans."""

    def __init__(self) -> None:
        self.given = GivenIds(threading.RLock())  # type: ignore[arg-type]  # typeshed does not know _is_owned
        self.orphans: dict[Ledger, None] = {}

    def make(self, number: int) -> tuple[Ledger, bool]:
        """Take an id in whose create nothing comes between; return it, and whether it crosses."""
        made = Ledger(power_config_id=number)
        return made, self.given.take(made, self.given.begin_create())


@pytest.fixture
def table() -> Table:
    """Return an empty table."""
    return Table()


def test_a_number_is_free_once_it_was_destroyed(table: Table) -> None:
    """Whoever is given it next has it for itself; whoever had it has none."""
    first, crosses = table.make(1)
    assert not crosses
    assert table.given.begin_destroy(first) == 1
    assert not table.given.destroyed(first, 1)
    assert first.power_config_id == 0
    assert table.given.begin_destroy(first) == 0
    table.given.lost()
    assert table.make(1)[1] is False


@pytest.mark.parametrize("lost", [False, True])
def test_a_number_may_be_given_before_the_call_that_frees_it_returns(table: Table, *, lost: bool) -> None:
    """After a loss that call may have hit the new one, or will: the library may have forgotten the old one."""
    first, _ = table.make(1)
    table.given.begin_destroy(first)
    if lost:
        table.given.lost()
    second, crosses = table.make(1)
    assert (crosses, first.power_config_id) == (lost, 0)
    assert not table.given.destroyed(first, 1)
    assert second.power_config_id == 1


def test_a_loss_that_is_told_before_that_call_returns_counts(table: Table) -> None:
    """The number was given with no loss known; by the time the old one is destroyed there was one."""
    first, _ = table.make(1)
    table.given.begin_destroy(first)
    table.make(1)
    table.given.lost()
    assert table.given.destroyed(first, 1)


@pytest.mark.parametrize("lost", [False, True])
def test_a_call_that_frees_a_number_may_return_before_the_create_that_is_given_it(table: Table, *, lost: bool) -> None:
    """Likewise; what ended before the create began is no matter."""
    first, _ = table.make(1)
    table.given.begin_destroy(first)
    begun = table.given.begin_create()
    if lost:
        table.given.lost()
    table.given.destroyed(first, 1)
    assert table.given.take(Ledger(power_config_id=1), begun) is lost


def test_an_id_counts_as_given_when_its_create_began(table: Table) -> None:
    """One whose create is on its way back when a loss is told may be forgotten."""
    begun = table.given.begin_create()
    table.given.lost()
    first = Ledger(power_config_id=1)
    assert not table.given.take(first, begun)
    table.given.begin_destroy(first)
    assert table.make(1)[1]


def test_who_has_a_number_that_is_given_again_has_none(table: Table) -> None:
    """Without a call that frees it the library has forgotten it, though nobody has told of a loss."""
    first, _ = table.make(1)
    second, crosses = table.make(1)
    assert (crosses, first.power_config_id, second.power_config_id) == (True, 0, 1)
    assert table.given.begin_destroy(first) == 0


def test_a_number_that_could_not_be_destroyed_is_kept(table: Table) -> None:
    """Unless it was given to another meanwhile; given again later, it crosses."""
    first, _ = table.make(1)
    table.given.begin_destroy(first)
    assert table.given.not_destroyed(first, 1)
    assert table.make(1)[1]
    assert not table.given.not_destroyed(first, 1)


def test_a_destroy_that_was_interrupted_may_have_freed_the_number(table: Table) -> None:
    """It is made again, and may hit whoever is just being given it."""
    first, _ = table.make(1)
    table.given.begin_destroy(first)
    begun = table.given.begin_create()
    assert table.given.begin_destroy(first) == 1
    assert not table.given.destroyed(first, 1)
    assert table.given.take(Ledger(power_config_id=1), begun)


def test_a_number_that_a_late_call_may_have_hit_is_an_orphans(table: Table) -> None:
    """Its owner has none; of an orphan it is taken once, and where nobody has it, whoever is just being given it."""
    owner, _ = table.make(1)
    orphan = Ledger(power_config_id=1)
    table.given.take_away(1, orphan, table.orphans)
    assert (owner.power_config_id, list(table.orphans)) == (0, [orphan])
    table.given.take_away(1, Ledger(power_config_id=1), table.orphans)
    assert (orphan.power_config_id, list(table.orphans)) == (1, [orphan])
    begun = table.given.begin_create()
    table.given.take_away(2, Ledger(power_config_id=2), table.orphans)
    assert list(table.orphans) == [orphan]
    assert table.given.take(Ledger(power_config_id=2), begun)


def test_the_table_does_not_grow(table: Table) -> None:
    """Numbers that nobody has are dropped; a create during which more than are kept were freed counts as crossed."""
    begun = table.given.begin_create()
    table.given.lost()
    for number in range(10 * MOST_HITS):
        made, _ = table.make(number + 1)
        table.given.begin_destroy(made)
        table.given.destroyed(made, number + 1)
    assert (len(table.given._given), len(table.given._hit)) == (0, MOST_HITS)
    assert table.given.take(Ledger(power_config_id=1), begun)
    assert not table.make(2)[1]
