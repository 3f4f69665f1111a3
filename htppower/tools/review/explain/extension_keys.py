"""The keys of the vendor's extension files, and who allocates and copies with shared buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.extensions.keys import KEYS, OLDEST, REFUSES_UNKNOWN, Type
from htppower.tools.review.explain.subject import Subject
from htppower.tools.review.extension_lint.harmful import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.extensions.keys import Key

SHARED_BUFFER = "shared_buffer"
_REFUSED = "the vendor's tools refuse the whole file, and Genie then runs without any vote"
_READERS = "Genie and the vendor's tools; never by ONNX Runtime, ExecuTorch or LiteRT, whose own settings set the mode"
_NUMBERS = (Type.INTEGER, Type.WHOLE, Type.INTEGERS, Type.INTEGER_OR_WORD)


def key_names() -> tuple[str, ...]:
    """Return the names of the keys and of their subkeys, each once, and what else is explained here."""
    return (*dict.fromkeys(name for _, name in KEYS), SHARED_BUFFER)


def key_subjects(name: str) -> tuple[Subject, ...]:
    """Return a subject for each place where a key of that name may be."""
    if name == SHARED_BUFFER:
        return (_shared_buffer(),)
    return tuple(
        Subject("key", key.place, key.does, tuple(_facts(key)))
        for key in KEYS.values()
        if name in (key.name, key.place)
    )


def _facts(key: Key) -> Iterator[tuple[str, str]]:
    yield "takes", str(key.type)
    if key.words:
        yield "words", ", ".join(key.words)
    if key.limits is not None and key.type in _NUMBERS:
        yield "range", str(key.limits)
    if key.useful is not None:
        yield "documented", str(key.useful)
    yield "left out", _left_out(key)
    yield "since", f"QAIRT {'.'.join(map(str, key.since))}{' or earlier' if key.since == OLDEST else ''}"
    yield "when wrong", f"a value of another type or out of range: {_REFUSED}"
    if key.since > OLDEST:
        known = _REFUSED if key.section in REFUSES_UNKNOWN else "it is silently ignored"
        yield "before that", known
    if key.note:
        yield "note", key.note
    yield "votes", "yes" if key.power else "no"
    if key.power:
        yield "read by", _READERS
    yield "source", str(key.source)


def _left_out(key: Key) -> str:
    if key.required:
        return _REFUSED
    if key.default is None:
        return "nothing is set, or the default is not known"
    return str(key.default).lower() if isinstance(key.default, bool) else str(key.default)


def _shared_buffer() -> Subject:
    facts = [
        (f"{row.prepared}, {row.run}", f"allocated by the backend: {row.allocates}; copied each time: {row.copies}")
        for row in TABLE
    ]
    facts += [
        ("prepare", "qnn-context-binary-generator --input_output_tensor_mem_type memhandle"),
        ("run", '"memory": {"mem_type": "shared_buffer"} in the extension file; qnn-net-run --shared_buffer'),
        (
            "several SoCs",
            "a DLC has one context of each SoC, and the fitting one is used: prepare all of them in the same way",
        ),
        ("check", "htppower lint FILE.json --prepared raw|memhandle|CONTEXT.json (rule EXT-39)"),
        ("source", 'vendor, "QNN HTP Qmem Graph"'),
    ]
    says = "Who allocates and copies inputs and outputs, depending on how a context was prepared and is run."
    return Subject("key", SHARED_BUFFER, says, tuple(facts))
