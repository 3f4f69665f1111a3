"""The profile files of a revision of a git repository."""

from __future__ import annotations

import contextlib
import functools
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import attrs

from htppower.profiles.discovery import shipped_folder
from htppower.profiles.paths import path_below
from htppower.tools.review.diff.export import Listing, NoRevision, export, is_below
from htppower.tools.review.file_selection import find_sources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Git sets these for its hooks. They name a repository (git rev-parse --local-env-vars, except configuration).
_OF_A_REPOSITORY = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)


@attrs.frozen(repr=False, eq=False)
class Revision:
    """The files of a revision, in a folder of their own.

    Attributes:
        root: the folder that replaces the top of the repository.
        top: the top of the repository.
        commit: the commit of the revision.
    """

    root: FilePath
    top: FilePath
    commit: str

    def path_of(self, path: str | os.PathLike[str]) -> FilePath | None:
        """Return the path in the revision for a path of the work tree; None outside of the repository."""
        inside = _inside(path, self.top)
        return None if inside is None else self.root / inside

    @property
    def shipped(self) -> str:
        """The shipped folder: the revision's own, if the repository has one."""
        then = self.path_of(shipped_folder())
        return str(then) if then is not None and then.is_dir() else shipped_folder()


@contextlib.contextmanager
def checked_out(name: str, paths: Iterable[str | os.PathLike[str]]) -> Iterator[Revision]:
    """Yield the files of a revision of the repository around the first path. The repository is not changed.

    Args:
        name: the revision, in any form that git accepts.
        paths: the files and folders to read, with all that they extend and relax to.

    Raises:
        NoRevision: git, the repository or the revision is missing.
    """
    paths = list(paths)
    folder = FilePath(paths[0])
    while not folder.is_dir():
        folder = folder.parent
    top = _top(folder)
    commit = _commit(name, top)
    read = functools.partial(_contents, top)
    listing = Listing.parse(_git(top, "ls-tree", "-r", "-z", "--full-tree", commit), read)
    starts = [inside for inside in (_inside(path, top) for path in paths) if inside is not None]
    _refuse_submodules(listing, starts, top)
    shipped = _inside(shipped_folder(), top)
    with tempfile.TemporaryDirectory(prefix="htppower-") as root:
        revision = Revision(FilePath(os.path.realpath(root)), top, commit)
        wanted = starts if shipped is None else [*starts, shipped]
        export(listing, wanted, revision.root, str(top), read, _inside(FilePath.cwd(), top) or "")
        yield revision


def _top(folder: FilePath) -> FilePath:
    """Return the top of the work tree around a folder.

    Raises:
        NoRevision: the repository's configuration names another work tree, without the folder's files.
    """
    said = FilePath(os.path.realpath(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n"))))
    real = FilePath(os.path.realpath(folder))
    marks = ((each, each / ".git") for each in (real, *real.parents))
    top = next((each for each, mark in marks if mark.is_file() or (mark / "HEAD").exists()), said)
    if top != said:
        mend = f"git -C {shlex.quote(str(top))} config --unset core.worktree"
        raise NoRevision(f"the configuration of {top} says that its work tree is {said}: {mend}")
    return top


def _refuse_submodules(listing: Listing, starts: list[str], top: FilePath) -> None:
    """Refuse to compare files of a submodule, which the revision does not hold.

    Raises:
        NoRevision: a path is in a submodule, or a submodule below it holds profiles.
    """
    for module in listing.submodules:
        inside = any(is_below(start, module) for start in starts)
        below = any(is_below(module, start) for start in starts)
        if inside or (below and (top / module).is_dir() and find_sources([top / module]).sources):
            raise NoRevision(f"{module} is a submodule of {top}: compare it from inside")


def _inside(path: str | os.PathLike[str], top: FilePath) -> str | None:
    """Return a path from the top of the repository, with slashes; empty for the top, None outside of it.

    A link in the last part is kept, because it is part of the revision.
    """
    text = os.path.abspath(path)  # only links in the folder are resolved
    real = os.path.join(os.path.realpath(os.path.dirname(text)), os.path.basename(text))
    relative = path_below(real, top)
    return relative if relative is None else "" if relative == os.curdir else relative.replace(os.sep, "/")


def _commit(name: str, top: FilePath) -> str:
    try:
        said = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except NoRevision:
        hint = "name a branch, a tag or a commit that this clone has"
        raise NoRevision(f"no revision {name!r} in {top}: {hint}") from None
    return said.decode("ascii").strip()


def _contents(top: FilePath, blobs: list[str]) -> list[bytes]:
    """Return the contents of blobs.

    Raises:
        NoRevision: this clone lacks one of them.
    """
    said = _git(top, "cat-file", "--batch", given="".join(f"{blob}\n" for blob in blobs).encode()) if blobs else b""
    contents = []
    start = 0
    for blob in blobs:
        end = said.index(b"\n", start)
        *_, size = said[start:end].split()
        if not size.isdigit():
            raise NoRevision(f"the clone {top} lacks the file {blob}: fetch all of it")
        contents.append(said[end + 1 : end + 1 + int(size)])
        start = end + 1 + int(size) + 1
    return contents


def _git(folder: FilePath, *arguments: str, given: bytes = b"") -> bytes:
    """Return the output of git in the repository around a folder, even if git's variables name another.

    Raises:
        NoRevision: git is missing, or fails.
    """
    program = shutil.which("git")
    if program is None:
        raise NoRevision("git is missing: install it, or compare two folders")
    environment = {name: value for name, value in os.environ.items() if name not in _OF_A_REPOSITORY}
    done = subprocess.run(  # noqa: S603 - the program is git, and no argument is an option
        [program, "-C", os.fspath(folder), *arguments],
        input=given,
        capture_output=True,
        check=False,
        env={**environment, "GIT_NO_LAZY_FETCH": "1"},
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise NoRevision(f"git failed: {said or 'no reason given'} ({folder})")
    return done.stdout
