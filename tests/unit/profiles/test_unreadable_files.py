"""Files that are unreadable, hostile, or not profiles are refused, without other harm."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

import pytest
from support.shipped import shipped_folder

from htppower import Problem, ProfileError, load_profile

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = shipped_folder()


def refusal(path: Path) -> ProfileError:
    """Return the error of loading the file."""
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    return caught.value


def found_problems(error: ProfileError) -> list[tuple[str, int, int]]:
    """Return rule, line and column of every problem of an error."""
    return [(problem.rule, problem.line, problem.column) for problem in error.problems]


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    """An empty file breaks YAML-1 at its start, and the hint has the first line of a profile."""
    file = tmp_path / "empty.yaml"
    file.touch()
    error = refusal(file)
    assert found_problems(error) == [("YAML-1", 1, 1)]


def test_a_file_in_a_folder_that_may_not_be_entered_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error has the system's reason, since the file may exist."""
    file = tmp_path / "mine.yaml"

    def refuse(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    monkeypatch.setattr(os, "lstat", refuse)
    monkeypatch.setattr(os, "stat", refuse)
    assert os.strerror(errno.EACCES) in str(refusal(file))


def test_a_file_above_1_mib_is_refused_unread(tmp_path: Path) -> None:
    """A file of more than 1 MiB breaks FILE-2, whatever it contains; a file of 1 MiB is read."""
    file = tmp_path / "large.yaml"
    shipped = (SHIPPED / "burst.yaml").read_bytes()
    file.write_bytes(shipped.ljust(1024 * 1024, b"\n"))
    assert load_profile(file).name == "burst"
    file.write_bytes(shipped.ljust(1024 * 1024 + 1, b"\n"))
    error = refusal(file)
    assert error.problems == (Problem.of_file(str(file), "FILE-2", "larger than 1 MiB", error.hint),)
    assert error.hint


def test_a_path_that_is_a_link_to_itself_says_so(tmp_path: Path) -> None:
    """The error is that the path can't be read because of a loop, and not that it is missing."""
    loop = tmp_path / "loop.yaml"
    loop.symlink_to("loop.yaml")
    error = refusal(loop)
    assert found_problems(error) == [("FILE-1", 0, 0)]
    assert "no such file" not in str(error)
    assert "can't be read: " in str(error)


@pytest.mark.parametrize("name", ["nowhere.yaml", "folder.yaml", "a" * 300 + ".yaml"])
def test_a_path_without_a_file_is_refused(name: str, tmp_path: Path) -> None:
    """A missing path, a folder and a too long name break FILE-1, without a line."""
    (tmp_path / "folder.yaml").mkdir()
    error = refusal(tmp_path / name)
    assert (error.path, found_problems(error)) == (str(tmp_path / name), [("FILE-1", 0, 0)])
    assert error.hint


def test_a_folder_found_by_name_is_refused(tmp_path: Path) -> None:
    """A folder named like a profile breaks FILE-1 when it is looked up by name."""
    (tmp_path / "camera.yaml").mkdir()
    with pytest.raises(ProfileError) as caught:
        load_profile("camera", [tmp_path])
    assert found_problems(caught.value) == [("FILE-1", 0, 0)]


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without permission breaks FILE-1, with the reason."""
    file = tmp_path / "camera.yaml"
    file.write_bytes((SHIPPED / "burst.yaml").read_bytes())

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("htppower.profiles.regular_file.open", refuse, raising=False)
    error = refusal(file)
    assert (error.path, found_problems(error)) == (str(file), [("FILE-1", 0, 0)])
    assert "Permission denied" in str(error)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """A name in no folder breaks NAME-1, and the hint has the nearest profile."""
    with pytest.raises(ProfileError) as caught:
        load_profile("sustained_high_perfomance")
    assert found_problems(caught.value) == [("NAME-1", 0, 0)]
    assert "sustained_high_performance" in caught.value.hint


def test_extending_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    """A symbolic link to itself is refused as a file that can't be read."""
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "camera.yaml").write_text("profile: camera\nextends: loop\n")
    with pytest.raises(ProfileError):
        load_profile("camera", [tmp_path])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_saved_as_utf_16(tmp_path: Path, encoding: str) -> None:
    """The error names UTF-16, which PowerShell 5 writes, instead of a row of strange letters."""
    path = tmp_path / "mine.yaml"
    mark = "" if encoding == "utf-16" else "\ufeff"
    path.write_bytes(f"{mark}profile: mine\nextends: burst\n".encode(encoding))
    with pytest.raises(ProfileError, match=r"saved as UTF-16.*PowerShell"):
        load_profile(path)
