"""What every test shares: a bench that is closed afterwards, and hypothesis settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from bench import Bench
from gates import Gate
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

settings.register_profile("htppower", deadline=None, print_blob=True)
settings.load_profile("htppower")


@pytest.fixture
def bench() -> Iterator[Bench]:
    """Yield a bench on V75; close its controller, and assert that nothing stays behind."""
    made = Bench.make()
    yield made
    made.controller.close()
    assert made.simulated.power_config_ids == ()
    assert made.simulated.effective().rpc_polling_time_us == 0


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Yield a gate; close it, and assert that nothing stays behind."""
    made = Gate()
    yield made
    made.close()
