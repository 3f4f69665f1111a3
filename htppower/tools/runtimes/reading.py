"""Reads settings: the voting settings of a file, and the profiles that they stand for.

reader = sniff(text, "genai_config.json")
if reader is not None:
    for found in reader(text, "genai_config.json"):
        ...
"""

from __future__ import annotations

import codecs
import os
from typing import TYPE_CHECKING

import attrs

from htppower.errors import Finding, ProfileError, shortened
from htppower.profiles.loading import load_profile
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.profiles.paths import stem_of
from htppower.profiles.regular_file import LARGEST_FILE_BYTES
from htppower.profiles.yaml_text import ProfileFiles, comment, profile_name, quoted
from htppower.tools.extensions.inner_files import beside_dialog
from htppower.tools.extensions.json_text import parse_json
from htppower.tools.runtimes.json_settings import DIALOG, GENAI, OPTIONS_OBJECT, POLICY, said_by_json
from htppower.tools.runtimes.litert import CONTROL
from htppower.tools.runtimes.snpe_reading import PERF_CONFIG, imported, is_perf_config, state_lines
from htppower.tools.runtimes.snpe_reading import read as read_perf_config
from htppower.tools.runtimes.statements import Said, Statement, is_none, is_placeholder, is_unquoted
from htppower.tools.runtimes.structured import said_by_markdown, said_by_notebook, said_by_texts, said_by_yaml
from htppower.tools.runtimes.text_settings import Code, TooMany, joined, said_by_text
from htppower.tools.runtimes.voting_settings import LARGEST_TIME_US, Takes, Where, time_us

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.errors import Place
    from htppower.tools.extensions.json_text import JsonText

    Reader = Callable[[str, str], "tuple[ProfileFiles, ...]"]

JSON_RULE = "SET-13"
_CUSTOM = "custom"
# No host has more settings; each may become a finding or a profile.
_MOST_SETTINGS = 5000
_BY_SUFFIX = {**dict.fromkeys((".yaml", ".yml"), said_by_yaml), **dict.fromkeys((".md", ".markdown"), said_by_markdown)}
_MARK = codecs.BOM_UTF8.decode()


def said(data: bytes | str, path: str) -> Said:
    """Return the voting settings of a file; if it can't be read, the problems say so."""
    if len(data) > LARGEST_FILE_BYTES:
        return Said(problems=(Finding.of_file(path, "FILE-2", "larger than 1 MiB", "name a file of settings"),))
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
    except UnicodeDecodeError:
        return Said(problems=(Finding.of_file(path, "FILE-3", "not UTF-8", "save the file as UTF-8"),))
    try:
        return _literals(_said(data, text.removeprefix(_MARK), path), text)
    except TooMany as error:
        hint = "name a file of settings, or a part of it"
        return Said(problems=(Finding.of_file(path, "FILE-2", f"more than {error}", hint),))


def _said(data: bytes | str, text: str, path: str) -> Said:
    if text.lstrip()[:1] in ("{", "[", "/"):
        found = _said_by_json(data, path)
        if found is not None:
            return found
    if is_perf_config(text):
        return read_perf_config(text, path)[0]
    return _BY_SUFFIX.get(os.path.splitext(path)[1].lower(), said_by_text)(text, path)


def _literals(found: Said, text: str) -> Said:
    """Return the settings without placeholders such as ``{{MODE}}``, and without values that only look like settings.

    Raises:
        TooMany: there are more settings than any host has.
    """
    if len(found.statements) > _MOST_SETTINGS:
        raise TooMany(f"{_MOST_SETTINGS} settings")
    if not found.statements:
        return found
    lines = text.split("\n")
    said = [each for each in found.statements if not is_none(each, lines)]
    templates = [each for each in said if is_placeholder(each)]
    known = tuple(each for each in said if not is_placeholder(each))
    return attrs.evolve(
        found,
        statements=known,
        form=found.form if known or found.form in (GENAI, POLICY) else "",
        open_values=(*found.open_values, *((each.key, each.place) for each in templates)),
    )


def _said_by_json(data: bytes | str, path: str) -> Said | None:
    """Return the settings of a JSON text; None if it has no known form, or is code that only begins like JSON."""
    parsed = parse_json(data, path)
    if parsed.root is not None:
        found = said_by_json(parsed)
        if found is not None and found.form != OPTIONS_OBJECT:
            return _marked(found, parsed)
        text = Code(path, parsed.text)
        notebook = said_by_notebook(text, parsed.root)
        if notebook is not None:
            return notebook
        parts = [*([] if found is None else [found]), *said_by_texts(text, parsed.root)]
        return joined(parts) if parts else None
    if not path.endswith(".json") or parsed.problem is None:
        return None
    return Said(problems=(attrs.evolve(parsed.problem, rule=JSON_RULE),), form="JSON")


def _marked(found: Said, parsed: JsonText) -> Said:
    """Return the settings of a JSON text, with a finding if its runtime refuses the byte order mark."""
    if found.form != GENAI or not parsed.byte_order_mark:
        return found
    problem = Finding(JSON_RULE, (), "a byte order mark", "save the file as UTF-8 without one", place=parsed.place(0))
    return attrs.evolve(found, problems=(problem,))


def named_extensions(text: str, path: str) -> dict[str, Place] | None:
    """Return the extension files that a dialog of Genie names, with their places; None if the text is not a dialog.

    Raises:
        ProfileError: it names no file, so that it sends no votes; it names a file that is missing; or Genie refuses
            the whole dialog because of some keys.
    """
    found = said(text, path)
    if found.form != DIALOG:
        return None
    wrong = [
        Finding("SET-8", (), f"Genie refuses the dialog because of {key}", place=place) for key, place in found.refused
    ]
    hint = "name an extension file in engine.backend.extensions"
    wrong += [
        Finding("SET-10", (), "the dialog names no extension file, and sends no votes", hint, place=place)
        for place in found.silent
    ]
    if not wrong and not found.extensions:
        message = "no backend of the dialog has the type QnnHtp, so it sends no votes"
        wrong.append(Finding.of_file(path, "SET-10", message, hint))
    if wrong:
        raise ProfileError(wrong)
    files = [(beside_dialog(path, named), named, place) for named, place in found.extensions]
    missing = [(named, place) for file, named, place in files if file is None]
    if missing:
        hint = "copy it from the device into the dialog's folder, or import it by its own path"
        raise ProfileError(
            Finding("FILE-1", (), f"the extension file {shortened(named)!r} is not here", hint, place=place)
            for named, place in missing
        )
    return {file: place for file, _, place in files if file is not None}


def sniff(text: str, name: str) -> Reader | None:
    """Return a function that reads the settings in a text as profiles; None if the text has no settings."""
    found = said(text, name)
    readable = found.form == PERF_CONFIG or any(
        each.option is not None and each.option.is_mode for each in found.statements
    )
    return read if readable else None


def read(text: str, path: str) -> tuple[ProfileFiles, ...]:
    """Return the profiles that the settings in a text stand for, each as a file.

    Raises:
        ProfileError: the text can't be read, its runtime does not know a mode or time in it, or all modes in it are for
            the time after a run.
    """
    found = said(text, path)
    if found.problems:
        raise ProfileError(found.problems)
    if found.form == PERF_CONFIG:
        return (imported(text, path),)
    problems = [_unknown(each) for each in found.statements if _is_unknown(each)]
    problems += [no_text(*each) for each in found.no_texts]
    if problems:
        raise ProfileError(problems)
    profiles = tuple(_profiles(found.statements, path))
    alone = [each for each in found.statements if each.option is not None and each.option.is_mode]
    if alone and not profiles:
        message = f"{alone[0].key} without a mode for the runs before it"
        hint = f"set {alone[0].key.removesuffix('_post_run')}, too"
        raise ProfileError([Finding("KEY-2", (), message, hint, place=alone[0].place)])
    return profiles


def _is_unknown(statement: Statement) -> bool:
    option = statement.option
    if option is not None and is_unquoted(statement):
        return True
    if option is None or option.takes is not Takes.TIME:
        return option is not None and statement.mode in ("", _CUSTOM)
    return time_us(statement.value) is None


def _unknown(statement: Statement) -> Finding:
    if is_unquoted(statement):
        return no_text(statement.key, statement.value, statement.place)
    if statement.option is not None and statement.option.takes is Takes.TIME:
        message = f"{statement.key} is {shortened(statement.value)!r}, not a whole number of us up to {LARGEST_TIME_US}"
        return Finding("SET-7", (), message, "write a number, such as 100", place=statement.place)
    if statement.mode == _CUSTOM:
        message = f"{statement.key} is {_CUSTOM}, whose votes are in an extension file"
        return Finding("KEY-2", (), message, "import that file", place=statement.place)
    message = f"{statement.key} is {statement.value!r}, which {statement.where} do not have"
    return Finding("SET-2", (), message, "htppower settings --check says what to write", place=statement.place)


def no_text(key: str, value: str, place: Place) -> Finding:
    """Return the finding about an option of genai_config.json whose value is not a text."""
    message = f"{key} is {shortened(value)} without quotes, and {Where.GENAI} are texts: the file is refused"
    hint = "omit it" if value[:1] in ("{", "[") or value == "null" else f'write "{shortened(value)}"'
    return Finding("SET-6", (), message, hint, place=place)


def _profiles(statements: tuple[Statement, ...], path: str) -> Iterator[ProfileFiles]:
    """Yield a profile for every mode, together with related settings; if a name exists already, with a number."""
    seen: dict[str, int] = {}
    for statement in statements:
        option = statement.option
        if option is None or not option.is_mode or statement.key.endswith("_post_run"):
            continue
        beside = {
            each.key: each for each in statements if (each.where, each.group) == (statement.where, statement.group)
        }
        name = profile_name(statement.name or stem_of(path) or statement.mode)
        seen[name] = seen.get(name, 0) + 1
        yield _profile(statement, beside, name if seen[name] == 1 else f"{name}_{seen[name]}")


def _profile(statement: Statement, beside: dict[str, Statement], name: str) -> ProfileFiles:
    mode, runtime = statement.mode, statement.option.runtime if statement.option else ""
    control = next((each.mode for each in beside.values() if each.mode in CONTROL), "")
    # Records include no automatic default.
    if runtime == "litert" and control == "auto" and mode != "default":
        runtime = "litert-auto"
    lines = [
        comment(f"{statement.place}: {statement.key} {statement.value}, of {statement.where}."),
        *_of_no_counterpart(statement),
        f"profile: {name}",
        f"summary: {quoted(f'As {statement.key} {statement.value} of {statement.where}.')}",
        # The vendor's decode profiles have no record: the shipped ones have the votes of the vendor's table.
        f"extends: {mode}" if mode in LLM_DECODE_PROFILES else f"extends: {runtime}:{mode}",
    ]
    latency = next((each for key, each in beside.items() if key.endswith("rpc_control_latency")), None)
    latency_us = None if latency is None else time_us(latency.value)
    if latency_us and mode != "default":
        lines += ["votes:", f"  rpc_control_latency_us: {latency_us}"]
    states = {}
    after = beside.get("qnn.htp_perf_mode_post_run")
    if after is not None and after.mode not in ("", "default") and mode != "default":
        states = {f"{name}_after_run": _state_after_run(f"{name}_after_run", after)}
        lines += ["relax:", f"  to: {name}_after_run"]
    return ProfileFiles(name, "\n".join(lines) + "\n", states, statement.place)


def _of_no_counterpart(statement: Statement) -> Iterator[str]:
    if statement.where is Where.POLICY:
        yield "# The policy is set through the API, and overrides the extension file; a session chooses its profile."
    if statement.where in (Where.AIHUB_QNN, Where.AIHUB_ONNX, Where.AIHUB_TFLITE):
        yield "# A job's votes on AI Hub are not public: these are the votes of the same model's runtime elsewhere."


def _state_after_run(name: str, after: Statement) -> str:
    votes = load_profile(f"onnxruntime:{after.mode}").votes
    return state_lines(name, f"As {after.key} {after.value}.", votes, f"{after.place}: {after.key} {after.value}.")
