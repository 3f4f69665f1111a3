"""The JSON forms of annotated classes: they write values, and check JSON that was read."""

from __future__ import annotations

import enum
import operator
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

# Every clock, count and id is smaller than this.
_LIMIT = 1 << 63
_WORDS = {str: "text", int: "number", float: "number", bool: "truth value"}


@attrs.frozen
class Form:
    """The JSON form of a type.

    Attributes:
        write: returns a value of the type as JSON.
        wrong: returns a text on what is wrong with JSON at a path, such as ``caps[0].profile``; None if it has this
            form.
        many: whether it is a list.
        kind: the class of an object, or of the objects in a list.
        fields: the fields of that class: the form of each, and its meaning if the docstring of the class does not state
            it.
    """

    write: Callable[[Any], Any]
    wrong: Callable[[Any, str], str | None]
    many: bool = False
    kind: type | None = None
    fields: Mapping[str, tuple[Form, str]] = attrs.field(factory=dict)


@attrs.frozen
class Shown:
    """A field that is not an annotated attribute of its class.

    Attributes:
        hint: the type of its value.
        get: returns its value; None to use the attribute of that name.
        says: its meaning, if the docstring of the class does not state it.
    """

    hint: Any
    get: Callable[[Any], Any] | None = None
    says: str = ""


class Forms:
    """Makes forms from types. The fields of a class are its annotations, unless ``define`` has set them."""

    def __init__(self) -> None:
        self._defined: dict[type, Form] = {}

    def define(self, kind: type, /, *, later: Collection[str] = (), **shown: Any) -> Form:
        """Return the form of a class with these fields, each a type or a ``Shown``.

        Files of earlier versions may lack the ``later`` fields.
        """
        fields = {name: each if isinstance(each, Shown) else Shown(each) for name, each in shown.items()}
        forms = {name: self.of(field.hint) for name, field in fields.items()}
        parts = [(name, field.get or operator.attrgetter(name), forms[name].write) for name, field in fields.items()]
        made = self._defined[kind] = Form(
            lambda value: {name: write(get(value)) for name, get, write in parts},
            lambda found, at: _wrong_object(found, at, forms, later),
            kind=kind,
            fields={name: (forms[name], field.says) for name, field in fields.items()},
        )
        return made

    def of(self, hint: Any) -> Form:
        """Return the form of a type."""
        origin, args = get_origin(hint), get_args(hint)
        if origin is tuple:
            return _list(self.of(args[0]))
        if origin is dict:
            return _dictionary(args[0], self.of(args[1]))
        if args:
            return _or_null(self.of(args[0]))
        if hint in _WORDS:
            return _leaf(hint)
        if issubclass(hint, enum.Enum):
            return _leaf(str)
        return self._defined.get(hint) or self.define(hint, **get_type_hints(hint))


def _leaf(kind: type) -> Form:
    def wrong(found: Any, at: str) -> str | None:
        # Other writers of JSON write a whole float without a point.
        fits = type(found) is kind or (kind is float and type(found) is int)
        right = fits and (not isinstance(found, (int, float)) or abs(found) < _LIMIT)
        return None if right else f"{at} is not a {_WORDS[kind]}"

    # The text of an enum member is its value.
    return Form(str if kind is str else lambda value: value, wrong)


def _or_null(form: Form) -> Form:
    return attrs.evolve(
        form,
        write=lambda value: None if value is None else form.write(value),
        wrong=lambda found, at: None if found is None else form.wrong(found, at),
    )


def _list(form: Form) -> Form:
    def wrong(found: Any, at: str) -> str | None:
        if not isinstance(found, list):
            return f"{at} is not a list"
        problems = (form.wrong(each, f"{at}[{place}]") for place, each in enumerate(found))
        return next(filter(None, problems), None)

    return attrs.evolve(form, write=lambda values: [form.write(each) for each in values], wrong=wrong, many=True)


def _dictionary(key: Any, form: Form) -> Form:
    """Return the form of a dictionary.

    If the type of its keys is a Literal, every one of these keys must be present. If it is an enum, the keys are
    written in the order of the enum.
    """
    required = get_args(key)
    order = required or (key if issubclass(key, enum.Enum) else ())

    def wrong(found: Any, at: str) -> str | None:
        names = required or (found if isinstance(found, dict) else ())
        return _wrong_object(found, at, dict.fromkeys(names, form), ())

    return Form(
        lambda values: {str(each): form.write(values[each]) for each in order or values if each in values}, wrong
    )


def _wrong_object(found: Any, at: str, forms: Mapping[str, Form], later: Collection[str]) -> str | None:
    """Check the fields that have a form. Other fields are accepted, since a later version may add some."""
    if not isinstance(found, dict):
        return f"{at} is not an object"
    for name, form in forms.items():
        where = f"{at}.{name}" if at else name
        if name not in found and name not in later:
            return f"{where} is missing"
        problem = form.wrong(found[name], where) if name in found else None
        if problem:
            return problem
    return None
