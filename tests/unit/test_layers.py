"""The layers of the package: the contents of each, and the allowed imports."""

from __future__ import annotations

import ast
import functools
import graphlib
import re
from pathlib import Path

import pytest

import htppower

PACKAGE = Path(htppower.__file__).parent

_VALUES = {"_exports", "_version", "votes"}
_RULES = _VALUES | {"errors"}
_READING = _RULES | {"rules", "events"}
_CONTROL = _READING | {"profiles", "backends", "sustain"}
_HOSTING = _CONTROL | {"control"}
_TUNING = _HOSTING | {"report", "readers", "extensions", "runtimes", "testing", "subscribers", "hosts"}
_REVIEW = _TUNING | {"tuning", "environment", "client"}

# The half of the package that no inference host imports; the other rooms are its other half.
TOOLS = ("report", "readers", "environment", "extensions", "runtimes", "tuning", "review", "doctor", "cli")
# The rooms that each room may import besides itself.
MAY_IMPORT = {
    "_exports": set[str](),
    "_version": set[str](),
    "votes": {"_exports"},
    "errors": _VALUES,
    "rules": _RULES,
    "events": _RULES,
    "report": {"_exports", "_version", "errors"},
    "profiles": _READING,
    "sustain": _READING | {"profiles"},
    "extensions": _RULES | {"rules", "profiles"},
    "backends": _READING,
    "runtimes": _READING | {"profiles", "hosts", "extensions"},
    "control": _CONTROL,
    "testing": _HOSTING,
    "subscribers": _HOSTING,
    "client": {"errors"},
    "hosts": _HOSTING | {"client"},
    "readers": {"errors", "profiles"},
    "environment": {"errors", "rules", "backends"},
    "tuning": _TUNING,
    "review": _REVIEW,
    "doctor": _REVIEW | {"review"},
    "cli": _REVIEW | {"review", "doctor"},
    "__main__": {"cli"},
}

# The modules that import by a computed name: each takes the name from a table of full names.
IMPORT_BY_NAME = {"htppower._exports", "htppower.tools.cli.main"}


def _module(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def begins_with_own_name(node: ast.AST) -> bool:
    """Return whether a text is built from the module's own name, such as ``f"{__name__}.as_{name}"``."""
    return isinstance(node, ast.JoinedStr) and ast.unparse(node).startswith(("f'{__name__}.", 'f"{__name__}.'))


@functools.cache
def tree(module: str) -> ast.Module:
    """Return the parsed source of a module."""
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@functools.cache
def nodes(module: str) -> tuple[ast.AST, ...]:
    """Return all nodes of a module."""
    return tuple(ast.walk(tree(module)))


@functools.cache
def imports(module: str) -> frozenset[str]:
    """Return the modules of the package that a module imports: at the top, for types only, inside functions, by name.

    A text with the name of a module counts too, since ``importlib`` takes such names. A text that begins with the
    module's own name counts as all modules below it.
    """
    found: set[str] = set()
    for node in nodes(module):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} imports relatively"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else str(node.module) for name in inner]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]
        elif begins_with_own_name(node):
            names = [name for name in MODULES if name.rpartition(".")[0] == module]
        found.update(name for name in names if name in MODULES and name not in (module, "htppower"))
    return frozenset(found)


@functools.cache
def imports_for_types(module: str) -> frozenset[str]:
    """Return the modules of its own room that a module imports for types only."""
    lines = {
        line
        for node in nodes(module)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    imported = {
        f"{node.module}.{alias.name}" if f"{node.module}.{alias.name}" in MODULES else str(node.module)
        for node in nodes(module)
        if isinstance(node, ast.ImportFrom) and node.lineno in lines
        for alias in node.names
    }
    return frozenset(each for each in imported if each in MODULES and room(each) == room(module))


def room(module: str) -> str:
    """Return the room of a module: the folder, or a module outside of folders, of the half that contains it."""
    parts = module.removeprefix("htppower.").removeprefix("tools.").split(".")
    return parts[0]


def path_of(name: str) -> str:
    """Return the path of a room within the package."""
    return f"htppower.tools.{name}" if name in TOOLS else f"htppower.{name}"


def test_every_room_has_a_rule_and_they_are_few() -> None:
    """Each room is in the table, in its half; the top of the package has at most 13 public entries."""
    rooms = {room(module) for module in MODULES if module not in ("htppower", "htppower.tools")}
    assert rooms == set(MAY_IMPORT)
    assert all(path_of(name) in MODULES for name in MAY_IMPORT)
    assert len({module.split(".")[1] for module in MODULES if module.count(".") and "._" not in module}) <= 13


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_room_imports_only_what_it_may(name: str) -> None:
    """No module imports a room that the table does not allow, not even for types or inside a function."""
    granted = MAY_IMPORT[name] | {name}
    broken = {
        f"{module} imports {other}"
        for module in MODULES
        if module != "htppower" and room(module) == name
        for other in imports(module)
        if other != "htppower.tools" and room(other) not in granted
    }
    assert not broken


def test_no_module_imports_the_package_itself() -> None:
    """The package imports its modules, so a module that imports the package makes a circle."""
    importing = {
        module
        for module in MODULES
        for node in nodes(module)
        if (isinstance(node, ast.ImportFrom) and node.module == "htppower")
        or (isinstance(node, ast.Import) and any(alias.name == "htppower" for alias in node.names))
        if module != "htppower"
    }
    assert not importing


def imports_by_name(module: str) -> bool:
    """Return whether a module imports by a name that is neither a constant nor below its own name."""
    seen = {
        node.func
        for node in nodes(module)
        if isinstance(node, ast.Call) and node.args
        if isinstance(node.args[0], ast.Constant) or begins_with_own_name(node.args[0])
    }
    return any(
        (isinstance(node, ast.Attribute) and node.attr == "import_module")
        or (isinstance(node, ast.Name) and node.id == "__import__")
        or (isinstance(node, ast.alias) and node.name == "import_module")
        for node in nodes(module)
        if node not in seen
    )


def test_only_named_modules_import_by_a_computed_name() -> None:
    """A computed name is not visible in the source, so such a module is in a list, and has a table of names."""
    assert {module for module in MODULES if imports_by_name(module)} == IMPORT_BY_NAME


def test_what_a_package_exports_stands_under_full_names() -> None:
    """The tables of lazy exports name existing modules, so that these tests see them as imports."""
    for package in (htppower, htppower.backends):
        assert set(vars(package)["_EXPORTS"]) <= set(MODULES)


def test_nothing_imports_in_a_circle() -> None:
    """The modules can be sorted so that each imports only earlier ones, lazy imports included.

    For types only, a module may import a module of its own room that refers back, such as a session its reconciler.
    """
    graph = {module: imports(module) - imports_for_types(module) for module in MODULES if module != "htppower"}
    graphlib.TopologicalSorter(graph).prepare()


def docstring(module: str) -> str:
    """Return the docstring of a module as one line; empty if it has none."""
    return " ".join((ast.get_docstring(tree(module)) or "").split())


def granted_by(sentence: str) -> set[str]:
    """Return the rooms in a sentence such as "May import votes, errors and what control may"."""
    rooms = {name for name in MAY_IMPORT if not name.startswith("_")}
    granted: set[str] = set()
    for said in re.split(r", | and ", sentence.removeprefix("May import ")):
        if said == "everything":
            granted |= rooms
        elif said == "everything but the command line":
            granted |= rooms - {"cli"}
        elif said == "the command line":
            granted.add("cli")
        elif said in ("what control may", "what doctor may"):
            granted |= MAY_IMPORT[said.split()[1]] & rooms
        elif said != "nothing else of htppower":
            assert said in rooms, f"no such room: {said}"
            granted.add(said)
    return granted


def test_every_package_says_what_lives_there() -> None:
    """The ``__init__`` of each folder has a docstring."""
    for module, path in MODULES.items():
        if path.name == "__init__.py":
            assert len(docstring(module)) > 20, module


@pytest.mark.parametrize("name", [name for name in MAY_IMPORT if name not in ("_exports", "_version")])
def test_a_room_says_what_it_may_import(name: str) -> None:
    """A sentence "May import ..." in the docstring of a room names exactly the rooms in the table."""
    sentences = re.findall(r"May import [^.;]*", docstring(path_of(name)))
    assert len(sentences) == 1
    granted = {each for each in MAY_IMPORT[name] if not each.startswith("_")}
    assert granted_by(sentences[0]) - {name} == granted


# The rooms of control, and the other rooms of control, or modules in none, that each may import.
CONTROL_MAY_IMPORT = {
    "time": set(),
    "files": {"time"},
    "plans": set(),
    "learning": {"gate", "plans", "core", "time", "files"},
    "gate": {"plans", "learning", "time"},
    "ledger": {"plans", "core"},
    "core": {"gate", "ledger", "plans", "learning", "time", "event_bus", "registry"},
    "claims": {"core", "plans", "time"},
    "phases": {"core", "gate", "time"},
    "modes": {"core", "phases", "plans"},
    "pace": {"claims", "core", "phases", "plans", "time"},
    "recording": {"clock", "core", "plans", "gate", "learning", "time", "files"},
    "status": {
        "clock",
        "core",
        "gate",
        "ledger",
        "plans",
        "learning",
        "pace",
        "phases",
        "recording",
        "time",
        "files",
        "event_bus",
    },
    "caps": {"core", "claims", "time", "controller"},
    "clock": {"time", "controller"},
}
# All rooms but the core may import these too; the core may import only the check for its own callers.
SHARED_IN_CONTROL = {"arguments", "companions", "context_manager", "own_work", "registry"}
SHARED_WITH_CORE = {"own_work"}


def control_room(module: str) -> str:
    """Return the room of control of a module; its own name if it is in none."""
    return module.split(".")[2]


def test_the_rooms_of_control_are_in_the_table() -> None:
    """Each folder of control has a row."""
    assert {path.name for path in (PACKAGE / "control").iterdir() if (path / "__init__.py").is_file()} == set(
        CONTROL_MAY_IMPORT
    )


@pytest.mark.parametrize("name", CONTROL_MAY_IMPORT)
def test_a_room_of_control_imports_only_what_it_may(name: str) -> None:
    """The core imports none of its users: no phases, holds or caps of a host, no status and no recordings."""
    granted = CONTROL_MAY_IMPORT[name] | {name} | (SHARED_WITH_CORE if name == "core" else SHARED_IN_CONTROL)
    broken = {
        f"{module} imports {other}"
        for module in MODULES
        if module.startswith("htppower.control.") and control_room(module) == name
        for other in imports(module)
        if other.startswith("htppower.control.") and control_room(other) not in granted
    }
    assert not broken


@pytest.mark.parametrize("name", CONTROL_MAY_IMPORT)
def test_a_room_of_control_says_what_it_may_import(name: str) -> None:
    """The docstring of each names exactly the rooms in the table."""
    said = re.search(r"; of its rooms: ([^.]*)\.", docstring(f"htppower.control.{name}"))
    assert said is not None
    assert set(re.split(r", | and ", " ".join(said[1].split()))) == (CONTROL_MAY_IMPORT[name] or {"none"})
