"""What to try: from the advice on the slower side, the profile of the faster side, or settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
from support.measurements import Recipe, genie_json, made, read
from support.runtime_logs import litert_log, measured

from htppower.profiles.loading import load_profile
from htppower.tools.review.compare.comparison import compare, headline, where

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.compare.suggestions import Suggestion

USUAL = Recipe()


def side(seed: int = 1, runs: int = 40, **more: Any) -> Measurement:
    """Return runs of a recipe that differs from the usual one."""
    profile = more.pop("profile", None)
    recipe = attrs.evolve(USUAL, **more)
    return measured(made([recipe] * runs, seed=seed), profile=None if profile is None else load_profile(profile))


def tried(one: Measurement, other: Measurement) -> dict[str, Suggestion]:
    """Return the suggestions by what they are about."""
    return {each.about: each for each in compare(one, other).suggestions}


def test_the_slower_side_gets_the_suggestion() -> None:
    """The side is named, whichever comes first."""
    slow = side(seed=2, way=1500.0)
    assert tried(side(), slow)["FastRPC"].side == "B"
    assert tried(slow, side())["FastRPC"].side == "A"


def test_advice_that_applies_is_given() -> None:
    """A call that is long on its way is ADV-1, a power-up in each inference ADV-3, yields ADV-5."""
    assert tried(side(), side(seed=2, way=1500.0))["FastRPC"].do == (
        "votes: {rpc_control_latency_us: 100, rpc_polling_time_us: 9999}",
    )
    power = tried(side(), side(seed=2, power=8000.0, waits=8000.0))
    assert power["HTP, waiting"].why.startswith("ADV-3: ")
    yields = tried(side(), side(seed=2, yields=2.0, waits=900.0))
    assert yields["HTP, waiting"].why.startswith("ADV-5: ")


def test_without_advice_each_part_has_something_to_look_at() -> None:
    """The host names spinning threads, the work the preparation, the time around the graph the level detailed."""
    changes: tuple[tuple[dict[str, Any], str, str], ...] = (
        ({"host": 900.0}, "host", "SET-14"),
        ({"compute": 3300.0}, "HTP, work", "context binary"),
        ({"around": 900.0}, "HTP, outside the graph", "detailed"),
        ({"mhz": 500.0, "compute": 5000.0}, "HTP, clock", "htppower status"),
    )
    for change, about, word in changes:
        assert word in " ".join(tried(side(), side(seed=2, **change))[about].do), about


def test_the_profile_of_the_faster_side() -> None:
    """If it votes higher clocks, it is the first thing to try, in the words of the runtime if it is a record."""
    slow = side(seed=2, mhz=700.0, compute=3571.0, profile="power_saver")
    found = tried(side(profile="burst"), slow)
    assert next(iter(found)) == "profile"
    assert found["profile"].do == ("htppower profile burst -- COMMAND",)
    assert "votes higher clocks and polls" in found["profile"].why
    assert "HTP, clock" not in found
    of_provider = side(seed=2, mhz=700.0, compute=3571.0, profile="onnxruntime:power_saver")
    assert "htp_performance_mode=burst" in tried(side(profile="burst"), of_provider)["profile"].do[0]
    polling = tried(
        side(profile="high_performance"), side(seed=2, mhz=700.0, compute=3571.0, profile="llm_decode_burst")
    )
    assert "profile" not in polling
    assert "HTP, clock" in polling
    assert "profile" not in tried(side(profile="power_saver"), side(seed=2, way=900.0, profile="burst"))


def test_a_clock_that_does_not_follow_the_profiles() -> None:
    """Two profiles with one clock are a finding, even if nothing differs."""
    found = tried(side(profile="burst"), side(seed=2, profile="power_saver"))
    assert found["HTP, clock"].side == "A and B"
    assert found["HTP, clock"].why.startswith("ADV-7: ")


def test_a_cold_start_of_one_side() -> None:
    """If only one side begins with a cold inference, it is told to warm up."""
    cold = attrs.evolve(USUAL, power=8000.0, waits=8000.0)
    other = measured(made([cold, *[USUAL] * 39], seed=2))
    assert tried(side(), other)["warm-up"].why.startswith("ADV-4: ")
    assert "warm-up" not in tried(other, other)


def test_small_differences_are_left_alone() -> None:
    """Nothing is suggested where no difference is shown, and for parts with little of it."""
    assert tried(side(), side(seed=2)) == {}
    assert list(tried(side(), side(seed=2, way=1200.0, host=70.0))) == ["FastRPC"]


def test_where_only_the_whole_is_known(tmp_path: Path) -> None:
    """The suggestion is to profile both sides; for language models to look at their settings."""
    one, other = (read(tmp_path, litert_log([around + place for place in range(40)]))[0] for around in (900.0, 2000.0))
    outside = read(tmp_path, litert_log([2000.0 + place for place in range(40)], outside=7))[0]
    assert tried(one, outside)["placement"].why.startswith("7 of 64 nodes run outside the NPU")
    assert "placement" not in tried(one, other)
    assert "profiling_level detailed" in tried(one, other)["where the time goes"].do[0]
    assert where(compare(one, other)) == "Only the whole inference is known of both, not where the time goes."
    queries = [
        read(tmp_path, genie_json([(10**6 * place, 90_000.0 + place, 40) for place in range(1, 12)], rate))[0]
        for rate in (70.0, 20.0)
    ]
    assert "settings --check" in tried(*queries)["a token of the answer"].do[0]


def test_the_result_in_a_sentence() -> None:
    """It says slower, faster, that nothing is shown, or that too little is known; and which parts have most of it."""
    fast, slow = side(), side(seed=2, way=1560.0, waits=660.0)
    assert headline(compare(fast, slow)).startswith("B is slower: 4.87 ms against 2.9 ms, +68 % (95 % interval +6")
    assert headline(compare(slow, fast)).startswith("B is faster: ")
    assert "No difference is shown: " in headline(compare(fast, side(seed=3)))
    assert "too little is known of the runs" in headline(compare(fast, side(seed=2, runs=3, way=1560.0)))
    few = compare(fast, side(seed=2, runs=3, way=1560.0))
    assert where(few) == "In which part it lies is not known either: the parts have no intervals."
    assert "not comparable" in headline(compare(fast, side(seed=2, compute=9000.0)))
    assert where(compare(fast, slow)).startswith("Most of it lies in FastRPC (66 %) and HTP, waiting (33 %).")
