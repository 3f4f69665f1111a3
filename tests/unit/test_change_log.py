"""The change log names modules where they are."""

from __future__ import annotations

import re
from pathlib import Path

from checkout import ROOT

import htppower

PACKAGE = Path(htppower.__file__).parent


def new_paths() -> list[str]:
    """Return the paths, below the package, at which the change log says that modules are now.

    An item is "`new`", or "`old` and `older` (`new`, `newer`)"; a folder, "`votes/`:", stands before its items.
    """
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    listed = re.search(r"is now in:\n((?:  .*\n)+)", text)
    assert listed is not None
    new = re.sub(r"`[^`]+`(?: and `[^`]+`)* (?:\(|is gone)", "", " ".join(listed[1].split()))
    folder = ""
    paths = []
    for name in re.findall(r"`([^`]+)`", new):
        if name.endswith("/"):
            folder = name
        else:
            paths.append(f"{folder}{name}")
    return paths


def test_what_has_moved_is_where_the_change_log_says() -> None:
    """Each new path in the list of moved modules is a module or a folder of the package."""
    paths = new_paths()
    assert len(paths) > 80
    assert not [path for path in paths if not (PACKAGE / path).is_dir() and not (PACKAGE / f"{path}.py").is_file()]
