"""Profiles of users: they extend, override and relax to files of their own, and can be told from the shipped ones."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from htppower import Lowering, Profile, ProfileError, Relax, load_profile, profile_names
from htppower.errors import Place
from htppower.profiles.discovery import shipped_folder
from htppower.votes.clock_votes import DcvsV3, HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet

SHIPPED = shipped_folder()


def write(folder: Path, name: str, text: str) -> Path:
    """Write a file, and the folders on the way, and return its path."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def write_state(folder: Path, name: str, sleep_latency_us: int, sleep_disable: str = "unset") -> Path:
    """Write a power state like relaxed, with another sleep latency."""
    text = (SHIPPED / "states" / "relaxed.yaml").read_text(encoding="utf-8")
    text = text.replace("state: relaxed", f"state: {name}").replace("2000", str(sleep_latency_us))
    return write(folder, f"states/{name}.yaml", text.replace("sleep_disable: unset", f"sleep_disable: {sleep_disable}"))


def relaxing(profile: Profile) -> Relax:
    """Return what a profile relaxes to, which it must name."""
    assert profile.relax is not None
    return profile.relax


def hvx_vote(votes: VoteSet) -> DcvsV3:
    """Return the HVX vote of a set, which it must have."""
    assert votes.dcvs_v3 is not None
    return votes.dcvs_v3


def line_of(file: Path, text: str) -> int:
    """Return the 1-based line in which a text stands in a file."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_profile_that_only_extends_has_the_votes_of_the_extended(tmp_path: Path) -> None:
    """All but the name is inherited; the lineage names both."""
    profile = load_profile(write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\n"))
    burst = load_profile("burst")
    assert (profile.name, profile.lineage) == ("camera", ("camera", "burst"))
    assert (profile.votes, profile.relax, profile.summary) == (burst.votes, burst.relax, burst.summary)


def test_single_fields_are_overridden_and_the_rest_is_inherited(tmp_path: Path) -> None:
    """A field at each level is replaced, and no other changes."""
    text = """\
profile: camera
extends: burst
summary: Clocks for the camera.
votes:
  dcvs_v3:
    sleep_latency_us: 80
    bus: {min: NOM, target: TURBO, max: TURBO}
  rpc_polling_time_us: unset
relax:
  after_inference_us: 50000
"""
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    burst = load_profile("burst")
    bus = VoltageRange(VoltageCorner.NOM, VoltageCorner.TURBO, VoltageCorner.TURBO)
    dcvs = attrs.evolve(hvx_vote(burst.votes), sleep_latency_us=80, bus=bus)
    assert profile.summary == "Clocks for the camera."
    assert profile.votes == attrs.evolve(burst.votes, dcvs_v3=dcvs, rpc_polling_time_us=None)
    assert profile.relax == attrs.evolve(relaxing(burst), after_inference_us=50_000)


def test_one_corner_of_three_is_overridden(tmp_path: Path) -> None:
    """Over corners written as {min, target, max}, one alone can be replaced."""
    write(
        tmp_path,
        "base.yaml",
        "profile: base\nextends: burst\nvotes: {dcvs_v3: {bus: {min: SVS, target: NOM, max: TURBO}}}\n",
    )
    text = "profile: camera\nextends: ./base.yaml\nvotes: {dcvs_v3: {bus: {target: TURBO}}}\n"
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    assert hvx_vote(profile.votes).bus == VoltageRange(VoltageCorner.SVS, VoltageCorner.TURBO, VoltageCorner.TURBO)


def test_a_vote_is_taken_back_with_unset(tmp_path: Path) -> None:
    """Votes and relax that are unset over burst leave a profile that does not vote."""
    text = "profile: camera\nextends: burst\nvotes: unset\nrelax: unset\n"
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    assert (profile.votes, profile.relax) == (VoteSet(), None)


def test_origins_name_the_file_and_the_line_of_every_value(tmp_path: Path) -> None:
    """An own value has its place in the own file, an inherited one in the file that it comes from."""
    text = "profile: camera\nextends: burst\nvotes:\n  dcvs_v3:\n    sleep_latency_us: 80\n"
    file = write(tmp_path, "camera.yaml", text)
    origins = load_profile(file).origins
    assert origins["profile",] == Place(str(file), 1, 10)
    assert origins["votes", "dcvs_v3", "sleep_latency_us"] == Place(str(file), 5, 23)
    core = origins["votes", "dcvs_v3", "core"]
    assert Path(core.path).resolve() == (SHIPPED / "burst.yaml").resolve()
    assert (core.line, core.column) == (line_of(SHIPPED / "burst.yaml", "core:"), 11)


def test_every_value_of_a_shipped_profile_has_an_origin() -> None:
    """Each key of a shipped file has a place, whose line holds that key."""
    origins = load_profile("burst").origins
    lines = (SHIPPED / "burst.yaml").read_text(encoding="utf-8").splitlines()
    flat = [(at, place) for at, place in origins.items() if at and at not in {at[:-1] for at in origins}]
    assert len(flat) == 19
    assert all(f"{at[-1]}:" in lines[place.line - 1] for at, place in flat)


def test_what_is_overridden_leaves_no_origin(tmp_path: Path) -> None:
    """Origins name values that the profile has, not those of a part that is unset or replaced."""
    text = "profile: camera\nextends: burst\nvotes: unset\nrelax: unset\n"
    origins = load_profile(write(tmp_path, "camera.yaml", text)).origins
    assert {at for at in origins if at[:1] in {("votes",), ("relax",)}} == {("votes",), ("relax",)}


def test_a_file_that_leaves_lowering_out_lowers_in_the_foreground(tmp_path: Path) -> None:
    """A profile from before the field was there loads as it did, and the field has no place."""
    lines = (SHIPPED / "balanced.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "lowering" not in line)
    profile = load_profile(write(tmp_path, "mine.yaml", text))
    assert relaxing(profile).lowering is Lowering.FOREGROUND
    assert ("relax", "lowering") not in profile.origins
    assert profile.relax == load_profile("balanced").relax


def test_lowering_is_overridden_and_inherited(tmp_path: Path) -> None:
    """The nearest file that states it wins; one that does not inherits it, with its place."""
    base = write(tmp_path, "base.yaml", "profile: base\nextends: balanced\nrelax: {lowering: background}\n")
    again = write(tmp_path, "again.yaml", "profile: again\nextends: ./base.yaml\nrelax: {after_init_us: 0}\n")
    back = write(tmp_path, "back.yaml", "profile: back\nextends: ./base.yaml\nrelax: {lowering: foreground}\n")
    found = [load_profile(path) for path in (base, again, back)]
    background, foreground = Lowering.BACKGROUND, Lowering.FOREGROUND
    assert [relaxing(profile).lowering for profile in found] == [background, background, foreground]
    place = found[1].origins["relax", "lowering"]
    assert (Path(place.path).name, place.line, place.column) == ("base.yaml", 3, 19)


def test_a_file_that_leaves_out_where_deinit_ends_ends_it_where_it_relaxes_to(tmp_path: Path) -> None:
    """A profile from before the field was there loads as it did, and the field has no place."""
    lines = (SHIPPED / "balanced.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "after_deinit_to" not in line)
    profile = load_profile(write(tmp_path, "mine.yaml", text))
    assert relaxing(profile).after_deinit_to == relaxing(profile).to
    assert ("relax", "after_deinit_to") not in profile.origins


def test_where_deinit_ends_is_overridden_and_inherited(tmp_path: Path) -> None:
    """It is a field of its own: a file that says only another ``to`` inherits it. A path is taken from the file."""
    write(tmp_path, "states/low.yaml", (SHIPPED / "states" / "released.yaml").read_text(encoding="utf-8"))
    base = write(tmp_path, "base.yaml", "profile: base\nextends: burst\nrelax: {after_deinit_to: ./states/low.yaml}\n")
    again = write(tmp_path, "own/again.yaml", "profile: again\nextends: ../base.yaml\nrelax: {to: released}\n")
    for path in (base, again):
        source = relaxing(load_profile(path)).after_deinit_to.source
        assert source is not None
        assert source.resolve() == (tmp_path / "states" / "low.yaml").resolve()
    assert relaxing(load_profile(again)).to == load_profile(SHIPPED / "power_saver.yaml").relax.to  # type: ignore[union-attr]


def test_a_power_state_in_which_deinit_ends_is_checked_as_any_other(tmp_path: Path) -> None:
    """One that is not there, or is wrong, is told where it is named."""
    write(tmp_path, "states/low.yaml", "state: low\nsummary: Low.\nvotes: {dcvs_v3: 1}\n")
    for name, rule in (("nowhere", "NAME-1"), ("low", "TYPE-1")):
        path = write(tmp_path, "mine.yaml", f"profile: mine\nextends: burst\nrelax:\n  after_deinit_to: {name}\n")
        with pytest.raises(ProfileError) as caught:
            load_profile(path)
        assert (rule, 4, 20) in [(problem.rule, problem.line, problem.column) for problem in caught.value.problems]


def test_the_lineage_names_every_profile_from_the_nearest_on(tmp_path: Path) -> None:
    """A chain of three is named in its order, by the names in the files."""
    write(tmp_path, "base.yaml", "profile: loud\nextends: high_performance\n")
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: ./base.yaml\n")
    assert load_profile(file).lineage == ("camera", "loud", "high_performance")


def test_the_nearest_of_three_files_wins(tmp_path: Path) -> None:
    """Each file's fields win over those of the file that it extends."""
    write(
        tmp_path, "base.yaml", "profile: base\nextends: burst\nvotes: {rpc_polling_time_us: 10, hmx_timeout_us: 200}\n"
    )
    text = "profile: camera\nextends: ./base.yaml\nvotes: {rpc_polling_time_us: 20}\n"
    votes = load_profile(write(tmp_path, "camera.yaml", text)).votes
    assert (votes.rpc_polling_time_us, votes.hmx_timeout_us, votes.rpc_control_latency_us) == (20, 200, 100)


def test_a_relative_extends_is_taken_from_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path leads from the file in which it stands, whatever the working directory."""
    write(tmp_path, "base.yaml", "profile: base\nextends: balanced\n")
    file = write(tmp_path, "own/camera.yaml", "profile: camera\nextends: ../base.yaml\n")
    monkeypatch.chdir(SHIPPED)
    assert load_profile(file).lineage == ("camera", "base", "balanced")
    monkeypatch.chdir(tmp_path)
    assert load_profile("own/camera.yaml").lineage == ("camera", "base", "balanced")


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
def test_a_profile_in_a_named_folder_is_found_and_extended_by_name(suffix: str, tmp_path: Path) -> None:
    """Names are looked up in the folders given, also those that a profile extends, and are listed last."""
    write(tmp_path, f"zoom{suffix}", "profile: zoom\nextends: camera\n")
    write(tmp_path, f"camera{suffix}", "profile: camera\nextends: burst\n")
    assert load_profile("zoom", [tmp_path]).lineage == ("zoom", "camera", "burst")
    assert load_profile("zoom", [str(tmp_path)]) == load_profile("zoom", [tmp_path])
    assert profile_names([tmp_path]) == (*profile_names(), "camera", "zoom")


def test_a_folder_that_is_missing_is_a_mistake(tmp_path: Path) -> None:
    """A folder that was named and can't be read is said, with its path, and one in the place of a list, too."""
    with pytest.raises(ProfileError, match="nowhere: FILE-1"):
        profile_names([tmp_path / "nowhere"])
    with pytest.raises(TypeError, match="a list of folders"):
        load_profile("burst", str(tmp_path))


def test_a_shipped_profile_can_not_be_shadowed(tmp_path: Path) -> None:
    """A file of a shipped name in a named folder neither replaces the shipped one nor is listed twice."""
    write(tmp_path, "burst.yaml", "profile: burst\nextends: low_power_saver\n")
    assert load_profile("burst", [tmp_path]) == load_profile("burst")
    assert profile_names([tmp_path]) == profile_names()


def test_a_shipped_power_state_can_not_be_shadowed(tmp_path: Path) -> None:
    """A state of a shipped name beside a profile does not replace the shipped one."""
    write_state(tmp_path, "relaxed", 10)
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\n")
    assert relaxing(load_profile(file)) == relaxing(load_profile("burst"))


@pytest.mark.parametrize("to", ["idle", "./states/idle.yaml"])
def test_a_profile_relaxes_to_a_state_beside_it(to: str, tmp_path: Path) -> None:
    """A user's power state is found by name in states/ beside the file, and by path from beside it."""
    state = write_state(tmp_path, "idle", 4000)
    text = f"profile: camera\nextends: burst\nrelax: {{to: {to}}}\n"
    relax = relaxing(load_profile(write(tmp_path, "camera.yaml", text)))
    assert (relax.to.name, relax.after_inference_us) == ("idle", 300_000)
    assert hvx_vote(relax.to.votes).sleep_latency_us == 4000
    assert relax.to.source is not None
    assert relax.to.source.resolve() == state.resolve()


@pytest.mark.parametrize("to", ["idle", "./states/idle.yaml"])
def test_an_inherited_state_is_looked_up_beside_the_file_that_names_it(to: str, tmp_path: Path) -> None:
    """A profile in another folder inherits a relax whose state lies beside the file in which it stands."""
    write_state(tmp_path / "base", "idle", 4000)
    write(tmp_path, "base/base.yaml", f"profile: base\nextends: burst\nrelax: {{to: {to}}}\n")
    file = write(tmp_path, "own/camera.yaml", "profile: camera\nextends: ../base/base.yaml\n")
    assert relaxing(load_profile(file)).to.name == "idle"


def test_a_state_is_found_in_the_states_of_a_named_folder(tmp_path: Path) -> None:
    """A power state is found by name in states/ of the folders given."""
    write_state(tmp_path / "shared", "idle", 4000)
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\nrelax: {to: idle}\n")
    assert relaxing(load_profile(file, [tmp_path / "shared"])).to.name == "idle"
    with pytest.raises(ProfileError, match="NAME-1"):
        load_profile(file)


def test_a_state_extends_a_state(tmp_path: Path) -> None:
    """A user's power state extends a shipped one and overrides a field."""
    text = "state: idle\nextends: released\nvotes: {dcvs_v3: {sleep_latency_us: 5000}}\n"
    write(tmp_path, "states/idle.yaml", text)
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\nrelax: {to: idle}\n")
    released = relaxing(load_profile("power_saver")).to.votes
    dcvs = attrs.evolve(hvx_vote(released), sleep_latency_us=5000)
    assert relaxing(load_profile(file)).to.votes == attrs.evolve(released, dcvs_v3=dcvs)


def test_a_state_that_clears_sleep_disable_lets_a_profile_set_it(tmp_path: Path) -> None:
    """sleep_disable may be set where every power state says false."""
    write_state(tmp_path, "awake", 2000, sleep_disable="false")
    votes = "votes: {dcvs_v3: {sleep_disable: true}}"
    text = f"profile: camera\nextends: burst\n{votes}\nrelax: {{to: awake, after_deinit_to: awake}}\n"
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    assert hvx_vote(profile.votes).sleep_disable is True
    assert hvx_vote(relaxing(profile).to.votes).sleep_disable is False


def test_explicit_hmx_corners_are_loaded(tmp_path: Path) -> None:
    """HMX corners are expanded corners, beside any core vote but DISABLE."""
    text = """\
profile: camera
extends: burst
votes:
  hmx_v2: {min: LOW_SVS_D1, target: NOM, max: TUR_L2, perf_mode: HIGH_D3}
"""
    assert load_profile(write(tmp_path, "camera.yaml", text)).votes.hmx_v2 == HmxV2(
        min=ExpandedCorner.LOW_SVS_D1,
        target=ExpandedCorner.NOM,
        max=ExpandedCorner.TUR_L2,
        perf_mode=ClkPerfMode.HIGH_D3,
    )


def test_disable_stands_outside_the_order_of_corners(tmp_path: Path) -> None:
    """DISABLE as one limit of three does not count as the lowest corner."""
    text = "profile: camera\nextends: burst\nvotes: {dcvs_v3: {core: {min: SVS, target: NOM, max: DISABLE}}}\n"
    core = hvx_vote(load_profile(write(tmp_path, "camera.yaml", text)).votes).core
    assert core == VoltageRange(VoltageCorner.SVS, VoltageCorner.NOM, VoltageCorner.DISABLE)


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("rpc_polling_time_us", (0, 9999)),
        ("rpc_control_latency_us", (0, 2**32 - 1)),
        ("adaptive_polling_time_us", (0, 2**32 - 1)),
        ("hmx_timeout_us", (100, 1_000_000)),
    ],
)
def test_the_ends_of_a_range_are_allowed(field: str, values: tuple[int, int], tmp_path: Path) -> None:
    """The smallest and the largest value of every number load as they are written."""
    for value in values:
        text = f"profile: camera\nextends: burst\nvotes: {{{field}: {value}}}\n"
        assert getattr(load_profile(write(tmp_path, "camera.yaml", text)).votes, field) == value


@pytest.mark.parametrize("value", [10, 65535])
def test_the_ends_of_the_sleep_latency_are_allowed(value: int, tmp_path: Path) -> None:
    """A sleep latency of 10 and of 65535 us is loaded."""
    text = f"profile: camera\nextends: burst\nvotes: {{dcvs_v3: {{sleep_latency_us: {value}}}}}\n"
    assert hvx_vote(load_profile(write(tmp_path, "camera.yaml", text)).votes).sleep_latency_us == value


@pytest.mark.parametrize("mode", list(PowerMode))
def test_every_power_mode_can_be_written(mode: PowerMode, tmp_path: Path) -> None:
    """A power mode is written by its name."""
    text = f"profile: camera\nextends: burst\nvotes: {{dcvs_v3: {{power_mode: {mode.name}}}}}\n"
    assert hvx_vote(load_profile(write(tmp_path, "camera.yaml", text)).votes).power_mode is mode


def test_a_byte_order_mark_and_dos_line_ends_are_read(tmp_path: Path) -> None:
    """A file as some editors on Windows save it is the same profile."""
    file = tmp_path / "burst.yaml"
    text = (SHIPPED / "burst.yaml").read_bytes()
    file.write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    profile = load_profile(file)
    assert (profile.votes, profile.relax) == (load_profile("burst").votes, load_profile("burst").relax)
    assert profile.origins["votes", "dcvs_v3", "core"].line == line_of(SHIPPED / "burst.yaml", "core:")
