"""How the values show themselves in a Python prompt or a failed test."""

import attrs


def field_repr(value: attrs.AttrsInstance) -> str:
    """Return the class of a value and its fields by name, as attrs itself would write them.

    A class names this its ``__repr__`` where every start of the command makes the class: attrs would compile a
    function of its own for each, which takes 0.2 ms.
    """
    kind = type(value)
    fields = (f"{field.alias}={getattr(value, field.alias)!r}" for field in attrs.fields(kind) if field.repr)
    return f"{kind.__qualname__}({', '.join(fields)})"
