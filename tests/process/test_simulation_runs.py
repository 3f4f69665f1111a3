"""Runs of the simulation: a short one breaks nothing, a seed replays exactly, and a break of the core is found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from checkout import TESTS

pytest.importorskip("greenlet")

from simulation.breaks import MUTATIONS
from simulation.complete import Record
from simulation.mutations import caught
from simulation.program import Share, draw
from simulation.variation import KINDS, vary

if TYPE_CHECKING:
    from pathlib import Path

    from simulation.program import Program

# As many runs as take one or two seconds, by number: a busy machine has no fewer. `.ci/run` has hundreds of them.
SHORT = "--seed 0 --runs 15"
VARIED = "--seed 3000000 --runs 35 --varied always --learning never"
REPLAYED = "--seed 5"
REFUSED = "--exhaustive --case 'no such case'"
# They take a fifth of a second; on a busy machine, too, none is cut off.
EVERY_ORDER = "--exhaustive --preemptions 1 --seconds 60 --case 'inference ends on one session, balanced'"
NOBODY_SLOW = f"{EVERY_ORDER} --slow 0"
NEGATIVE = f"{EVERY_ORDER} --slow -1"


def _simulated(*lines: str) -> dict[str, tuple[int, str]]:
    """Return the exit code and the output of each command line; all are run in one process."""
    done = subprocess.run(
        [sys.executable, str(TESTS / "support" / "processes" / "simulated.py"), *lines],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"PYTHONHASHSEED": "0"},
    )
    assert done.returncode == 0, done.stderr
    return {line: (code, output) for line, (code, output) in zip(lines, json.loads(done.stdout), strict=True)}


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[int, str]]:
    """Return what came of the runs from a seed."""
    return _simulated(SHORT, VARIED, REPLAYED)


@pytest.fixture(scope="module")
def orders() -> dict[str, tuple[int, str]]:
    """Return what came of the small cases."""
    return _simulated(REFUSED, EVERY_ORDER, NOBODY_SLOW, NEGATIVE)


def test_a_short_run_breaks_nothing(runs: dict[str, tuple[int, str]]) -> None:
    """Runs at random, with calls that fail and hang, restarts and interrupts."""
    code, output = runs[SHORT]
    assert (code, output.splitlines()[-1]) == (0, "nothing broke"), output


def test_a_seed_is_varied_by_another_chance() -> None:
    """What is added to a program leaves the rest of it as it is: what it did without, it does in the same order.

    Where the library gives the lowest free number, each restart forgets all ids.
    """
    added = set()
    for seed in map(str, range(40)):
        plain = draw(seed, learning=Share.NEVER)
        assert vary(plain, seed, Share.NEVER) == plain
        varied = vary(plain, seed, Share.ALWAYS, restarts=False)
        for before, after in zip(plain.threads, varied.threads, strict=True):
            kinds = iter([op.kind for op in after])
            assert all(_varied(op.kind, varied) in kinds for op in before)
        added |= {op.kind for thread in varied.threads for op in thread} - {op.kind for op in chain(*plain.threads)}
        assert all(varied.cores[place] == plain.cores[place] for place in range(len(plain.cores)))
    assert set(KINDS) - {"row", "close"} <= added


def _varied(kind: str, program: Program) -> str:
    return "forget" if kind == "restart" and program.lowest_ids else kind


def test_a_short_varied_run_breaks_nothing(runs: dict[str, tuple[int, str]]) -> None:
    """Tickets, idle streams, phases that are not nested, and a second controller that is closed meanwhile."""
    code, output = runs[VARIED]
    assert (code, output.splitlines()[-1]) == (0, "nothing broke"), output


def test_a_seed_is_replayed_step_by_step(runs: dict[str, tuple[int, str]]) -> None:
    """A run with a point before every statement does not depend on those before it: run twice, it is the same."""
    code, output = runs[REPLAYED]
    assert (code, "NOT THE SAME" in output) == (0, False), output


def test_a_filter_that_leaves_nothing_is_refused(orders: dict[str, tuple[int, str]]) -> None:
    """What names no small case proves nothing, and says so."""
    code, output = orders[REFUSED]
    assert (code, "no small case has 'no such case' in its name" in output) == (2, True), output


def test_small_cases_in_every_order_break_nothing(orders: dict[str, tuple[int, str]]) -> None:
    """Two threads on one session, each order with at most one preemption; fewer where time moves on at none."""
    counts = []
    for line, slow in ((EVERY_ORDER, 1), (NOBODY_SLOW, 0)):
        code, output = orders[line]
        assert (code, output.splitlines()[-1]) == (0, "nothing broke"), output
        count = re.search(rf"at most 1 preemptions, at most {slow} of them slow: (\d+) orders, ", output)
        assert count, output
        counts.append(int(count[1]))
    assert counts[0] > counts[1] > 0


def test_a_number_below_0_is_refused(orders: dict[str, tuple[int, str]]) -> None:
    """There are no fewer slow tasks than none."""
    code, output = orders[NEGATIVE]
    assert (code, "-1 is not above -1" in output) == (2, True), output


def test_cases_that_are_recorded_as_complete_are_left_out(tmp_path: Path) -> None:
    """A second run goes on where the first has ended; with more preemptions, slow tasks or other code it does not."""
    path = tmp_path / "complete"
    assert not Record(path, 1, 1).complete
    Record(path, 1, 1).add("a case", 12)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"code": "of another tree", "preemptions": 2, "orders": 9, "case": "another"}\n{"code": "brok')
    assert Record(path, 0, 1).complete == Record(path, 1, 0).complete == Record(path, 1, 1).complete == {"a case"}
    assert not Record(path, 2, 1).complete
    Record(path, 2, 1).add("another", 34)
    assert Record(path, 1, 1).complete == {"a case", "another"}
    assert not Record(path, 2, 2).complete


def test_a_break_of_the_core_is_found() -> None:
    """A session that is settled without its turn fails the simulation."""
    (mutation,) = (each for each in MUTATIONS if each.name == "a session is settled without its turn")
    found = caught(mutation)
    assert found.rule is not None
    # Two threads in one session call at the same time, or their events cross; the order that is drawn first decides.
    assert found.rule.startswith(("one call at a time on an id", "events tell what happened"))
