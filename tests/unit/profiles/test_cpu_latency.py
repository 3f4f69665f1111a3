"""The field ``cpu_latency_us`` of a profile's file: its range, how it is inherited and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest

from htppower import ProfileError, load_profile, profile_names
from htppower.profiles.expressed import lost
from htppower.profiles.yaml_text import profile_lines
from htppower.tools.extensions.lost import lost_fields

if TYPE_CHECKING:
    from pathlib import Path

BURST = load_profile("burst")


def write(folder: Path, name: str, *lines: str, extends: str = "burst") -> Path:
    """Write a profile that extends another one."""
    path = folder / f"{name}.yaml"
    path.write_text("\n".join((f"profile: {name}", f"extends: {extends}", *lines, "")), encoding="utf-8")
    return path


def test_no_shipped_profile_has_a_limit() -> None:
    """The limit is off unless a profile states it."""
    assert {load_profile(name).cpu_latency_us for name in profile_names()} == {None}


def test_it_is_inherited_and_can_be_unset(tmp_path: Path) -> None:
    """The whole range is accepted; a profile that extends another takes its limit over, or unsets it."""
    for us in (0, 44, 1_000_000):
        assert load_profile(write(tmp_path, "base", f"cpu_latency_us: {us}")).cpu_latency_us == us
    above = str(tmp_path / "base.yaml")
    assert load_profile(write(tmp_path, "same", extends=above)).cpu_latency_us == 1_000_000
    unset = write(tmp_path, "none", "cpu_latency_us: unset", extends=above)
    assert load_profile(unset).cpu_latency_us is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("cpu_latency_us: -1", "3:17: VALUE-1: cpu_latency_us is -1"),
        ("cpu_latency_us: 1000001", r"3:17: VALUE-1: cpu_latency_us is 1000001 \(0 to 1000000\)"),
        ("cpu_latency_us: fast", "3:17: TYPE-1"),
        ("cpu_latency_us: 4.5", "3:17: TYPE-1"),
    ],
)
def test_another_value_is_an_error(tmp_path: Path, line: str, said: str) -> None:
    """A value out of range, or of another type, is an error at its place."""
    with pytest.raises(ProfileError, match=said):
        load_profile(write(tmp_path, "mine", line))


@pytest.mark.parametrize(("us", "base_us"), [(44, None), (None, 44), (44, 44), (0, None), (0, 44)])
def test_what_is_written_is_read_again(tmp_path: Path, us: int | None, base_us: int | None) -> None:
    """The file of a profile, also one that states only the differences to a base, has the same limit."""
    base = load_profile(write(tmp_path, "base", f"cpu_latency_us: {'unset' if base_us is None else base_us}"))
    mine = attrs.evolve(base, name="mine", cpu_latency_us=us, lineage=("mine",))
    for extends in (None, base):
        path = tmp_path / "mine.yaml"
        path.write_text("\n".join(line for _, line in profile_lines(mine, extends)), encoding="utf-8")
        assert load_profile(path).cpu_latency_us == us


def test_other_formats_lose_it() -> None:
    """A runtime and an extension file lack it, and an export reports that."""
    limited = attrs.evolve(BURST, cpu_latency_us=44)
    assert [str(each) for each in lost(limited, BURST, held=False)] == [
        "cpu_latency_us: 44; the runtime: makes no request for the CPUs"
    ]
    assert [each.says for each in lost_fields(limited) if each.field == ("cpu_latency_us",)] == ["44 us"]
    assert not [each for each in lost_fields(BURST) if each.field == ("cpu_latency_us",)]
