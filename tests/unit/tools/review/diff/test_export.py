"""Exports of a revision: links as in a file system, malformed trees, and work that grows with the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.diff.export import Listing, NoRevision, export

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TOP = "/top"


def _listing(files: Mapping[str, str], links: Mapping[str, str] | None = None) -> Listing:
    """Return the listing of a tree with files and links; a blob has its content as its name."""
    return Listing(files, links or {}, ())


def _contents(blobs: list[str]) -> list[bytes]:
    return [blob.encode() for blob in blobs]


def _leads(links: Mapping[str, str], path: str) -> str | None:
    return _listing({}, links).real(path, TOP)


def test_links_are_followed_as_by_a_file_system() -> None:
    """Targets may be relative or absolute, pass through links, lead out of the tree, or be missing."""
    links = {"a": "b/c", "b": "d", "d/e": "../f", "g": "/top/b/c", "out": "../x", "far": "/etc", "x/y": "../../z"}
    leads = {"a": "d/c", "b/e/i": "f/i", "g": "d/c", "out": None, "far/x": None, "x/y": None, "d/../b": "d", "q": "q"}
    assert {path: _leads(links, path) for path in leads} == leads


def test_as_many_links_are_followed_as_linux_follows() -> None:
    """A chain of 40 links reaches its end, a chain of 41 does not; a very long chain takes no longer."""
    chain = {f"l{number}": f"l{number + 1}" for number in range(5_000)}
    assert _leads(chain, "l4960") == "l5000"
    assert _leads(chain, "l4959") is None
    assert _leads(chain, "l0") is None
    assert _leads({"a": "b", "b": "a", "c": "c", "d": "a/x"}, "d") is None


def test_links_that_double_the_work_are_followed_once_each(tmp_path: Path) -> None:
    """Each of 60 links names the next one twice: it is refused at once, as by Linux."""
    links = {f"l{number}": f"l{number + 1}/../l{number + 1}" for number in range(60)}
    listing = _listing({"l60": "x"}, links)
    assert listing.real("l59", TOP) == "l60"
    assert listing.real("l0", TOP) is None
    export(listing, [""], tmp_path, TOP, _contents)
    assert (tmp_path / "l59").is_symlink()
    assert not (tmp_path / "l0").is_symlink()


@pytest.mark.parametrize("target", ["", "a\udc80\0b", "x" * 70_000, "\0"])
def test_a_link_that_no_file_system_makes_is_left_out(tmp_path: Path, target: str) -> None:
    """An empty target, one with a NUL, and one that is too long lead to no file."""
    listing = _listing({"file.yaml": "profile: x\n"}, {"link.yaml": target})
    export(listing, [""], tmp_path, TOP, _contents)
    assert [path.name for path in tmp_path.iterdir()] == ["file.yaml"]


@pytest.mark.parametrize(
    "listed",
    [
        b"100644 blob 1\ta.yaml\x00100644 blob 2\ta.yaml/b.yaml\0",
        b"120000 blob 1\ta.yaml\x00100644 blob 2\ta.yaml/b/c.yaml\0",
        b"120000 blob 1\ta.yaml\x00100644 blob 2\ta.yaml\0",
        b"100644 blob 1\ta.yaml\x00100644 blob 2\ta.yaml\0",
        b"160000 commit 1\ta.yaml\x00100644 blob 2\ta.yaml/b.yaml\0",
    ],
)
def test_a_malformed_tree_is_refused(listed: bytes) -> None:
    """The error names a path that exists twice, or is both a file and a folder."""
    with pytest.raises(NoRevision, match=r"the revision is malformed.*a\.yaml"):
        Listing.parse(listed, lambda blobs: [b"x" for _ in blobs])


def test_what_can_not_be_written_is_told_by_its_name(tmp_path: Path) -> None:
    """A name that is too long for the file system is shown by its beginning only."""
    listing = _listing({f"{'n' * 3000}.yaml": "x"})
    with pytest.raises(NoRevision, match=r"'nnn.* of the revision can't be written to .*: \w") as told:
        export(listing, [""], tmp_path, TOP, _contents)
    assert len(str(told.value)) < 400


class _Name(str):
    """A name that counts its comparisons."""

    __slots__ = ()
    looks = 0

    def endswith(self, *arguments: object) -> bool:
        _Name.looks += 1
        return super().endswith(*arguments)  # type: ignore[arg-type]


def test_the_work_grows_with_the_files_of_a_folder(tmp_path: Path) -> None:
    """The number of looks at a name does not grow with the number of files."""
    looks = []
    for count in (100, 400):
        before = _Name.looks
        listing = _listing({_Name(f"p{number}.yaml"): "profile: x" for number in range(count)})
        export(listing, ["p7.yaml"], tmp_path, TOP, _contents)
        looks.append((_Name.looks - before) / count)
    assert len(list(tmp_path.iterdir())) == 400
    assert max(looks) < 10
