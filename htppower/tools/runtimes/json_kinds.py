"""Recognizes the kind of a JSON file without top-level keys of an extension file, and suggests what to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.profiles.did_you_mean import nearest
from htppower.tools.extensions.key_checks import OURS
from htppower.tools.extensions.key_words import read_as
from htppower.tools.extensions.keys import Section, known
from htppower.tools.runtimes.json_settings import DIALOG, DIALOGS, GENAI, OPTIONS_OBJECT, POLICY, said_by_json

if TYPE_CHECKING:
    from htppower.tools.extensions.extension_file import ExtensionFile

_CHECK = "check it with htppower settings --check"
_ADVISE = "read it with htppower advise"
_TOP = known(Section.TOP)


@attrs.frozen
class OtherKind:
    """A kind of file.

    Attributes:
        name: a description with its article; empty if unknown.
        hint: what to do with the file, or which keys an extension file has.
    """

    name: str
    hint: str


# A file is of a kind if it has all of these keys at the top level. Source: the formats of these tools.
_BY_KEYS = (
    (("passes",), OtherKind("a recipe of Olive", _CHECK)),
    (("input_model",), OtherKind("a recipe of Olive", _CHECK)),
    (("lpai_backend",), OtherKind("a file of the LPAI backend", "it votes nothing on the HTP")),
    (("lpai_graph",), OtherKind("a file of the LPAI backend", "it votes nothing on the HTP")),
    (("execution_summary",), OtherKind("a profile of AI Hub", _ADVISE)),
    (("execution_detail",), OtherKind("a profile of AI Hub", _ADVISE)),
    (("header", "components"), OtherKind("a profile of Genie", _ADVISE)),
    (("header", "metadata"), OtherKind("a profile of Genie", _ADVISE)),
    (("traceEvents",), OtherKind("a trace", "read it with htppower trace")),
    (("activation_encodings",), OtherKind("encodings of AIMET", "name the extension file")),
    (("defaults", "params"), OtherKind("a configuration of AIMET", "name the extension file")),
    (("testCase",), OtherKind("a test of qnn-throughput-net-run", "name the extension file that it names")),
    (("htp_json",), OtherKind("a configuration of qnn-profile-viewer", "name the extension file")),
    (("qhas_json",), OtherKind("a configuration of qnn-profile-viewer", "name the extension file")),
    (("model.cpp",), OtherKind("a network of QNN's converter", "name the extension file")),
    (("name", "version"), OtherKind("a package.json", "name the extension file")),
    (("dependencies",), OtherKind("a package.json", "name the extension file")),
    (("added_tokens",), OtherKind("a tokenizer", "name the extension file")),
    (("model_type",), OtherKind("a model's config.json", "name the extension file")),
    (("$schema",), OtherKind("JSON of another schema", "name the extension file")),
)
_BY_FORM = {
    GENAI: OtherKind(GENAI, _CHECK),
    DIALOG: OtherKind(DIALOG, _CHECK),
    POLICY: OtherKind(POLICY, _CHECK),
    OPTIONS_OBJECT: OtherKind("an object of a runtime's options", _CHECK),
}


def other_kind(file: ExtensionFile) -> OtherKind | None:
    """Return the kind of a file without top-level keys of an extension file; None for a file with such a key.

    Also None for a file without any key, which is an empty extension file.
    """
    keys = {member.key: member for member in file.text.accepted().members}
    if not keys or not keys.keys().isdisjoint((*_TOP, *known(Section.OUTER_TOP), OURS)):
        return None
    if not keys.keys().isdisjoint(DIALOGS):
        return _BY_FORM[DIALOG]
    said = said_by_json(file.text)
    by_keys = (kind for names, kind in _BY_KEYS if keys.keys() >= set(names))
    found = next(by_keys, None) or (None if said is None else _BY_FORM.get(said.form))
    # Both kinds have the key of a control latency. A profile next to it exists only in extension files.
    is_nested = any("perf_profile" in read_as((), member) for member in keys.values())
    if found is not None and not (is_nested and found.name == _BY_FORM[OPTIONS_OBJECT].name):
        return found
    if any(nearest(name, _TOP) or read_as((), member) for name, member in keys.items()):
        return None
    return OtherKind("", f"an extension file has {' or '.join(_TOP)}")
