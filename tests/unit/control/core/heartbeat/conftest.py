"""A bench with a heartbeat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.bench import HEARTBEAT_US, Bench

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield a bench with a heartbeat; close its controller, and assert that nothing is left."""
    made = Bench.make(heartbeat_us=HEARTBEAT_US)
    yield made
    made.controller.close()
    assert (made.simulated.power_config_ids, made.time.alarms) == ((), 0)
