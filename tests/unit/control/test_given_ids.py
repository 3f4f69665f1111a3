"""The table of what each power config id was given for: whose a number is, and where calls may cross."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from htppower.control.core.given_ids import MOST_HITS, GivenIds
from htppower.control.core.ledger import Ledger

if TYPE_CHECKING:
    from htppower.control.core.given_ids import Counts, Given


class Table:
    """A table, and the orphans of a controller and of another."""

    def __init__(self) -> None:
        self.given = GivenIds(threading.RLock())  # type: ignore[arg-type]  # typeshed does not know _is_owned
        self.orphans: dict[Ledger, None] = {}
        self.others: dict[Ledger, None] = {}

    def make(self, number: int, begun: Counts | None = None) -> tuple[Ledger, bool]:
        """Take an id, whose create begins now unless given; return it, and whether another may lose votes by that."""
        made = Ledger(power_config_id=number)
        return made, self.given.take(made, begun or self.given.begin_create(), self.orphans)

    def is_used(self, number: int, begun: Counts | None = None) -> bool:
        """Take an id that nobody loses; return whether it may be used."""
        made, loses = self.make(number, begun)
        assert not loses
        return made not in self.orphans

    def begin_destroy(self, ledger: Ledger) -> Given:
        """Begin to destroy an id."""
        given = self.given.begin_destroy(ledger)
        assert given is not None
        return given

    def destroy(self, given: Given) -> bool:
        """End the call that destroys a number; return whether another may have lost it by that."""
        return self.given.destroyed(given, self.orphans)


@pytest.fixture
def table() -> Table:
    """Return an empty table."""
    return Table()


def test_a_number_is_free_once_it_was_destroyed(table: Table) -> None:
    """Whoever is given it next has it for itself; whoever had it has none."""
    first, _ = table.make(1)
    assert first not in table.orphans
    given = table.begin_destroy(first)
    assert given.number == 1
    assert not table.destroy(given)
    assert first.power_config_id == 0
    assert table.given.begin_destroy(first) is None
    table.given.lost()
    assert table.is_used(1)


@pytest.mark.parametrize("lost", [False, True])
def test_a_number_may_be_given_before_the_call_that_frees_it_returns(table: Table, *, lost: bool) -> None:
    """After a loss that call may have hit the new one, or will, so that is not used: no votes are lost by either."""
    first, _ = table.make(1)
    given = table.begin_destroy(first)
    if lost:
        table.given.lost()
    assert table.is_used(1) is not lost
    assert first.power_config_id == 0
    assert not table.destroy(given)
    assert [each.power_config_id for each in table.orphans] == ([1] if lost else [])


def test_a_loss_that_is_told_before_that_call_returns_counts(table: Table) -> None:
    """The number was given with no loss known; by the time the old one is destroyed there was one."""
    given = table.begin_destroy(table.make(1)[0])
    second, _ = table.make(1)
    table.given.lost()
    assert table.destroy(given)
    assert second.power_config_id == 0
    assert [each.power_config_id for each in table.orphans] == [1]


def test_a_call_that_hangs_may_free_a_number_that_was_given_twice_since(table: Table) -> None:
    """Whoever has it when it returns has lost it; and whoever is given it as that one destroys it, too."""
    given = table.begin_destroy(table.make(1)[0])
    table.given.lost()
    unused, _ = table.make(1)
    table.destroy(table.begin_destroy(unused))
    third, _ = table.make(1)
    assert third not in table.orphans
    ending = table.begin_destroy(third)
    assert table.destroy(given)
    assert not table.is_used(1)
    assert not table.destroy(ending)


@pytest.mark.parametrize("lost", [False, True])
def test_a_call_that_frees_a_number_may_return_before_the_create_that_is_given_it(table: Table, *, lost: bool) -> None:
    """Likewise; what ended before the create began is no matter."""
    given = table.begin_destroy(table.make(1)[0])
    begun = table.given.begin_create()
    if lost:
        table.given.lost()
    assert not table.destroy(given)
    assert table.is_used(1, begun) is not lost


@pytest.mark.parametrize("lost", [False, True])
def test_a_create_may_overlap_two_calls_that_free_its_number(table: Table, *, lost: bool) -> None:
    """The second was given it since the first has freed it: no calls cross unless votes were lost."""
    slow = table.begin_destroy(table.make(1)[0])
    if lost:
        table.given.lost()
    given = table.begin_destroy(table.make(1)[0])
    begun = table.given.begin_create()
    assert not table.destroy(given)
    assert not table.destroy(slow)
    assert table.is_used(1, begun) is not lost


def test_a_hit_that_crosses_counts_whatever_comes_after_it(table: Table) -> None:
    """Another was given the number, and was destroyed, before the create returns that was given it first."""
    given = table.begin_destroy(table.make(1)[0])
    table.given.lost()
    begun = table.given.begin_create()
    assert not table.destroy(given)
    table.destroy(table.begin_destroy(table.make(1)[0]))
    assert not table.is_used(1, begun)


def test_an_id_counts_as_given_when_its_create_began(table: Table) -> None:
    """One whose create is on its way back when a loss is told may be forgotten."""
    begun = table.given.begin_create()
    table.given.lost()
    first, _ = table.make(1, begun)
    assert first not in table.orphans
    table.begin_destroy(first)
    assert not table.is_used(1)


@pytest.mark.parametrize("ended", [False, True])
def test_a_create_may_have_begun_before_the_loss_and_return_after_it(table: Table, *, ended: bool) -> None:
    """Another was given the number after the loss, and is being destroyed, or was: the first was forgotten."""
    begun = table.given.begin_create()
    table.given.lost()
    given = table.begin_destroy(table.make(1)[0])
    assert not ended or not table.destroy(given)
    assert not table.is_used(1, begun)


def test_who_has_a_number_that_is_given_again_has_none(table: Table) -> None:
    """Without a call that frees it the library has forgotten it, though nobody has told of a loss: that is one."""
    first, _ = table.make(1)
    ending = table.begin_destroy(table.make(2)[0])
    second, loses = table.make(1)
    assert (loses, list(table.orphans)) == (True, [second])
    assert (first.power_config_id, second.power_config_id) == (0, 1)
    assert table.given.begin_destroy(first) is None
    assert not table.is_used(2)
    assert not table.destroy(ending)


def test_an_id_that_was_given_again_is_no_loss_by_itself(table: Table) -> None:
    """What it shows is known, and one that is not used has no votes to lose: nobody else's id becomes old by it."""
    table.make(1)
    table.make(1)
    given = table.begin_destroy(table.make(2)[0])
    assert not table.is_used(1)
    assert table.is_used(2)
    assert not table.destroy(given)


def test_nobody_loses_votes_where_the_number_of_an_orphan_is_given_again(table: Table) -> None:
    """Such as one whose destroy has failed. Where that is the first to show that ids were forgotten, all do."""
    for number, fails in ((1, True), (2, False)):
        orphan, _ = table.make(number)
        if fails:
            table.begin_destroy(orphan)
            assert table.given.not_destroyed(orphan)
        table.orphans[orphan] = None
        again, loses = table.make(number)
        assert loses is not fails
        assert again in table.orphans


def test_one_is_used_at_any_rate(table: Table) -> None:
    """As where the library knows one number only."""
    table.make(1)
    again = Ledger(power_config_id=1)
    assert table.given.take(again, table.given.begin_create(), table.orphans, at_any_rate=True)
    assert (again.power_config_id, list(table.orphans)) == (1, [])
    table.given.take_away(1, table.orphans)
    assert again.power_config_id == 0


def test_a_number_that_could_not_be_destroyed_is_kept(table: Table) -> None:
    """Unless it was given to another meanwhile: without a loss that shows that the call was carried out."""
    first, _ = table.make(1)
    table.begin_destroy(first)
    assert table.given.not_destroyed(first)
    assert first.power_config_id == 1
    second, _ = table.make(2)
    given = table.begin_destroy(second)
    assert table.is_used(2)
    assert not table.given.not_destroyed(second)
    assert not table.destroy(given)


def test_a_destroy_that_has_failed_may_have_freed_the_number(table: Table) -> None:
    """It is made again, and may hit whoever is just being given it."""
    first, _ = table.make(1)
    table.begin_destroy(first)
    assert table.given.not_destroyed(first)
    begun = table.given.begin_create()
    given = table.begin_destroy(first)
    assert not table.destroy(given)
    assert not table.is_used(1, begun)


def test_an_id_that_an_interrupt_has_kept_from_being_taken_is_destroyed(table: Table) -> None:
    """Unless another has its number."""
    unknown = Ledger(power_config_id=1)
    begun = table.given.begin_create()
    given = table.begin_destroy(unknown)
    assert (given.number, given.ledger) == (1, unknown)
    assert not table.destroy(given)
    assert not table.is_used(1, begun)
    table.make(2)
    assert table.given.begin_destroy(Ledger(power_config_id=2)) is None


def test_a_number_that_a_late_call_may_have_hit_is_an_orphans(table: Table) -> None:
    """Its owner has none; of an orphan, whoever's, it is not taken."""
    owner, _ = table.make(1)
    table.given.take_away(1, table.orphans)
    (orphan,) = table.orphans
    assert (owner.power_config_id, orphan.power_config_id) == (0, 1)
    table.given.take_away(1, table.orphans)
    table.given.take_away(1, table.others)
    assert (orphan.power_config_id, list(table.orphans), list(table.others)) == (1, [orphan], [])


def test_a_late_call_may_hit_an_id_whose_create_is_on_its_way_back(table: Table) -> None:
    """Nobody is known to have it: whoever is just being given it does not use it."""
    begun = table.given.begin_create()
    table.given.take_away(2, table.orphans)
    assert not table.orphans
    assert not table.is_used(2, begun)


def test_an_owner_whose_number_is_taken_away_as_it_destroys_it_has_destroyed_it(table: Table) -> None:
    """Nobody has it then, and nothing is left to destroy."""
    given = table.begin_destroy(table.make(1)[0])
    table.given.take_away(1, table.orphans)
    (orphan,) = table.orphans
    assert not table.destroy(given)
    assert orphan.power_config_id == 0
    assert table.is_used(1)


def test_the_table_does_not_grow(table: Table) -> None:
    """Numbers that nobody has are dropped; a create during which more than are kept were freed counts as crossed."""
    begun = table.given.begin_create()
    for number in range(10 * MOST_HITS):
        table.destroy(table.begin_destroy(table.make(number + 1)[0]))
    assert (len(table.given._given), len(table.given._hit)) == (0, MOST_HITS)
    assert not table.is_used(1, begun)
    assert table.is_used(2)
