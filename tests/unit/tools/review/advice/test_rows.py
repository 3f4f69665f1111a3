"""Rows become inferences: in any order, with rows missing, over sessions and graphs."""

from __future__ import annotations

import itertools
import random

import pytest
from support.measurements import ORDER, Recipe, made

from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.rows import Collector, Row, Series, usual_order

TWO = [Recipe(), Recipe(compute=9000.0, mhz=3000.0)]


def collected(inferences: list[dict[Event, float]], orders: list[tuple[Event, ...]]) -> list[Series]:
    """Return the series of inferences with rows in these orders, in turn."""
    collector = Collector()
    for inference, order in zip(inferences, itertools.cycle(orders), strict=False):
        for event in order:
            if event in inference:
                collector.add(Row(event, inference[event]))
    return collector.finish()


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_any_order_are_sorted(seed: int) -> None:
    """All inferences may share an order, or each have its own; each gets its own rows."""
    noise = random.Random(seed)
    inferences = made(TWO * 100, seed)
    orders = [tuple(noise.sample(ORDER, len(ORDER))) for _ in range(1 if seed % 2 else 200)]
    (series,) = collected(inferences, orders)
    assert series.count == len(inferences)
    for event in ORDER:
        assert list(series.columns[event]) == [inference[event] for inference in inferences]


@pytest.mark.parametrize("seed", range(10))
def test_missing_rows_move_no_others(seed: int) -> None:
    """Without a tenth of the rows, the others stay with their inferences: the RPC is within the whole."""
    noise = random.Random(seed)
    inferences = [
        {event: number for event, number in inference.items() if noise.random() > 0.1}
        for inference in made(TWO * 100, seed)
    ]
    (series,) = collected(inferences, [ORDER])
    assert abs(series.count - len(inferences)) <= 2
    pairs = zip(series.columns[Event.QNN], series.columns[Event.RPC], strict=True)
    beyond = [whole - rpc for whole, rpc in pairs if not 0 <= whole - rpc < 500 and whole == whole and rpc == rpc]  # noqa: PLR0124
    assert len(beyond) <= 4


def test_the_usual_order_is_a_cycle() -> None:
    """The order begins with the file's first row, or, if an inference lacks it, with the first row that tools write."""
    order = list(ORDER)
    assert usual_order(order * 5) == order
    assert usual_order((order * 5)[1:]) == order
    late = [*order[3:], *order[:3]]
    assert usual_order(late * 5) == late
    assert usual_order(order) == []
    assert usual_order([]) == []


def test_sessions_of_one_graph_are_joined() -> None:
    """A column that one session lacks has no number there; each session's first inference is known."""
    collector = Collector()
    for session in range(3):
        for inference in made([Recipe()] * 4, session):
            for event in ORDER[: 9 if session == 1 else 10]:
                collector.add(Row(event, inference[event]))
        collector.end_session()
    (series,) = collector.finish()
    assert (series.count, series.starts) == (12, [0, 4, 8])
    assert sum(number == number for number in series.columns[Event.QNN]) == 8  # noqa: PLR0124 - NaN is not itself
    other = Series("", frozenset())
    other.add([Row(Event.CYCLES, 1e9)])
    assert not series.is_like(other)
    assert not series.is_like(Series("named", frozenset()))


def test_graphs_with_names_stay_apart() -> None:
    """Alternating inferences of two graphs are two series."""
    collector = Collector()
    for inference, graph in zip(made(TWO * 20), itertools.cycle("ab"), strict=False):
        for event in ORDER:
            collector.add(Row(event, inference[event], graph=graph))
    found = collector.finish()
    assert [(series.graph, series.count) for series in found] == [("a", 20), ("b", 20)]
