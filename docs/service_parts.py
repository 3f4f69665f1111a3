"""The parts of the page on the service: its verbs, and the fields of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from docs.tables import made_table
from htppower.hosts.service.limits import ServiceFields, ThermalFields, UserFields
from htppower.hosts.service.messages import VERBS
from htppower.profiles.field_limits import declared

if TYPE_CHECKING:
    from collections.abc import Callable


def _verbs() -> str:
    rows = []
    for verb, kind in VERBS.items():
        fields = [f"`{name}`" if not wants.optional else f"[`{name}`]" for name, (_, wants) in declared(kind).items()]
        rows.append((f"`{verb}`", " ".join(fields), kind.SAYS))
    return made_table(("Verb", "Fields, optional ones in brackets", "What it does"), rows)


def _message_fields() -> str:
    said: dict[str, str] = {}
    for kind in VERBS.values():
        said.update({name: wants.says for name, (_, wants) in declared(kind).items()})
    return made_table(("Field", "Meaning"), [(f"`{name}`", says) for name, says in said.items()])


def _fields(kind: type[Any]) -> str:
    defaults = {each.name: each.default for each in attrs.fields(kind)}
    rows = [
        (f"`{name}`", _default(defaults[name]) if wants.optional else "required", wants.says)
        for name, (_, wants) in declared(kind).items()
    ]
    return made_table(("Field", "Default", "Meaning"), rows)


def _default(value: Any) -> str:
    return "none" if value in (None, ()) else f"`{value}`"


PARTS: dict[str, Callable[[], str]] = {
    "service-verbs": _verbs,
    "service-message-fields": _message_fields,
    "service-fields": lambda: _fields(ServiceFields),
    "service-user-fields": lambda: _fields(UserFields),
    "service-thermal-fields": lambda: _fields(ThermalFields),
}
