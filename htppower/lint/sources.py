"""Which files are linted, of which kind each is, and where the names in it are looked up."""

from __future__ import annotations

import enum
import os
import re
from pathlib import Path as FilePath
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Problem, ProfileError
from htppower.files import Folders, shipped_folder, yaml_files
from htppower.lint.comments import comments_for_htppower
from htppower.profiles import SHIPPED_PROFILES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x85\u2028\u2029]")
_STATE_KEY = re.compile(r"^[\"']?state[\"']?\s*:", re.MULTILINE)
_TEST_KEY = re.compile(r"^[\"']?test[\"']?\s*:", re.MULTILINE)
_PROFILE_KEY = re.compile(r"^[\"']?profile[\"']?\s*:", re.MULTILINE)


class Kind(enum.Enum):
    """What a file holds."""

    PROFILE = "profile"
    STATE = "power state"
    TEST = "test"


@attrs.frozen(repr=False, eq=False)
class Source:
    """A file to be linted.

    Attributes:
        path: the file, spelt as the user spells it.
        kind: what it holds.
        lines: its lines, for showing them; none where it can't be read.
        comments: line and column of the comments in it that are for htppower.
        says_its_kind: it names itself a profile or power state; other YAML does not.
    """

    path: FilePath
    kind: Kind
    lines: tuple[str, ...]
    comments: tuple[tuple[int, int], ...]
    says_its_kind: bool

    @property
    def home(self) -> FilePath:
        """The folder of profiles that the file belongs to: a power state's is above its folder ``states``."""
        folder = self.path.parent
        return folder.parent if self.kind is Kind.STATE and folder.name == "states" else folder


def find_sources(paths: Iterable[str | os.PathLike[str]]) -> tuple[Source, ...]:
    """Return the files, and the YAML files in the folders and below, each once, sorted.

    Hidden files are left out, and so are tests of profiles, which ``htppower test`` checks.

    Raises:
        ProfileError: FILE-1, a path does not exist or can't be read.
    """
    found: dict[str, FilePath] = {}
    problems = []
    for path in map(FilePath, paths):
        try:
            for file in _files(path):
                found.setdefault(os.path.realpath(file), file)
        except OSError as error:
            said = "no such file or folder" if isinstance(error, FileNotFoundError) else error.strerror
            problems.append(Problem(str(path), 0, 0, "FILE-1", f"can't be read: {said}", "check the path"))
    if problems:
        raise ProfileError(problems)
    sources = map(read_source, sorted(found.values(), key=str))
    return tuple(source for source in sources if source.kind is not Kind.TEST)


def read_source(path: FilePath) -> Source:
    """Return a file with its lines; one that can't be read has none."""
    try:
        text = path.read_bytes().decode("utf-8-sig", "replace") if path.is_file() else ""
    except (OSError, ValueError):
        text = ""
    lines = tuple(_LINE_BREAK.split(text))
    comments = tuple(comments_for_htppower(text, lines))
    says = any(key.search(text) is not None for key in (_STATE_KEY, _PROFILE_KEY))
    return Source(path, _kind(path, text), lines, comments, says)


def folders_of(home: FilePath, named: Iterable[FilePath] = (), shipped: FilePath | None = None) -> Folders:
    """Return where names in the files of a folder are looked up; ``shipped`` stands in for the shipped folder.

    The shipped folder comes first, as when a profile is used, then the folder itself, then those that are named. A
    folder that holds a profile for every shipped name is a copy of the shipped folder, and stands in for it.
    """
    shipped = shipped_folder() if shipped is None else shipped
    names = {file.stem for file in yaml_files(home)}
    if names.issuperset(SHIPPED_PROFILES):
        return Folders((home, *named, shipped))
    return Folders((shipped, home, *named))


def _files(path: FilePath) -> Iterator[FilePath]:
    if not path.is_dir():
        path.stat()
        yield path
        return
    below = sorted(path.iterdir())
    yield from yaml_files(path)
    for folder in below:
        if folder.is_dir() and not folder.is_symlink() and not folder.name.startswith("."):
            yield from _files(folder)


def _kind(path: FilePath, text: str) -> Kind:
    if path.parent.name == "tests" and _TEST_KEY.search(text):
        return Kind.TEST
    if path.parent.name == "states":
        return Kind.STATE
    return Kind.STATE if _STATE_KEY.search(text) and not _PROFILE_KEY.search(text) else Kind.PROFILE
