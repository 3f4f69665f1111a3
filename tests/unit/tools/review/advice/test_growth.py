"""The work of advice grows linearly with the graphs of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.growth import MOST, growth

from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.rows import Collector, Row

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("kind", ["graphs", "ops", "sessions"])
def test_rows_are_sorted_into_graphs_in_linear_time(kind: str) -> None:
    """With a graph, other ops or a session for each row, each row is compared with a few, not with all."""

    def make(count: int) -> Callable[[], object]:
        def work() -> None:
            collector = Collector()
            for number in range(count):
                op = [Row(None, 0.0, op=f"op {number}")] if kind == "ops" else []
                graph = f"graph {number}" if kind == "graphs" else ""
                for row in (Row(Event.RPC, 1.31**number, graph=graph), *op):
                    collector.add(row)
                collector.end_session() if kind == "sessions" else collector.end_inference()
            collector.finish()

        return work

    assert growth(make, 500) < MOST
