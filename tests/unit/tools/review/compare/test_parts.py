"""The difference by part: each known difference is found in its part, and nowhere else."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import attrs
import pytest
from support.measurements import Recipe, genie_json, made, read, viewer_text
from support.runtime_logs import hexagon_log, litert_log, llama_times, measured, qhas_json

from htppower.errors import HtpPowerError
from htppower.tools.review.advice.measurement import Event, Measurement
from htppower.tools.review.compare.difference import Differences, Where
from htppower.tools.review.compare.parts import differences
from htppower.tools.review.compare.side import thinned

if TYPE_CHECKING:
    from pathlib import Path

USUAL = Recipe()
# A change of a recipe, and the part that must have all of the difference.
CHANGES = {
    Where.HOST: {"host": 640.0},
    Where.FASTRPC: {"way": 860.0},
    Where.OUTSIDE: {"around": 690.0},
    Where.WAITING: {"waits": 620.0},
    Where.CLOCK: {"mhz": 800.0, "compute": 3125.0},
    Where.WORK: {"compute": 3100.0},
}


def compared(one: Recipe, other: Recipe, runs: int = 40) -> Differences:
    """Return the differences of two recipes, each with its own noise."""
    return differences(measured(made([one] * runs)), measured(made([other] * runs, seed=2)))


@pytest.mark.parametrize("where", CHANGES, ids=str)
def test_a_difference_is_found_in_its_part(where: Where) -> None:
    """The part has nearly all of it, its interval holds the truth, and all other parts have nearly nothing."""
    found = compared(USUAL, attrs.evolve(USUAL, **CHANGES[where]))
    parts = {part.wheres[-1]: part for part in found.parts}
    assert found.whole.shown
    assert [each for each, part in parts.items() if abs(part.share) > 0.12] == [where]
    part = parts[where]
    true_us = 625.0 if where is Where.CLOCK else 600.0
    assert part.low_us is not None
    assert part.high_us is not None
    assert part.low_us - 25 <= true_us <= part.high_us + 25
    assert sum(each.by_us for each in found.parts) + found.rest_us == pytest.approx(found.whole.by_us)


def test_the_order_of_the_sides_changes_the_sign() -> None:
    """A against B and B against A are the same difference, up or down."""
    slow = attrs.evolve(USUAL, way=860.0)
    one, other = compared(USUAL, slow), compared(slow, USUAL)
    assert one.whole.by_us > 0 > other.whole.by_us
    assert one.ratio > 1 > other.ratio
    assert [part.wheres for part in one.parts if part.shown] == [part.wheres for part in other.parts if part.shown]


def test_equal_sides_show_no_difference() -> None:
    """Two runs of one recipe differ by chance, and no part has a share of that."""
    found = compared(USUAL, USUAL)
    assert not found.whole.shown
    assert {part.share for part in found.parts} == {0.0}
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    assert found.ratio_low <= 1 <= found.ratio_high


def test_the_intervals_of_parts_hold_the_truth() -> None:
    """Over 40 seeds of equal sides, the intervals of all six parts hold 0 as often as they say."""
    held = total = 0
    for seed in range(40):
        sides = [measured(made([USUAL] * 25, seed=2 * seed + each)) for each in (1, 2)]
        for part in differences(*sides).parts:
            held += not part.shown
            total += 1
    assert 0.92 <= held / total <= 0.99


def test_the_same_files_give_the_same_numbers() -> None:
    """The seed is fixed."""
    one, other = (compared(USUAL, attrs.evolve(USUAL, way=300.0)) for _ in range(2))
    assert repr((one.whole, one.parts)) == repr((other.whole, other.parts))


def test_levels_that_a_side_lacks_join_their_parts() -> None:
    """Without a row of the RPC the host and FastRPC are one part; without device rows only the whole is left."""
    whole = made([USUAL] * 20)
    for lacking, wheres in (
        ((Event.RPC,), (Where.HOST, Where.FASTRPC)),
        ((Event.RPC, Event.QNN_ACCELERATOR), (Where.HOST, Where.FASTRPC, Where.OUTSIDE)),
    ):
        less = [{event: number for event, number in each.items() if event not in lacking} for each in whole]
        first = differences(measured(whole), measured(less)).parts[0]
        assert first.wheres == wheres
        assert first.name == " + ".join(wheres)
    only = [{Event.QNN: each[Event.QNN]} for each in whole]
    found = differences(measured(whole), measured(only))
    assert (found.parts, found.of_a, found.whole.name) == ((), Event.QNN, "QNN (execute) time")


def test_without_cycles_the_clock_is_in_the_work() -> None:
    """The innermost part is then the time of the computation."""
    whole = made([USUAL] * 20)
    less: list[dict[Event, float]] = [
        {event: number for event, number in each.items() if event is not Event.CYCLES} for each in whole
    ]
    names = [part.name for part in differences(measured(whole), measured(less)).parts]
    assert names == ["host", "FastRPC", "HTP, outside the graph", "HTP, waiting", "HTP, computing"]


def test_the_clock_of_another_graph_is_no_part() -> None:
    """If one graph takes four times the cycles of the other, their time is not split."""
    for compute, last in ((6_000.0, "HTP, work"), (10_000.0, "HTP, computing")):
        assert compared(USUAL, attrs.evolve(USUAL, compute=compute), 10).parts[-1].name == last


def test_what_lies_within_the_parts_is_no_part() -> None:
    """Power-up, VTCM and yields are shown beside the parts, with their own intervals."""
    found = compared(USUAL, attrs.evolve(USUAL, power=700.0, waits=720.0))
    also = {each.name: each for each in found.also}
    assert also["power-up of HVX and HMX"].shown
    assert also["power-up of HVX and HMX"].by_us == pytest.approx(688, rel=0.1)
    assert not also["wait for VTCM"].shown


def test_averages_have_parts_without_intervals(tmp_path: Path) -> None:
    """The viewer's averages can be compared part by part, and nothing is called a difference."""
    one, other = (
        read(tmp_path, viewer_text(made([recipe] * 20)))[0] for recipe in (USUAL, attrs.evolve(USUAL, way=900.0))
    )
    assert one.averaged
    found = differences(one, other)
    assert (found.whole.low_us, found.ratio_low, found.whole.shown) == (None, None, False)
    assert found.parts[1].by_us == pytest.approx(640, rel=0.1)


def test_averages_that_a_cold_start_has_moved(tmp_path: Path) -> None:
    """The smallest numbers are compared instead, as advice does: the warm-up is no difference of the rest."""
    cold = attrs.evolve(USUAL, power=20_000.0, waits=20_000.0)
    one, other = (
        read(tmp_path, viewer_text(made([first, *[USUAL] * 9])))[0] for first in (attrs.evolve(cold, way=261.0), cold)
    )
    assert differences(one, other).whole.a_us == pytest.approx(2_900, rel=0.1)


def test_clocks_of_timelines_are_told_in_mhz(tmp_path: Path) -> None:
    """The summary of optrace and llama.cpp's log have the cycles of a timeline: their part is the clock in MHz."""
    slow, fast = (read(tmp_path, hexagon_log([120.0 * 1400 / mhz] * 30, mhz=mhz))[0] for mhz in (700.0, 1400.0))
    found = differences(fast, slow)
    assert found.parts[0].said == ("1400 MHz", "700 MHz")
    one, other = (read(tmp_path, qhas_json([row]))[0] for row in ((1000.0, 1.4e6), (2000.0, 1.4e6)))
    single = differences(one, other)
    assert single.parts[0].said == ("1400 MHz", "700 MHz")
    assert [part.by_us for part in single.parts] == [pytest.approx(1000), pytest.approx(0)]
    assert single.whole.low_us is None


def test_wholes_of_different_tools(tmp_path: Path) -> None:
    """Without a common time, the outermost host times are compared; host and device times are not."""
    litert = read(tmp_path, litert_log([3000.0 + place for place in range(30)]))[0]
    found = differences(litert, measured(made([USUAL] * 20)))
    assert (found.of_a, found.of_b, found.parts) == (Event.INFERENCE, Event.QNN, ())
    hexagon = read(tmp_path, hexagon_log([120.0] * 9))[0]
    with pytest.raises(HtpPowerError, match="no time is in both"):
        differences(litert, hexagon)
    with pytest.raises(HtpPowerError, match="has no time of an inference"):
        differences(litert, Measurement("empty", "form", {Event.YIELDS: [1.0]}))
    with pytest.raises(HtpPowerError, match="is 0 us in one of the files"):
        differences(measured([{Event.QNN: 0.0}]), measured([{Event.QNN: 1.0}]))


def test_queries_are_compared_by_the_token(tmp_path: Path) -> None:
    """The whole is the time of a token of the answer; the prompt and the first token are beside it."""
    one = read(tmp_path, genie_json([(10**6 * place, 90_000.0, 40) for place in range(1, 9)], rate=50.0))[0]
    other = read(tmp_path, genie_json([(10**6 * place, 180_000.0, 40) for place in range(1, 9)], rate=25.0))[0]
    found = differences(one, other)
    assert (found.whole.name, found.whole.a_us, found.whole.b_us) == ("a token of the answer", 20_000, 40_000)
    assert found.whole.wheres == (Where.LANGUAGE,)
    assert [each.name for each in found.also] == ["a token of the prompt", "the first token"]
    llama = read(tmp_path, llama_times((1000.0, 40), (2000.0, 40)))[0]
    assert [each.name for each in differences(one, llama).also] == ["a token of the prompt"]
    with pytest.raises(HtpPowerError, match="compare queries with queries"):
        differences(one, measured(made([USUAL] * 9)))


def test_runs_with_missing_rows() -> None:
    """A run that lacks a row counts in the parts that it has."""
    inferences = made([USUAL] * 20)
    for each in inferences[:5]:
        each[Event.COMPUTE] = math.nan
    found = differences(measured(inferences), measured(made([USUAL] * 20, seed=3)))
    assert [part.low_us is not None for part in found.parts] == [True] * 6


def test_runs_without_cycles_have_no_rate(tmp_path: Path) -> None:
    """A run with 0 cycles says nothing of the clock; if no run has cycles, the clock is in the time of the work."""
    rows = [(1000.0, 1.4e6)] * 8
    one, other, none = (
        read(tmp_path, qhas_json(each))[0] for each in (rows, [*rows[1:], (1000.0, 0.0)], [(1000.0, 0.0)] * 8)
    )
    assert differences(one, other).parts[0].said == ("1400 MHz", "1400 MHz")
    assert differences(one, none).parts == ()


def test_levels_that_never_meet_in_a_run_give_no_parts() -> None:
    """If no run has both a level and the next one, only the whole is known."""
    inferences = made([USUAL] * 20)
    for place, each in enumerate(inferences):
        each[Event.RPC if place % 2 else Event.QNN_ACCELERATOR] = math.nan
    found = differences(measured(inferences), measured(made([USUAL] * 20, seed=3)))
    assert (found.parts, found.rest_us) == ((), 0.0)
    assert found.whole.low_us is not None


def test_more_runs_than_matter_are_thinned() -> None:
    """Of 120,000 runs every third is compared, from the first to the last, and a note says so."""
    runs = [1000.0 + place / 1000 for place in range(120_000)]
    many = Measurement("many", "form", {Event.QNN: runs, Event.CYCLES: [5.0]}, begins_us=runs, ends_us=runs)
    less = thinned(many)
    assert (less.count, less.columns[Event.QNN][-1], list(less.columns)) == (40_000, 1119.997, [Event.QNN])
    assert (len(less.begins_us), len(less.ends_us)) == (50_000, 50_000)
    assert less.notes == ("One in 3 of its 120,000 runs is compared.",)
    few = measured(made([USUAL] * 9))
    assert thinned(few) is few


def test_ten_thousand_runs_take_a_moment() -> None:
    """The cost of an interval does not grow with the runs: 10,000 on both sides with all parts take seconds at most."""
    sides = [measured(made([USUAL] * 10_000, seed=seed)) for seed in (1, 2)]
    begin = time.perf_counter()
    differences(*sides)
    assert time.perf_counter() - begin < 5
