"""The speeds that a device model states, as a pace reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower.errors import ProfileError
from htppower.profiles.loading import load_profile
from htppower.profiles.speeds import read_device_speeds, speed_of

if TYPE_CHECKING:
    from pathlib import Path


def test_the_shipped_model_states_speeds_that_fall_with_the_profiles() -> None:
    """By default the assumed model is read, and a lower profile is slower."""
    speeds = read_device_speeds()
    found = [speed_of(load_profile(name), speeds.stated) for name in ("burst", "balanced", "low_power_saver")]
    assert found[0] == 1
    assert found == sorted(found, reverse=True)
    assert speeds.raise_late_us == 2000


def test_a_model_in_a_folder_of_the_user_is_found_by_its_name(tmp_path: Path) -> None:
    """A model of one's own is read from the subfolder devices, like a device model of ``tune``."""
    (tmp_path / "devices").mkdir()
    text = "speeds:\n  - profile: balanced\n    speed:\n      value: 0.5\nraise_late_us:\n  value: 900\n"
    (tmp_path / "devices" / "desk.yaml").write_text(text, encoding="utf-8")
    speeds = read_device_speeds("desk", [tmp_path])
    assert (speeds.stated, speeds.raise_late_us) == ({"balanced": 0.5}, 900)


@pytest.mark.parametrize(
    "text",
    [
        "speeds: []\nraise_late_us:\n  value: 900\n",
        "speeds:\n  - profile: balanced\n    speed:\n      value: 0\nraise_late_us:\n  value: 900\n",
        "speeds: 3\nraise_late_us:\n  value: 900\n",
        "profile: burst\n",
    ],
)
def test_a_file_without_speeds_is_refused(tmp_path: Path, text: str) -> None:
    """The error names the file, and says which values are missing."""
    path = tmp_path / "desk.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ProfileError, match="states no valid speeds") as refused:
        read_device_speeds(path)
    assert "desk.yaml" in str(refused.value)
