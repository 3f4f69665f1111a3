"""Lint of the times of a profile and of a second power state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.linted import TODAY, found, write

from htppower.tools.review.lint.run import lint

if TYPE_CHECKING:
    from pathlib import Path


def test_a_sustain_time_that_is_too_short(tmp_path: Path) -> None:
    """SUS-1 applies if a timer can't keep the sustain time."""
    write(tmp_path, mine="profile: mine\nextends: burst\nrelax: {after_inference_us: 19999}\n")
    assert found(tmp_path) == ["mine.yaml:3:29 SUS-1"]
    write(tmp_path, mine="profile: mine\nextends: burst\nrelax: {after_inference_us: 20000}\n")
    assert found(tmp_path) == []


def test_a_background_lowering_that_a_timer_makes_anyway(tmp_path: Path) -> None:
    """SUS-3 is a note if a profile both sustains and lowers in the background."""
    for base, told in (("burst", True), ("balanced", False)):
        write(tmp_path, mine=f"profile: mine\nextends: {base}\nrelax: {{lowering: background}}\n")
        notes = [finding for finding in lint([tmp_path], TODAY, notes=True).findings if finding.rule == "SUS-3"]
        assert [str(finding.place) for finding in notes] == ([f"{tmp_path / 'mine.yaml'}:3:19"] if told else [])
        assert all(finding.severity == "note" for finding in notes)
    write(tmp_path, mine="profile: mine\nextends: burst\n")
    assert "SUS-3" not in {finding.rule for finding in lint([tmp_path], TODAY, notes=True).findings}


@pytest.mark.parametrize(
    ("relax", "told"),
    [
        ("after_inference_us: {adaptive: {break_even_us: 100000}}", []),
        ("after_inference_us: {adaptive: {cold_starts: 5 %}}", []),
        ("after_inference_us: {adaptive: {cold_starts: 5 %, most_us: 10000001}}", ["3:68 REV-8"]),
        ("after_inference_us: {adaptive: {break_even_us: 5000001}}", ["3:40 REV-8"]),
        ("after_inference_us: {adaptive: {break_even_us: 100000, least_us: 5000}}", ["3:74 SUS-1"]),
        ("after_inference_us: {adaptive: {break_even_us: 100000, most_us: 99999}}", ["3:73 SUS-6"]),
        ("after_inference_us: {adaptive: {break_even_us: 9, most_us: 19000}}", ["3:68 SUS-1", "3:68 SUS-6"]),
        ("then: {to: released, after_us: 3600000000}", []),
        ("then: {to: released, after_us: 19999}", ["3:40 SUS-1"]),
        ("to: released, then: {to: relaxed, after_us: 0}", ["3:34 SUS-7"]),
        ("raise_ahead_us: 5000", []),
        ("after_inference_us: 99999999999999999999", ["3:29 VALUE-1"]),
        ("after_init_us: 3600000001", ["3:24 VALUE-1"]),
    ],
)
def test_a_time_that_is_learnt_and_a_second_power_state(tmp_path: Path, relax: str, told: list[str]) -> None:
    """Each finding is at the number to change, or at the time if that number is left out."""
    write(tmp_path, mine=f"profile: mine\nextends: burst\nrelax: {{{relax}}}\n")
    assert found(tmp_path) == [f"mine.yaml:{each}" for each in told]


def test_what_keeps_votes_up_after_init_is_a_timer_too(tmp_path: Path) -> None:
    """SUS-1 and REV-8 check both times: too short for a timer, or unreasonably long."""
    relax = "profile: mine\nextends: burst\nrelax:\n  after_init_us: {}\n  after_inference_us: {}\n"
    write(tmp_path, mine=relax.format(5, 10_000_001))
    assert found(tmp_path) == ["mine.yaml:4:18 SUS-1", "mine.yaml:5:23 REV-8"]
    write(
        tmp_path, mine="profile: mine\nextends: burst\nrelax:\n  after_init_us: 20000\n  after_inference_us: 10000000\n"
    )
    assert found(tmp_path) == []
