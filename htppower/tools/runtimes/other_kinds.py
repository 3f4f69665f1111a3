"""Kinds of JSON files other than extension files, each with the command for it."""

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
_NAME_IT = "name the extension file"
_TOP = known(Section.TOP)
# A file is of a kind if its top level has all keys of one of the texts. Source: the formats of these tools.
_BY_KEYS = (
    ("a recipe of Olive", _CHECK, "passes", "input_model"),
    ("a file of the LPAI backend", "it votes nothing on the HTP", "lpai_backend", "lpai_graph"),
    ("a profile of AI Hub", _ADVISE, "execution_summary", "execution_detail"),
    ("a profile of Genie", _ADVISE, "header components", "header metadata"),
    ("a trace", "read it with htppower trace", "traceEvents"),
    ("encodings of AIMET", _NAME_IT, "activation_encodings"),
    ("a configuration of AIMET", _NAME_IT, "defaults params"),
    ("a test of qnn-throughput-net-run", "name the extension file that it names", "testCase"),
    ("a configuration of qnn-profile-viewer", _NAME_IT, "htp_json", "qhas_json"),
    ("a network of QNN's converter", _NAME_IT, "model.cpp"),
    ("a package.json", _NAME_IT, "name version", "dependencies"),
    ("a tokenizer", _NAME_IT, "added_tokens"),
    ("a model's config.json", _NAME_IT, "model_type"),
    ("JSON of another schema", _NAME_IT, "$schema"),
)


@attrs.frozen
class OtherKind:
    """A kind of file.

    Attributes:
        name: a description with its article; empty if unknown.
        hint: what to do with the file, or which keys an extension file has.
    """

    name: str
    hint: str


_BY_FORM = {form: OtherKind(form, _CHECK) for form in (GENAI, DIALOG, POLICY)}
_OPTIONS = _BY_FORM[OPTIONS_OBJECT] = OtherKind("an object of a runtime's options", _CHECK)


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
    by_keys = (
        OtherKind(name, hint) for name, hint, *sets in _BY_KEYS for each in sets if keys.keys() >= set(each.split())
    )
    found = next(by_keys, None) or (None if said is None else _BY_FORM.get(said.form))
    # Both kinds have the key of a control latency. A profile next to it exists only in extension files.
    is_nested = any("perf_profile" in read_as((), member) for member in keys.values())
    if found is not None and not (is_nested and found == _OPTIONS):
        return found
    if any(nearest(name, _TOP) or read_as((), member) for name, member in keys.items()):
        return None
    return OtherKind("", f"an extension file has {' or '.join(_TOP)}")
