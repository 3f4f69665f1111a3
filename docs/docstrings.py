"""What the docstring of a class says of its fields."""

from __future__ import annotations

import inspect
import re
from typing import Any

_FIELD = re.compile(r"^ {4}((?:\w+, )*\w+): (.*)$", re.MULTILINE)
_CONTINUED = re.compile(r"\n {5,}")


def attributes(kind: type[Any]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """Return the lines below ``Attributes:``: each the names of one field or more, and what is said of them."""
    section = _CONTINUED.sub(" ", (inspect.getdoc(kind) or "").partition("Attributes:")[2])
    return tuple((tuple(names.split(", ")), said) for names, said in _FIELD.findall(section))
