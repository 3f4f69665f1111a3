"""The line that causes a difference, and causes shared by many profiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.differences import differ, write
from support.shipped import shipped_folder

from htppower.tools.review.diff.effects import Effect

EXPANDED = (
    "{dcvs_v3: unset, dcvs_v3_exp: {power_mode: PERFORMANCE, sleep_latency_us: 1000, sleep_disable: unset,\n"
    "  bus: NOM,\n  core: TUR_L1, core_perf_mode: HIGH, bus_perf_mode: HIGH}}"
)


def causes(old: Path, new: Path) -> dict[str, set[str]]:
    """Return the lines that cause changes, each with its profiles; ``-`` before a removed line."""
    found: dict[str, set[str]] = {}
    for change in differ(old, new).changes:
        place = change.cause.place
        line = f"{'-' if change.cause.removed else ''}{Path(place.path).name}:{place.line}"
        found.setdefault(line, set()).add(change.profile)
    return found


def test_another_base_is_the_line_that_names_it(tmp_path: Path) -> None:
    """A base that extends another file changes votes, times and power state, all by its line ``extends``."""
    files = {"mine": "profile: mine\nextends: base\n", "base": "profile: base\nsummary: Mine.\nextends: burst\n"}
    old = write(tmp_path / "old", **files)
    new = write(tmp_path / "new", **{**files, "base": files["base"].replace("burst", "power_saver")})
    assert causes(old, new) == {"base.yaml:3": {"base", "mine"}}
    assert len({change.field for change in differ(old, new).changes}) > 5


def test_another_power_state_is_the_line_that_names_it(tmp_path: Path) -> None:
    """One word in a base changes a dozen lowered votes; no change is at a line of the shipped state."""
    base = "profile: base\nextends: balanced\nrelax:\n  to: relaxed\n"
    files = {"mine": "profile: mine\nextends: base\n", "base": base}
    old = write(tmp_path / "old", **files)
    new = write(tmp_path / "new", **{**files, "base": base.replace("relaxed", "released")})
    assert causes(old, new) == {"base.yaml:4": {"base", "mine"}}


def test_a_changed_power_state_is_its_own_line(tmp_path: Path) -> None:
    """A changed line of a power state is the cause for each profile that relaxes to it."""
    state = (shipped_folder() / "states" / "relaxed.yaml").read_text(encoding="utf-8").replace(": relaxed", ": low")
    mine = "profile: mine\nextends: burst\nrelax: {to: low}\n"
    old = write(tmp_path / "old", mine=mine, states__low=state)
    new = write(tmp_path / "new", mine=mine, states__low=state.replace("2000", "500"))
    number = next(place for place, line in enumerate(state.splitlines(), 1) if "2000" in line)
    assert causes(old, new) == {f"low.yaml:{number}": {"mine"}}


def test_an_override_that_goes_is_the_line_that_is_gone(tmp_path: Path) -> None:
    """The cause is the removed line in the old file; in the other direction, the new line."""
    mine = "profile: mine\nextends: burst\n"
    old = write(tmp_path / "old", mine=f"{mine}votes: {{rpc_polling_time_us: 0}}\n")
    new = write(tmp_path / "new", mine=mine)
    assert causes(old, new) == {"-mine.yaml:3": {"mine"}}
    assert causes(new, old) == {"mine.yaml:3": {"mine"}}


def test_a_base_that_is_no_longer_extended_is_gone(tmp_path: Path) -> None:
    """If a profile states all values itself, ``extends`` causes the differences that have no line of their own."""
    whole = (shipped_folder() / "burst.yaml").read_text(encoding="utf-8").replace("profile: burst", "profile: mine")
    old = write(tmp_path / "old", mine="profile: mine\nextends: burst\nsummary: Mine.\n")
    new = write(tmp_path / "new", mine=whole.replace("rpc_polling_time_us: 9999", "rpc_polling_time_us: 0"))
    number = next(place for place, line in enumerate(whole.splitlines(), 1) if "rpc_polling" in line)
    assert f"mine.yaml:{number}" in causes(old, new)


def test_the_same_change_of_many_is_told_once(tmp_path: Path) -> None:
    """Profiles with the same change by one line are grouped; a profile with another old value is apart."""
    files = {f"p{number}": f"profile: p{number}\nextends: base\n" for number in range(4)}
    files["other"] = "profile: other\nextends: base\nvotes: {dcvs_v3: {core: TURBO}}\n"
    base = "profile: base\nextends: balanced\nvotes: {dcvs_v3: {core: NOM}}\n"
    old = write(tmp_path / "old", **files, base=base)
    new = write(tmp_path / "new", **{**files, "base": base.replace("NOM", "SVS"), "other": files["other"] + "# \n"})
    ((_, names),) = differ(old, new).shared(Effect.LOWERS_POWER)
    assert names == ("base", "p0", "p1", "p2", "p3")
    assert len(differ(old, new).changes) == 5


@pytest.mark.parametrize("turned", [False, True])
def test_another_form_of_a_vote_is_told_once_and_where_it_is_made(tmp_path: Path, turned: bool) -> None:
    """A field of both forms is one change, at its own line; a field of only one form is shown separately."""
    plain = write(tmp_path / "plain", mine="profile: mine\nextends: balanced\nvotes: {hmx_v2: default}\n")
    expanded = write(tmp_path / "exp", mine=f"profile: mine\nextends: balanced\nvotes: {EXPANDED}\n")
    told = {
        change.field: (change.old_field, change.old, change.new, change.effect, change.cause.place.line)
        for change in differ(*((expanded, plain) if turned else (plain, expanded))).changes
        if change.field != "hmx_v2"
    }
    if turned:
        assert told == {
            "dcvs_v3.bus": ("dcvs_v3_exp.bus", "NOM", "NOM_PLUS", Effect.RAISES_POWER, 3),
            "dcvs_v3.core": ("dcvs_v3_exp.core", "TUR_L1", "NOM_PLUS", Effect.LOWERS_POWER, 3),
            "dcvs_v3.dcvs_enable": ("", "unset", "false", Effect.WORDING, 3),
            "dcvs_v3_exp.core_perf_mode": ("", "HIGH", "unset", Effect.WORDING, 5),
            "dcvs_v3_exp.bus_perf_mode": ("", "HIGH", "unset", Effect.WORDING, 5),
        }
    else:
        assert told == {
            "dcvs_v3_exp.bus": ("dcvs_v3.bus", "NOM_PLUS", "NOM", Effect.LOWERS_POWER, 4),
            "dcvs_v3_exp.core": ("dcvs_v3.core", "NOM_PLUS", "TUR_L1", Effect.RAISES_POWER, 5),
            "dcvs_v3.dcvs_enable": ("", "false", "unset", Effect.WORDING, 3),
            "dcvs_v3_exp.core_perf_mode": ("", "unset", "HIGH", Effect.WORDING, 5),
            "dcvs_v3_exp.bus_perf_mode": ("", "unset", "HIGH", Effect.WORDING, 5),
        }


MINE = "profile: mine\nextends: burst\nrelax:\n  to: relaxed\n  then: {to: released, after_us: 1000000}\n"
TAKEN_BACK = "summary: No more.\nrelax:\n  then: unset\n"


@pytest.mark.parametrize(
    ("new", "line"),
    [
        ({"r": f"profile: r\nextends: mine.yaml\n{TAKEN_BACK}"}, "r.yaml:5"),
        (
            {
                "r": "profile: r\nextends: between.yaml\nsummary: As between.\n",
                "between": f"profile: between\nextends: mine.yaml\n{TAKEN_BACK}",
            },
            "between.yaml:5",
        ),
        ({"r": MINE.replace("mine", "r").replace("{to: released, after_us: 1000000}", "unset")}, "r.yaml:5"),
        ({"r": "profile: r\nextends: burst\nrelax:\n  to: relaxed\n"}, "-mine.yaml:5"),
    ],
)
def test_a_further_state_that_is_taken_back_is_the_line_that_does_it(
    tmp_path: Path, new: dict[str, str], line: str
) -> None:
    """If the votes relax to no second state any more, the cause is the unset or removed ``then``, and not ``to``."""
    folder = write(tmp_path, mine=MINE, **new)
    further = [
        each for each in differ(folder / "mine.yaml", folder / "r.yaml").changes if each.field.startswith("dcvs_v3.")
    ]
    assert further
    for change in further:
        assert f"{'-' * change.cause.removed}{Path(change.cause.place.path).name}:{change.cause.place.line}" == line
    back = differ(folder / "r.yaml", folder / "mine.yaml").changes
    assert {Path(each.cause.place.path).name for each in back if each.field.startswith("dcvs_v3.")} == {"mine.yaml"}


def test_a_profile_against_one_that_extends_it_by_two_files(tmp_path: Path) -> None:
    """If a file between them states the value, the cause is there, though the old profile states the value too."""
    folder = write(
        tmp_path,
        mine="profile: mine\nextends: burst\nvotes: {rpc_polling_time_us: 5000}\n",
        between="profile: between\nextends: mine.yaml\nvotes: {rpc_polling_time_us: 0}\n",
        r="profile: r\nextends: between.yaml\n",
    )
    changes = differ(folder / "mine.yaml", folder / "r.yaml").changes
    (cause,) = (each.cause for each in changes if each.field == "rpc_polling_time_us")
    assert (Path(cause.place.path).name, cause.place.line, cause.removed) == ("between.yaml", 3, False)
