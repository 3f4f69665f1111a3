"""No loop stands where an exception from outside would miss what a ``with`` or a ``try`` undoes.

In CPython 3.12 to 3.14 the jump back of a loop is not covered by the blocks around it, where it follows the end of an
``if``; and at that jump the interpreter looks for exceptions such as Ctrl-C.
"""

from __future__ import annotations

import ast
import dis
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import htppower

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(htppower.__file__).parent
# What runs on the threads of a host. The loop of the bus has a thread of its own.
FOLDERS = ("backends", "control", "hosts", "subscribers", "testing")
ELSEWHERE = {"control/caps/system_bus.py"}
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp)


def _functions(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _functions(constant)


def _body(node: ast.AST) -> list[ast.stmt]:
    """Return the block of a statement that undoes something where any exception passes."""
    if isinstance(node, (ast.With, ast.AsyncWith)):
        return node.body
    if not isinstance(node, ast.Try):
        return []
    catches_all = any(each.type is None or ast.unparse(each.type) == "BaseException" for each in node.handlers)
    return node.body if node.finalbody or catches_all else []


def _guarded_lines(tree: ast.Module) -> set[tuple[str, int]]:
    """Return the lines of the loops that are in the block of such a statement, each with the name of its function."""
    found: set[tuple[str, int]] = set()
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        statements = [each for node in ast.walk(function) for each in _body(node)]
        for loop in (each for statement in statements for each in ast.walk(statement)):
            if isinstance(loop, LOOPS):
                found |= {(function.name, line) for line in range(loop.lineno, (loop.end_lineno or 0) + 1)}
    return found


def missed(source: str, name: str) -> list[str]:
    """Return where a loop begins again outside of what is to undo something."""
    guarded = _guarded_lines(ast.parse(source))
    found = []
    for function in _functions(compile(source, name, "exec", dont_inherit=True)):
        parse: Any = getattr(dis, "_parse_exception_table", lambda _code: ())
        covered = [(entry.start, entry.end) for entry in parse(function)]
        for step in dis.get_instructions(function):
            line = getattr(getattr(step, "positions", None), "lineno", None)
            if step.opname != "JUMP_BACKWARD" or (function.co_name, line) not in guarded:
                continue
            if not any(start <= step.offset < end for start, end in covered):
                found.append(f"{name}:{line} {function.co_name}")
    return found


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the tables of exceptions came with 3.11")
def test_no_loop_is_left_without_what_undoes() -> None:
    """Each loop in a block that undoes something is covered by it, or is in a function of its own."""
    paths = [path for folder in FOLDERS for path in sorted((PACKAGE / folder).rglob("*.py"))]
    shown = {path.relative_to(PACKAGE).as_posix(): path for path in paths}
    found = [
        each
        for name, path in shown.items()
        if name not in ELSEWHERE
        for each in missed(path.read_text(encoding="utf-8"), name)
    ]
    assert not found


@pytest.mark.skipif(not (3, 12) <= sys.version_info < (3, 15), reason="elsewhere each jump is covered")
def test_one_that_is_not_covered_is_found() -> None:
    """A comprehension with a condition under a lock is one; where CPython mends it, this says so."""
    source = "def f(lock, all):\n    with lock:\n        for i in all:\n            if i:\n                all.pop()\n"
    assert missed(source, "f.py")
