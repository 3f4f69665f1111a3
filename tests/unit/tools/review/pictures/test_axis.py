"""The time axis is linear, cut only in quiet stretches, and never goes back."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.dry_runs import dry_run, sustaining

from htppower.events import Phase
from htppower.tools.review.dry_run.observer import PhaseSpan
from htppower.tools.review.pictures.axis import TimeAxis, spell_tick, time_axis
from htppower.tools.review.pictures.timeline import Timeline, timeline


def _axis(*timelines: Timeline) -> TimeAxis:
    return time_axis(timelines, 100.0, 900.0)


def _edges(drawn: Timeline) -> list[int]:
    spans = (*drawn.phases, *drawn.windows)
    times = [time for span in spans for time in (span.begin_us, span.end_us)]
    return sorted({0, drawn.end_us, *times, *(tick.time_us for tick in drawn.ticks)})


@given(
    st.sampled_from(("burst", "balanced", "system_settings")),
    st.integers(0, 5),
    st.sampled_from((0, 1, 5000, 3_600_000_000)),
    st.sampled_from((0, 10, 10_000, 3_600_000_000)),
)
def test_time_runs_from_left_to_right(profile: str, inferences: int, inference_us: int, gap_us: int) -> None:
    """A later moment is never left of an earlier one, and the ends are the ends of the plot."""
    drawn = timeline(dry_run(profile, inferences, inference_us, gap_us))
    axis = _axis(drawn)
    places = [axis.x(time_us) for time_us in _edges(drawn)]
    assert all(left <= right for left, right in itertools.pairwise(places))
    assert places[0] == pytest.approx(100)
    assert drawn.end_us == 0 or places[-1] == pytest.approx(900)
    labels = list(axis.ticks())
    assert all(left <= right for (left, _), (right, _) in itertools.pairwise(labels))
    assert len(labels) < 20


def test_what_is_not_cut_has_one_scale() -> None:
    """5 ms have the same width at the start, at the end, and on both sides of a cut."""
    axis = _axis(timeline(dry_run(sustaining("burst", 2_000_000))))
    assert len(axis.breaks) == 1
    assert axis.x(5000) - axis.x(0) == pytest.approx(axis.x(2_065_000) - axis.x(2_060_000))
    assert axis.x(5000) - axis.x(0) > 24


def test_nothing_happens_in_what_is_cut() -> None:
    """No begin, end or call of any compared timeline is in a cut."""
    one, other = timeline(dry_run("burst")), timeline(dry_run(sustaining("burst", 2_000_000)))
    axis = _axis(one, other)
    cuts = axis.breaks
    assert cuts
    assert axis.end_us == other.end_us
    for time_us in (*_edges(one), *_edges(other)):
        assert not any(cut.begin_us < time_us < cut.end_us for cut in cuts)


def _in_a_row(durations: list[int]) -> Timeline:
    """Return a timeline of consecutive phases."""
    ends = list(itertools.accumulate(durations))
    phases = tuple(PhaseSpan(end - last, end, Phase.INFERENCE) for end, last in zip(ends, durations, strict=True))
    return Timeline("mine", "", "", (), (), phases, (), (), ends[-1])


@given(st.lists(st.integers(1, 100) | st.integers(1000, 9999) | st.integers(1_000_000, 2_000_000), min_size=2))
@example([5000] * 1000 + [300_000])
@example([300_000, 33_000, 33_000, 33_000, 33_000, 5])
@example([10_000, 1_685_000, 300_000, 10_000])
def test_a_cut_shortens(durations: list[int]) -> None:
    """A cut is narrower than its stretch on a linear axis, wide enough for its label, and there are few cuts."""
    axis = _axis(_in_a_row(durations))
    assert len(axis.breaks) <= 4
    for cut in axis.breaks:
        linear = 800 * (cut.end_us - cut.begin_us) / sum(durations)
        assert 70 < cut.right - cut.left < 0.7 * linear


@pytest.mark.parametrize(("inferences", "cuts"), [(3, 1), (30, 1), (1000, 0), (10_000, 0)])
def test_the_sustain_window_of_a_long_run_is_not_enlarged(inferences: int, cuts: int) -> None:
    """300 ms are cut if they are most of the run; in a minute they keep their few pixels."""
    drawn = timeline(dry_run("burst", inferences))
    axis = _axis(drawn)
    assert len(axis.breaks) == cuts
    window = drawn.windows[-1]
    width = axis.x(window.end_us) - axis.x(window.begin_us)
    assert width <= 800 * 300_000 / drawn.end_us + 0.01


def test_what_is_legible_is_not_cut() -> None:
    """Balanced has no stretch that is much longer than the others, so its axis has no cut."""
    assert len(_axis(timeline(dry_run("balanced"))).pieces) == 1


@pytest.mark.parametrize(
    ("time_us", "longest_us", "said"),
    [
        (1_500, 365_000, "1.5 ms"),
        (20_000, 65_000, "20 ms"),
        (2000, 9999, "2000 us"),
        (12_500_000, 15_000_000, "12.5 s"),
    ],
)
def test_ticks_are_spelt_in_the_unit_that_suits_the_axis(time_us: int, longest_us: int, said: str) -> None:
    """Seconds, milliseconds or microseconds are used, without needless zeros."""
    assert spell_tick(time_us, longest_us) == said
