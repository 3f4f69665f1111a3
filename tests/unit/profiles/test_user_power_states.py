"""Power states in users' profiles: lookup of their files, and how the votes come down."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest
from support.profile_files import SHIPPED, hvx_vote, relaxing, write

from htppower import Lowering, ProfileError, load_profile


def write_state(folder: Path, name: str, sleep_latency_us: int, sleep_disable: str = "unset") -> Path:
    """Write a power state like relaxed, with another sleep latency."""
    text = (SHIPPED / "states" / "relaxed.yaml").read_text(encoding="utf-8")
    text = text.replace("state: relaxed", f"state: {name}").replace("2000", str(sleep_latency_us))
    return write(folder, f"states/{name}.yaml", text.replace("sleep_disable: unset", f"sleep_disable: {sleep_disable}"))


def test_a_file_that_leaves_lowering_out_lowers_in_the_foreground(tmp_path: Path) -> None:
    """A profile without the field loads as in earlier versions, and the field has no place."""
    lines = (SHIPPED / "balanced.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "lowering" not in line)
    profile = load_profile(write(tmp_path, "mine.yaml", text))
    assert relaxing(profile).lowering is Lowering.FOREGROUND
    assert ("relax", "lowering") not in profile.origins
    assert profile.relax == load_profile("balanced").relax


def test_lowering_is_overridden_and_inherited(tmp_path: Path) -> None:
    """The nearest file with the field counts; without it, the value and its place are inherited."""
    base = write(tmp_path, "base.yaml", "profile: base\nextends: balanced\nrelax: {lowering: background}\n")
    again = write(tmp_path, "again.yaml", "profile: again\nextends: ./base.yaml\nrelax: {after_init_us: 0}\n")
    back = write(tmp_path, "back.yaml", "profile: back\nextends: ./base.yaml\nrelax: {lowering: foreground}\n")
    found = [load_profile(path) for path in (base, again, back)]
    background, foreground = Lowering.BACKGROUND, Lowering.FOREGROUND
    assert [relaxing(profile).lowering for profile in found] == [background, background, foreground]
    place = found[1].origins["relax", "lowering"]
    assert (Path(place.path).name, place.line, place.column) == ("base.yaml", 3, 19)


def test_a_file_that_leaves_out_where_deinit_ends_ends_it_where_it_relaxes_to(tmp_path: Path) -> None:
    """A profile without the field loads as in earlier versions, and the field has no place."""
    lines = (SHIPPED / "balanced.yaml").read_text(encoding="utf-8").splitlines(keepends=True)
    text = "".join(line for line in lines if "after_deinit_to" not in line)
    profile = load_profile(write(tmp_path, "mine.yaml", text))
    assert relaxing(profile).after_deinit_to == relaxing(profile).to
    assert ("relax", "after_deinit_to") not in profile.origins


def test_where_deinit_ends_is_overridden_and_inherited(tmp_path: Path) -> None:
    """A file that changes only ``to`` inherits ``after_deinit_to``; a path is relative to its file."""
    write(tmp_path, "states/low.yaml", (SHIPPED / "states" / "released.yaml").read_text(encoding="utf-8"))
    base = write(tmp_path, "base.yaml", "profile: base\nextends: burst\nrelax: {after_deinit_to: ./states/low.yaml}\n")
    again = write(tmp_path, "own/again.yaml", "profile: again\nextends: ../base.yaml\nrelax: {to: released}\n")
    for path in (base, again):
        source = relaxing(load_profile(path)).after_deinit_to.source
        assert source is not None
        assert source.resolve() == (tmp_path / "states" / "low.yaml").resolve()
    assert relaxing(load_profile(again)).to == relaxing(load_profile("power_saver")).to


def test_a_power_state_in_which_deinit_ends_is_checked_as_any_other(tmp_path: Path) -> None:
    """A missing or wrong power state is a finding at the field that names it."""
    write(tmp_path, "states/low.yaml", "state: low\nsummary: Low.\nvotes: {dcvs_v3: 1}\n")
    for name, rule in (("nowhere", "NAME-1"), ("low", "TYPE-1")):
        path = write(tmp_path, "mine.yaml", f"profile: mine\nextends: burst\nrelax:\n  after_deinit_to: {name}\n")
        with pytest.raises(ProfileError) as caught:
            load_profile(path)
        assert (rule, 4, 20) in [(problem.rule, problem.line, problem.column) for problem in caught.value.problems]


def test_a_shipped_power_state_can_not_be_shadowed(tmp_path: Path) -> None:
    """A state next to a profile with a shipped name does not replace the shipped state."""
    write_state(tmp_path, "relaxed", 10)
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\n")
    assert relaxing(load_profile(file)) == relaxing(load_profile("burst"))


@pytest.mark.parametrize("to", ["idle", "./states/idle.yaml"])
def test_a_profile_relaxes_to_a_state_beside_it(to: str, tmp_path: Path) -> None:
    """A power state is found by name in states/ next to the file, and by a path relative to the file."""
    state = write_state(tmp_path, "idle", 4000)
    text = f"profile: camera\nextends: burst\nrelax: {{to: {to}}}\n"
    relax = relaxing(load_profile(write(tmp_path, "camera.yaml", text)))
    assert (relax.to.name, relax.after_inference_us) == ("idle", 300_000)
    assert hvx_vote(relax.to.votes).sleep_latency_us == 4000
    assert relax.to.source is not None
    assert relax.to.source.resolve() == state.resolve()


@pytest.mark.parametrize("to", ["idle", "./states/idle.yaml"])
def test_an_inherited_state_is_looked_up_beside_the_file_that_names_it(to: str, tmp_path: Path) -> None:
    """An inherited power state is found next to the file that names it, also from another folder."""
    write_state(tmp_path / "base", "idle", 4000)
    write(tmp_path, "base/base.yaml", f"profile: base\nextends: burst\nrelax: {{to: {to}}}\n")
    file = write(tmp_path, "own/camera.yaml", "profile: camera\nextends: ../base/base.yaml\n")
    assert relaxing(load_profile(file)).to.name == "idle"


def test_a_state_is_found_in_the_states_of_a_named_folder(tmp_path: Path) -> None:
    """A power state is found by name in states/ of the given folders."""
    write_state(tmp_path / "shared", "idle", 4000)
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\nrelax: {to: idle}\n")
    assert relaxing(load_profile(file, [tmp_path / "shared"])).to.name == "idle"
    with pytest.raises(ProfileError, match="NAME-1"):
        load_profile(file)


def test_a_state_extends_a_state(tmp_path: Path) -> None:
    """A user's power state can extend a shipped one and change a field."""
    text = "state: idle\nextends: released\nvotes: {dcvs_v3: {sleep_latency_us: 5000}}\n"
    write(tmp_path, "states/idle.yaml", text)
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\nrelax: {to: idle}\n")
    released = relaxing(load_profile("power_saver")).to.votes
    dcvs = attrs.evolve(hvx_vote(released), sleep_latency_us=5000)
    assert relaxing(load_profile(file)).to.votes == attrs.evolve(released, dcvs_v3=dcvs)


def test_a_state_that_clears_sleep_disable_lets_a_profile_set_it(tmp_path: Path) -> None:
    """sleep_disable may be set if every power state has false."""
    write_state(tmp_path, "awake", 2000, sleep_disable="false")
    votes = "votes: {dcvs_v3: {sleep_disable: true}}"
    text = f"profile: camera\nextends: burst\n{votes}\nrelax: {{to: awake, after_deinit_to: awake}}\n"
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    assert hvx_vote(profile.votes).sleep_disable is True
    assert hvx_vote(relaxing(profile).to.votes).sleep_disable is False
