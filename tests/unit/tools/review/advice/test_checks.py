"""Single checks: the inputs that they ignore, and the numbers that they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.measurements import Recipe, genie_json, made, ort_csv, read, viewer_csv, viewer_text

from htppower.profiles.expressed import records
from htppower.profiles.loading import load_profile
from htppower.tools.review.advice.forms import headline, notes
from htppower.tools.review.advice.measurement import Event, Measurement
from htppower.tools.review.advice.numbers import Numbers, two_humps
from htppower.tools.review.advice.own_settings import kept_up
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.review.advice.rules import Confidence
from htppower.tools.review.advice.run import advise

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.review.advice.rules import Advice

COLD = Recipe(power=9000.0, waits=9020.0)


def given(tmp_path: Path, text: str) -> dict[str, Advice]:
    """Return the advice on a file, by rule."""
    path = tmp_path / "measured"
    path.write_text(text, encoding="utf-8")
    return {told.advice.rule.id: told.advice for told in advise(read_measurements(str(path))).told}


def test_a_call_that_only_waits_long_is_not_polled_in_vain(tmp_path: Path) -> None:
    """The call takes more than 9.999 ms because of the power-up; without that, polling lasts long enough."""
    assert set(given(tmp_path, ort_csv(made([COLD] * 9)))) == {"ADV-3"}


@pytest.mark.parametrize("place", range(5))
def test_one_power_up_is_no_habit(tmp_path: Path, place: int) -> None:
    """One powered-up inference of several is a cold start, at any place in the file."""
    recipes = [COLD if each == place else Recipe() for each in range(5)]
    assert set(given(tmp_path, ort_csv(made(recipes)))) == {"ADV-4"}


def test_contention_is_without_the_power_up(tmp_path: Path) -> None:
    """The part of a wait that is power-up is not counted as contention again."""
    found = given(tmp_path, ort_csv(made([Recipe(power=7000.0, waits=7900.0, yields=2.0)] * 20)))
    assert list(found) == ["ADV-3", "ADV-5"]
    assert found["ADV-5"].gain_us == pytest.approx(900, rel=0.4)


def test_contention_is_reckoned_from_inferences_without_yields(tmp_path: Path) -> None:
    """If no row has waits, the inferences without yields give the time without waits."""
    recipes = [Recipe() if each % 3 else Recipe(yields=2.0, waits=4000.0) for each in range(30)]
    less: list[dict[Event, float]] = [
        {event: number for event, number in each.items() if event is not Event.COMPUTE} for each in made(recipes)
    ]
    assert given(tmp_path, ort_csv(less))["ADV-5"].gain_us == pytest.approx(4000 / 3, rel=0.1)
    rare = [Recipe(yields=1.0 if each == 0 else 0.0) for each in range(30)]
    assert given(tmp_path, ort_csv(made(rare))) == {}


def test_what_lies_between_two_groups_makes_them_one() -> None:
    """Times in the middle are not a second hump, though two groups would fit well."""
    assert two_humps([100.0, 200.0] * 40) is not None
    assert two_humps([100.0, 200.0] * 40 + [141.0] * 10) is None


def test_moments_that_stand_still_are_none(tmp_path: Path) -> None:
    """Timestamps that are equal, or go back, give no gaps."""
    lines = viewer_csv(made([COLD] * 6), step_us=500_000).splitlines()
    still = "\n".join(f"7,{line.partition(',')[2]}" if line.startswith("1") else line for line in lines)
    assert "700000" in str(given(tmp_path, "\n".join(lines))["ADV-3"].do)
    assert "600000" in str(given(tmp_path, still)["ADV-3"].do)
    back = "\n".join((*lines[:-12], *(f"7,{line.partition(',')[2]}" for line in lines[-12:-1])))
    given(tmp_path, back)
    assert read_measurements(str(tmp_path / "measured"))[0].begins_us == ()


def test_the_total_of_several_graphs_is_no_graph(tmp_path: Path) -> None:
    """The viewer's statistics of all graphs are left out if each graph has its own."""
    text = viewer_text(made([Recipe()] * 3)).replace(
        "Total Inference Time:\n", "Total Inference Time:\n  NetRun: 9 us\n"
    )
    path = tmp_path / "measured"
    path.write_text(text, encoding="utf-8")
    assert [each.graph for each in read_measurements(str(path))] == ["model"]


def test_parts_add_up_where_noise_turns_them_round() -> None:
    """A median above the median of its enclosing part makes no part negative."""
    numbers = Numbers(Measurement("f", "form", {Event.QNN: [100.0], Event.RPC: [120.0], Event.COMPUTE: [90.0]}))
    parts = numbers.parts()
    assert [part.time_us for part in parts] == [0, 10, 90]
    assert sum(part.share for part in parts) == pytest.approx(1)
    assert Numbers(Measurement("f", "form", {Event.TOKENS: [3.0]})).parts() == ()


def test_averages_are_shown_as_the_file_has_them(tmp_path: Path) -> None:
    """Averages include a cold start and are not replaced by the smallest numbers; a note explains this."""
    inferences = made([COLD, *[Recipe()] * 7])
    path = tmp_path / "measured"
    path.write_text(viewer_text(inferences), encoding="utf-8")
    (measured,) = read_measurements(str(path))
    shown = sum(part.time_us for part in Numbers(measured).parts())
    assert shown == pytest.approx(sum(each[Event.QNN] for each in inferences) / 8, abs=1)
    assert any("smallest numbers" in note for note in notes(measured))


def only(text: str, *kinds: str) -> str:
    """Return the text of qnn-profile-viewer with only these statistics."""
    first, *sections = text.split("Execute Stats (")
    return "Execute Stats (".join([first, *(each for each in sections if each.startswith(kinds))])


def test_averages_alone_tell_of_a_long_power_up(tmp_path: Path) -> None:
    """One cold start can't explain a high average: ADV-3, with low confidence."""
    small = Recipe(compute=800.0, power=11_000.0, waits=11_020.0, around=400.0, way=2500.0, host=500.0)
    for kinds in (("Average",), ("Average", "Max")):
        found = given(tmp_path, only(viewer_text(made([small] * 20)), *kinds))
        assert next(iter(found)) == "ADV-3"
        assert not {"ADV-4", "ADV-6"} & set(found)
        assert found["ADV-3"].confidence is Confidence.LOW
        assert "on average" in found["ADV-3"].evidence[0]
    both = made([Recipe(), *[small] * 19])
    assert next(iter(given(tmp_path, only(viewer_text(both), "Average", "Min")))) == "ADV-3"


def test_averages_alone_do_not_make_a_cold_start_a_habit(tmp_path: Path) -> None:
    """One slow inference of 20 moves the average a little, which is not evidence."""
    text = only(viewer_text(made([COLD, *[Recipe()] * 19])), "Average")
    assert not {"ADV-3", "ADV-4"} & set(given(tmp_path, text))


def test_a_record_is_not_told_to_sustain(tmp_path: Path) -> None:
    """A runtime has no field for its timers; votes held until the model is released are not a sustain time of 0."""
    path = tmp_path / "measured"
    path.write_text(viewer_csv(made([COLD] * 20), step_us=500_000), encoding="utf-8")
    (measured,) = read_measurements(str(path))
    said = {}
    for name in ("onnxruntime:burst", "vendor:burst", "burst"):
        (told,) = advise([attrs.evolve(measured, profile=load_profile(name))]).told
        said[name] = " ".join((*told.advice.evidence, *told.advice.do))
    assert "keeps its votes up until the model is released" in said["onnxruntime:burst"]
    assert "for 0 us" not in said["onnxruntime:burst"]
    assert [name for name, words in said.items() if "relax:" in words or "votes:" in words] == ["burst"]
    assert "one power-up serves them all" in said["onnxruntime:burst"]


RECORDS = [
    f"{runtime}:{mode}"
    for runtime in ("onnxruntime", "vendor", "litert", "litert-auto", "executorch")
    for mode in records(runtime)
]


def pauses(pause_us: int) -> str:
    """Return queries; each third query comes after a pause and is slower."""
    found, now = [], 0
    for place in range(15):
        now += pause_us if place % 3 == 0 else 20_000
        found.append((now, 90_000.0 if place % 3 == 0 else 60_000.0, 16))
        now += 120_000
    return genie_json(found)


@pytest.fixture(scope="module")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Measurement]:
    """Return measurements that lead to advice about calls, polling, queries and two groups."""
    humps = [Recipe(mhz=300.0, compute=8000.0) if each % 2 else Recipe() for each in range(40)]
    texts = {
        "a late wake-up": ort_csv(made([Recipe(way=2500.0)] * 20)),
        "polling ends": ort_csv(made([Recipe(compute=15_000.0, way=3000.0)] * 20)),
        "a short pause": pauses(200_000),
        "a long pause": pauses(2_000_000),
        "two groups": ort_csv(made(humps)),
        "a small graph": ort_csv(made([Recipe(compute=60.0, around=600.0, way=100.0)] * 20)),
    }
    found = {}
    for name, text in texts.items():
        path = tmp_path_factory.mktemp("measured") / "measured"
        path.write_text(text, encoding="utf-8")
        (found[name],) = read_measurements(str(path))
    return found


def do(measured: Measurement, name: str) -> dict[str, tuple[str, ...]]:
    """Return the actions under a profile, by rule."""
    told = advise([attrs.evolve(measured, profile=load_profile(name))]).told
    return {each.advice.rule.id: each.advice.do for each in told}


@pytest.mark.parametrize("name", RECORDS)
def test_advice_on_a_record_is_in_the_settings_of_its_runtime(measurements: dict[str, Measurement], name: str) -> None:
    """A runtime that votes by itself has no votes of a profile, and no power state, to change."""
    lines = [line for measured in measurements.values() for advised in do(measured, name).values() for line in advised]
    assert not [line for line in lines if "votes:" in line or "relax:" in line]


def test_each_runtime_has_its_own_words(measurements: dict[str, Measurement]) -> None:
    """Latency, polling and sustain use the runtime's settings; if a setting is missing, no action is proposed."""
    late, ends = measurements["a late wake-up"], measurements["polling ends"]
    long = measurements["a long pause"]
    assert do(late, "balanced")["ADV-1"] == ("votes: {rpc_control_latency_us: 100, rpc_polling_time_us: 9999}",)
    (of_vendor,) = do(late, "vendor:balanced")["ADV-1"]
    assert of_vendor.startswith('"rpc_control_latency": 100, "rpc_polling_time": 9999')
    latency, mode = do(late, "onnxruntime:balanced")["ADV-1"]
    assert latency.startswith("rpc_control_latency=100")
    assert mode.startswith("htp_performance_mode=burst")
    (flag,) = do(late, "litert:balanced")["ADV-1"]
    assert flag.startswith("--qualcomm_htp_performance_mode=sustained_high_performance")
    small = measurements["a small graph"]
    assert do(small, "burst")["ADV-6"][0].startswith("htppower profile ")
    assert do(small, "onnxruntime:burst")["ADV-6"][0].startswith("htp_performance_mode=")
    assert "ADV-2" in do(ends, "burst")
    assert do(ends, "vendor:burst")["ADV-2"][0].startswith('"adaptive_polling_time": 1000')
    assert not {"ADV-1", "ADV-2"} & set(do(ends, "onnxruntime:burst"))
    assert "ADV-10" not in do(long, "vendor:burst")
    assert do(long, "litert-auto:burst")["ADV-10"][0].startswith("--qualcomm_htp_perf_ctrl_mode=manual")
    assert do(long, "burst")["ADV-10"][0].startswith("relax: ")


def test_the_vendors_voter_sustains_for_300_ms_at_most() -> None:
    """The advice is a mode with the same clocks that sustains, or custom; a longer pause has no setting."""
    (of_mode,) = kept_up(load_profile("vendor:high_performance"), 200_000)
    assert of_mode.startswith('"perf_profile": "sustained_high_performance"')
    (of_custom,) = kept_up(load_profile("vendor:balanced"), 200_000)
    assert "sustainInferencePerfState" in of_custom
    assert kept_up(load_profile("vendor:balanced"), 300_000) == ()


def test_a_record_that_polls_in_vain_names_no_session(measurements: dict[str, Measurement]) -> None:
    """If a mode polls and the wake-up is late all the same, the advice is to check its setting."""
    said = do(measurements["a late wake-up"], "onnxruntime:burst")["ADV-1"]
    assert said[0].startswith("htppower settings --check")
    assert not any("status" in line for line in said)


def test_a_clock_that_follows_no_mode_of_a_runtime_names_no_session(measurements: dict[str, Measurement]) -> None:
    """For a mode the advice is to check its setting; for a profile, its session."""
    said = {}
    for names in (("burst", "power_saver"), ("vendor:burst", "vendor:power_saver")):
        both = [attrs.evolve(measurements["a small graph"], profile=load_profile(name)) for name in names]
        (said[names[0]],) = (each.advice.do for each in advise(both).told if each.advice.rule.id == "ADV-7")
    assert said["burst"][0].startswith("htppower status")
    assert said["vendor:burst"][0].startswith("htppower settings --check")
    assert said["burst"][1:] == said["vendor:burst"][1:]


def test_a_slow_language_model(tmp_path: Path) -> None:
    """A single query is judged by its tokens a second, and a long prompt by its own rate too."""

    def said(first_us: float, tokens: int, rate: float) -> list[str]:
        """Return the evidence of ADV-11 on one query."""
        told = advise(read(tmp_path, genie_json([(1_000, first_us, tokens)], rate))).told
        return [line for each in told if each.advice.rule.id == "ADV-11" for line in each.advice.evidence]

    assert said(6_400_000, 512, 0.64) == [
        "0.64 tokens per second; the slowest measured elsewhere is 3.8.",
        "80 tokens of the prompt per second; the slowest measured elsewhere is 117.",
    ]
    assert len(said(400_000, 512, 1.5)) == 1
    assert len(said(6_400_000, 512, 8.0)) == 1
    assert said(145_000, 4, 8.0) == []


def test_what_tells_nothing_of_the_htp_is_not_said_to_have_nothing_to_gain(tmp_path: Path) -> None:
    """The times of a query are the host's; only rows of the HTP can show that there is nothing to gain."""
    (query,) = read(tmp_path, genie_json([(1_000, 400_000, 512)]))
    assert headline(advise([query])).startswith("No advice: without rows of the HTP")
    assert headline(advise(read(tmp_path, ort_csv(made([Recipe()] * 12))))).startswith("Nothing to gain")
    assert list(notes(query))[:3] == [
        "The first token of a prompt of 512 tokens comes after 400 ms.",
        "Prompts are processed at 1280 tokens/s.",
        "Answers of 3 tokens are generated at 72 tokens/s.",
    ]
