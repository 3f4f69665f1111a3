"""Removes from a document what names a person: home folders, the user's name, the host's name."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from typing import Any

import attrs

HOME, USER, HOST = "~", "USER", "HOST"
# The homes of other users, on Linux, macOS and Windows.
_HOMES = re.compile(r"(/home/|/Users/|\b[A-Za-z]:\\Users\\)[^/\\\s:;\"']+")
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
        home: the user's home folder.
        host: the name of the host.
    """

    user: str
    home: str = attrs.field(factory=_home)
    host: str = attrs.field(factory=socket.gethostname)

    def of(self, value: Any) -> Any:
        """Return a value of JSON in which every text is without the names."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.of(each) for each in value]
        return {self._text(key): self.of(each) for key, each in value.items()} if isinstance(value, dict) else value

    def _text(self, text: str) -> str:
        if len(self.home) > 1 and self.home != "/root":
            text = _replaced(text, self.home, HOME)
        text = _HOMES.sub(lambda found: f"{found[1]}{USER}", text)
        for name, instead in ((self.user, USER), (self.host, HOST), (self.host.partition(".")[0], HOST)):
            if name.lower() not in _SHARED:
                text = _replaced(text, name, instead)
        return text


def _replaced(text: str, name: str, instead: str) -> str:
    """Return a text in which a name is replaced, except inside of longer words."""
    parts, start = [], 0
    while (place := text.find(name, start)) >= 0:
        end = place + len(name)
        inside = any(each.isalnum() or each in "_-" for each in text[max(place - 1, 0) : place] + text[end : end + 1])
        parts += [text[start:place], name if inside else instead]
        start = end
    return "".join((*parts, text[start:]))
