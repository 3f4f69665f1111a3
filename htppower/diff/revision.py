"""Profile files as they stand in a revision of a git repository."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import attrs

from htppower.errors import HtpPowerError
from htppower.files import SUFFIXES, shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

_REGULAR = ("100644", "100755")


class NoRevision(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """There is no git, no repository, or no such revision in it."""


@attrs.frozen(repr=False, eq=False)
class Revision:
    """The YAML files of a revision, in a folder of their own.

    Attributes:
        root: the folder that stands for the top of the repository.
        top: the top of the repository itself.
        name: as the user named it.
    """

    root: FilePath
    top: FilePath
    name: str

    def path_of(self, path: str | os.PathLike[str]) -> FilePath | None:
        """Return where a path of the work tree is in the revision; None where it is outside of the repository."""
        relative = os.path.relpath(os.path.realpath(path), self.top)
        return None if relative.startswith("..") else self.root / relative

    @property
    def shipped(self) -> FilePath:
        """The shipped folder: as it was, where it is part of the repository."""
        then = self.path_of(shipped_folder())
        return then if then is not None and then.is_dir() else shipped_folder()


@contextlib.contextmanager
def checked_out(name: str, near: str | os.PathLike[str]) -> Iterator[Revision]:
    """Yield the YAML files of a revision of the repository around a path; nothing of the repository is changed.

    Raises:
        NoRevision: there is no git, no repository, or no such revision in it.
    """
    folder = FilePath(near)
    while not folder.is_dir():
        folder = folder.parent
    top = FilePath(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    commit = _commit(name, top)
    with tempfile.TemporaryDirectory(prefix="htppower-") as root:
        revision = Revision(FilePath(os.path.realpath(root)), FilePath(os.path.realpath(top)), name)
        _write_files(revision, commit)
        yield revision


def _commit(name: str, top: FilePath) -> str:
    try:
        said = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except NoRevision:
        hint = "name a branch, a tag or a commit that this clone has"
        raise NoRevision(f"no revision {name!r} in {top}: {hint}") from None
    return said.decode("ascii").strip()


def _write_files(revision: Revision, commit: str) -> None:
    listed = _git(revision.top, "ls-tree", "-r", "-z", "--full-tree", commit)
    wanted = []
    for entry in filter(None, listed.split(b"\0")):
        about, _, path = entry.partition(b"\t")
        mode, _, blob = about.decode("ascii").split()
        if mode in _REGULAR and os.fsdecode(path).endswith(SUFFIXES):
            wanted.append((blob, revision.root / os.fsdecode(path)))
    contents = _git(revision.top, "cat-file", "--batch", given="".join(f"{blob}\n" for blob, _ in wanted).encode())
    start = 0
    for _, file in wanted:
        end = contents.index(b"\n", start)
        size = int(contents[start:end].split()[-1])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(contents[end + 1 : end + 1 + size])
        start = end + 1 + size + 1


def _git(folder: FilePath, *arguments: str, given: bytes = b"") -> bytes:
    """Return what git says.

    Raises:
        NoRevision: there is no git, or it fails.
    """
    program = shutil.which("git")
    if program is None:
        raise NoRevision("there is no git to ask: install it, or compare two folders")
    done = subprocess.run(  # noqa: S603 - the program is git, and no argument is an option
        [program, "-C", os.fspath(folder), *arguments], input=given, capture_output=True, check=False
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise NoRevision(f"git can't tell: {said or 'no reason given'} ({folder})")
    return done.stdout
