"""A controller reads a profile again only if one of its files has changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench
from support.inside import kept_profiles

from htppower import ProfileError
from htppower.profiles import cache, strict_yaml
from htppower.profiles.cache import ProfileCache
from htppower.profiles.regular_file import read_regular_file

if TYPE_CHECKING:
    from collections.abc import Callable

OWN = "profile: camera\nextends: base.yaml\nrelax:\n  to: calm\n"
BASE = "profile: base\nextends: burst\nsummary: One\n"
# The shipped power states that "camera" inherits from burst, and that "calm" extends.
INHERITED = ("relaxed.yaml", "released_up_down.yaml")
CALM = "state: calm\nextends: relaxed\nsummary: One\n"


@pytest.fixture
def opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each file opened from now on."""
    names: list[str] = []

    def told(path: str, *arguments: Any, **named: Any) -> Any:
        names.append(Path(path).name)
        return open(path, *arguments, **named)  # noqa: PTH123 - a path can't be opened with an opener

    monkeypatch.setattr("htppower.profiles.regular_file.open", told, raising=False)
    return names


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a profile, its base, and its power state."""
    (tmp_path / "states").mkdir()
    (tmp_path / "camera.yaml").write_text(OWN, encoding="utf-8")
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "states" / "calm.yaml").write_text(CALM, encoding="utf-8")
    return tmp_path


def rewrite(path: Path, old: str, new: str) -> None:
    """Rewrite a file in place, with a later time: the file system's clock is too coarse for a test."""
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    stat = path.stat()
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1_000_000_000))


def test_no_file_is_opened_a_second_time(opened: list[str], folder: Path) -> None:
    """Sessions, changes of profile, holds and caps together read a profile once, by name or by path."""
    bench = Bench.make(folders=[folder])
    session = bench.controller.session("camera")
    assert sorted(opened) == ["base.yaml", "burst.yaml", "calm.yaml", "camera.yaml", *INHERITED]
    session.use("balanced")
    bench.controller.cap(folder / "camera.yaml", reason="test").lift()
    opened.clear()
    for profile in ("camera", "balanced", folder / "camera.yaml"):
        session.use(profile)
        session.hold(profile, reason="test").release()
        bench.controller.cap(profile, reason="test").lift()
        bench.controller.session(profile).close()
    assert opened == []


def summary_of_the_base(folder: Path) -> None:
    """Change the base."""
    rewrite(folder / "base.yaml", "One", "Two")


def summary_of_its_own(folder: Path) -> None:
    """Change the file and its size."""
    rewrite(folder / "camera.yaml", "relax:", "summary: Two\nrelax:")


def summary_of_the_state(folder: Path) -> None:
    """Change the power state."""
    rewrite(folder / "states" / "calm.yaml", "One", "Two")


def another_file(folder: Path) -> None:
    """Replace the file by another with the same time and size."""
    new = folder / "new"
    new.write_text(BASE.replace("One", "Two"), encoding="utf-8")
    stat = (folder / "base.yaml").stat()
    os.utime(new, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    new.replace(folder / "base.yaml")


@pytest.mark.parametrize(
    "change",
    [summary_of_the_base, summary_of_its_own, summary_of_the_state, another_file],
    ids=lambda each: each.__name__,
)
def test_a_change_is_seen(change: Callable[[Path], None], folder: Path) -> None:
    """If any file of a profile has changed, the profile is read again."""
    profiles = ProfileCache([folder])
    before = profiles.load("camera")
    assert profiles.load("camera") is before
    change(folder)
    after = profiles.load("camera")
    assert after.relax is not None
    assert "Two" in {after.summary, after.relax.to.summary}
    assert profiles.load("camera") is after


def test_a_file_that_comes_first_is_seen(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A new power state with the same name in an earlier folder is used from then on."""
    first = tmp_path_factory.mktemp("first")
    (first / "states").mkdir()
    profiles = ProfileCache([first, folder])
    before = profiles.load("camera")
    (first / "states" / "calm.yaml").write_text(CALM.replace("One", "Two"), encoding="utf-8")
    after = profiles.load("camera")
    assert before.relax is not None
    assert after.relax is not None
    assert (before.relax.to.summary, after.relax.to.summary) == ("One", "Two")


def test_what_is_wrong_is_not_kept(folder: Path) -> None:
    """A corrected file is used, a file with a new mistake is refused, and a removed file is not found."""
    profiles = ProfileCache([folder])
    profiles.load("camera")
    rewrite(folder / "base.yaml", "summary", "sumary")
    for _ in range(2):
        with pytest.raises(ProfileError, match="sumary"):
            profiles.load("camera")
    rewrite(folder / "base.yaml", "sumary", "summary")
    assert profiles.load("camera").summary == "One"
    (folder / "camera.yaml").unlink()
    with pytest.raises(ProfileError, match="no profile 'camera'"):
        profiles.load("camera")


def test_a_file_that_changes_while_it_is_read_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile is kept with the state of its files before it was read."""
    profiles = ProfileCache([folder])

    def changing(path: str) -> bytes:
        data = read_regular_file(path)
        if path.endswith("base.yaml"):
            rewrite(Path(path), "One", "Two")
        return data

    monkeypatch.setattr(strict_yaml, "read_regular_file", changing)
    assert profiles.load("camera").summary == "One"
    monkeypatch.undo()
    assert profiles.load("camera").summary == "Two"


def test_it_does_not_grow_without_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of kept profiles is limited, so a host with made-up paths fills no memory."""
    monkeypatch.setattr(cache, "MOST_PROFILES", 2)
    profiles = ProfileCache([folder])
    for name in ("camera", "base", "burst", "balanced", "camera"):
        profiles.load(name)
        assert kept_profiles(profiles) <= 2
