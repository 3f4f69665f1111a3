"""Recognises htppower's own recordings by their first bytes; needs no numpy."""

from __future__ import annotations

import re

_HEADER = re.compile(rb'\s*(?:\[\s*)?\{[^{}]*"name"\s*:\s*"htppower"\s*,\s*"ph"\s*:\s*"M"')


def is_own(head: bytes) -> bool:
    """Return whether a file with these first bytes is a recording of htppower."""
    return _HEADER.match(head) is not None
