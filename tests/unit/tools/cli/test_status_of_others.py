"""Root's ``htppower status`` lists the hosts of all users, and reads no file that a user made as a trap for root."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest
from support.bench import Bench
from support.inside import leave_behind
from support.slashes import in_one_line

from htppower.tools.cli.status.document import folders_of_others, open_status

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

OTHER = 54_321
pytestmark = pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root gives files away")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the runtime folder of another user, with a status in it."""
    monkeypatch.setattr("htppower.tools.cli.status.served.runtime_folders", lambda: ())
    monkeypatch.setattr("htppower.tools.cli.status.document.USERS", tmp_path / "users")
    monkeypatch.setattr("htppower.tools.cli.status.document.temporary_folder", lambda: tmp_path / "tmp")
    own = tmp_path / "users" / str(OTHER) / "htppower"
    own.mkdir(parents=True, mode=0o700)
    (tmp_path / "tmp").mkdir()
    bench = Bench.make()
    with bench.controller.session("burst", owner="camera").inference():
        leave_behind(bench.controller.serve_status(own / f"{os.getpid()}-1.json"))
    bench.controller.close()
    given_away(own, own / f"{os.getpid()}-1.json")
    return own


def given_away(*paths: Path) -> None:
    """Give the files to the other user."""
    for path in paths:
        os.chown(path, OTHER, OTHER, follow_symlinks=False)


def test_root_sees_the_hosts_of_all_users(command: Command, folder: Path) -> None:
    """Each host has its user; a process id selects it, as for root's own."""
    said = command.output("status", columns=200)
    assert f"process      {os.getpid()} of user {OTHER}; " in said
    assert "camera: RAISED" in said
    assert "session 1    camera" in command.output("status", str(os.getpid()))
    (status,) = json.loads(command.output("status", "--format", "json"))["statuses"]
    assert (status["user"], status["path"]) == (str(OTHER), str(folder / f"{os.getpid()}-1.json"))


def test_a_process_of_a_third_user_is_not_taken_for_the_writer(command: Command, folder: Path) -> None:
    """A user can write any process id into a file, so a process of a third user is not called running."""
    assert folder.exists()
    assert "whether it runs is not known" in in_one_line(command.output("status"))


def test_other_users_see_their_own(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root, the folders of other users are not read."""
    assert [each.path for each in folders_of_others()] == [folder]
    monkeypatch.setattr(os, "geteuid", lambda: OTHER + 1)
    assert list(folders_of_others()) == []


@pytest.mark.parametrize("wrong", ["link", "writable", "owner"])
def test_a_folder_that_is_not_the_users_alone_is_passed_over(command: Command, folder: Path, wrong: str) -> None:
    """A folder is skipped if it is a link, or if a third user may write to it."""
    if wrong == "link":
        moved = folder.rename(folder.with_name("elsewhere"))
        folder.symlink_to(moved)
        given_away(folder)
    elif wrong == "writable":
        folder.chmod(0o777)
    else:
        os.chown(folder, OTHER + 1, OTHER)
    assert "camera" not in command.output("status")


@pytest.mark.parametrize("wrong", ["link", "pipe", "owner", "writable", "folder"])
def test_a_file_that_is_not_the_users_alone_is_not_read(command: Command, folder: Path, wrong: str) -> None:
    """A link to root's file, a pipe and a third user's file are reported and not read."""
    path = folder / f"{os.getpid()}-1.json"
    target = folder.parent / "secret.json"
    path.rename(target)
    if wrong == "link":
        path.symlink_to(target)
    elif wrong == "pipe":
        os.mkfifo(path)
    elif wrong == "folder":
        path.mkdir()
    else:
        target.rename(path)
    given_away(path)
    if wrong == "owner":
        os.chown(path, 0, 0)
    elif wrong == "writable":
        path.chmod(0o666)
    said = command.output("status", columns=400)
    assert f"unreadable   can't read {path}: " in said
    assert "camera" not in said
    assert command.run("status", str(os.getpid())).exit_code == 2


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(folder: Path) -> None:
    """The user may replace the folder between the check and the read."""
    path = folder / f"{os.getpid()}-1.json"
    os.close(open_status(path, OTHER))
    moved = folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(moved)
    with pytest.raises(OSError, match=r"directory|symbolic"):
        open_status(path, OTHER)


def test_a_folder_beside_those_of_root_in_tmp(command: Command, folder: Path) -> None:
    """A user without a runtime folder has one in the folder for temporary files."""
    for name, shown in ((f"htppower-{OTHER}", True), (str(OTHER), False), (f"other-{OTHER}", False)):
        folder = folder.rename(folder.parents[1 if folder.parent.name == "tmp" else 2] / "tmp" / name)
        assert ("camera: RAISED" in command.output("status")) is shown
