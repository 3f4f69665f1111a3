"""The best times for a fleet, as text, JSON and a profile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest
from support.fleets import answer

from htppower import load_profile
from htppower.profiles.sustain import Adaptive
from htppower.tools.report.layout import shown_width
from htppower.tools.report.styled import plain
from htppower.tools.review.tuning.fleet_report import FleetReport
from htppower.tools.tuning.fleet.fleet import Fleet
from htppower.tools.tuning.fleet.records import Cost, Question, Unread
from htppower.tools.tuning.fleet.settle import Aim, settle

_B_US = 100_000
_FLEET = Path("/fleet").absolute()
_GAPS = ([30_000] * 90 + [60_000_000] * 10, [90_000] * 10 + [60_000_000] * 2)


def report(
    *gaps_us: list[int], learnt: int | None = None, cold_ppm: int | None = None, unread: int = 0, **fleet: Any
) -> FleetReport:
    """Return the report of devices with these gaps; ``learnt`` is the cost of a learnt time on each."""
    sustains = () if learnt is None else (Adaptive(_B_US),)
    costs = () if learnt is None else (Cost(learnt, 1),)
    answers = tuple(answer(str(_FLEET / f"{number}.json"), gaps, learnt=costs) for number, gaps in enumerate(gaps_us))
    left_out = tuple(
        Unread(str(_FLEET / f"bad{each}"), f"{_FLEET / f'bad{each}'}: is empty\x1b[2J") for each in range(unread)
    )
    question = Question(_B_US, sustains)
    aim = Aim(cold_ppm)
    settled = settle(answers, question, aim)
    return FleetReport(str(_FLEET), question, "burst", aim, Fleet(answers, left_out, **fleet), settled)


def test_the_text_says_what_was_chosen_and_what_it_costs() -> None:
    """Each sustain time has its cold starts, its cost, and the ratio to perfect knowledge of each gap."""
    text = report(*_GAPS).as_text()
    assert text.startswith(f"{_FLEET}: 2 files read\n2 sessions, 114 inferences, 112 gaps\n")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    # 22 gaps end in a cold start, and the first inference of both sessions.
    assert "31.5 ms 21.1 % 5.6 s 1.165 the best fixed time for all: chosen" in lines
    assert "300 ms 12.3 % 8.4 s 1.750 the vendor's" in lines
    assert "0 100.0 % 11.2 s 2.333 lowered at once" in lines
    assert "at most: half +0.0 %, 90 % +31.5 %, 99 % +31.5 %, all +31.5 %" in lines
    assert "1.json +31.5 % 0 12 gaps" in lines
    assert "0.json" not in text


def test_the_text_says_what_is_out_of_the_ordinary() -> None:
    """Unreadable and broken files, answers of an earlier run, and notes are shown, and harmless on a terminal."""
    made = report(*_GAPS, learnt=1, unread=12, kept=1, broken=2)
    noted = attrs.evolve(made.fleet.answers[0], notes=("an unfinished line",))
    made = attrs.evolve(made, fleet=attrs.evolve(made.fleet, answers=(noted, made.fleet.answers[1])))
    text = plain(made.as_text())
    assert f"{_FLEET}: 2 files read (1 of them by an earlier run), 12 left out" in text
    assert "2 results of an earlier run broken, and read again" in text
    assert "In 1 file something was left out; JSON shows what" in text
    assert "adaptive, B 100 ms" in text
    assert "learnt on each device: chosen" in text
    assert f"Left out: 12 files that can't be read\n{_FLEET / 'bad0'}: is empty\\x1b[2J\n" in text
    assert "bad9" in text
    assert "bad10" not in text
    assert "and 2 more, which JSON names" in text
    assert "\x1b" not in text


def test_a_device_model_says_what_a_second_costs() -> None:
    """All costs of the text are multiples of the joules in one second."""
    made = attrs.evolve(report(*_GAPS), device="hexagon_assumed", saved_w=0.28)
    assert "By the device model hexagon_assumed a second of cost is 0.28 J" in made.as_text()
    document = json.loads(made.as_json())
    assert (document["device"], document["saved_w"]) == ("hexagon_assumed", 0.28)


def test_where_no_time_keeps_to_the_limit_the_text_says_so() -> None:
    """The text shows the share as it was given."""
    text = " ".join(report([5 * 10**9, 30_000], cold_ppm=12_500).as_text().split())
    assert "No sustain time keeps to 1.25 % of cold starts: the one with the fewest is chosen." in text


def test_a_fleet_without_gaps_is_told() -> None:
    """One inference in each trace is enough to be read."""
    text = report([], []).as_text()
    assert "2 sessions, 2 inferences, 0 gaps" in text
    assert "Of the gaps" not in text


@pytest.mark.parametrize("width", [40, 80, 100])
def test_the_text_fits(width: int) -> None:
    """No line is wider than the given width, for any content."""
    text = plain(report(*_GAPS, learnt=1, unread=3, kept=1, broken=1, cold_ppm=1).as_text(width))
    assert max(map(shown_width, text.splitlines())) <= width


def test_json_has_everything() -> None:
    """The JSON has all candidates, every device, and every file that was left out."""
    made = report(*_GAPS, [0, 0], learnt=10**9, cold_ppm=300_000, unread=12)
    document = json.loads(made.as_json())
    assert document["format_version"] == 1
    assert document["chosen"] == {"after_inference_us": 31_500, "cost_us": 5_593_000, "cold_starts": 22}
    assert document["learnt"] == [
        {
            "after_inference_us": {
                "adaptive": {"break_even_us": _B_US, "cold_starts_ppm": None, "least_us": 0, "most_us": 2 * _B_US}
            },
            "cost_us": 3 * 10**9,
            "cold_starts": 3,
        }
    ]
    assert [each["file"] for each in document["devices"]] == [str(_FLEET / f"{number}.json") for number in (1, 0, 2)]
    assert document["devices"][0]["loss"] == 0.223256
    assert len(document["unread"]) == 12
    assert document["gaps"]["count"] == 114
    assert (document["files_read"], document["sessions"], document["inferences"]) == (3, 3, 117)


def test_a_loss_without_measure_is_null_in_json() -> None:
    """JSON has no infinity: if a device's best time costs nothing, its relative loss is null; its loss in us stays."""
    devices = json.loads(report([0, 0], *[[60_000_000] * 9] * 9).as_json())["devices"]
    assert (devices[0]["loss"], devices[0]["loss_us"]) == (None, 2 * _B_US)


def test_the_profile_has_the_time_and_the_reasons(tmp_path: Path) -> None:
    """The profile extends the tuned profile, loads, and has comments on its origin."""
    text = report(*_GAPS).as_profile("camera_fleet")
    (tmp_path / "camera_fleet.yaml").write_text(text, encoding="utf-8")
    profile = load_profile(tmp_path / "camera_fleet.yaml")
    assert (profile.name, profile.votes) == ("camera_fleet", load_profile("burst").votes)
    assert profile.relax is not None
    assert profile.relax.after_inference_us == 31_500
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert comments[0] == ("# The sustain time of burst for 2 traces with 112 gaps, at a break-even time of 100 ms.")
    assert "31.5 ms 1.165, 300 ms 1.750, 0 2.333" in comments[1]
    assert "half of the devices lose +0.0 % at most, and none more than +31.5 %" in " ".join(comments[2:])


@pytest.mark.parametrize("sustain", [Adaptive(100_000), Adaptive(cold_starts_ppm=12_500)])
def test_a_time_that_is_learnt_stands_in_the_profile(sustain: Adaptive, tmp_path: Path) -> None:
    """The profile loads with the chosen time."""
    made = report(*_GAPS)
    chosen = attrs.evolve(made.settled.chosen, sustain=sustain)
    made = attrs.evolve(made, settled=attrs.evolve(made.settled, chosen=chosen))
    (tmp_path / "a.yaml").write_text(made.as_profile("a"), encoding="utf-8")
    relax = load_profile(tmp_path / "a.yaml").relax
    assert relax is not None
    assert relax.after_inference_us == sustain
