"""Users' profiles: they extend and override, have the place of each value, and differ from the shipped ones."""

from __future__ import annotations

import os
from pathlib import Path

import attrs
import pytest
from support.inside import patch_private
from support.profile_files import SHIPPED, hvx_vote, relaxing, write

from htppower import ProfileError, load_profile, profile_names
from htppower.errors import Place
from htppower.profiles import discovery
from htppower.votes.clock_votes import HmxV2, VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner
from htppower.votes.vote_set import VoteSet


def line_of(file: Path, text: str) -> int:
    """Return the number of the line with this text, from 1."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


def test_a_profile_that_only_extends_has_the_votes_of_the_extended(tmp_path: Path) -> None:
    """Everything except the name is inherited; the lineage has both names."""
    profile = load_profile(write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\n"))
    burst = load_profile("burst")
    assert (profile.name, profile.lineage) == ("camera", ("camera", "burst"))
    assert (profile.votes, profile.relax, profile.summary) == (burst.votes, burst.relax, burst.summary)


def test_single_fields_are_overridden_and_the_rest_is_inherited(tmp_path: Path) -> None:
    """A field at each level is replaced, and no other field changes."""
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
    """In corners written as {min, target, max}, one corner can be replaced."""
    write(
        tmp_path,
        "base.yaml",
        "profile: base\nextends: burst\nvotes: {dcvs_v3: {bus: {min: SVS, target: NOM, max: TURBO}}}\n",
    )
    text = "profile: camera\nextends: ./base.yaml\nvotes: {dcvs_v3: {bus: {target: TURBO}}}\n"
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    assert hvx_vote(profile.votes).bus == VoltageRange(VoltageCorner.SVS, VoltageCorner.TURBO, VoltageCorner.TURBO)


def test_a_vote_is_taken_back_with_unset(tmp_path: Path) -> None:
    """If votes and relax of burst are unset, the profile does not vote."""
    text = "profile: camera\nextends: burst\nvotes: unset\nrelax: unset\n"
    profile = load_profile(write(tmp_path, "camera.yaml", text))
    assert (profile.votes, profile.relax) == (VoteSet(), None)


def test_origins_name_the_file_and_the_line_of_every_value(tmp_path: Path) -> None:
    """An own value has its place in the own file, an inherited value in the base's file."""
    text = "profile: camera\nextends: burst\nvotes:\n  dcvs_v3:\n    sleep_latency_us: 80\n"
    file = write(tmp_path, "camera.yaml", text)
    origins = load_profile(file).origins
    assert origins["profile",] == Place(str(file), 1, 10)
    assert origins["votes", "dcvs_v3", "sleep_latency_us"] == Place(str(file), 5, 23)
    core = origins["votes", "dcvs_v3", "core"]
    assert Path(core.path).resolve() == (SHIPPED / "burst.yaml").resolve()
    assert (core.line, core.column) == (line_of(SHIPPED / "burst.yaml", "core:"), 11)


def test_every_value_of_a_shipped_profile_has_an_origin() -> None:
    """Each key of a shipped file has a place, and that line has the key."""
    origins = load_profile("burst").origins
    lines = (SHIPPED / "burst.yaml").read_text(encoding="utf-8").splitlines()
    flat = [(at, place) for at, place in origins.items() if at and at not in {at[:-1] for at in origins}]
    assert len(flat) == 19
    assert all(f"{at[-1]}:" in lines[place.line - 1] for at, place in flat)


def test_what_is_overridden_leaves_no_origin(tmp_path: Path) -> None:
    """Values that are unset or replaced have no origin."""
    text = "profile: camera\nextends: burst\nvotes: unset\nrelax: unset\n"
    origins = load_profile(write(tmp_path, "camera.yaml", text)).origins
    assert {at for at in origins if at[:1] in {("votes",), ("relax",)}} == {("votes",), ("relax",)}


def test_the_lineage_names_every_profile_from_the_nearest_on(tmp_path: Path) -> None:
    """The lineage has the three names of a chain in order, as written in the files."""
    write(tmp_path, "base.yaml", "profile: loud\nextends: high_performance\n")
    file = write(tmp_path, "camera.yaml", "profile: camera\nextends: ./base.yaml\n")
    assert load_profile(file).lineage == ("camera", "loud", "high_performance")


def test_the_nearest_of_three_files_wins(tmp_path: Path) -> None:
    """A field counts from the nearest file that has it."""
    write(
        tmp_path, "base.yaml", "profile: base\nextends: burst\nvotes: {rpc_polling_time_us: 10, hmx_timeout_us: 200}\n"
    )
    text = "profile: camera\nextends: ./base.yaml\nvotes: {rpc_polling_time_us: 20}\n"
    votes = load_profile(write(tmp_path, "camera.yaml", text)).votes
    assert (votes.rpc_polling_time_us, votes.hmx_timeout_us, votes.rpc_control_latency_us) == (20, 200, 100)


def test_a_relative_extends_is_taken_from_beside_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path starts at the file's folder, whatever the working directory."""
    write(tmp_path, "base.yaml", "profile: base\nextends: balanced\n")
    file = write(tmp_path, "own/camera.yaml", "profile: camera\nextends: ../base.yaml\n")
    monkeypatch.chdir(SHIPPED)
    assert load_profile(file).lineage == ("camera", "base", "balanced")
    monkeypatch.chdir(tmp_path)
    assert load_profile("own/camera.yaml").lineage == ("camera", "base", "balanced")


@pytest.mark.parametrize("suffix", [".yaml", ".yml"])
def test_a_profile_in_a_named_folder_is_found_and_extended_by_name(suffix: str, tmp_path: Path) -> None:
    """Profiles are found by name in the given folders, also as a base, and are listed last."""
    write(tmp_path, f"zoom{suffix}", "profile: zoom\nextends: camera\n")
    write(tmp_path, f"camera{suffix}", "profile: camera\nextends: burst\n")
    assert load_profile("zoom", [tmp_path]).lineage == ("zoom", "camera", "burst")
    assert load_profile("zoom", [str(tmp_path)]) == load_profile("zoom", [tmp_path])
    assert profile_names([tmp_path]) == (*profile_names(), "camera", "zoom")


def test_a_folder_that_is_missing_is_a_mistake(tmp_path: Path) -> None:
    """The error for an unreadable folder has its path; a single string in place of a list is refused."""
    with pytest.raises(ProfileError, match="nowhere: FILE-1"):
        profile_names([tmp_path / "nowhere"])
    with pytest.raises(TypeError, match="a list of folders"):
        load_profile("burst", str(tmp_path))


def test_a_shipped_profile_can_not_be_shadowed(tmp_path: Path) -> None:
    """A file with a shipped name in a given folder neither replaces the shipped profile nor is listed twice."""
    write(tmp_path, "burst.yaml", "profile: burst\nextends: low_power_saver\n")
    assert load_profile("burst", [tmp_path]) == load_profile("burst")
    assert profile_names([tmp_path]) == profile_names()


def test_explicit_hmx_corners_are_loaded(tmp_path: Path) -> None:
    """HMX corners are expanded corners, and may follow any core vote except DISABLE."""
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
    """DISABLE as one of three corners is not the lowest corner."""
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
    """The smallest and the largest value of every number load."""
    for value in values:
        text = f"profile: camera\nextends: burst\nvotes: {{{field}: {value}}}\n"
        assert getattr(load_profile(write(tmp_path, "camera.yaml", text)).votes, field) == value


@pytest.mark.parametrize("value", [10, 65535])
def test_the_ends_of_the_sleep_latency_are_allowed(value: int, tmp_path: Path) -> None:
    """Sleep latencies of 10 and 65535 us load."""
    text = f"profile: camera\nextends: burst\nvotes: {{dcvs_v3: {{sleep_latency_us: {value}}}}}\n"
    assert hvx_vote(load_profile(write(tmp_path, "camera.yaml", text)).votes).sleep_latency_us == value


@pytest.mark.parametrize("mode", list(PowerMode))
def test_every_power_mode_can_be_written(mode: PowerMode, tmp_path: Path) -> None:
    """Each power mode is written by its name."""
    text = f"profile: camera\nextends: burst\nvotes: {{dcvs_v3: {{power_mode: {mode.name}}}}}\n"
    assert hvx_vote(load_profile(write(tmp_path, "camera.yaml", text)).votes).power_mode is mode


def test_a_byte_order_mark_and_dos_line_ends_are_read(tmp_path: Path) -> None:
    """A file with a byte order mark and Windows line ends is the same profile."""
    file = tmp_path / "burst.yaml"
    text = (SHIPPED / "burst.yaml").read_bytes()
    file.write_bytes(b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n"))
    profile = load_profile(file)
    assert (profile.votes, profile.relax) == (load_profile("burst").votes, load_profile("burst").relax)
    assert profile.origins["votes", "dcvs_v3", "core"].line == line_of(SHIPPED / "burst.yaml", "core:")


def test_a_base_beside_the_file_is_found_by_its_name(tmp_path: Path) -> None:
    """A base's name is searched in the shipped folder, then the given folders, then the file's own folder."""
    (tmp_path / "base.yaml").write_text("profile: base\nextends: balanced\n", encoding="utf-8")
    (tmp_path / "burst.yaml").write_text("profile: burst\nextends: balanced\n", encoding="utf-8")
    (tmp_path / "mine.yaml").write_text("profile: mine\nextends: base\n", encoding="utf-8")
    (tmp_path / "other.yaml").write_text("profile: other\nextends: burst\n", encoding="utf-8")
    assert load_profile(tmp_path / "mine.yaml").votes == load_profile("balanced").votes
    assert load_profile(tmp_path / "other.yaml").votes == load_profile("burst").votes


def test_a_name_in_another_case_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and macOS find a file in any case, but a device does not, so the name must match exactly."""
    write(tmp_path, "camera.yaml", "profile: camera\nextends: burst\n")
    exists = os.path.lexists
    monkeypatch.setattr(os.path, "lexists", lambda path: exists(str(path).replace("Camera", "camera")))
    patch_private(monkeypatch, discovery, IGNORES_CASE=True)
    assert load_profile("camera", [tmp_path]).name == "camera"
    with pytest.raises(ProfileError, match="did you mean camera"):
        load_profile("Camera", [tmp_path])
