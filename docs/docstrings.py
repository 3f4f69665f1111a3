"""Read the descriptions of fields in the docstring of a class."""

from __future__ import annotations

import inspect
import re
from typing import Any

_FIELD = re.compile(r"^ {4}((?:\w+, )*\w+): (.*)$", re.MULTILINE)
_CONTINUED = re.compile(r"\n {5,}")


def attributes(kind: type[Any]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return the entries below ``Attributes:``: each has the names of one or more fields, and their description."""
    section = _CONTINUED.sub(" ", (inspect.getdoc(kind) or "").partition("Attributes:")[2])
    return tuple((tuple(names.split(", ")), said) for names, said in _FIELD.findall(section))
