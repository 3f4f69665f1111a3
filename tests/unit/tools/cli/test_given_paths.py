"""Paths given to a command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click
import pytest

from htppower.tools.cli.options import Folder, GivenPath

if TYPE_CHECKING:
    from pathlib import Path


def _said(kind: GivenPath | click.Path, path: str) -> object:
    """Return the path that the type accepts, or its error message."""
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
    """The answers are the same for a file, a folder, a broken link, a missing path and the standard input."""
    if not readable:
        monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to("nothing")
    for path in (*(str(tmp_path / name) for name in ("", "file", "link", "none")), "-", ""):
        assert _said(ours, path) == _said(of_click, path)
    assert ours.name == of_click.name
    proposed = [kind.shell_complete(None, None, "p") for kind in (ours, of_click)]  # type: ignore[arg-type] # not used
    assert [item.type for item in proposed[0]] == [item.type for item in proposed[1]]
