"""The durations of recorded inferences under another profile, and their begins."""

from __future__ import annotations

import numpy as np
import pytest

from htppower.profiles.loading import load_profile
from htppower.tools.tuning.cost.stepwise import Fixed, run_stepwise
from htppower.tools.tuning.cost.workload import Timing, Workload
from htppower.tools.tuning.models.costs import timing
from htppower.tools.tuning.models.file import load_device_model
from htppower.tools.tuning.traces.trace import SessionTrace


def session(*spans: tuple[int, int], cold: tuple[bool, ...] | None = None) -> SessionTrace:
    """Return a session of inferences, each with a begin and an end."""
    begins, ends = (np.array(each, np.int64) for each in zip(*spans, strict=True))
    return SessionTrace("camera", "burst", begins, ends, None if cold is None else np.array(cold))


ONE_BY_ONE = session((0, 1_000), (1_000, 3_000), (50_000, 51_000))


def takes(recorded: SessionTrace, under: Timing) -> list[int]:
    """Return the duration of each inference."""
    found: list[int] = Workload.of(recorded, under).takes_us.tolist()
    return found


def test_the_profile_of_the_recording_changes_nothing() -> None:
    """The durations under the recorded profile are as recorded."""
    model, burst = load_device_model(), load_profile("burst")
    same = timing(model, burst, burst)
    assert takes(ONE_BY_ONE, same) == [1_000, 2_000, 1_000]


def test_a_slower_profile_stretches_each_and_what_waits_begins_later() -> None:
    """At a third of the speed the second inference waits for the first, since the host runs one at a time."""
    workload = Workload.of(ONE_BY_ONE, Timing(stretch=3.0))
    assert workload.one_at_a_time
    assert workload.begins_us.tolist() == [0, 3_000, 50_000]
    assert workload.ends_us.tolist() == [3_000, 9_000, 53_000]
    assert workload.periods.gaps_us.tolist() == [41_000]


def test_a_host_whose_inferences_overlap_runs_them_side_by_side() -> None:
    """At any speed, no inference waits for another."""
    workload = Workload.of(session((0, 1_000), (500, 1_500), (50_000, 51_000)), Timing(stretch=3.0))
    assert not workload.one_at_a_time
    assert workload.begins_us.tolist() == [0, 500, 50_000]
    assert workload.periods.ends_us.tolist() == [3_500, 53_000]


def test_what_had_waited_for_a_raise_takes_less_without_that() -> None:
    """The lateness is subtracted, never below 0; other inferences are unchanged."""
    recorded = session((0, 3_000), (10_000, 11_000), (20_000, 20_500), cold=(True, False, True))
    assert takes(recorded, Timing(cold_us=2_000)) == [1_000, 1_000, 0]


def test_what_begins_after_idle_takes_longer_to_wake_up() -> None:
    """The first inference of each busy time takes longer, including the very first."""
    recorded = session((0, 1_000), (500, 1_500), (10_000, 11_000))
    assert takes(recorded, Timing(wake_us=300)) == [1_300, 1_000, 1_300]
    assert takes(recorded, Timing(wake_us=-1_200)) == [0, 1_000, 0]


@pytest.mark.parametrize(
    ("polled_us", "polls_us", "expected"),
    [
        (9_999, 9_999, [1_000, 12_000]),
        (0, 0, [1_000, 12_000]),
        # An inference that lasts longer than the polling saves nothing.
        (0, 9_999, [850, 12_000]),
        (9_999, 0, [1_150, 12_000]),
    ],
)
def test_polling_saves_its_time_where_it_lasts_to_the_end(polled_us: int, polls_us: int, expected: list[int]) -> None:
    """The time changes only if polling is turned on or off."""
    recorded = session((0, 1_000), (50_000, 62_000))
    under = Timing(polling_saves_us=150, polled_us=polled_us, polls_us=polls_us)
    assert takes(recorded, under) == expected


@pytest.mark.parametrize("overlapping", [False, True])
def test_a_gap_as_long_as_the_time_out_is_beyond_it(overlapping: bool) -> None:
    """The timer fires before an inference that begins in the same microsecond; with 0 each gap is beyond it."""
    spans = [(0, 1_000), (31_000, 32_000), (61_999, 63_000)]
    recorded = session(*spans, *([(62_500, 64_000)] if overlapping else []))
    workload = Workload.of(recorded, Timing())
    assert run_stepwise(workload, Fixed(30_000)).cold.tolist() == [0, 1]
    assert run_stepwise(workload, Fixed(29_999)).cold.tolist() == [0, 1, 2]
    assert run_stepwise(workload, Fixed(30_001)).cold.tolist() == [0]


def test_what_begins_while_votes_are_raised_waits_for_them_too() -> None:
    """An inference that begins during a raise is late until the votes are in force."""
    workload = Workload.of(session((0, 4_000), (500, 1_000), (3_000, 3_500)), Timing(late_us=2_000))
    run = run_stepwise(workload, Fixed(100_000))
    assert run.begins_us.tolist() == [2_000, 2_000, 3_000]
    assert run.cold.tolist() == [0]
    assert run.waits_us.tolist() == [2_000, 1_500, 0]
