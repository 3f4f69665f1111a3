"""The public names of the package, a line each, in the order of the API page: ``docs/public_names.txt``.

A review sees each change of the interface as a change of this file.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_API = Path(__file__).parent / "api.md"
_DIRECTIVE = re.compile(r"^\.\. (currentmodule|auto\w+):: ([\w.]+)(\(\))?$")
_MEMBERS = re.compile(r"^   :members: ?(.*)$")


def public_names(_before: str) -> str:
    """Return the list."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    module = ""
    shown: Any = None
    # A long list of members goes on in lines of its own.
    for line in re.sub(r",\n +", ", ", _API.read_text(encoding="utf-8")).splitlines():
        directive, members = _DIRECTIVE.match(line), _MEMBERS.match(line)
        if directive is not None and directive[1] == "currentmodule":
            module = directive[2]
        elif directive is not None:
            shown = getattr(importlib.import_module(module), directive[2])
            yield _line(f"{module}.{directive[2]}", shown, called=directive[3] is None)
        elif members is not None:
            names = members[1].split(", ") if members[1] else _enumerators(shown)
            yield from (_line(f"{module}.{shown.__name__}.{name}", getattr(shown, name, None)) for name in names)


def _enumerators(shown: Any) -> list[str]:
    return list(shown.__members__) if isinstance(shown, enum.EnumMeta) else []


def _line(name: str, shown: Any, *, called: bool = True) -> str:
    """Return a name, with the parameters of what users call."""
    if isinstance(shown, enum.EnumMeta) or not called or not callable(shown):
        return name
    try:
        signature = inspect.signature(shown)
    except ValueError:
        return name
    parameters = [
        each.replace(annotation=inspect.Parameter.empty, default=_default(each.default))
        for each in signature.parameters.values()
    ]
    if parameters and parameters[0].name == "self":
        del parameters[0]
    called_with = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return f"{name}{called_with.replace('Ellipsis', '...')}"


def _default(value: Any) -> Any:
    """Return a default; ``...`` for one whose repr says nothing, such as a function."""
    is_plain = value is None or isinstance(value, (bool, int, float, str, tuple)) or value is inspect.Parameter.empty
    return value if is_plain else ...
