"""Dry runs: the native calls that a workload costs, and no others."""

from __future__ import annotations

from htppower import load_profile
from htppower.backends import SimulatedHtp
from htppower.review.dry_run.workload import Workload, run


def test_a_dry_run_shows_no_heartbeat() -> None:
    """A workload of minutes costs as many calls as one of milliseconds."""
    short, long = (run(load_profile("burst"), SimulatedHtp(arch=75), Workload(3, us, 0)) for us in (1000, 60_000_000))
    assert [row.call.function for row in long.rows] == [row.call.function for row in short.rows]
