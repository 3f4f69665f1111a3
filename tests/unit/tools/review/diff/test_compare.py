"""The differences between two sets of profiles, and their places."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.differences import differ, write
from support.examples import examples
from support.shipped import shipped_folder

from htppower import ProfileError
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.review.diff.as_text import in_words
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.diff.sides import here, read_side

if TYPE_CHECKING:
    from htppower.tools.review.diff.compare import Comparison

BASE = "profile: base\nextends: balanced\nvotes: {dcvs_v3: {core: {min: SVS, target: NOM, max: NOM_PLUS}}}\n"
MINE = "profile: mine\nextends: base\n"


def lines(comparison: Comparison) -> list[str]:
    """Return the changes, one line each, with the place of the new value."""
    return [
        f"{each.profile} {each.when} {each.field} {each.old} -> {each.new}: {each.effect}, "
        f"{Path(each.place.path).name}:{each.place.line}"
        for each in comparison.changes
    ]


def test_a_change_in_a_base_shows_in_every_profile_that_it_reaches(tmp_path: Path) -> None:
    """A changed line of a base is shown for the base and for each profile that extends it, at its place in the base."""
    old = write(tmp_path / "old", base=BASE, mine=MINE)
    new = write(tmp_path / "new", base=BASE.replace("min: SVS", "min: NOM"), mine=MINE)
    assert lines(differ(old, new)) == [
        "base inference dcvs_v3.core.min SVS -> NOM: raises power, base.yaml:3",
        "mine inference dcvs_v3.core.min SVS -> NOM: raises power, base.yaml:3",
    ]


def test_what_an_override_hides_is_no_change(tmp_path: Path) -> None:
    """If a profile states a value itself, a change of that value in its base makes no difference."""
    own = MINE + "votes: {dcvs_v3: {core: TURBO}}\n"
    old = write(tmp_path / "old", base=BASE, mine=own)
    new = write(tmp_path / "new", base=BASE.replace("SVS", "NOM"), mine=own)
    assert {change.profile for change in differ(old, new).changes} == {"base"}


def test_another_spelling_is_the_same(tmp_path: Path) -> None:
    """Order, comments, spelling of ranges, and inherited or stated values make no difference."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: burst\n")
    text = (shipped_folder() / "burst.yaml").read_text(encoding="utf-8").replace("profile: burst", "profile: mine")
    corner = "{max: MAX_VOLTAGE_CORNER, min: MAX_VOLTAGE_CORNER, target: MAX_VOLTAGE_CORNER}"
    new = write(tmp_path / "new", mine=text.replace("core: MAX_VOLTAGE_CORNER", f"core: {corner}  # the same"))
    assert differ(old, new).same


def test_a_power_state_shows_in_the_profiles_that_relax_to_it(tmp_path: Path) -> None:
    """A power state's votes are shown as lowered votes of each profile, at their place in the state's file."""
    state = (shipped_folder() / "states" / "relaxed.yaml").read_text(encoding="utf-8").replace(": relaxed", ": low")
    mine = "profile: mine\nextends: burst\nrelax: {to: low}\n"
    old = write(tmp_path / "old", mine=mine, states__low=state)
    new = write(tmp_path / "new", mine=mine, states__low=state.replace("2000", "500").replace("max: SVS}", "max: NOM}"))
    assert [line.split(",")[0] for line in lines(differ(old, new))] == [
        "mine lowered dcvs_v3.bus.max SVS -> NOM: raises power",
        "mine lowered dcvs_v3.core.max SVS -> NOM: raises power",
        "mine lowered dcvs_v3.sleep_latency_us 2000 -> 500: changes latency",
    ]
    assert all(
        line.endswith(".yaml:" + line.rpartition(":")[2]) and "low.yaml" in line for line in lines(differ(old, new))
    )


def test_an_unused_power_state_is_told_by_itself(tmp_path: Path) -> None:
    """A power state that no profile uses is still compared."""
    state = (shipped_folder() / "states" / "relaxed.yaml").read_text(encoding="utf-8").replace(": relaxed", ": low")
    old = write(tmp_path / "old", states__low=state)
    new = write(tmp_path / "new", states__low=state.replace("2000", "500"))
    assert [line.split(",")[0] for line in lines(differ(old, new))] == [
        "low lowered dcvs_v3.sleep_latency_us 2000 -> 500: changes latency"
    ]


def test_another_power_state_has_the_effect_of_its_votes(tmp_path: Path) -> None:
    """A change to another state is shown, with the differences in its votes."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: balanced\n")
    new = write(tmp_path / "new", mine="profile: mine\nextends: balanced\nrelax: {to: released}\n")
    found = lines(differ(old, new))
    assert found[0] == "mine lowered relax.to relaxed -> released: lowers power, mine.yaml:3"
    assert "mine lowered dcvs_v3.core.target SVS -> MIN_VOLTAGE_CORNER: lowers power, released.yaml:11" in found


def test_times_and_words(tmp_path: Path) -> None:
    """Times change timing, each in its phase; a summary is wording only, and comes last."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: burst\nsummary: A.\n")
    relax = "relax: {after_init_us: 5, after_inference_us: 2000000}"
    new = write(tmp_path / "new", mine=f"profile: mine\nextends: burst\nsummary: B.\n{relax}\n")
    assert lines(differ(old, new)) == [
        "mine init relax.after_init_us 0 -> 5: changes timing, mine.yaml:4",
        "mine inference relax.after_inference_us 300000 -> 2000000: changes timing, mine.yaml:4",
        "mine  summary A. -> B.: wording only, mine.yaml:3",
    ]


def test_lowering_in_the_background(tmp_path: Path) -> None:
    """A background thread lowers at another time; with a sustain timer nothing changes."""
    at_once, sustained = (f"profile: mine\nextends: {base}\n" for base in ("balanced", "burst"))
    background = "relax: {lowering: background}\n"
    for text, effect in ((at_once, "changes timing"), (sustained, "wording only")):
        old, new = write(tmp_path / "old", mine=text), write(tmp_path / "new", mine=text + background)
        said = f"mine inference relax.lowering foreground -> background: {effect}, mine.yaml:3"
        assert lines(differ(old, new)) == [said]
    stated = write(tmp_path / "stated", mine=f"{sustained}relax: {{lowering: foreground}}\n")
    assert lines(differ(write(tmp_path / "old", mine=sustained), stated)) == []


def test_the_end_of_a_sustain_time_lets_the_background_act(tmp_path: Path) -> None:
    """If the sustain time is removed as well, a change of the thread changes timing."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: burst\n")
    relax = "relax: {after_inference_us: 0, lowering: background}\n"
    new = write(tmp_path / "new", mine=f"profile: mine\nextends: burst\n{relax}")
    assert [(change.field, change.effect) for change in differ(old, new).changes] == [
        ("relax.after_inference_us", Effect.CHANGES_TIMING),
        ("relax.lowering", Effect.CHANGES_TIMING),
    ]


def test_votes_that_come_or_go() -> None:
    """Between a profile with votes and one without, every voted field and the power state are shown."""
    comparison = differ("system_settings", "burst")
    fields = [change.field for change in comparison.changes if change.when == "inference"]
    assert fields[:3] == ["dcvs_v3.dcvs_enable", "dcvs_v3.bus", "dcvs_v3.core"]
    assert "relax.after_inference_us" in fields
    assert ("relax.to", "unset", "relaxed_up_down") in {(each.field, each.old, each.new) for each in comparison.changes}
    back = differ("burst", "system_settings")
    assert len(back.changes) == len(comparison.changes)
    assert {change.old for change in comparison.of_effect(Effect.CHANGES_TIMING)} == {"unset"}


def test_profiles_that_come_and_go(tmp_path: Path) -> None:
    """A profile on one side only is added or removed, with its file; so is an unused power state."""
    state = (shipped_folder() / "states" / "relaxed.yaml").read_text(encoding="utf-8").replace(": relaxed", ": low")
    old = write(tmp_path / "old", one="profile: one\nextends: burst\n", both=MINE.replace("base", "burst"))
    new = write(tmp_path / "new", two="profile: two\nextends: balanced\n", both=MINE.replace("base", "burst"))
    write(new, states__low=state)
    comparison = differ(old, new)
    assert comparison.added == {"low": str(new / "states" / "low.yaml"), "two": str(new / "two.yaml")}
    assert comparison.removed == {"one": str(old / "one.yaml")}
    assert comparison.changes == ()
    assert not comparison.same


def test_folders_of_folders_keep_their_profiles_apart(tmp_path: Path) -> None:
    """Two profiles with one name in two folders are two; other YAML in a folder is skipped."""
    phone, laptop = "profile: camera\nextends: burst\n", "profile: camera\nextends: balanced\n"
    old = write(tmp_path / "old", phone__camera=phone, laptop__camera=laptop, ci="on: push\n")
    new = write(tmp_path / "new", phone__camera=phone, laptop__camera=laptop + "votes: {rpc_polling_time_us: 9}\n")
    assert [change.profile for change in differ(old, new).changes] == ["laptop/camera"]


def test_two_profiles_of_different_names_are_a_pair() -> None:
    """Two single profiles are compared under any names; the names differ in wording."""
    found = lines(differ("high_performance", "balanced"))
    assert found[0] == "balanced inference dcvs_v3.bus TURBO -> NOM_PLUS: lowers power, balanced.yaml:10"
    assert any(" profile high_performance -> balanced: wording only" in line for line in found)


@pytest.mark.parametrize("name", SHIPPED_PROFILES)
def test_a_profile_is_the_same_as_itself(name: str) -> None:
    """Nothing differs between a profile and itself."""
    assert differ(name, name).same


def test_a_renamed_profile_is_shown_with_its_changes(tmp_path: Path) -> None:
    """A renamed profile is on both sides under two names; its changes are shown under the new name."""
    text = "profile: {}\nextends: burst\nsummary: {}\nrelax: {{to: released}}\n"
    old = write(tmp_path / "old", cam=text.format("cam", "Cam."), kept="profile: kept\nextends: burst\n")
    new = write(tmp_path / "new", other=text.format("other", "Other."), kept="profile: kept\nextends: burst\n")
    comparison = differ(old, new)
    assert [(each.old, each.new) for each in comparison.renamed] == [("cam", "other")]
    assert (comparison.added, comparison.removed) == ({}, {})
    assert {change.profile for change in comparison.changes} == {"other"}
    assert {"profile", "summary"} <= {change.field for change in comparison.changes}


def test_a_rename_without_a_change_is_a_difference(tmp_path: Path) -> None:
    """A file that moved to another folder has another name."""
    phone = "profile: camera\nextends: burst\n"
    comparison = differ(write(tmp_path / "old", phone__camera=phone), write(tmp_path / "new", tablet__camera=phone))
    assert [(each.old, each.new) for each in comparison.renamed] == [("phone/camera", "tablet/camera")]
    assert (comparison.changes, comparison.same) == ((), False)


def test_each_renamed_file_is_in_one_pair(tmp_path: Path) -> None:
    """The most similar files are paired; the rest is added and removed."""
    text = "profile: {}\nextends: burst\nsummary: {}\nvotes: {{dcvs_v3: {{sleep_latency_us: {}}}}}\n"
    old = write(tmp_path / "old", one=text.format("one", "A.", 41), two=text.format("two", "B.", 42))
    more = "profile: more\nextends: balanced\n"
    new = write(tmp_path / "new", first=text.format("first", "B.", 42), other=text.format("other", "C.", 43), more=more)
    comparison = differ(old, new)
    assert [(each.old, each.new) for each in comparison.renamed] == [("two", "first")]
    assert (list(comparison.removed), list(comparison.added)) == (["one"], ["more", "other"])


def test_many_long_files_are_not_compared_line_by_line(tmp_path: Path) -> None:
    """The work for renames is bounded by the lines of all pairs, not only by the number of pairs."""
    text = "profile: {}\nextends: burst\n" + "".join(f"# {number}\n" for number in range(5_000))
    sides = (
        write(tmp_path / side, **{f"{side}{number}": text.format(f"{side}{number}") for number in range(20)})
        for side in ("a", "b")
    )
    assert differ(*sides).renamed == ()
    one = (write(tmp_path / side, **{side: text.format(side)}) for side in ("c", "d"))
    assert [(each.old, each.new) for each in differ(*one).renamed] == [("c", "d")]


def test_a_new_profile_is_told_by_what_it_extends(tmp_path: Path) -> None:
    """Each field that differs from its base is shown, with effect and line."""
    old = write(tmp_path / "old", kept="profile: kept\nextends: burst\n")
    new = write(
        tmp_path / "new",
        kept="profile: kept\nextends: burst\n",
        hot="profile: hot\nextends: kept\nvotes:\n  dcvs_v3: {core: TURBO}\n",
    )
    comparison = differ(old, new)
    (hot,) = comparison.additions
    assert (hot.name, hot.old.name, hot.extends) == ("hot", "kept", True)
    ((field, before, after, effect, line),) = [
        (each.field, each.old, each.new, each.effect.value, each.place.line) for each in hot.changes
    ]
    assert (field, before, after, effect, line) == ("dcvs_v3.core", "MAX_VOLTAGE_CORNER", "TURBO", "lowers power", 4)
    assert comparison.changes == ()
    assert [(pair.name, pair.old_is) for pair in comparison.pairs] == [("hot", "kept")]


def test_a_new_profile_that_extends_none_is_told_by_the_nearest(tmp_path: Path) -> None:
    """A new profile without a base is compared with the shipped profile that has the fewest differences."""
    text = (
        (shipped_folder() / "power_saver.yaml")
        .read_text(encoding="utf-8")
        .replace("profile: power_saver", "profile: mine")
    )
    old = write(tmp_path / "old", kept="profile: kept\nextends: burst\n")
    new = write(tmp_path / "new", kept="profile: kept\nextends: burst\n", mine=text.replace("bus: SVS", "bus: NOM"))
    (mine,) = differ(old, new).additions
    assert (mine.old.name, mine.extends) == ("power_saver", False)
    assert [each.field for each in mine.changes] == ["dcvs_v3.bus"]


def test_the_summary_of_a_power_state_is_wording(tmp_path: Path) -> None:
    """A changed summary of the power state in use is wording."""
    state = (shipped_folder() / "states" / "relaxed.yaml").read_text(encoding="utf-8").replace(": relaxed", ": low")
    mine = "profile: mine\nextends: burst\nrelax: {to: low}\n"
    old = write(tmp_path / "old", mine=mine, states__low=state)
    new = write(tmp_path / "new", mine=mine, states__low=state.replace("summary: ", "summary: So "))
    assert [(change.when, change.field, change.effect) for change in differ(old, new).changes] == [
        ("lowered", "summary", Effect.WORDING)
    ]


def test_a_side_that_is_wrong_can_not_be_compared(tmp_path: Path) -> None:
    """Every problem of both files is an error, so that it can't pass as a difference."""
    wrong = write(tmp_path, one="profile: one\nextends: burst\nvotes: {rpc_polling_time_us: 10000}\nfoo: 1\n")
    with pytest.raises(ProfileError) as caught:
        differ(wrong, "burst")
    assert [problem.rule for problem in caught.value.problems] == ["RPC-1", "KEY-1"]
    assert type(caught.value) is ProfileError


values = st.fixed_dictionaries(
    {},
    optional={
        "rpc_polling_time_us": st.integers(0, 9999),
        "hmx_timeout_us": st.integers(100, 1000),
        "rpc_control_latency_us": st.integers(0, 300),
    },
)


@examples(10)
@given(values, values)
def test_a_diff_tells_exactly_what_differs(
    tmp_path_factory: pytest.TempPathFactory, one: object, other: object
) -> None:
    """For any votes, equal values are not shown, and every different value is shown once."""
    folder = tmp_path_factory.mktemp("sides")
    for name, votes in (("old", one), ("new", other)):
        write(folder, **{f"{name}__mine": f"profile: mine\nextends: burst\nvotes: {votes}\n".replace("'", "")})
    resolved = [read_side([folder / name], here()).profiles["mine"].value.votes for name in ("old", "new")]
    fields = ("rpc_polling_time_us", "hmx_timeout_us", "rpc_control_latency_us")
    expected = {field for field in fields if getattr(resolved[0], field) != getattr(resolved[1], field)}
    told = [change.field for change in differ(folder / "old", folder / "new").changes]
    assert sorted(told) == sorted(expected)


LEARNS = "profile: mine\nextends: balanced\nrelax:\n  after_inference_us: {adaptive: {break_even_us: 100000}}\n"


def test_a_sustain_time_that_becomes_learnt(tmp_path: Path) -> None:
    """A change between a number and a mapping is one change of timing, and the text says it in words."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: balanced\nrelax:\n  after_inference_us: 300000\n")
    new = write(tmp_path / "new", mine=LEARNS)
    learnt = "{adaptive: {break_even_us: 100000, least_us: 0, most_us: 200000}}"
    there, back = differ(old, new), differ(new, old)
    assert lines(there) == [f"mine inference relax.after_inference_us 300000 -> {learnt}: changes timing, mine.yaml:4"]
    assert lines(back) == [f"mine inference relax.after_inference_us {learnt} -> 300000: changes timing, mine.yaml:4"]
    assert in_words(there) == ("mine: sustain time 300 ms -> learnt, break-even 100 ms, 0 to 200 ms.",)
    assert in_words(back) == ("mine: sustain time learnt, break-even 100 ms, 0 to 200 ms -> 300 ms.",)


def test_each_number_of_a_learnt_time_is_a_field(tmp_path: Path) -> None:
    """A change is shown for each number, a removed number at the mapping; another goal changes the whole mapping."""
    old = write(tmp_path / "old", mine=LEARNS)
    new = write(tmp_path / "new", mine=LEARNS.replace("100000", "60000, least_us: 20000"))
    assert lines(differ(old, new)) == [
        f"mine inference relax.after_inference_us.adaptive.{field}: changes timing, mine.yaml:4"
        for field in ("break_even_us 100000 -> 60000", "least_us 0 -> 20000", "most_us 200000 -> 120000")
    ]
    share = write(tmp_path / "share", mine=LEARNS.replace("break_even_us: 100000", "cold_starts: 5 %"))
    (change,) = differ(old, share).changes
    assert (change.field, change.new) == (
        "relax.after_inference_us",
        "{adaptive: {cold_starts: 5 %, least_us: 0, most_us: 10000000}}",
    )


def test_a_second_power_state_has_the_effect_of_its_votes(tmp_path: Path) -> None:
    """The state's votes are shown with their effects, and each field of the state is one change."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: balanced\n")
    then = "profile: mine\nextends: balanced\nrelax: {then: {to: released, after_us: 2000000}}\n"
    new = write(tmp_path / "new", mine=then)
    there, back = differ(old, new).changes, differ(new, old).changes
    assert {change.when for change in (*there, *back)} == {"further"}
    assert [(change.field, change.old, change.new) for change in there if change.field.startswith("relax")] == [
        ("relax.then", "unset", "{to: released, after_us: 2000000}")
    ]
    assert {change.effect for change in there} == {Effect.LOWERS_POWER, Effect.CHANGES_LATENCY}
    assert next(change.effect for change in back if change.field == "relax.then") is Effect.RAISES_POWER
    later = write(tmp_path / "later", mine=then.replace("2000000", "{adaptive: {cold_starts: 5 %}}"))
    comparison = differ(new, later)
    assert [(change.field, change.effect) for change in comparison.changes] == [
        ("relax.then.after_us", Effect.CHANGES_TIMING)
    ]
    assert in_words(comparison) == (
        "mine: time until the second power state 2 s -> learnt, cold starts 5 %, 0 to 10 s.",
    )
    other = write(tmp_path / "other", mine=then.replace("released", "relaxed_up_down"))
    assert ("relax.then.to", Effect.RAISES_POWER) in [
        (change.field, change.effect) for change in differ(new, other).changes
    ]


def test_a_raise_ahead_changes_latency(tmp_path: Path) -> None:
    """A file without it has 0, so it is compared with 0."""
    old = write(tmp_path / "old", mine="profile: mine\nextends: balanced\n")
    new = write(tmp_path / "new", mine="profile: mine\nextends: balanced\nrelax: {raise_ahead_us: 5000}\n")
    assert lines(differ(old, new)) == ["mine inference relax.raise_ahead_us 0 -> 5000: changes latency, mine.yaml:3"]
