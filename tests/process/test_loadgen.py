"""MLPerf LoadGen drives the host of ONNX Runtime: every query is completed, with the calls of the profile."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("mlperf_loadgen", reason="mlcommons-loadgen is not installed")
np: Any = pytest.importorskip("numpy")
pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import loadgen  # noqa: E402 - only where the packages are
from loadgen_host import inferring, on_cpu  # noqa: E402
from loadgen_scenarios import SCENARIOS, STREAMS, run_load  # noqa: E402
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench  # noqa: E402

from htppower import State, VoteController  # noqa: E402
from htppower.backends import SimulatedHtp  # noqa: E402
from htppower.hosts.onnxruntime import VotingSession  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen_scenarios import Load
    from support.command import Command

    from htppower.backends import Call

DURATION_S = 0.05


def _load(bench: Bench, scenario: str, profile: str) -> tuple[Load, list[Call]]:
    """Return LoadGen's result, in virtual time, and the setPowerConfig calls up to the end of the sustain time."""
    with bench.controller.session(profile) as votes, VotingSession(on_cpu(), votes) as model:
        load = run_load(scenario, inferring(model), duration_s=DURATION_S, qps=400)
        bench.time.advance_us(BURST_SUSTAIN_US)
        assert votes.in_flight == 0
        assert votes.state is not State.RAISED
        return load, bench.sets


def _core(call: Call) -> int | None:
    vote = call.config("DCVS_V3")
    return None if vote is None else vote.fields["coreVoltageCornerTarget"]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_profile_with_a_sustain_time_raises_once_and_lowers_once(bench: Bench, scenario: str) -> None:
    """With burst, any number of queries costs one raise, and one lowering after the last query."""
    load, sets = _load(bench, scenario, "burst")
    assert load.completed == load.issued > 1
    assert [_core(call) for call in sets] == [MAX_CORNER, None, SVS, None]


def test_a_profile_that_lowers_at_once_calls_for_each_inference(bench: Bench) -> None:
    """In SingleStream inferences do not overlap, so each has a raise and a lowering, with polling on and off."""
    load, sets = _load(bench, "SingleStream", "high_performance")
    assert load.completed == load.issued > 1
    assert len(sets) == 4 * load.completed


def test_system_settings_makes_no_call(bench: Bench) -> None:
    """A profile without votes makes no call."""
    load, sets = _load(bench, "Server", "system_settings")
    assert load.completed == load.issued > 1
    assert sets == []


def test_a_query_of_several_streams_is_one_inference(bench: Bench) -> None:
    """MultiStream's samples of a query are one inference."""
    sizes: list[int] = []
    load = run_load("MultiStream", sizes.append, duration_s=0.001)
    assert sizes == [STREAMS] * load.completed


def test_latencies_are_loadgens_own() -> None:
    """The quantiles are in order, in microseconds: an inference that waits 2 ms takes at least 2 ms."""
    wait = threading.Event().wait
    load = run_load("SingleStream", lambda _samples: wait(0.002), duration_s=0.02)
    assert 2_000 <= load.p50_us <= load.p90_us <= load.p99_us < 2_000_000


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_an_inference_that_fails_ends_the_test_with_its_error(scenario: str) -> None:
    """The query is completed, so LoadGen does not wait for ever, and then the error is raised."""

    def fail(_samples: int) -> None:
        raise ValueError("no such input")

    with pytest.raises(ValueError, match="no such input"):
        run_load(scenario, fail, duration_s=0.01, qps=400)


def test_the_short_run_prints_a_line_for_each_kind_of_profile(capsys: pytest.CaptureFixture[str]) -> None:
    """The table has a line for each profile, with its calls: four for each inference, four in all, or none."""
    at_once, kept, none = loadgen.main(["--smoke"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[3:]] == [[row.scenario, row.profile] for row in (at_once, kept, none)]
    assert at_once.calls == 4 * at_once.voting.completed
    assert at_once.saved == none.calls == none.raised == 0
    # If the machine stops for longer than the sustain time, there is one more raise.
    assert kept.calls in range(4, 24, 4)
    # A raise and its lowering are counted together as saved calls.
    assert kept.calls / 2 + kept.saved == 2 * kept.voting.completed
    assert 0 < at_once.raised <= 1
    assert 0 < kept.raised <= 1
    assert {row.voting.completed - row.voting.issued for row in (at_once, kept, none)} == {0}


TEST = """test: tuned
summary: The tuned time.
profile: {name}
platform: {{soc: SM8650}}
cases:
  - case: one inference
    sequence:
      - {{inference_us: 5000, at_us: 10000}}
      - idle_us: 60000000
    expect:
      - {{at_us: 10000, state: RAISED}}
      - {{at_us: 60000000, state: LOWERED}}
"""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the traces that LoadGen and the controller wrote in one run, and the number of inferences."""
    folder = tmp_path_factory.mktemp("run")
    found = {"loadgen": folder / "mlperf_log_trace.json", "htppower": folder / "recording.json"}
    with (
        VoteController(SimulatedHtp(), handle_sigterm=False) as controller,
        controller.session("burst", owner="classifier") as votes,
        VotingSession(on_cpu(), votes) as model,
        controller.record(found["htppower"]),
    ):
        load = run_load("Server", inferring(model), duration_s=0.5, qps=60, trace=found["loadgen"])
    (folder / "completed").write_text(str(load.completed), encoding="utf-8")
    return found


@pytest.mark.parametrize("written_by", ["loadgen", "htppower"])
def test_a_run_is_tuned_to_a_profile(
    traces: dict[str, Path], written_by: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace has every inference; the tuned profile passes lint, a test and a diff; replays are equal."""
    monkeypatch.chdir(tmp_path)
    trace = traces[written_by]
    told = json.loads(
        command.output("tune", str(trace), "--limit", "cold <= 50 %", "--write", ".", "--verify", "3", "--page",
                       "tuned.html", "--format", "json")
    )  # fmt: skip
    (session,) = told["sessions"]
    assert session["inferences"] == int((trace.parent / "completed").read_text(encoding="utf-8")) > 1
    assert len(session["replayed"]) == 3
    assert (tmp_path / "tuned.html").stat().st_size
    (profile,) = tmp_path.glob("*_tuned.yaml")
    assert command.output("lint", profile.name) == "1 file: no findings\n"
    assert "extends" not in command.output("diff", "burst", profile.name, exit_code=1)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "tuned.yaml").write_text(TEST.format(name=profile.stem), encoding="utf-8")
    assert "1 case in 1 file passed" in command.output("test", ".", "--profiles", ".")


@pytest.mark.parametrize(
    "arguments", [["--backend", "qnn", "--call-us", "5"], ["--seconds", "0"], ["--profiles", "no_such"]]
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """The options are an error of usage, and nothing is measured."""
    with pytest.raises(SystemExit) as end:
        loadgen.main(arguments)
    assert end.value.code == 2
    assert arguments[-2] in capsys.readouterr().err
