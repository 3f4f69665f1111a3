"""Texts with paths on Windows, compared as on POSIX: with slashes, and with its words for a missing file."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import re
import sys
from typing import Any

WINDOWS = sys.platform == "win32"
_ERRORS = {2: errno.ENOENT, 3: errno.ENOENT, 5: errno.EACCES, 183: errno.EEXIST}
# Between parts of a path; repr and JSON double it.
_BACKSLASH = re.compile(r"(?<=[\w.:>~)\]-])\\{1,2}(?=[\w.<(\[*-])")


def slashed(text: str) -> str:
    """Return a text as it is on POSIX; there, and if it is JSON, the text itself.

    Methods of the result read their arguments in the same way, so that a path may be given as Windows spells it.
    """
    return text if not WINDOWS or text[:1] in ("{", "[") else _Slashed(_posix(text))


def json_slashed(text: str) -> str:
    """Return JSON with slashes in its paths."""
    return text.replace("\\\\", "/") if WINDOWS else text


def _posix(text: str) -> str:
    for words, ours in _words().items():
        text = text.replace(words, ours)
    return _BACKSLASH.sub("/", text)


@functools.cache
def _words() -> dict[str, str]:
    if sys.platform != "win32":
        return {}
    return {ctypes.FormatError(code).rstrip(" .\r\n"): os.strerror(number) for code, number in _ERRORS.items()}


def _reading(name: str) -> Any:
    """Return a method of str that reads texts as they are on POSIX, and returns such texts."""
    method = getattr(str, name)

    def called(self: str, *arguments: Any, **options: Any) -> Any:
        found = method(self, *(_posix(each) if isinstance(each, str) else each for each in arguments), **options)
        if isinstance(found, str):
            return _Slashed(found)
        return type(found)(map(_Slashed, found)) if isinstance(found, (list, tuple)) else found

    return called


class _Slashed(str):
    """A text with slashes in its paths."""

    __slots__ = ()
    __hash__ = str.__hash__
    __eq__ = _reading("__eq__")
    __ne__ = _reading("__ne__")
    __contains__ = _reading("__contains__")


for _name in (
    "count", "endswith", "find", "index", "lstrip", "partition", "removeprefix", "removesuffix", "replace",
    "rpartition", "split", "splitlines", "startswith", "strip",
):  # fmt: skip
    setattr(_Slashed, _name, _reading(_name))


def no_such_file() -> str:
    """Return a pattern of the system's words for a missing file or folder."""
    words = [words for words, ours in _words().items() if ours == os.strerror(errno.ENOENT)]
    return f"({'|'.join(map(re.escape, words or [os.strerror(errno.ENOENT)]))})"


def as_said(path: os.PathLike[str]) -> str:
    """Return a pattern of a path as an OSError prints it."""
    return re.escape(repr(os.fspath(path)))


def in_one_line(text: str) -> str:
    """Return a text of several lines in one."""
    return slashed(" ".join(text.split()))
