"""What tests need and Windows, or Wine, lacks. ``@pytest.mark.needs("signals")`` skips a test there with the reason.

A test that makes a link, a pipe in a folder, or a file of a name that Windows does not allow needs no mark: it is
skipped there.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOWS = sys.platform == "win32"
# The names that a mark can give, each with the reason of the skip.
LACKING = {
    "bus": "Windows has no D-Bus",
    "dask": "Wine starts no cluster of Dask",
    "descriptors": "Windows has no /dev, /proc or numbers of open files",
    "fork": "Windows has no fork",
    "git": "Wine starts no git",
    "importlib": "the standard library of the made Python is older than its interpreter",
    "modes": "Windows has no modes and owners of files",
    "names": "Windows allows no such names of files",
    "open files": "Windows neither removes nor renames a file that is open",
    "provider": "the QNN provider hangs under Wine",
    "thread times": "Windows counts the processor time of a thread in steps of 15.6 ms",
    "unix sockets": "Python has no Unix sockets on Windows",
    "voter": "the process of the vendor's voter is for Linux",
    "search path": "Windows searches no LD_LIBRARY_PATH",
    "signals": "Windows sends no POSIX signals",
    "terminals": "Windows has no POSIX terminals",
}


def skip_what_lacks(items: list[pytest.Item]) -> None:
    """On Windows mark the tests to be skipped that need what it lacks.

    Raises:
        KeyError: a mark names nothing in LACKING.
    """
    for item in items:
        for mark in item.iter_markers("needs"):
            for name in mark.args:
                reason = LACKING[name]
                if WINDOWS:
                    item.add_marker(pytest.mark.skip(reason=reason))


def write_like_posix(patch: pytest.MonkeyPatch) -> None:
    """On Windows write texts as elsewhere, and skip a test that makes a symbolic link or a pipe if none can be made."""
    if WINDOWS:
        symlink_to = Path.symlink_to

        def tried(link: Path, target: Path, target_is_directory: bool = False) -> None:
            with contextlib.suppress(OSError):
                symlink_to(link, target, target_is_directory)
            # Wine says that it has made a link, and makes none. pytest can do without its own links to folders.
            if not link.is_symlink() and not link.name.endswith("current"):
                pytest.skip("this system makes no symbolic links for this user")

        patch.setattr(Path, "symlink_to", tried)
        # The same bytes as elsewhere: Python would write \r\n.
        patch.setattr(Path, "write_text", functools.partialmethod(Path.write_text, newline="\n"))
        for name in ("mkdir", "touch", "write_bytes", "write_text"):
            patch.setattr(Path, name, _with_allowed_name(getattr(Path, name)))
        patch.setattr(os, "mkfifo", _no_pipes, raising=False)


def _with_allowed_name(make: Callable[..., Any]) -> Callable[..., Any]:
    def made(path: Path, *arguments: Any, **options: Any) -> Any:
        if re.search(r'[\x00-\x1f<>:"|?*]|[ .]$', path.name):
            pytest.skip(LACKING["names"])
        return make(path, *arguments, **options)

    return made


def _no_pipes(*_: object) -> NoReturn:
    pytest.skip("Windows has no pipes in folders")
