"""JSON of annotated classes: how their values are written, and what is wrong with JSON that was read."""

from __future__ import annotations

import enum
import operator
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Every clock, count and id is smaller.
_LIMIT = 1 << 63
_WORDS = {str: "text", int: "number", bool: "truth value"}


class Form(NamedTuple):
    """The JSON form of a type.

    Attributes:
        write: returns a value of the type as JSON.
        wrong: returns what is wrong with JSON at a path, such as ``caps[0].profile``; None if it has this form.
        many: whether it is a list.
        kind: the class of an object, or of the objects in a list.
        fields: the fields of that class.
    """

    write: Callable[[Any], Any]
    wrong: Callable[[Any, str], str | None]
    many: bool = False
    kind: type | None = None
    fields: Mapping[str, Field] = {}


class Field(NamedTuple):
    """A field of an object.

    Attributes:
        form: the form of its value.
        get: returns its value.
        says: its meaning; empty if the docstring of the class has it.
        later: whether files of earlier versions lack it.
    """

    form: Form
    get: Callable[[Any], Any]
    says: str
    later: bool


class Shown(NamedTuple):
    """A field that is not an annotated attribute of its class.

    Attributes:
        hint: the type of its value.
        get: returns its value; None: the attribute of that name.
        says: its meaning, if the docstring of the class lacks it.
    """

    hint: Any
    get: Callable[[Any], Any] | None = None
    says: str = ""


class Forms:
    """Makes forms out of types. The fields of a class are its annotations, unless it was defined before."""

    def __init__(self) -> None:
        self._defined: dict[type, Form] = {}

    def define(self, kind: type, shown: Mapping[str, Any], later: Iterable[str] = ()) -> Form:
        """Return the form of a class whose fields are these: each a type, or a ``Shown``.

        ``later``: the fields that files of earlier versions lack.
        """
        fields = {}
        for name, what in shown.items():
            hint, get, says = what if isinstance(what, Shown) else Shown(what)
            fields[name] = Field(self.of(hint), get or operator.attrgetter(name), says, name in later)
        self._defined[kind] = made = _object(kind, fields)
        return made

    def of(self, hint: Any) -> Form:
        """Return the form of a type."""
        args = get_args(hint)
        if get_origin(hint) is tuple:
            return _list(self.of(args[0]))
        if get_origin(hint) is dict:
            return _by_key(args[0], self.of(args[1]))
        if args:
            return _or_null(self.of(args[0]))
        if issubclass(hint, (str, enum.Enum)):
            return _leaf(str)
        if hint in _WORDS:
            return _leaf(hint)
        return self._defined.get(hint) or self.define(hint, get_type_hints(hint))


def _leaf(kind: type) -> Form:
    def wrong(found: Any, at: str) -> str | None:
        right = type(found) is kind and (not isinstance(found, int) or abs(found) < _LIMIT)
        return None if right else f"{at} is not a {_WORDS[kind]}"

    # The text of an enum member is its value.
    return Form(str if kind is str else lambda value: value, wrong)


def _or_null(form: Form) -> Form:
    return form._replace(
        write=lambda value: None if value is None else form.write(value),
        wrong=lambda found, at: None if found is None else form.wrong(found, at),
    )


def _list(form: Form) -> Form:
    def wrong(found: Any, at: str) -> str | None:
        if not isinstance(found, list):
            return f"{at} is not a list"
        return _first(form.wrong(each, f"{at}[{place}]") for place, each in enumerate(found))

    return form._replace(write=lambda values: [form.write(each) for each in values], wrong=wrong, many=True)


def _by_key(kind: type, form: Form) -> Form:
    """Return the form of a dictionary; keys that are members of an enum are in the order of that enum."""

    def write(values: Any) -> dict[str, Any]:
        keys: Iterable[Any] = kind if issubclass(kind, enum.Enum) else values
        return {str(key): form.write(values[key]) for key in keys if key in values}

    def wrong(found: Any, at: str) -> str | None:
        if not isinstance(found, dict):
            return f"{at} is not an object"
        return _first(form.wrong(each, f"{at}.{name}") for name, each in found.items())

    return Form(write, wrong)


def _object(kind: type, fields: Mapping[str, Field]) -> Form:
    parts = [(name, field.get, field.form.write) for name, field in fields.items()]

    def write(value: Any) -> dict[str, Any]:
        return {name: write_field(get(value)) for name, get, write_field in parts}

    def wrong_field(name: str, found: dict[str, Any], at: str) -> str | None:
        if name in found:
            return fields[name].form.wrong(found[name], at)
        return None if fields[name].later else f"{at} is missing"

    def wrong(found: Any, at: str) -> str | None:
        # Unknown fields are accepted: a later version may add some.
        if not isinstance(found, dict):
            return f"{at} is not an object"
        return _first(wrong_field(name, found, f"{at}.{name}" if at else name) for name in fields)

    return Form(write, wrong, kind=kind, fields=fields)


def _first(problems: Iterable[str | None]) -> str | None:
    return next(filter(None, problems), None)
