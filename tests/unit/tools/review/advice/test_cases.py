"""Made cases: in every form, with noise, shuffled, scaled or incomplete, each gets the right first advice, or none."""

from __future__ import annotations

import functools
import random
from typing import TYPE_CHECKING

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.measurements import FORMS, ORDER, Recipe, ai_hub_json, genie_json, made, ort_csv, viewer_csv, viewer_text

from htppower.profiles.loading import load_profile
from htppower.tools.review.advice.measurement import Event, Kind
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.review.advice.run import advise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from htppower.profiles.profile import Profile
    from htppower.tools.review.advice.measurement import Measurement

    Inference = Mapping[Event, float]

GOOD = Recipe()


def like(**parts: float) -> Recipe:
    """Return a good inference with some parts replaced."""
    return attrs.evolve(GOOD, **parts)


class Case:
    """The rule of the first advice (empty for none), the recipe of the inference at each place, and the profile."""

    def __init__(self, rule: str, recipe: Callable[[int], Recipe], profile: str = "") -> None:
        self.rule = rule
        self.profile = profile
        self._recipe = recipe

    def inferences(self, count: int, seed: int, spread: float = 0.03) -> list[dict[Event, float]]:
        """Return this many inferences."""
        return made([self._recipe(place) for place in range(count)], seed, spread)


CASES = {
    "good": Case("", lambda _: GOOD),
    "good under burst": Case("", lambda _: GOOD, "burst"),
    "good and long": Case("", lambda _: like(compute=25_000.0, way=290.0), "balanced"),
    "wake-up": Case("ADV-1", lambda _: like(way=1500.0)),
    "wake-up of a short one": Case("ADV-1", lambda _: like(compute=900.0, way=750.0)),
    "wake-up after a cold start": Case(
        "ADV-1", lambda place: like(way=1500.0, **({} if place else {"power": 8000.0, "waits": 8000.0}))
    ),
    "polling in vain": Case("ADV-2", lambda _: like(compute=15_000.0, way=900.0)),
    "polling in vain, though the answer is in time": Case("ADV-2", lambda _: like(compute=15_000.0)),
    "polling in vain under burst": Case("ADV-2", lambda _: like(compute=15_000.0, way=900.0), "burst"),
    "power-up": Case("ADV-3", lambda _: like(power=7000.0, waits=7020.0)),
    "power-up beside it": Case(
        "ADV-3", lambda _: Recipe(77.0, 1657.0, 647.0, 505.0, 115.0, power=29_000.0, vtcm=804.0)
    ),
    "power-up in every second": Case("ADV-3", lambda place: like(power=7000.0, waits=7020.0) if place % 2 else GOOD),
    "cold start": Case("ADV-4", lambda place: GOOD if place else like(power=7000.0, waits=7020.0)),
    "contention": Case("ADV-5", lambda _: like(yields=3.0, waits=1500.0)),
    "contention under burst": Case("ADV-5", lambda _: like(compute=9000.0, yields=3.0, waits=9000.0), "burst"),
    "contention at times": Case("ADV-5", lambda place: GOOD if place % 3 else like(yields=2.0, waits=4000.0)),
    "held VTCM": Case("ADV-5", lambda _: like(waits=1500.0, vtcm=1400.0)),
    "small graph": Case("ADV-6", lambda _: like(compute=77.0, waits=10.0, around=400.0, way=300.0, host=150.0)),
    "small graph under burst": Case(
        "ADV-6", lambda _: like(compute=77.0, waits=40.0, around=500.0, way=450.0, host=150.0), "burst"
    ),
    "small graph under burst, mostly a call": Case(
        "ADV-6", lambda _: like(compute=100.0, waits=10.0, around=100.0, way=700.0, host=50.0), "burst"
    ),
    "small graph under power_saver": Case(
        "", lambda _: like(compute=77.0, waits=10.0, around=400.0, way=300.0, host=150.0), "power_saver"
    ),
}


def without_some(inferences: Sequence[Inference], noise: random.Random) -> list[Inference]:
    """Return inferences without a tenth of their rows."""
    return [{event: number for event, number in each.items() if noise.random() > 0.1} for each in inferences]


# Without these rows a rule has no evidence.
_EVIDENCE = {
    *((name, Event.POWER_ON) for name in ("power-up", "power-up beside it", "power-up in every second", "held VTCM")),
    *(("small graph under power_saver", event) for event in (Event.RPC, Event.QNN_ACCELERATOR)),
    *((name, Event.YIELDS) for name in ("contention", "contention under burst", "contention at times")),
}
# Changes to the inferences of a case that keep its advice.
WRITTEN: Mapping[str, Callable[[list[dict[Event, float]], random.Random], str]] = {
    **{name: functools.partial(lambda write, inferences, _: write(inferences), write) for name, write in FORMS.items()},
    "shuffled": lambda inferences, noise: ort_csv(noise.sample(inferences, len(inferences))),
    "turned": lambda inferences, _: ort_csv(inferences, order=ORDER[::-1]),
    "another order": lambda inferences, noise: ort_csv(inferences, order=noise.sample(ORDER, len(ORDER))),
    "in ms": lambda inferences, _: viewer_csv(inferences, unit="MS"),
    "averages": lambda inferences, _: viewer_text(inferences),
    "averages in ms": lambda inferences, _: viewer_text(inferences, unit="ms"),
}


@functools.cache
def profile(name: str) -> Profile:
    """Return a shipped profile."""
    return load_profile(name)


def read(folder: Path, text: str, name: str = "") -> list[Measurement]:
    """Return the measurements of a file, under a profile."""
    path = folder / "measured"
    path.write_text(text, encoding="utf-8")
    return [attrs.evolve(each, profile=profile(name) if name else None) for each in read_measurements(str(path))]


def rules(*measured: Measurement) -> list[str]:
    """Return the rules of the advice, in order."""
    return [told.advice.rule.id for told in advise(measured).told]


def first(*measured: Measurement) -> str:
    """Return the rule of the first advice; empty if there is none."""
    return next(iter(rules(*measured)), "")


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize("name", CASES)
def test_the_first_advice_is_right(tmp_path: Path, name: str, form: str) -> None:
    """In each form, with little or much noise and few or many inferences, the first advice is the expected one."""
    case, noise = CASES[name], random.Random(name + form)
    for count, spread in ((8, 0.01), (20, 0.05), (60, 0.12)):
        text = WRITTEN[form](case.inferences(count, count, spread), noise)
        assert first(*read(tmp_path, text, case.profile)) == case.rule, (count, spread)


@pytest.mark.parametrize("name", CASES)
def test_missing_rows_leave_the_advice(tmp_path: Path, name: str) -> None:
    """A tenth of the rows may be missing."""
    case, noise = CASES[name], random.Random(name)
    # Only one inference shows a cold start; without its rows nothing shows it.
    allowed = {case.rule, ""} if case.rule == "ADV-4" else {case.rule}
    for seed in range(5):
        text = ort_csv(without_some(case.inferences(40, seed), noise))
        assert first(*read(tmp_path, text, case.profile)) in allowed, seed


@given(st.sampled_from(sorted(CASES)), st.integers(0, 2**32), st.floats(0.8, 1.25), st.integers(20, 50))
def test_scaled_times_have_the_same_first_advice(
    tmp_path_factory: pytest.TempPathFactory, name: str, seed: int, factor: float, count: int
) -> None:
    """A device that is a quarter slower or faster gets the same advice, except near limits in time."""
    case = CASES[name]
    inferences = [
        {event: round(number * factor) if event.kind is Kind.TIME else number for event, number in each.items()}
        for each in case.inferences(count, seed)
    ]
    if name == "good and long":
        inferences = [{**each, Event.RPC: each[Event.QNN_ACCELERATOR] + 250} for each in inferences]
    text = viewer_csv(inferences)
    assert first(*read(tmp_path_factory.getbasetemp(), text, case.profile)) == case.rule


@pytest.mark.parametrize(
    "missing", [Event.RPC, Event.QNN_ACCELERATOR, Event.QNN, Event.COMPUTE, Event.POWER_ON, Event.YIELDS]
)
@pytest.mark.parametrize("name", CASES)
def test_a_row_that_is_never_there(tmp_path: Path, name: str, missing: Event) -> None:
    """Without one kind of rows the first advice is the same, unless those rows are its evidence."""
    case = CASES[name]
    less: list[dict[Event, float]] = [
        {event: number for event, number in each.items() if event is not missing} for each in case.inferences(20, 1)
    ]
    found = first(*read(tmp_path, viewer_csv(less), case.profile))
    assert (found == case.rule) is ((name, missing) not in _EVIDENCE)


def test_the_sessions_of_a_file_each_have_a_cold_start(tmp_path: Path) -> None:
    """Each appended run begins cold, which is not a power-up in every inference."""
    cold = CASES["cold start"]
    text = "".join(ort_csv(cold.inferences(6, seed), header=not seed) for seed in range(4))
    assert rules(*read(tmp_path, text)) == ["ADV-4"]


def test_of_several_graphs_the_one_that_gains_most_is_told(tmp_path: Path) -> None:
    """A good graph does not hide a bad one; of two bad graphs, the one with more time comes first."""
    rows = [viewer_csv(CASES[name].inferences(20, 3), graph=name) for name in ("good", "contention")]
    (tmp_path / "b").mkdir()
    good, contention = (read(tmp_path, text) for text in rows)
    assert first(*good, *contention) == "ADV-5"
    seldom = read(tmp_path, viewer_csv(CASES["wake-up"].inferences(5, 3), graph="seldom"))
    assert rules(*good, *contention, *seldom) == ["ADV-5", "ADV-1"]
    often = read(tmp_path, viewer_csv(CASES["wake-up"].inferences(500, 3), graph="often"))
    assert rules(*good, *contention, *often) == ["ADV-1", "ADV-5"]
    together = advise([*contention, *read(tmp_path, viewer_csv(CASES["contention"].inferences(9, 3), graph="c"))])
    assert [len(told.about) for told in together.told] == [2]


def clocks(tmp_path: Path, *mhz: tuple[str, float], write: Callable[..., str] = ort_csv, seed: int = 1) -> str:
    """Return the first advice on a graph measured at several clocks, each under a profile."""
    measured = []
    for place, (name, each) in enumerate(mhz):
        inferences = made([like(compute=2500 * 1000 / each, mhz=each)] * 20, seed + place, 0.05)
        measured += read(tmp_path, write(inferences), name)
    return first(*measured)


@pytest.mark.parametrize("write", [ort_csv, viewer_csv, viewer_text])
def test_a_clock_that_does_not_follow(tmp_path: Path, write: Callable[..., str]) -> None:
    """The rule applies if distant profiles have equal clocks, or the lower one a higher clock."""
    for seed in range(5):
        flat = functools.partial(clocks, tmp_path, write=write, seed=seed)
        assert flat(("burst", 1000), ("power_saver", 1010)) == "ADV-7"
        assert flat(("power_saver", 700), ("balanced", 690), ("burst", 700)) == "ADV-7"
        assert flat(("burst", 700), ("low_balanced", 1000)) == "ADV-7"
        assert flat(("burst", 1400), ("power_saver", 900)) == ""
        assert flat(("burst", 1400), ("balanced", 1250), ("power_saver", 800)) == ""
        assert flat(("burst", 1400), ("burst", 1400)) == ""


def test_two_humps(tmp_path: Path) -> None:
    """Times of an AI Hub job or a changing clock have two humps; two graphs in a file, or too few times, do not."""
    for seed in range(10):
        noise = random.Random(seed)
        times = [
            round((17_600 if noise.random() < 0.35 else 41_700) * noise.lognormvariate(0, 0.06)) for _ in range(100)
        ]
        assert first(*read(tmp_path, ai_hub_json(times))) == "ADV-8"
        assert first(*read(tmp_path, ai_hub_json(sorted(times)))) == "ADV-8"
        assert first(*read(tmp_path, ai_hub_json(times[:6]))) == ""
        slow = [noise.random() < 0.5 for _ in range(40)]
        clock = [like(compute=5200.0, mhz=480.8) if each else GOOD for each in slow]
        assert first(*read(tmp_path, ort_csv(made(clock, seed)))) == "ADV-8"
        graphs = [like(compute=5200.0) if each else GOOD for each in slow]
        assert first(*read(tmp_path, ort_csv(made(graphs, seed)))) == ""


def queries(pauses: Sequence[int], firsts: Sequence[float]) -> str:
    """Return a profile of Genie, given the pause before each query and its time to the first token."""
    now, found = 10**6, []
    for pause, each in zip(pauses, firsts, strict=True):
        now += pause
        found.append((now, each, 16))
        now += round(each) + 30_000
    return genie_json(found)


def test_queries_after_a_pause(tmp_path: Path) -> None:
    """Queries that are slower after a pause get advice, or a slow first query; equal queries or a single one do not."""
    noise = random.Random(4)
    pauses = [900_000 if place % 3 == 0 else 20_000 for place in range(15)]
    slow = [(90_000 if pause > 300_000 else 60_000) * noise.lognormvariate(0, 0.03) for pause in pauses]
    alike = [60_000 * noise.lognormvariate(0, 0.03) for _ in pauses]
    assert first(*read(tmp_path, queries(pauses, slow))) == "ADV-10"
    assert first(*read(tmp_path, queries(pauses, alike))) == ""
    assert first(*read(tmp_path, queries([20_000] * 9, [90_000, *alike[:8]]))) == "ADV-10"
    assert first(*read(tmp_path, queries([20_000], [90_000]))) == ""


def test_the_simulation_gets_no_advice(tmp_path: Path) -> None:
    """The numbers do not matter."""
    simulated = [{**each, Event.HVX_THREADS: 0} for each in CASES["power-up"].inferences(20, 1)]
    for each in simulated:
        del each[Event.RPC]
    report = advise(read(tmp_path, ort_csv(simulated)))
    assert (report.simulated, report.told, report.looked_at) == (True, (), ())
