"""The parts of the pages on the core: states, transitions, events, native codes and the status."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import attrs

from docs.docstrings import attributes
from docs.tables import in_code, made_table
from htppower import events
from htppower.control.core import state_machine
from htppower.control.status.controller_status import ControllerStatus, ProcessSetting, SessionStatus
from htppower.control.status.cores import CoreStatus
from htppower.control.status.document import STATUS
from htppower.tools.review.explain.code_texts import CODE_TEXTS
from htppower.votes.native_codes import SUCCESS, code_name, known_codes, what_to_do

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.status.json_form import Form


def _states() -> str:
    return made_table(("State", "Meaning"), [(f"`{state}`", said) for state, said in state_machine.MEANINGS.items()])


def _transitions() -> str:
    rows = [
        (f"`{row.trigger}`", ", ".join(f"`{state}`" for state in row.sources), f"`{row.dest}`", row.meaning)
        for row in state_machine.TRANSITIONS
    ]
    return made_table(("Transition", "From", "To", "What is done"), rows)


def _causes() -> str:
    return ", ".join(f"`{cause}`" for cause in events.Cause)


def _events() -> str:
    """Return every kind of event, with the time when it happens and the fields that it adds."""
    common = {field.name for field in attrs.fields(events.Event)}
    rows = []
    # attrs makes a new class with slots, and the old class may still exist: the later one counts.
    for kind in {kind.__name__: kind for kind in events.Event.__subclasses__()}.values():
        said = (inspect.getdoc(kind) or "").partition("\n\n")[0]
        own = in_code(*(field.name for field in attrs.fields(kind) if field.name not in common))
        rows.append((f"`{kind.__name__}`", " ".join(said.replace("``", "`").split()).rstrip("."), own))
    return made_table(("Event", "When", "Fields of its own"), rows)


def _codes() -> str:
    """Return the native codes with their meaning and what to do, as in errors and ``htppower explain``."""
    rows = []
    for code in known_codes():
        if code != SUCCESS:
            name = code_name(code).partition("_ERROR_")[2]
            rows.append((f"**{code}** `{name}`", CODE_TEXTS[code].why, f"{what_to_do(code)}"))
    return made_table(("Code", "When", "What to do"), rows)


def _attributes(kind: type[Any]) -> str:
    """Return the fields of a class with their descriptions in its docstring."""
    return made_table(("Field", "Meaning"), [(in_code(*names), meaning) for names, meaning in attributes(kind)])


def json_fields(form: Form, at: str = "") -> Iterator[tuple[str, str]]:
    """Yield every field of an object with its meaning, in order; the fields of an inner object follow that object."""
    said = {name: meaning for names, meaning in attributes(form.kind or dict) for name in names}
    for name, (inner, meaning) in form.fields.items():
        where = f"{at}{name}{'[]' if inner.many else ''}"
        yield where, meaning or said[name].replace("``", "`").replace("None", "null")
        yield from json_fields(inner, f"{where}.")


PARTS: dict[str, Callable[[], str]] = {
    "states": _states,
    "transitions": _transitions,
    "causes": _causes,
    "codes": _codes,
    "events": _events,
    "controller-status": lambda: _attributes(ControllerStatus),
    "session-status": lambda: _attributes(SessionStatus),
    "core-status": lambda: _attributes(CoreStatus),
    "process-setting": lambda: _attributes(ProcessSetting),
    "status-json": lambda: made_table(
        ("Field", "Meaning"), [(f"`{name}`", said) for name, said in json_fields(STATUS)]
    ),
}
