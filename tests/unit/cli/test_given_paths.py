"""What a command takes for a path."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
import pytest

from htppower.cli.options import Folder, GivenPath

if TYPE_CHECKING:
    from pathlib import Path


def _said(kind: GivenPath | click.Path, path: str) -> object:
    """Return the path as a type takes it, or what it says of it."""
    try:
        return kind.convert(path, None, None)
    except click.BadParameter as error:
        return error.message


@pytest.mark.parametrize("readable", [True, False])
@pytest.mark.parametrize(
    ("ours", "of_click"), [(GivenPath(), click.Path()), (Folder(), click.Path(exists=True, file_okay=False))]
)
def test_a_path_is_taken_or_refused_as_by_click(
    ours: GivenPath, of_click: click.Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, readable: bool
) -> None:
    """A file, a folder, a link that leads nowhere, nothing at all, and the standard input, readable or not."""
    if not readable:
        monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nothing")
    for path in (*(str(tmp_path / name) for name in ("", "file", "link", "none")), "-", ""):
        assert _said(ours, path) == _said(of_click, path)
    assert ours.name == of_click.name
    proposed = [kind.shell_complete(None, None, "p") for kind in (ours, of_click)]  # type: ignore[arg-type] # not used
    assert [item.type for item in proposed[0]] == [item.type for item in proposed[1]]
