"""Dry runs: the native calls of a workload, and no others."""

from __future__ import annotations

import json

import attrs
import pytest

from htppower import load_profile
from htppower.backends import SimulatedHtp
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive
from htppower.tools.review.dry_run.forms import render
from htppower.tools.review.dry_run.workload import Workload, run


def test_a_dry_run_shows_no_heartbeat() -> None:
    """A workload of minutes needs as many calls as one of milliseconds."""
    short, long = (run(load_profile("burst"), SimulatedHtp(arch=75), Workload(3, us, 0)) for us in (1000, 60_000_000))
    assert [row.call.function for row in long.rows] == [row.call.function for row in short.rows]


def test_a_dry_run_tells_each_time_out_that_was_learnt() -> None:
    """A learning session lowers after the break-even time first, and at once after a long gap; each time is shown."""
    burst = load_profile("burst")
    assert burst.relax is not None
    learnt = Adaptive(break_even_us=100_000)
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_inference_us=learnt))
    report = run(profile, SimulatedHtp(arch=75), Workload(4, 5000, 400_000))
    assert report.time_outs_us == (100_000, 0, 0, 0)
    line = "lowered after 100 ms, at once (3 times): learnt, break-even 100 ms, 0 to 200 ms"
    assert report.sustain_lines == [line]
    assert line in " ".join(render(report, "text").split())
    assert json.loads(render(report, "json"))["summary"]["time_outs_us"] == [100_000, 0, 0, 0]
    assert "a time that is learnt, break-even 100 ms, 0 to 200 ms, after the last inference" in render(report, "html")


def test_a_dry_run_tells_when_votes_were_lowered_further() -> None:
    """The time until the second power state counts from the lowering, after INIT and after each inference."""
    burst = load_profile("burst")
    assert burst.relax is not None
    then = Then(burst.relax.after_deinit_to, Adaptive(break_even_us=500_000))
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, then=then))
    report = run(profile, SimulatedHtp(arch=75), Workload(2, 5000, 3_000_000))
    assert report.time_outs_us == (300_000, 300_000)
    assert report.further_us[:2] == (500_000, 0)
    (line,) = report.sustain_lines
    assert line.startswith("lowered to the second state after 500 ms, at once")
    assert "then to released_up_down a time that is learnt" in render(report, "html")


def test_a_dry_run_says_nothing_of_what_is_not_learnt() -> None:
    """A fixed time has no line and no key; INIT and DE-INIT are not gaps."""
    burst = load_profile("burst")
    assert burst.relax is not None
    profile = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_init_us=50_000))
    report = run(profile, SimulatedHtp(arch=75), Workload(2, 5000, 400_000))
    assert report.time_outs_us == (300_000, 300_000)
    assert report.sustain_lines == []
    assert "time_outs_us" not in json.loads(render(report, "json"))["summary"]


@pytest.mark.parametrize(
    ("name", "left_us"), [("onnxruntime:burst", 9999), ("litert:burst", 9999), ("onnxruntime:balanced", 0)]
)
def test_a_dry_run_of_a_record_says_where_the_runtime_does_otherwise(name: str, left_us: int) -> None:
    """A session turns polling off at the end, but the runtime may not; other profiles have no such line."""
    report = run(load_profile(name), SimulatedHtp(arch=75), Workload(1, 5000, 1000))
    (line,) = report.record_lines
    assert "htppower sends them, and sends all of them again after INIT" in line
    assert (f"which the runtime leaves on ({left_us} us)" in line) is bool(left_us)
    turned_off = any(config.option == "RPC_POLLING_TIME" for config in report.rows[-2].call.configs)
    assert turned_off is bool(left_us)
    assert line in " ".join(render(report, "text").split())
    assert json.loads(render(report, "json"))["record"] == line
    own = run(load_profile("burst"), SimulatedHtp(arch=75), Workload(1, 5000, 1000))
    assert own.record_lines == []
    assert "record" not in json.loads(render(own, "json"))
