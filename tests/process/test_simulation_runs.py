"""Runs of the simulation: a short run breaks nothing, a seed replays exactly, and a broken core is found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest
from support.checkout import TESTS

pytest.importorskip("greenlet")

from simulation.mutations import MUTATIONS, caught
from simulation.program import Share, draw, every_op
from simulation.sequences import LEARNING, PLAIN, Things, count_up_to, sequence
from simulation.small_cases import cases

# A number of runs that takes a second or two, so a busy machine does as many. `.ci/run` does hundreds.
SHORT = "--seed 0 --runs 60"
VARIED = "--seed 3000000 --runs 40 --varied always --learning never"
REPLAYED = "--seed 5"
REFUSED = "--exhaustive --case 'no such case'"
EVERY_ORDER = "--exhaustive --preemptions 1 --seconds 60 --case 'inference ends on one session, balanced'"
NOBODY_SLOW = f"{EVERY_ORDER} --slow 0"
NEGATIVE = f"{EVERY_ORDER} --slow -1"


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[int, str]]:
    """Return the exit code and the output of each command line; all run in one process."""
    lines = (SHORT, VARIED, REPLAYED, REFUSED, EVERY_ORDER, NOBODY_SLOW, NEGATIVE)
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


@pytest.mark.parametrize("line", [SHORT, VARIED])
def test_a_short_run_breaks_nothing(runs: dict[str, tuple[int, str]], line: str) -> None:
    """Random runs with failing and hanging calls, restarts, tickets, and a second controller."""
    code, output = runs[line]
    assert (code, output.splitlines()[-1]) == (0, "nothing broke"), output


def test_a_seed_is_replayed_step_by_step(runs: dict[str, tuple[int, str]]) -> None:
    """A run does not depend on earlier runs: run twice, it is the same."""
    code, output = runs[REPLAYED]
    assert (code, "NOT THE SAME" in output) == (0, False), output


def test_a_filter_that_leaves_nothing_is_refused(runs: dict[str, tuple[int, str]]) -> None:
    """A filter without a small case is an error, since it proves nothing."""
    code, output = runs[REFUSED]
    assert (code, "no small case has 'no such case' in its name" in output) == (2, True), output


def test_small_cases_in_every_order_break_nothing(runs: dict[str, tuple[int, str]]) -> None:
    """Two threads on one session, in each order with at most one preemption; fewer orders without a slow task."""
    counts = []
    for line, slow in ((EVERY_ORDER, 1), (NOBODY_SLOW, 0)):
        code, output = runs[line]
        assert (code, output.splitlines()[-1]) == (0, "nothing broke"), output
        count = re.search(rf"at most 1 preemptions, at most {slow} of them slow: ([\d,]+) orders, ", output)
        assert count, output
        counts.append(int(count[1].replace(",", "")))
    assert counts[0] > counts[1] > 0


def test_a_number_below_0_is_refused(runs: dict[str, tuple[int, str]]) -> None:
    """The number of slow tasks is at least 0."""
    code, output = runs[NEGATIVE]
    assert (code, "-1 is not above -1" in output) == (2, True), output


def test_what_is_drawn_beside_leaves_the_rest_as_it_is() -> None:
    """With tickets and a second controller a program has the same other operations, in the same order."""
    added = set()
    for seed in map(str, range(40)):
        plain = draw(seed, learning=Share.NEVER)
        varied = draw(seed, learning=Share.NEVER, varied=Share.ALWAYS)
        if varied == plain:
            continue
        for before, after in zip(plain.threads, varied.threads, strict=True):
            kinds = iter([op.kind for op in after])
            assert all(op.kind in kinds for op in before)
        added |= {op.kind for thread in varied.threads for op in thread}
    assert {"ticket", "close controller"} <= added


@pytest.mark.parametrize("things", [PLAIN, LEARNING])
def test_sequences_are_numbered_without_a_gap(things: Things) -> None:
    """All sequences differ, longer ones have higher numbers, and the count is right."""
    made = [sequence(number, things) for number in range(count_up_to(2, things))]
    assert len({(program.profiles, program.threads) for program in made}) == len(made)
    lengths = [len(program.threads[0]) for program in made]
    assert lengths == sorted(lengths)
    assert set(lengths) == {1, 2}
    assert len(sequence(count_up_to(2, things), things).threads[0]) == 3


def test_small_cases_are_small() -> None:
    """Each has two threads with a window, two sessions, and at most one fault or fate; all cases differ."""
    every = list(cases())
    assert len({case.name for case in every}) == len({str(case.program) for case in every}) == len(every)
    for case in every:
        program = case.program
        kinds = [[op.kind for op in every_op(thread)] for thread in program.threads]
        assert (len(program.cores), len(kinds)) == (2, 2), case.name
        assert all(each.count("enter") + each.count("leave") <= 1 for each in kinds), case.name
        fates = sum(each.count(fate) for each in kinds for fate in ("restart", "die", "spoil", "refuse"))
        assert fates + len(program.faults) <= 1, case.name


@pytest.mark.parametrize("name", ["two calls overlap: a step doesn't wait", "settings come before clocks"])
def test_a_break_of_the_core_is_found(name: str) -> None:
    """Two breaks are tried here; ``mutations.py`` tries all."""
    (mutation,) = (each for each in MUTATIONS if each.name == name)
    assert caught(mutation, most_runs=50).rule is not None


def test_breaks_have_names_of_their_own() -> None:
    """No two breaks have the same name, or the same replacement of a text."""
    assert len({each.name for each in MUTATIONS}) == len(MUTATIONS) >= 60
    assert len({(each.file, each.old, each.new) for each in MUTATIONS}) == len(MUTATIONS)
