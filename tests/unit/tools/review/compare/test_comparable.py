"""The rules of comparison: each is broken once, and kept by a pair that differs from it in one thing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.measurements import Recipe, ai_hub_json, genie_json, made, read, viewer_text
from support.runtime_logs import executorch_log, hexagon_log, litert_log, measured

from htppower.profiles.loading import load_profile
from htppower.rules.platforms import find_soc
from htppower.tools.review.advice.measurement import Event, Measurement
from htppower.tools.review.compare.comparable import Weight
from htppower.tools.review.compare.comparison import Comparison, compare
from htppower.tools.review.compare.rules import COMPARISON_RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL = Recipe()
KNOWN: dict[str, Any] = {
    "profile": load_profile("burst"),
    "soc": find_soc("SM8750"),
    "facts": {"release": "2.31", "spin": "off", "threads": "4"},
}


def side(recipe: Recipe = USUAL, runs: int = 40, seed: int = 1, **more: Any) -> Measurement:
    """Return runs of a recipe, of which all is known."""
    return measured(made([recipe] * runs, seed=seed), **{**KNOWN, "graph": "net", **more})


def timed(times_us: Sequence[float], gap_us: float = 0.0, **more: Any) -> Measurement:
    """Return inferences with begins and ends, and a gap before each."""
    begins, now = [], 0.0
    for us in times_us:
        begins.append(now)
        now += us + gap_us
    ends = [begin + us for begin, us in zip(begins, times_us, strict=True)]
    columns = {Event.INFERENCE: list(times_us)}
    return Measurement("file", "form", columns, begins_us=begins, ends_us=ends, **{**KNOWN, **more})


def noise(count: int, seed: int = 1, around: float = 1000.0) -> list[float]:
    """Return times around a value."""
    draw = random.Random(seed)
    return [around * draw.lognormvariate(0, 0.02) for _ in range(count)]


def found(one: Measurement, other: Measurement) -> dict[str, str]:
    """Return the evidence of each finding."""
    comparison = compare(one, other)
    return {each.rule.id: each.evidence for each in comparison.findings}


def test_two_measurements_that_can_be_compared() -> None:
    """If all is known and equal, nothing is found."""
    assert found(side(), side(seed=2)) == {}
    assert compare(side(), side(seed=2)).comparable


def test_every_rule_is_broken_here() -> None:
    """Each rule has a test in this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    assert [rule for rule in COMPARISON_RULES if f'"{rule}"' not in text] == []


def test_other_graphs() -> None:
    """Other cycles are other work, whatever the names; other names are a doubt only without cycles."""
    other = compare(side(), side(attrs.evolve(USUAL, compute=5000.0), seed=2, graph="net"))
    assert [each.rule.id for each in other.findings] == ["CMP-1"]
    assert other.findings[0].weight is Weight.BLOCKS
    assert not other.comparable
    assert "takes 2.50 million cycles, of B 5.00 million" in other.findings[0].evidence
    assert found(side(), side(graph="other", seed=2)) == {}
    without = [{Event.QNN: each[Event.QNN]} for each in made([USUAL] * 40)]
    doubt = compare(measured(without, graph="net", **KNOWN), measured(without, graph="other", **KNOWN))
    assert [(each.rule.id, each.weight) for each in doubt.findings] == [("CMP-1", Weight.DOUBT)]


def test_other_spans(tmp_path: Path) -> None:
    """AI Hub's time and that of a profiler's row are not the same; a level that one side lacks is told, too."""
    hub = attrs.evolve(read(tmp_path, ai_hub_json(noise(40)))[0], **KNOWN)
    assert "A has inference time (profile job of AI Hub), B has QNN" in found(hub, side())["CMP-2"]
    only = measured([{Event.ACCELERATOR: each[Event.ACCELERATOR]} for each in made([USUAL] * 40)], **KNOWN)
    assert found(only, side())["CMP-2"].startswith("B also has QNN (execute) time")
    assert "CMP-1" not in found(hub, side())
    assert "CMP-2" not in found(hub, attrs.evolve(hub, source="other"))


def test_other_chips(tmp_path: Path) -> None:
    """Two SoCs, or two architectures in logs, block; one that is not known does not."""
    assert found(side(), side(seed=2, soc=find_soc("SM8550")))["CMP-3"] == "A is of SM8750, B of SM8550."
    v75, v79 = (read(tmp_path, hexagon_log(noise(40, around=120.0), arch=arch))[0] for arch in (75, 79))
    assert found(v75, v79)["CMP-3"] == "A is of Hexagon V75, B of V79."
    assert found(v75, side())["CMP-3"] == "A is of Hexagon V75, B of V79."
    assert "CMP-3" not in found(v79, side())
    assert "CMP-3" not in found(side(), side(soc=None))


def test_the_simulation() -> None:
    """Times of a PC can't be compared with a device's."""
    comparison = compare(side(), side(simulated=True, seed=2))
    assert [(each.rule.id, each.weight) for each in comparison.findings] == [("CMP-4", Weight.BLOCKS)]


def test_the_warm_up_is_in_the_numbers(tmp_path: Path) -> None:
    """A slow first run counts among few runs, and in averages; among many it does not."""
    cold = attrs.evolve(USUAL, power=8000.0, waits=8000.0)
    few = measured(made([cold, *[USUAL] * 9]), graph="net", **KNOWN)
    assert found(few, side())["CMP-5"].startswith("A: Power on takes")
    many = measured(made([cold, *[USUAL] * 39]), graph="net", **KNOWN)
    assert found(many, side(seed=2)) == {}
    averages = attrs.evolve(read(tmp_path, viewer_text(made([cold, *[USUAL] * 39])))[0], **KNOWN)
    assert "CMP-5" in found(side(), averages)


def test_few_runs() -> None:
    """Fewer than ten runs are few."""
    assert found(side(runs=9), side(seed=2))["CMP-6"] == "A has 9 runs."
    assert found(side(runs=9), side(runs=8, seed=2))["CMP-6"] == "A has 9 runs. B has 8 runs."
    assert found(side(runs=10), side(seed=2)) == {}


def test_averages(tmp_path: Path) -> None:
    """Averages without their spread are named; statistics with quantiles are not."""
    averages = attrs.evolve(read(tmp_path, viewer_text(made([USUAL] * 40)))[0], **KNOWN)
    assert found(side(), averages)["CMP-7"] == "B has averages, without their spread."
    once = read(tmp_path, executorch_log([1000.0], runs=100))[0]
    statistics = read(tmp_path, litert_log(noise(40)))[0]
    told = found(once, statistics)
    assert told["CMP-7"] == "A has averages over 100 runs, without their spread."
    assert "CMP-7" not in found(statistics, statistics)


def test_other_profiles() -> None:
    """Two profiles that are known and differ are named, also by the name in a recording."""
    slow = side(seed=2, profile=load_profile("balanced"))
    assert found(side(), slow)["CMP-8"] == "A was made under burst, B under balanced."
    foreign = side(seed=2, profile=None, facts={**KNOWN["facts"], "profile": "mine"})
    assert found(side(), foreign)["CMP-8"] == "A was made under burst, B under mine."


def test_other_settings(tmp_path: Path) -> None:
    """Facts that differ are listed; a measured clock may differ a little."""
    other = side(seed=2, facts={**KNOWN["facts"], "release": "2.41", "threads": "8"})
    assert found(side(), other) == {"CMP-9": "release 2.31 in A, 2.41 in B; threads 4 in A, 8 in B."}
    clocks = [side(facts={**KNOWN["facts"], "clock": clock}) for clock in ("1400 MHz", "1380 MHz", "900 MHz")]
    assert "CMP-9" not in found(clocks[0], clocks[1])
    assert found(clocks[0], clocks[2])["CMP-9"] == "clock 1400 MHz in A, 900 MHz in B."
    litert = [read(tmp_path, litert_log(noise(40), outside=count))[0] for count in (0, 4)]
    assert found(*litert)["CMP-9"] == "outside the NPU 0 of 64 nodes in A, 4 of 64 nodes in B."


def test_two_groups_of_runs() -> None:
    """Runs around two times have no median that means anything."""
    times = [time for pair in zip(noise(20), noise(20, 2, 2500.0), strict=True) for time in pair]
    assert found(timed(times), timed(noise(40)))["CMP-10"].startswith("The runs of A lie around")
    assert found(timed(noise(40)), timed(noise(40, 2))) == {}


@pytest.mark.parametrize(("change", "word"), [(0.2, "slower"), (-0.2, "faster")])
def test_a_side_that_changes(change: float, word: str) -> None:
    """The last quarter of the runs is compared with the first; noise is no change."""
    drifting = [time * (1 + change * place / 80) for place, time in enumerate(noise(80))]
    assert found(timed(drifting), timed(noise(80, 2)))["CMP-11"].startswith(f"The last quarter of A is {word}: ")
    assert "CMP-11" not in found(timed(noise(80)), timed(noise(80, 2)))


def test_another_pace() -> None:
    """Gaps of 500 ms and none are another pace; gaps that are alike are not."""
    evidence = found(timed(noise(40), 500_000.0), timed(noise(40, 2)))["CMP-12"]
    assert evidence.startswith("Before an inference of A there is a gap of 500 ms at the median, of B 0 us")
    assert "CMP-12" not in found(timed(noise(40), 500_000.0), timed(noise(40, 2), 400_000.0))


def test_other_levels_of_profiling() -> None:
    """Linting, optrace and the level detailed take time, so both sides need the same."""
    rows = made([USUAL] * 40)
    basic = measured([{e: n for e, n in each.items() if e is not Event.POWER_ON} for each in rows], **KNOWN)
    assert found(basic, side())["CMP-13"] == "A: basic; B: detailed."
    linted = side(notes=("Linting was on, which itself takes time.",))
    assert found(linted, side(seed=2))["CMP-13"] == "A: linting; B: detailed."
    assert found(linted, attrs.evolve(linted, source="other")) == {}


def test_overlapping_inferences() -> None:
    """Inferences that begin before the one before has ended wait for each other."""
    one = timed(noise(40))
    overlapping = attrs.evolve(one, begins_us=[begin - 500 for begin in one.begins_us])
    assert found(overlapping, one)["CMP-14"] == "100 % of the inferences of A begin before the one before has ended."
    assert "CMP-14" not in found(one, timed(noise(40, 2)))


def test_other_lengths_of_prompts(tmp_path: Path) -> None:
    """Prompts of 40 and 400 tokens are not alike."""
    queries = {
        tokens: read(tmp_path, genie_json([(10**6 * place, 90_000.0, tokens) for place in range(1, 12)]))[0]
        for tokens in (40, 44, 400)
    }
    assert found(queries[40], queries[400])["CMP-15"] == (
        "The prompts of A have 40 tokens at the median, those of B 400."
    )
    assert "CMP-15" not in found(queries[40], queries[44])


def test_what_is_not_known() -> None:
    """The profile, the SoC and the release of each side are asked for; an architecture stands for the SoC."""
    other = side(seed=2, profile=None, soc=None, facts={"arch": "V79"})
    assert found(side(), other) == {"CMP-16": "Not known of B: profile, release."}


def test_a_host_that_spins() -> None:
    """No file records it: users name it for both sides."""
    spinning = side(seed=2, facts={**KNOWN["facts"], "spin": "on"})
    assert found(side(), spinning) == {"CMP-17": "spin is off in A, on in B."}


def test_the_heaviest_findings_are_first() -> None:
    """What blocks comes before what is a doubt, and that before what is not known."""
    other = side(attrs.evolve(USUAL, compute=5000.0), runs=5, profile=None)
    comparison: Comparison = compare(side(), other)
    assert [each.weight for each in comparison.findings] == sorted(
        (each.weight for each in comparison.findings), key=list(Weight).index
    )
    assert {each.weight for each in comparison.findings} == set(Weight)
