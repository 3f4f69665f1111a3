"""The colours of a status, which are the same as in a dry run."""

from __future__ import annotations

import re

from htppower.tools.report.styled import styled

_COLOURS = {"RAISED": "red", "LOWERED": "green", "UNKNOWN": "yellow"}
_STATES = re.compile(rf"\b({'|'.join(_COLOURS)})\b")


def painted(line: str) -> str:
    """Return a finished line with its states in colour. The rest of it is made printable when it is shown."""
    return _STATES.sub(lambda found: styled(found[0], _COLOURS[found[0]]), line)
