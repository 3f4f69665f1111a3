"""Points between statements: the modules under test are compiled with a call of ``point`` before each of them.

They import the stand-ins in the place of ``threading``, ``queue`` and ``atexit``.

So a preemption, an interrupt or a collection may come also where no lock is taken, and a count that is read by one
statement and written by the next can be lost. ``x += 1`` on an attribute is read, a point, and written.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import types
    from collections.abc import Callable, Sequence

    from simulation.scheduler import Scheduler

_POINT = "_simulation_point"
_scheduler: Scheduler | None = None


def follow(scheduler: Scheduler | None) -> None:
    """Let the points be those of this scheduler; of none, with None."""
    global _scheduler  # noqa: PLW0603 - the compiled code can be handed nothing
    _scheduler = scheduler


def point() -> None:
    """Be a point, where the scheduler runs with fine steps."""
    scheduler = _scheduler
    if scheduler is not None and scheduler.fine:
        scheduler.point()


class _StandIns(ast.NodeTransformer):
    """Imports the stand-ins in the place of the modules that they stand in for."""

    def visit_Import(self, node: ast.Import) -> ast.AST:
        names = [alias.name for alias in node.names]
        if not set(names) & {"threading", "queue", "atexit"}:
            return node
        if len(names) > 1:
            raise SyntaxError(f"one import a line: {names}")
        return ast.copy_location(ast.ImportFrom("simulation.stand_ins", node.names, 0), node)


class _Instrumenter(ast.NodeTransformer):
    """Puts a point before every statement of every function."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.body = self._between(node.body)
        return node

    def _between(self, body: list[ast.stmt], *, first: bool = True) -> list[ast.stmt]:
        """Return statements with points; with ``first``, also one before the first of them."""
        found: list[ast.stmt] = []
        for place, statement in enumerate(body):
            here = first or place > 0
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(statement, name, None)
                if inner and not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    # The interpreter looks for signals after calls and in loops: nothing comes before what a finally
                    # does first.
                    begins = name != "finalbody" and (here or not isinstance(statement, ast.Try) or name != "body")
                    setattr(statement, name, self._between(inner, first=begins))
            for handler in getattr(statement, "handlers", ()):
                handler.body = self._between(handler.body)
            plain = isinstance(statement, ast.Global | ast.Nonlocal | ast.Pass)
            docstring = place == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if here and not plain and not docstring:
                found.append(_call(statement))
            found += _split(statement)
        return found


def _call(at: ast.stmt) -> ast.stmt:
    call = ast.Expr(ast.Call(ast.Name(_POINT, ast.Load()), [], []))
    return ast.fix_missing_locations(ast.copy_location(call, at))


def _split(statement: ast.stmt) -> list[ast.stmt]:
    """Return ``a.b += c`` as a read, a point and a write; any other statement as it is."""
    if not isinstance(statement, ast.AugAssign) or not isinstance(statement.target, ast.Attribute):
        return [statement]
    target = statement.target
    if not isinstance(target.value, ast.Name):
        return [statement]
    read = ast.Assign([ast.Name("_read", ast.Store())], ast.Attribute(target.value, target.attr, ast.Load()))
    change = ast.AugAssign(ast.Name("_read", ast.Store()), statement.op, statement.value)
    write = ast.Assign([target], ast.Name("_read", ast.Load()))
    made = [ast.copy_location(each, statement) for each in (read, change, write)]
    return [ast.fix_missing_locations(each) for each in (*made[:2], _call(statement), made[2])]


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a module with stand-ins and points; keeps nothing of it.

    Args:
        fullname, path: the module's.
        points: whether there are any.
        adapt: is called with the module once it is executed.
    """

    def __init__(self, fullname: str, path: str, *, points: bool, adapt: Callable[[types.ModuleType], None]) -> None:
        super().__init__(fullname, path)
        self._points = points
        self._adapt = adapt

    def get_code(self, fullname: str) -> types.CodeType:
        path = self.get_filename(fullname)
        tree = _StandIns().visit(ast.parse(self.get_data(path), path))
        if self._points:
            tree = _Instrumenter().visit(tree)
        code: types.CodeType = compile(tree, path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: types.ModuleType) -> None:
        module.__dict__[_POINT] = point
        super().exec_module(module)
        self._adapt(module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the modules of a package as ever, and loads them with points."""

    def __init__(self, package: str, without: tuple[str, ...], adapt: Callable[[types.ModuleType], None]) -> None:
        self._package = package
        self._without = without
        self._adapt = adapt

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._package and not fullname.startswith(f"{self._package}."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            points = not fullname.startswith(self._without)
            spec.loader = _Loader(fullname, spec.origin, points=points, adapt=self._adapt)
        return spec


def instrument(package: str, *, without: tuple[str, ...], adapt: Callable[[types.ModuleType], None]) -> None:
    """Compile the modules of a package with stand-ins and points from now on.

    Args:
        package: its name.
        without: no points are in those whose names begin so.
        adapt: is called with each once it is executed.

    Raises:
        RuntimeError: one of them is imported already.
    """
    if any(name == package or name.startswith(f"{package}.") for name in sys.modules):
        raise RuntimeError(f"{package} is imported already, without points")
    sys.meta_path.insert(0, _Finder(package, without, adapt))
