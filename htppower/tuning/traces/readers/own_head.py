"""How a recording of htppower's own begins, by which it is told from what profilers write; needs no numpy."""

from __future__ import annotations

import re

_HEADER = re.compile(rb'\s*(?:\[\s*)?\{[^{}]*"name"\s*:\s*"htppower"\s*,\s*"ph"\s*:\s*"M"')


def is_own(head: bytes) -> bool:
    """Return whether a file begins so."""
    return _HEADER.match(head) is not None
