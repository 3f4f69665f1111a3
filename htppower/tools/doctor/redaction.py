"""Removes from a document what names a person: home folders, the user's name, the host's name."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import attrs

HOME, USER, HOST = "~", "USER", "HOST"
# The homes of other users, on Linux, macOS and Windows.
_HOMES = re.compile(
    r"(/home/|/Users/)[^/\s:;\"']+|(\b[A-Z]:\\Users\\)(?:[^\\:;\"'\n]+(?=\\)|[^\\\s:;\"']+)", re.IGNORECASE
)
# Names of no person, and words of reports.
_SHARED = frozenset({"", "root", "localhost", "user", "admin", "android", "linux"})


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:  # the system knows no home
        return ""


@attrs.frozen
class Redaction:
    """The names that are removed.

    Attributes:
        user: the name of the user.
        shared: other words of the report that are no names, such as the name of the distribution.
        home: the user's home folder.
        host: the name of the host.
    """

    user: str
    shared: str = ""
    home: str = attrs.field(factory=_home)
    host: str = attrs.field(factory=socket.gethostname)

    def of(self, value: Any) -> Any:
        """Return a value of JSON in which every text is without the names."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(each) for each in value]
        return {key: self.of(each) for key, each in value.items()} if isinstance(value, dict) else value

    def _text(self, text: str) -> str:
        if len(self.home) > 1 and self.home != "/root":
            text = _replaced(text, self.home, HOME)
        text = _HOMES.sub(lambda found: f"{found[1] or found[2]}{USER}", text)
        for name, instead in ((self.user, USER), (self.host, HOST), (self.host.partition(".")[0], HOST)):
            if name.lower() not in {*_SHARED, *self.shared.lower().split()}:
                text = _replaced(text, name, instead)
        return text


def _replaced(text: str, name: str, instead: str) -> str:
    """Return a text in which a name is replaced, except inside of longer words."""
    return re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", instead, text, flags=re.IGNORECASE)
