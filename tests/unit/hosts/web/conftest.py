"""A policy, and what is voted for its requests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower import State
from htppower.hosts.web import ModePolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.bench import Bench

    Now = Callable[[], tuple[int, str, State]]


@pytest.fixture
def policy() -> ModePolicy:
    """Return a service of at most burst, with three modes that requests may ask for, and one of its own."""
    modes = ("burst", "balanced", "power_saver")
    return ModePolicy(allowed=modes, others={"decode": "low_balanced"}, routes={"/v1/*": None}, most_json_bytes=100)


@pytest.fixture
def now(bench: Bench) -> Now:
    """Return a function that returns how many requests are in flight, and profile and state of their session."""

    def look() -> tuple[int, str, State]:
        sessions = bench.controller.status().sessions
        return next(((each.in_flight, each.profile, each.state) for each in sessions), (0, "", State.UNVOTED))

    return look
