"""Vote tests: the moments of a sequence, the observations, and the differences from the expectations."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower import load_profile
from htppower.rules.platforms import platform_of
from htppower.tools.review.vote_tests.cases import Expectation, Happens, VoteCase, timeline
from htppower.tools.review.vote_tests.compare import run_tests
from htppower.tools.review.vote_tests.coverage import coverage
from htppower.tools.review.vote_tests.fields import DeinitStep, IdleStep, InferenceStep, InitStep, RestartStep, UseStep
from htppower.tools.review.vote_tests.files import load_test
from htppower.tools.review.vote_tests.runner import Seen, run_case


def look(steps: list[Any], times_us: list[int], profile: str = "burst", **platform: Any) -> tuple[Seen, ...]:
    """Return the observations at these times of a sequence."""
    used = [load_profile(step.use) if isinstance(step, UseStep) else None for step in steps]
    line = timeline(steps, used, ())
    assert not line.findings
    expectations = tuple(Expectation((), at_us, None, None, None, None, None) for at_us in times_us)
    where = platform_of(**(platform or {"soc": "SM8850"}))
    return run_case(VoteCase("case", load_profile(profile), where, line.moments, line.end_us, expectations)).seen


def states(seen: tuple[Seen, ...]) -> list[str]:
    """Return the observed states."""
    return [each.state for each in seen]


def test_steps_follow_each_other() -> None:
    """A step begins at the end of all earlier steps, or at its own time; at one moment ends come first."""
    steps = [
        InitStep(10),
        IdleStep(5),
        InferenceStep(20),
        InferenceStep(5, at_us=20),
        UseStep("balanced"),
        DeinitStep(7),
    ]
    line = timeline(steps, [None] * len(steps), ())
    assert [(moment.at_us, moment.step, moment.happens) for moment in line.moments] == [
        (0, 0, Happens.BEGIN),
        (10, 0, Happens.END),
        (15, 2, Happens.BEGIN),
        (20, 3, Happens.BEGIN),
        (25, 3, Happens.END),
        (35, 2, Happens.END),
        (35, 4, Happens.USE),
        (35, 5, Happens.BEGIN),
        (42, 5, Happens.END),
    ]
    assert line.end_us == 42


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), min_size=1, max_size=8), st.data())
def test_a_profile_without_a_sustain_time_is_raised_exactly_while_an_inference_runs(
    starts: list[tuple[int, int]], data: st.DataObject
) -> None:
    """The state is RAISED while an inference runs, else LOWERED, or UNVOTED before the first."""
    begins_us = itertools.accumulate(gap_us for gap_us, _ in starts)
    spans = [(begin_us, begin_us + start[1]) for begin_us, start in zip(begins_us, starts, strict=True)]
    steps = [InferenceStep(end_us - begin_us, at_us=begin_us) for begin_us, end_us in spans]
    end_us = timeline(steps, [None] * len(steps), ()).end_us
    times_us = sorted(data.draw(st.lists(st.integers(0, end_us), min_size=1, max_size=10)))
    for at_us, seen in zip(times_us, look(steps, times_us, "balanced"), strict=True):
        running = any(begin_us <= at_us < end_us for begin_us, end_us in spans)
        begun = any(begin_us <= at_us for begin_us, _ in spans)
        assert seen.state == ("RAISED" if running else "LOWERED" if begun else "UNVOTED")


def test_an_expectation_looks_after_everything_that_is_due() -> None:
    """At exactly its microsecond, the sustain timer has run; one microsecond before, it has not."""
    steps = [InferenceStep(5_000), IdleStep(300_000)]
    assert states(look(steps, [0, 304_999, 305_000])) == ["RAISED", "RAISED", "LOWERED"]


def test_calls_are_those_since_the_expectation_before() -> None:
    """The first has the create and the raise, the second is within the sustain time, and the third is the lowering."""
    steps = [InferenceStep(5_000), IdleStep(300_000)]
    assert [seen.calls for seen in look(steps, [0, 0, 304_999, 305_000])] == [3, 0, 0, 2]


def test_after_a_restart_nothing_is_in_force_whatever_the_controller_believes() -> None:
    """The votes are those left in force by the calls: none, until they are sent again."""
    steps = [InferenceStep(100), RestartStep(True, at_us=50), UseStep("balanced", at_us=60)]
    before, after, again = look(steps, [49, 50, 60])
    assert before.votes.dcvs_v3 is not None
    assert (after.state, bool(after.votes)) == ("RAISED", False)
    assert again.votes.dcvs_v3 == load_profile("balanced").votes.dcvs_v3


def test_what_a_platform_lacks_is_neither_voted_nor_left_unsaid() -> None:
    """On QNX the RPC votes are missing, and the rule is given once."""
    (seen,) = look([InferenceStep(5)], [0], arch="V75", os="qnx")
    assert seen.degraded == ("RPC-4",)
    assert seen.votes.rpc_polling_time_us is None


def test_of_an_id_that_is_gone_only_the_process_settings_are_in_force() -> None:
    """A change to system_settings destroys the id: polling is reset, but a latency can't be."""
    (seen,) = look([InferenceStep(9), UseStep("system_settings", at_us=5)], [5])
    assert {option.name: value for option, value in seen.votes.items()} == {
        "RPC_CONTROL_LATENCY": 100,
        "RPC_POLLING_TIME": 0,
    }


def failing(tmp_path: Path, expect: str, sequence: str = "inference_us: 5000") -> list[str]:
    """Return the differences of a case under burst, each as line, field, expected and actual value.

    The place of each is the expected value, or an alias of it.
    """
    file = tmp_path / "mine.yaml"
    file.write_text(
        "test: mine\nsummary: Mine.\nprofile: burst\nplatform: {soc: SM8850}\ncases:\n"
        f"  - case: one\n    sequence: [{{{sequence}}}, {{idle_us: 300000}}]\n    expect:\n{expect}"
    )
    (result,) = run_tests([load_test(file)])
    differences = [found for failure in result.failures for found in failure.differences]
    lines = file.read_text().splitlines()
    for found in differences:
        assert lines[found.place.line - 1][found.place.column - 1 :].startswith((found.expected, "*own"))
    return [f"{found.place.line} {'.'.join(found.at)} {found.expected} {found.got}" for found in differences]


@pytest.mark.parametrize(
    ("expect", "said"),
    [
        ("state: LOWERED", "9 state LOWERED RAISED"),
        ("calls: 0", "9 calls 0 3"),
        ("sent: []", "9 sent [] [DCVS_V3, HMX_V2, RPC_CONTROL_LATENCY, RPC_POLLING_TIME]"),
        ("degraded: [HMX-1]", "9 degraded [HMX-1] []"),
        ("votes: {rpc_polling_time_us: 0}", "9 votes.rpc_polling_time_us 0 9999"),
        ("votes: {hmx_timeout_us: 500}", "9 votes.hmx_timeout_us 500 unset"),
        ("votes: {hmx_v2: unset}", "9 votes.hmx_v2 unset default"),
        ("votes: {dcvs_v3: {dcvs_enable: true}}", "9 votes.dcvs_v3.dcvs_enable true false"),
        ("votes: {dcvs_v3: {core: NOM}}", "9 votes.dcvs_v3.core NOM MAX_VOLTAGE_CORNER"),
        (
            "votes: {dcvs_v3: {bus: {min: SVS, target: NOM, max: NOM}}}",
            "9 votes.dcvs_v3.bus {min: SVS, target: NOM, max: NOM} MAX_VOLTAGE_CORNER",
        ),
    ],
)
def test_what_is_not_as_expected_is_told_where_it_stands(expect: str, said: str, tmp_path: Path) -> None:
    """A difference has the place of the expected value, and both values in the spelling of a file."""
    assert failing(tmp_path, f"      - {{at_us: 0, {expect}}}\n") == [said]


def test_an_hvx_vote_that_should_not_be_is_spelt_out(tmp_path: Path) -> None:
    """If no HVX vote is expected, the actual vote is shown field by field."""
    (said,) = failing(tmp_path, "      - {at_us: 0, votes: {dcvs_v3: unset}}\n")
    assert said.startswith("9 votes.dcvs_v3 unset {dcvs_enable: false, power_mode: PERFORMANCE, ")


def test_a_vote_of_false_is_a_vote(tmp_path: Path) -> None:
    """False is not the same as unset for DDR_PERF_MODE."""
    assert failing(tmp_path, "      - {at_us: 0, votes: {ddr_perf_mode: false}}\n") == [
        "9 votes.ddr_perf_mode false unset"
    ]


def test_every_difference_of_every_expectation_is_told(tmp_path: Path) -> None:
    """The run does not stop at the first difference; a value behind an alias has the place of the alias."""
    expect = (
        "      - {at_us: 0, state: LOWERED, votes: &own {rpc_polling_time_us: 1, rpc_control_latency_us: 2}}\n"
        "      - {at_us: 0, votes: *own}\n"
    )
    assert failing(tmp_path, expect) == [
        "9 state LOWERED RAISED",
        "9 votes.rpc_polling_time_us 1 9999",
        "9 votes.rpc_control_latency_us 2 100",
        "10 votes.rpc_polling_time_us 1 9999",
        "10 votes.rpc_control_latency_us 2 100",
    ]


def test_a_difference_tells_where_the_value_in_force_is_written(tmp_path: Path) -> None:
    """Raised, it is in the profile; lowered, in its power state, or the state after DE-INIT. A default has no place."""
    file = tmp_path / "mine.yaml"
    file.write_text(
        "test: mine\nsummary: Mine.\nprofile: burst\nplatform: {soc: SM8850}\ncases:\n"
        "  - case: one\n    sequence: [{inference_us: 5000}, {idle_us: 300010}, {deinit_us: 5}]\n    expect:\n"
        "      - {at_us: 0, votes: {rpc_polling_time_us: 1}}\n"
        "      - {at_us: 305000, votes: {rpc_polling_time_us: 1, rpc_control_latency_us: 1}}\n"
        "      - {at_us: 305015, votes: {rpc_polling_time_us: 1}}\n"
    )
    (result,) = run_tests([load_test(file)])
    origins = [found.origin for failure in result.failures for found in failure.differences]
    names = [None if origin is None else Path(origin.path).name for origin in origins]
    assert names == ["burst.yaml", "relaxed_up_down.yaml", None, "released_up_down.yaml"]


def test_a_restart_takes_the_votes_of_every_id() -> None:
    """A session that changed to a profile without votes and back has a new id, and loses its votes too."""
    steps = [
        InferenceStep(100),
        UseStep("system_settings", at_us=10),
        UseStep("burst", at_us=20),
        InferenceStep(100, at_us=30),
        RestartStep(True, at_us=50),
    ]
    before, after = look(steps, [49, 50])
    assert before.votes.dcvs_v3 is not None
    assert not after.votes


def test_calls_before_a_restart_are_taken_in_before_it() -> None:
    """Votes cast since the last expectation, and then lost, are not in force."""
    (seen,) = look([InferenceStep(100), RestartStep(True, at_us=50)], [60])
    assert (seen.calls, seen.state, bool(seen.votes)) == (3, "RAISED", False)


def test_what_calls_carried_is_told() -> None:
    """A first raise has every option in the order of sending, a lowering has the differences; no call, no options."""
    steps = [InferenceStep(5_000), IdleStep(300_000)]
    everything = ("DCVS_V3", "HMX_V2", "RPC_CONTROL_LATENCY", "RPC_POLLING_TIME")
    assert [seen.sent for seen in look(steps, [0, 0, 305_000])] == [everything, (), ("DCVS_V3", "RPC_POLLING_TIME")]


@pytest.mark.parametrize("expect", ["degraded: [RPC-4, HMX-1]", "degraded: [HMX-1, RPC-4]"])
def test_the_order_of_a_list_says_nothing(expect: str, tmp_path: Path) -> None:
    """On a V73 with QNX two rules degrade votes; the expectation may list them in any order."""
    (tmp_path / "mine.yaml").write_text(
        "profile: mine\nextends: burst\nsummary: Mine.\n"
        "votes: {hmx_v2: {min: NOM, target: TUR, max: TUR, perf_mode: HIGH}}\n"
    )
    file = tmp_path / "test.yaml"
    file.write_text(
        "test: mine\nsummary: Mine.\nprofile: ./mine.yaml\nplatform: {arch: V73, os: qnx}\ncases:\n"
        f"  - case: one\n    sequence: [{{inference_us: 5}}]\n    expect: [{{at_us: 0, {expect}}}]\n"
    )
    (result,) = run_tests([load_test(file)])
    assert not result.failures


def test_places_in_named_folders_are_told(tmp_path: Path) -> None:
    """If a power state extends another in a given folder, its origins are in both files."""
    test_text = (
        "test: mine\nsummary: Mine.\nprofile: bright\nplatform: {soc: SM8850}\ncases:\n"
        "  - case: one\n    sequence: [{inference_us: 5}]\n"
        "    expect: [{at_us: 5, votes: {rpc_polling_time_us: 0}}]\n"
    )
    for path, text in (
        ("mine/states/cool.yaml", "state: cool\nextends: cold\nsummary: Cool.\n"),
        ("parts/states/cold.yaml", "state: cold\nextends: relaxed\nsummary: Cold.\nvotes: {rpc_polling_time_us: 5}\n"),
        ("mine/bright.yaml", "profile: bright\nextends: balanced\nsummary: Bright.\nrelax: {to: cool}\n"),
        ("test.yaml", test_text),
    ):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    folders = [tmp_path / "mine", tmp_path / "parts"]
    test = load_test(tmp_path / "test.yaml", folders)
    ((difference,),) = [failure.differences for result in run_tests([test], folders) for failure in result.failures]
    assert difference.origin is not None
    assert (difference.origin.path, difference.origin.line) == (str(tmp_path / "parts" / "states" / "cold.yaml"), 4)
    cold = coverage(test.cases, folders=folders)[1]
    assert all(field.place is not None for field in cold.fields)


def test_a_test_sees_no_heartbeat() -> None:
    """A session that is raised for longer than the heartbeat's interval makes only the calls of its profile."""
    whole = look([InferenceStep(60_000_000), IdleStep(300_000)], [0, 59_999_999, 60_300_000])
    assert [each.calls for each in whole] == [3, 0, 2]
