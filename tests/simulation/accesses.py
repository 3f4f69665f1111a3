"""What the steps of a run read and write: two orders of steps that touch nothing in common come to the same.

A place is a field of an object of the program under test, the contents of a list, dictionary, set or queue in such a
field, a lock, an event, the clock, the queue of the pool, or the host: all that the specification and the simulated HTP
know is one place. A field that is written nowhere but where its object is made is none, unless it has contents.
"""

from __future__ import annotations

import ast
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READ, WRITTEN = 1, 2
CLOCK = "the clock"
HOST = "the host"
POOL = "the queue of the pool"
# What makes an object, or is called in forked children only.
_MAKERS = frozenset({"__init__", "disown", "_disown"})

# How the step that is being made touches each place; None while nothing is noted.
_noted: dict[object, int] | None = None


def note(places: dict[object, int] | None) -> dict[object, int] | None:
    """Note from now on here what is touched, nowhere with None; return where it was noted."""
    global _noted
    before, _noted = _noted, places
    return before


def touch(place: object, how: int) -> None:
    """Note that a place is touched."""
    if _noted is not None and _noted.get(place, 0) < how:
        _noted[place] = how


class _Field:
    """A field of which it is noted when it is read and written.

    Args:
        name: the field's.
        slot: where it is kept; None where objects of the class have a dictionary.
    """

    def __init__(self, name: str, slot: Any) -> None:
        self._name = name
        self._slot = slot

    def __get__(self, thing: Any, owner: type) -> Any:
        if thing is None:
            return self
        touch((id(thing), self._name), READ)
        if self._slot is not None:
            return self._slot.__get__(thing, owner)
        try:
            return thing.__dict__[self._name]
        except KeyError:
            raise AttributeError(self._name) from None

    def __set__(self, thing: Any, value: Any) -> None:
        touch((id(thing), self._name), WRITTEN)
        noting = _NOTING.get(type(value))
        if noting is not None:
            # One that others refer to as well would be two from now on: two are the argument's and the caller's.
            made_with = sys._getframe(1).f_code.co_name == "__init__"
            if sys.getrefcount(value) > (_MOST_REFERENCES_OF_ARGUMENTS if made_with else _MOST_REFERENCES):
                raise AssertionError(f"{type(thing).__name__}.{self._name} is set to what is referred to elsewhere")
            value = noting(value)
        if self._slot is not None:
            self._slot.__set__(thing, value)
        else:
            thing.__dict__[self._name] = value

    def __delete__(self, thing: Any) -> None:
        touch((id(thing), self._name), WRITTEN)
        if self._slot is not None:
            self._slot.__delete__(thing)
        else:
            del thing.__dict__[self._name]


def _noting(kind: type, reads: str, writes: str) -> type:
    """Return a kind of container that notes what reads and writes its contents."""

    def noted(name: str, how: int) -> Callable[..., Any]:
        original = getattr(kind, name)

        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            touch(id(self), how)
            found = original(self, *args, **kwargs)
            if how == READ and _NOTING and name in _HANDS_OUT:
                # What is in it may be changed in place.
                inner = list(original(self)) if name in ("values", "items", "__iter__") else [found]
                if any(isinstance(each, _CHANGEABLE) for each in _flat(inner)):
                    touch(id(self), WRITTEN)
            return found

        return call

    fields: dict[str, Any] = {name: noted(name, READ) for name in reads.split() if hasattr(kind, name)}
    fields |= {name: noted(name, WRITTEN) for name in writes.split() if hasattr(kind, name)}
    fields["__slots__"] = ()
    fields["__hash__"] = None
    return type(f"Noting{kind.__name__.title()}", (kind,), fields)


def _flat(found: list[Any]) -> Iterator[Any]:
    for each in found:
        if isinstance(each, tuple):
            yield from each
        else:
            yield each


_CHANGEABLE = (list, dict, set, deque)
_HANDS_OUT = frozenset({"values", "items", "__iter__", "__getitem__", "get"})
_MOST_REFERENCES = 3
# What an object is made with, the call that makes it refers to until it is made.
_MOST_REFERENCES_OF_ARGUMENTS = 6
_READS = "__getitem__ __contains__ __iter__ __reversed__ __len__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __add__ \
__mul__ __or__ __ror__ __and__ __rand__ __sub__ __rsub__ __xor__ __rxor__ get keys values items copy count index \
issubset issuperset isdisjoint union intersection difference symmetric_difference"
_WRITES = "__setitem__ __delitem__ __iadd__ __imul__ __ior__ __iand__ __isub__ __ixor__ append appendleft extend \
extendleft insert pop popleft popitem remove discard add clear update setdefault sort reverse rotate \
intersection_update difference_update symmetric_difference_update"
_NOTING: dict[type, Callable[[Any], Any]] = {}
_NOTING.update({kind: _noting(kind, _READS, _WRITES) for kind in _CHANGEABLE})


def watch_fields(package: str, without: tuple[str, ...]) -> None:
    """Note from now on when the fields of the classes of a package are read and written; its modules are imported.

    ``without``: those of the modules of these names are left alone.
    """
    modules = [module for name, module in list(sys.modules.items()) if f"{name}.".startswith(f"{package}.")]
    modules = [module for module in modules if not module.__name__.startswith(without)]
    changed: set[str] = set()
    made: dict[str, dict[str, set[str]]] = {}
    for module in modules:
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        changed |= set(_stored(tree))
        made[module.__name__] = {
            each.name: set(_made_with_contents(each)) for each in ast.walk(tree) if isinstance(each, ast.ClassDef)
        }
    for module in modules:
        for name, with_contents in made[module.__name__].items():
            found = vars(module).get(name)
            if isinstance(found, type) and found.__module__ == module.__name__:
                _watch(found, changed, with_contents)


def _watch(found: type, changed: set[str], with_contents: set[str]) -> None:
    slots = vars(found).get("__slots__")
    if slots is not None:
        for name in (slots,) if isinstance(slots, str) else slots:
            if name in changed or name in with_contents:
                setattr(found, name, _Field(name, vars(found)[name]))
        return
    for name in changed | with_contents:
        if name not in vars(found) and not issubclass(found, BaseException | tuple):
            setattr(found, name, _Field(name, None))


def _stored(tree: ast.AST) -> Iterator[str]:
    """Yield the names of the fields that are written, but for those of an object that is being made."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in _MAKERS:
            continue
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr
        yield from _stored(node)


def _made_with_contents(tree: ast.ClassDef) -> Iterator[str]:
    """Yield the names of the fields that have contents when an object is made."""
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name == "__init__":
            for node in ast.walk(function):
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                if isinstance(node, ast.Assign | ast.AnnAssign) and _has_contents(node.value):
                    yield from (each.attr for each in targets if isinstance(each, ast.Attribute))


def _has_contents(value: ast.expr | None) -> bool:
    kinds = ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name)
    return isinstance(value, kinds) or (called and value.func.id in ("list", "dict", "set", "deque"))  # type: ignore[union-attr]
