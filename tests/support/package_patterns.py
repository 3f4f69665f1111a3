"""Finds every regular expression of the package, and the methods that its module calls on it."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import htppower

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The methods of ``re`` and of compiled patterns that begin a search at every place of a text.
_SEARCHES = {"search", "finditer", "findall", "sub", "subn", "split"}
_METHODS = _SEARCHES | {"match", "fullmatch"}


class Used(NamedTuple):
    """A pattern and how it is used: ``method`` is search, match or fullmatch."""

    where: str
    pattern: re.Pattern[Any]
    method: str


class _Names(dict[str, Any]):
    """The names of a module. A name of a function, whose value is not known here, is an x."""

    def __missing__(self, name: str) -> Any:
        return getattr(builtins, name, "x")


def package_patterns() -> list[Used]:
    """Return all patterns: those in modules' attributes and in calls of ``re``, once for each method."""
    found: dict[tuple[str | bytes, int, str], Used] = {}
    for module in pkgutil.walk_packages(htppower.__path__, "htppower."):
        if module.name == "htppower.__main__":
            continue
        for used in _of_module(importlib.import_module(module.name)):
            found.setdefault((used.pattern.pattern, used.pattern.flags, used.method), used)
    return list(found.values())


def _of_module(module: Any) -> Iterator[Used]:
    source = inspect.getsource(module) if Path(module.__file__).stat().st_size else ""
    tree = ast.parse(source)
    methods = _methods(tree)
    for name, value in vars(module).items():
        for pattern in _patterns_in(value):
            # If no method is found, as for a pattern in a list, the method that tries the most places is used.
            for method in methods.get(name, {"search"}):
                yield Used(f"{module.__name__}.{name}", pattern, method)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _is_re(node.func.value):
            yield from _of_call(node, parents.get(node), module)


def _of_call(call: ast.Call, parent: ast.AST | None, module: Any) -> Iterator[Used]:
    """Yield the pattern that a call of ``re`` compiles, with the module's names replaced by their values."""
    assert isinstance(call.func, ast.Attribute)
    method = call.func.attr
    if method == "compile":
        method = parent.attr if isinstance(parent, ast.Attribute) else ""
        if not method:
            return  # it is in an attribute of the module, or in one that a function keeps
    if method not in _METHODS:
        return
    names = vars(module)
    code = compile(ast.Expression(call.args[0]), "pattern", "eval")
    said = eval(code, names, _Names(names))  # noqa: S307 - the package's own source
    named = {each.attr for each in ast.walk(call) if isinstance(each, ast.Attribute)}
    pattern = re.compile(said, sum(re.RegexFlag[name] for name in named & set(re.RegexFlag.__members__)))
    yield Used(f"{module.__name__}:{call.lineno}", pattern, "search" if method in _SEARCHES else method)


def _patterns_in(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list, set, frozenset)):
        for each in value:
            yield from _patterns_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _patterns_in(each)


def _methods(tree: ast.AST) -> Mapping[str, set[str]]:
    """Return the methods of compiled patterns that a module calls, by the pattern's name."""
    methods: dict[str, set[str]] = {}
    calls: set[ast.AST] = set()
    named: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in _METHODS:
            methods.setdefault(node.value.id, set()).add("search" if node.attr in _SEARCHES else node.attr)
            calls.add(node.value)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            named.add(node)
    # A pattern that is also passed on by its name may be used by any method.
    for node in named - calls:
        if isinstance(node, ast.Name) and node.id in methods:
            methods[node.id].add("search")
    return methods


def _is_re(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "re"
