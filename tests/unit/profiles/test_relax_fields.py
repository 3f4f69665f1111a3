"""The fields below ``relax``: a learnt sustain time, a second power state, a raise ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import pytest
from hypothesis import given
from support.any_relaxes import relaxes

from htppower import ProfileError, load_profile
from htppower.profiles.profile import Relax, Then
from htppower.profiles.sustain import LONGEST_SUSTAIN_US, SHARE_LIMITS_PPM, Adaptive, share_ppm, share_text
from htppower.profiles.yaml_text import profile_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from htppower import Profile

BURST = load_profile("burst")
LEARNT = "{adaptive: {break_even_us: 100000, most_us: 200000}}"


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., Relax]:
    """Return the ``relax`` of a profile with these lines that extends burst, or another file."""

    def load(*lines: str, name: str = "mine", extends: str = "burst") -> Relax:
        said = "".join(f"  {line}\n" for line in lines)
        path = tmp_path / f"{name}.yaml"
        path.write_text(f"profile: {name}\nextends: {extends}\nrelax:\n{said}", encoding="utf-8")
        relax = load_profile(path).relax
        assert relax is not None
        return relax

    return load


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("{adaptive: {break_even_us: 100000}}", Adaptive(break_even_us=100_000, least_us=0, most_us=200_000)),
        ("{adaptive: {break_even_us: 1}}", Adaptive(break_even_us=1, most_us=40_000)),
        (
            "{adaptive: {break_even_us: 100000, least_us: 20000, most_us: 150000}}",
            Adaptive(break_even_us=100_000, least_us=20_000, most_us=150_000),
        ),
        (f"{{adaptive: {{break_even_us: {LONGEST_SUSTAIN_US}}}}}", Adaptive(break_even_us=LONGEST_SUSTAIN_US)),
        ("{adaptive: {cold_starts: 5 %}}", Adaptive(cold_starts_ppm=50_000, most_us=10_000_000)),
        ("{adaptive: {cold_starts: 5%, most_us: 300000}}", Adaptive(cold_starts_ppm=50_000, most_us=300_000)),
        ('{adaptive: {cold_starts: "0.5 %"}}', Adaptive(cold_starts_ppm=5000)),
        ("{adaptive: {cold_starts: 0.0001 %}}", Adaptive(cold_starts_ppm=1)),
        ("{adaptive: {cold_starts: 99.9999 %}}", Adaptive(cold_starts_ppm=999_999)),
        ("300000", 300_000),
    ],
)
def test_a_time_is_a_number_or_how_it_is_learnt(mine: Callable[..., Relax], said: str, value: Any) -> None:
    """The sustain time and the time to the second power state are read alike, with the same defaults."""
    assert mine(f"after_inference_us: {said}").after_inference_us == value
    then = mine(f"then: {{to: released, after_us: {said}}}").then
    assert then is not None
    assert (then.to.name, then.after_us) == ("released", value)


def test_what_is_left_out_changes_nothing(mine: Callable[..., Relax]) -> None:
    """Without these fields, a profile relaxes once and raises nothing ahead; ``then: unset`` is the same."""
    assert BURST.relax is not None
    assert (BURST.relax.then, BURST.relax.raise_ahead_us) == (None, 0)
    assert mine("then: unset", "raise_ahead_us: 0") == BURST.relax
    assert mine("raise_ahead_us: 1000000").raise_ahead_us == 1_000_000


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("after_inference_us: {adaptive: {break_evn_us: 5}}", "4:35: KEY-1: unknown key 'break_evn_us' (did you mean"),
        (
            "after_inference_us: {adaptiv: {break_even_us: 5}}",
            "4:24: KEY-1: unknown key 'adaptiv' (did you mean adap",
        ),
        ("after_inference_us: {break_even_us: 5}", "4:24: KEY-1: unknown key 'break_even_us'"),
        ("after_inference_us: {adaptive: {}}", "4:34: KEY-2: none of break_even_us, cold_starts is stated"),
        ("after_inference_us: {adaptive: {least_us: 5}}", "4:34: KEY-2: none of break_even_us, cold_starts is stated"),
        ("after_inference_us: {adaptive: 100000}", "4:34: TYPE-1: 100000, a number, where a mapping with one of break"),
        ("after_inference_us: adaptive", "4:23: TYPE-1: 'adaptive', a word, where a whole number without a unit, or"),
        ("after_inference_us: true", "4:23: TYPE-1: True, true or false, where a whole number without a unit, or {ad"),
        (
            "after_inference_us: {adaptive: {break_even_us: 5, cold_starts: 5 %}}",
            "4:53: KEY-1: cold_starts and break_even_us are both stated, but only one is allowed (omit one of them)",
        ),
        ("after_inference_us: {adaptive: {break_even_us: 0}}", "4:50: VALUE-1: break_even_us is 0 (1 to 3600000000)"),
        (
            "after_inference_us: {adaptive: {break_even_us: 9, most_us: 3600000001}}",
            "4:62: VALUE-1: most_us is 3600000001 (0 to 3600000000)",
        ),
        (
            "after_inference_us: {adaptive: {break_even_us: 9, least_us: -1}}",
            "4:63: VALUE-1: least_us is -1 (0 to 3600000000)",
        ),
        ("after_inference_us: {adaptive: {cold_starts: 5}}", "4:48: TYPE-1: 5, a number, where a share of more than 0"),
        ("after_inference_us: {adaptive: {cold_starts: 0 %}}", "4:48: VALUE-1: cold_starts is '0 %' (a share of more"),
        ("after_inference_us: {adaptive: {cold_starts: 0.00 %}}", "4:48: VALUE-1: cold_starts is '0.00 %'"),
        ("after_inference_us: {adaptive: {cold_starts: 100 %}}", "4:48: VALUE-1: cold_starts is '100 %'"),
        ("after_inference_us: {adaptive: {cold_starts: -5 %}}", "4:48: VALUE-1: cold_starts is '-5 %'"),
        ("after_inference_us: {adaptive: {cold_starts: 0.00001 %}}", "4:48: VALUE-1: cold_starts is '0.00001 %'"),
        ("after_inference_us: {adaptive: {cold_starts: five %}}", "4:48: VALUE-1: cold_starts is 'five %'"),
        ("then: {to: relesed, after_us: 0}", "4:14: NAME-1: no power state 'relesed' (did you mean released?)"),
        ("then: {to: released}", "4:3: KEY-2: relax.then.after_us is missing (state it)"),
        ("then: released", "4:9: TYPE-1: 'released', a word, where a mapping of fields is needed"),
        ("then: {to: released, after_us: -1}", "4:34: VALUE-1: after_us is -1 (0 to 3600000000)"),
        ("then: {to: released, after_us: {adaptive: {cold_starts: 5}}}", "4:59: TYPE-1: 5, a number, where a share"),
        (
            "after_inference_us: 300 ms",
            (
                "4:23: TYPE-1: '300 ms', a word, where a whole number without a unit, or {adaptive: ...} is needed "
                "(write 300000)"
            ),
        ),
        (
            "after_inference_us: {adaptive: {break_even_us: 0.1s}}",
            "4:50: TYPE-1: '0.1s', a word, where a whole number without a unit is needed (write 100000)",
        ),
        (
            "after_inference_us: 0.3 us",
            (
                "4:23: TYPE-1: '0.3 us', a word, where a whole number without a unit, or {adaptive: ...} is needed "
                "(write a whole number without a unit, or {adaptive: ...})"
            ),
        ),
        ("raise_ahead_us: 1000001", "4:19: VALUE-1: raise_ahead_us is 1000001 (0 to 1000000)"),
        ("raise_ahead_us: {adaptive: {break_even_us: 5}}", "4:19: TYPE-1: a mapping, where a whole number without a"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(mine: Callable[..., Relax], line: str, said: str) -> None:
    """Every mistake is one finding, at the value or key to correct."""
    with pytest.raises(ProfileError) as refused:
        mine(line)
    (told,) = str(refused.value).splitlines()
    assert told.partition("mine.yaml:")[2].startswith(said)


def test_what_else_is_wrong_beside_two_goals_is_said_at_once(mine: Callable[..., Relax]) -> None:
    """The wrong values of both goals and of other fields, and an unknown key, are found at once."""
    with pytest.raises(ProfileError) as refused:
        mine("after_inference_us: {adaptive: {cold_starts: 5, break_even_us: 7 ms, least_us: -1, most: 9}}")
    told = str(refused.value)
    for said in (
        "4:51: KEY-1: break_even_us and cold_starts are both stated",
        "4:48: TYPE-1: 5, a number",
        "4:66: TYPE-1: '7 ms', a word",
        "VALUE-1: least_us is -1",
        "KEY-1: unknown key 'most' (did you mean most_us?)",
    ):
        assert said in told
    assert len(told.splitlines()) == 5


def test_a_file_that_extends_another_overrides_a_time_by_its_kind(mine: Callable[..., Relax]) -> None:
    """A number replaces a learnt time and the reverse, a number in it can change, and one goal replaces the other."""
    mine(f"after_inference_us: {LEARNT}", "then: {to: released, after_us: 2000000}", name="learns")
    back = mine("after_inference_us: 50000", name="back", extends="learns")
    assert back.after_inference_us == 50_000
    assert mine(f"after_inference_us: {LEARNT}", name="again", extends="back").after_inference_us == Adaptive(
        break_even_us=100_000, most_us=200_000
    )
    other = mine("after_inference_us: {adaptive: {break_even_us: 60000}}", name="other", extends="learns")
    assert other.after_inference_us == Adaptive(break_even_us=60_000, most_us=200_000)
    share = mine("after_inference_us: {adaptive: {cold_starts: 5 %, least_us: 20000}}", name="share", extends="other")
    assert share.after_inference_us == Adaptive(cold_starts_ppm=50_000, least_us=20_000, most_us=200_000)
    assert share.then is not None
    assert share.then.after_us == 2_000_000
    assert mine("after_inference_us: {adaptive: {least_us: 0}}", extends="share").after_inference_us == Adaptive(
        cold_starts_ppm=50_000, most_us=200_000
    )
    learns_when = mine(f"then: {{after_us: {LEARNT}}}", extends="learns").then
    assert learns_when is not None
    assert (learns_when.to.name, learns_when.after_us) == ("released", Adaptive(break_even_us=100_000, most_us=200_000))
    assert mine("then: unset", extends="learns").then is None


def test_a_goal_that_was_replaced_has_no_place(tmp_path: Path) -> None:
    """A replaced value of a base is not among the origins."""
    for name, extends, said in (("base", "burst", "break_even_us: 9"), ("mine", "base", "cold_starts: 5 %")):
        text = f"profile: {name}\nextends: {extends}\nrelax: {{after_inference_us: {{adaptive: {{{said}}}}}}}\n"
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    origins = load_profile(tmp_path / "mine.yaml").origins
    assert [at[-1] for at in origins if at[:3] == ("relax", "after_inference_us", "adaptive")] == [
        "adaptive",
        "cold_starts",
    ]


@pytest.mark.parametrize("ppm", [SHARE_LIMITS_PPM[0], 9999, 10_000, 12_500, 100_000, 999_900, SHARE_LIMITS_PPM[1]])
def test_a_share_is_spelt_as_it_is_read(ppm: int) -> None:
    """Reading a share and writing it give the same text."""
    assert share_ppm(share_text(ppm)) == ppm


@given(relaxes(), relaxes())
def test_what_a_profile_relaxes_to_goes_through_a_file(tmp_path_factory: Any, one: Relax, other: Relax) -> None:
    """Written with all fields, or as a difference to its base, ``relax`` loads to the same values."""
    folder = tmp_path_factory.mktemp("files")
    base = attrs.evolve(BURST, name="base", relax=one)
    mine = attrs.evolve(BURST, name="mine", relax=other)
    assert _through_a_file(folder, base).relax == one
    assert _through_a_file(folder, mine, base).relax == other


def _through_a_file(folder: Path, profile: Profile, base: Profile | None = None) -> Profile:
    path = folder / f"{profile.name}.yaml"
    path.write_text("\n".join(line for _, line in profile_lines(profile, base)), encoding="utf-8")
    return load_profile(path)


def test_two_power_states_of_one_file_are_one(mine: Callable[..., Relax]) -> None:
    """``then`` may name the power state of DE-INIT."""
    relax = mine("after_deinit_to: released", "then: {to: released, after_us: 0}")
    assert relax.then == Then(relax.after_deinit_to, 0)
