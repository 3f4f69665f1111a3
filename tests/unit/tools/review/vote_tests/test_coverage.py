"""The shipped profiles have tests that pass and check every field; coverage finds unchecked fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder

from htppower import load_profile
from htppower.profiles.names import LISTED_FIRST, SHIPPED_PROFILES
from htppower.tools.review.vote_tests.compare import run_tests
from htppower.tools.review.vote_tests.coverage import Coverage, Look, coverage
from htppower.tools.review.vote_tests.files import load_beside, load_test, load_tests

if TYPE_CHECKING:
    from pathlib import Path

TESTS = shipped_folder() / "tests"
STATES = ("relaxed", "relaxed_up_down", "released", "released_up_down", "extreme_released")

SUSTAIN = "relax.after_inference_us"

HEAD = "test: mine\nsummary: Mine.\nprofile: burst\nplatform: {soc: SM8850}\ncases:\n  - case: one\n"


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_a_shipped_profile_passes_its_test(name: str) -> None:
    """Every shipped profile has a test under its name, and each case passes."""
    test = load_test(TESTS / f"{name}.yaml")
    assert test.name == name
    assert [case.profile.source for case in test.cases].count(shipped_folder() / f"{name}.yaml") > 0
    assert not [result.failures for result in run_tests([test]) if result.failures]


def test_the_shipped_tests_look_at_every_field_of_every_shipped_file() -> None:
    """No field of a shipped profile or power state can change without a failing test."""
    cases = [case for test in load_tests([TESTS]) for case in test.cases]
    covered = coverage(cases, *load_beside([TESTS]))
    assert {file.name for file in covered} == {*LISTED_FIRST, *STATES}
    assert [(file.name, field) for file in covered for field in file.those(Look.UNSEEN)] == []
    held = [(file.name, field.at) for file in covered for field in file.those(Look.HELD_BY_RULES)]
    # With the DDR performance mode no other bus corner is valid (DDR-1). With DISABLE corners no explicit HMX vote is
    # valid (HMX-3), and unset has the same effect as the default.
    assert held == [
        ("llm_decode_burst", ("votes", "dcvs_v3", "bus")),
        ("extreme_released", ("votes", "hmx_v2")),
    ]


def cover(tmp_path: Path, case: str) -> dict[str, Coverage]:
    """Return the coverage of a case, by name."""
    tmp_path.mkdir(exist_ok=True)
    file = tmp_path / "mine.yaml"
    file.write_text(HEAD + case)
    test = load_test(file)
    assert not any(result.failures for result in run_tests([test]))
    return {file.name: file for file in coverage(test.cases)}


def seen(file: Coverage) -> set[str]:
    """Return the fields that a test checks."""
    return {".".join(field.at) for field in file.those(Look.SEEN)}


def test_only_what_is_stated_is_looked_at(tmp_path: Path) -> None:
    """A test of two votes checks those two fields only."""
    expect = "    expect: [{at_us: 0, votes: {dcvs_v3: {core: MAX_VOLTAGE_CORNER}, rpc_polling_time_us: 9999}}]\n"
    found = cover(tmp_path, f"    sequence: [{{inference_us: 5}}]\n{expect}")
    assert seen(found["burst"]) == {"votes.dcvs_v3.core", "votes.rpc_polling_time_us"}
    assert seen(found["relaxed_up_down"]) == set()
    assert (len(found["burst"].fields), len(found["relaxed_up_down"].fields)) == (16, 12)


def test_a_time_is_looked_at_from_both_sides(tmp_path: Path) -> None:
    """The time is checked only if RAISED is expected a microsecond before the deadline, and LOWERED at it."""
    before, after = "{at_us: 300004, state: RAISED}", "{at_us: 300005, state: LOWERED}"
    sequence = "    sequence: [{inference_us: 5}, {idle_us: 400000}]\n"
    for expect, looked_at in ((before, set()), (after, set()), (f"{before}, {after}", {"relax.after_inference_us"})):
        found = cover(tmp_path, f"{sequence}    expect: [{expect}]\n")
        assert seen(found["burst"]) == looked_at


def test_a_learnt_time_is_looked_at_where_it_is_learnt(tmp_path: Path) -> None:
    """A case that checks only the first gap passes with a fixed time; a case that checks the second fails."""
    text = "profile: mine\nextends: burst\nrelax: {after_inference_us: {adaptive: {break_even_us: 100000}}}\n"
    (tmp_path / "mine.yaml").write_text(text, encoding="utf-8")
    steps = "[{inference_us: 5}, {idle_us: 400000}, {inference_us: 5}, {idle_us: 5}]"
    sequence = f"    profile: ../mine.yaml\n    sequence: {steps}\n"
    first = "{at_us: 100004, state: RAISED}, {at_us: 100005, state: LOWERED}"
    for expect, looked_at in ((first, set()), (f"{first}, {{at_us: 400010, state: LOWERED}}", {SUSTAIN})):
        found = cover(tmp_path / "tests", f"{sequence}    expect: [{expect}]\n")
        assert seen(found["mine"]) & {SUSTAIN} == looked_at


def test_a_field_is_looked_at_only_if_every_other_value_is_noticed(tmp_path: Path) -> None:
    """A case that checks only which options are sent misses another HMX corner, so the field is unchecked."""
    found = cover(
        tmp_path,
        "    sequence: [{inference_us: 5}]\n    expect: [{at_us: 0, sent: [DCVS_V3, HMX_V2, "
        "RPC_CONTROL_LATENCY, RPC_POLLING_TIME]}]\n",
    )
    assert "votes.hmx_v2" not in seen(found["burst"])


def test_a_profile_that_comes_in_by_use_is_covered_too(tmp_path: Path) -> None:
    """A step that changes to another profile also covers the fields of that profile."""
    case = "    sequence: [{inference_us: 5}, {use: balanced}, {inference_us: 5}]\n"
    found = cover(tmp_path, f"{case}    expect: [{{at_us: 5, votes: {{dcvs_v3: {{bus: NOM_PLUS}}}}}}]\n")
    assert (seen(found["balanced"]), seen(found["burst"])) == ({"votes.dcvs_v3.bus"}, set())


def test_a_vote_that_no_case_can_cast_is_a_gap(tmp_path: Path) -> None:
    """Only a test on V81 can check ddr_perf_mode; without one, the field is unchecked."""
    text = HEAD.replace("SM8850", "SM8650") + "    sequence: [{inference_us: 5}]\n    expect: [{at_us: 0, calls: 3}]\n"
    (tmp_path / "mine.yaml").write_text(text)
    burst = coverage(load_test(tmp_path / "mine.yaml").cases)[0]
    assert not burst.those(Look.HELD_BY_RULES)
    assert ("votes", "ddr_perf_mode") in {field.at for field in burst.those(Look.UNSEEN)}


def test_a_case_that_casts_nothing_looks_at_nothing(tmp_path: Path) -> None:
    """A session that is only idle checks no field, even if rules refuse its other values."""
    case = "    profile: extreme_power_saver\n    sequence: [{idle_us: 5}]\n    expect: [{at_us: 0, state: UNVOTED}]\n"
    for file in cover(tmp_path, case).values():
        assert file.those(Look.UNSEEN) == file.fields


def test_on_whose_thread_votes_are_lowered_is_no_vote() -> None:
    """Coverage has the fields that virtual time can check: all of relax except lowering."""
    (found,) = coverage([], [load_profile("balanced")])[:1]
    relax = [field.at[1] for field in found.fields if field.at[0] == "relax"]
    assert relax == ["to", "after_init_us", "after_inference_us", "after_deinit_to"]


def test_a_profile_without_a_test_is_not_looked_at(tmp_path: Path) -> None:
    """Each of its fields is listed as unchecked, with its place."""
    (found,) = coverage([], [load_profile("system_settings")])
    assert [(field.at, field.value, field.look) for field in found.fields] == [
        (("votes",), "unset", Look.UNSEEN),
        (("relax",), "unset", Look.UNSEEN),
    ]
    assert all(field.place is not None for field in found.fields)
