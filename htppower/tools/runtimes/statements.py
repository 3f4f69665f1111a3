"""The voting settings of a host's own files: statements, each with its place, and keys written by mistake for one.

The effect of a wrong key has the same sources as the settings: it was measured, or read in public sources.
"""

from __future__ import annotations

import difflib
import re
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.tools.runtimes.brackets import is_template
from htppower.tools.runtimes.voting_settings import AIHUB_KEY, AIHUB_QNN_KEY, OF_SESSIONS, OPTIONS, Option, Takes, Where

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.errors import Finding, Place

# ONNX Runtime ignores an unknown key; the others refuse it.
_SPELT_FREELY = (Where.PROVIDER, Where.SESSION, Where.RUN, Where.DYNAMIC, Where.GENAI)
# Similarity: two swapped letters or one extra letter are above it, other options of the provider are below. Keys of
# other kinds begin with these prefixes.
_MISSPELT_ABOVE = 0.9
_OTHER_KEYS = ("dsp_", "gpu_")
_MOST_LETTERS_OFF = 2
_OF_THE_PROVIDER = {
    **dict.fromkeys(
        ("htp_perf_mode", "perf_profile", "performance_mode", "perf_mode", "qnn.perf_mode", "qnn.htp_perf_mode"),
        "htp_performance_mode",
    ),
    "qnn.rpc_control_latency": "rpc_control_latency",
    **{f"{OF_SESSIONS}{key}": key for key in ("htp_performance_mode", "rpc_control_latency")},
}
# By kind of setting: wrong keys that no runtime reads, and the keys that it reads.
MISTAKEN: Mapping[tuple[Where, str], str] = MappingProxyType(
    {
        (Where.RUN, "qnn.perf_mode"): "qnn.htp_perf_mode",
        (Where.RUN, "qnn.perf_mode_post_run"): "qnn.htp_perf_mode_post_run",
        (Where.RUN, "qnn.htp_performance_mode"): "qnn.htp_perf_mode",
        (Where.RUN, "htp_performance_mode"): "qnn.htp_perf_mode",
        (Where.RUN, "rpc_control_latency"): "qnn.rpc_control_latency",
        **{(where, key): right for where in (Where.PROVIDER, Where.GENAI) for key, right in _OF_THE_PROVIDER.items()},
        (Where.DELEGATE, "htp_perf_ctrl_mode"): "htp_perf_ctrl_strategy",
        (Where.LITERT_TOML, "htp_perf_ctrl_strategy"): "htp_perf_ctrl_mode",
        (Where.AIHUB_QNN, "htp_performance_mode"): AIHUB_QNN_KEY,
        (Where.AIHUB_QNN, AIHUB_KEY): AIHUB_QNN_KEY,
        (Where.AIHUB_ONNX, "htp_performance_mode"): AIHUB_KEY,
        (Where.AIHUB_ONNX, AIHUB_QNN_KEY): AIHUB_KEY,
        (Where.AIHUB_TFLITE, "htp_performance_mode"): AIHUB_KEY,
        (Where.AIHUB_TFLITE, AIHUB_QNN_KEY): AIHUB_KEY,
        (Where.MLPERF, "core_voltage_done"): "",
    }
)
# Names of values in usage texts, and of variables in tables.
_PLACEHOLDER = re.compile(r"(?:[A-Z]+_)*(?:MODE|PROFILE|LEVEL|LATENCY|VALUE|VAL|NAME|NUMBER|NUM|INT|STRING|STR|N|X)")
# The programs whose flags are known. Another program may use the same flag with other values, or a sentence name it.
_PROGRAMS: Mapping[Where, re.Pattern[str]] = {
    Where.EXECUTORCH_FLAG: re.compile(r"runner|executorch|benchmark_model"),
    Where.LITERT_FLAG: re.compile(r"run|benchmark|litert"),
    Where.TOOL_FLAG: re.compile(r"net-run|qnn-|snpe"),
}
# A program before a flag: an interpreter anywhere, or the first word of a command.
_OTHER_PROGRAM = re.compile(
    r"\b(?:python[\d.]*|node|npm|npx|cargo|dotnet|java|go run|uv|poetry)\b|\.(?:py|js|ts|rb|jar)\b"
    r"|^[ \t]*(?:[$>][ \t]+)?[\"']?[\w./\\-]*\w[\"']?(?:[ \t][^=(,:]*)?$"
)
# How many characters before a flag are searched for its program: a line may be as long as the file.
_NEAR = 2000


def meant(where: Where, key: str) -> str | None:
    """Return the right key for a wrong one.

    It is empty if no setting does what the wrong key says, and None if the key is no known mistake.
    """
    found = MISTAKEN.get((where, key))
    if found is not None or (where, key) in OPTIONS or where not in _SPELT_FREELY or key.startswith(_OTHER_KEYS):
        return found
    known = [spelt for at, spelt in OPTIONS if at is where and abs(len(spelt) - len(key)) <= _MOST_LETTERS_OFF]
    near = difflib.get_close_matches(key, known, n=1, cutoff=_MISSPELT_ABOVE)
    return near[0] if near else None


def is_of(where: Where, key: str) -> bool:
    """Return whether a key is a voting setting, or a wrong key for one."""
    return (where, key) in OPTIONS or meant(where, key) is not None


@attrs.frozen
class Statement:
    """A setting and its value in a file.

    Attributes:
        where: the kind of setting.
        key: its key.
        value: its value in the spelling of the file, without quotes.
        key_place, place: the places of both.
        quoted: whether the value is a text; False for a number, true or false in JSON or code.
        group: identifies settings that belong together, such as those of one object.
        name: a name for its profile, such as the model with these options; may be empty.
    """

    where: Where
    key: str
    value: str
    key_place: Place
    place: Place
    quoted: bool = True
    group: tuple[str, ...] = ()
    name: str = ""

    @property
    def option(self) -> Option | None:
        """The setting in the table; None if no runtime reads the key there."""
        return OPTIONS.get((self.where, self.key))

    @property
    def meant(self) -> str | None:
        """The correct key instead of a wrong one; None if the key itself is read, or if it is not known."""
        return meant(self.where, self.key)

    @property
    def mode(self) -> str:
        """The mode of its value; empty if the runtime does not know the value."""
        option = self.option
        if option is None:
            return ""
        return option.modes.get(self.value.lower() if option.any_case else self.value, "")


@attrs.frozen
class Said:
    """The settings of a file.

    Attributes:
        statements: the settings, in the order of the file.
        problems: why the file, or its rest, can't be read.
        extensions: the extension files that Genie's dialogs name, with their places.
        refused: keys because of which Genie refuses a whole dialog, with their places.
        silent: the places of Genie's dialogs that name no extension file.
        polls: the places where Genie's dialogs let a thread of the CPU poll.
        spinning: the places of ONNX Runtime's session options for the NPU that leave open whether threads spin.
        unread: unknown keys of SNPE's perf config, each with its place and the most similar known key.
        unknown: unknown values there, each with its key first, then its place and the most similar known value.
        open_values: keys whose values are not literals, and so are unknown, with their places.
        without_mode: places where ONNX Runtime's provider is used with options that have no mode.
        no_texts: keys whose values are not texts although the runtime accepts only texts, with value and place.
        form: a description of the file; empty if unknown.
    """

    statements: tuple[Statement, ...] = ()
    problems: tuple[Finding, ...] = ()
    extensions: tuple[tuple[str, Place], ...] = ()
    refused: tuple[tuple[str, Place], ...] = ()
    silent: tuple[Place, ...] = ()
    polls: tuple[Place, ...] = ()
    spinning: tuple[Place, ...] = ()
    unread: tuple[tuple[str, Place, str], ...] = ()
    unknown: tuple[tuple[str, str, Place, str], ...] = ()
    open_values: tuple[tuple[str, Place], ...] = ()
    without_mode: tuple[Place, ...] = ()
    no_texts: tuple[tuple[str, str, Place], ...] = ()
    form: str = ""


def is_unquoted(statement: Statement) -> bool:
    """Return whether a value is not a text although only texts are accepted."""
    return statement.where is Where.GENAI and not statement.quoted


def is_placeholder(statement: Statement) -> bool:
    """Return whether a value is a placeholder that is replaced later."""
    named = _is_unknown(statement) and _PLACEHOLDER.fullmatch(statement.value) is not None
    return named or is_template(statement.value)


def is_none(statement: Statement, lines: list[str]) -> bool:
    """Return whether a statement is not a setting but a label, a list of choices, or another program's flag.

    ``lines`` are the lines of its file. A value that the runtime knows is always a setting.
    """
    if statement.where is Where.GENAI or is_placeholder(statement) or not _is_unknown(statement):
        return False
    programs = _PROGRAMS.get(statement.where)
    if programs is not None:
        at = statement.key_place.column - 1
        before = lines[statement.key_place.line - 1][max(0, at - _NEAR) : at].rstrip("-")
        return programs.search(before) is None and _OTHER_PROGRAM.search(before) is not None
    return _is_label(statement) or (statement.where is Where.PROVIDER and statement.value.startswith("["))


def _is_label(statement: Statement) -> bool:
    """Return whether a value is text for people, such as ``Latency (us)``, and not a mode that contains blanks."""
    option, words = statement.option, statement.value.lower().split()
    if option is None or len(words) < 2:  # noqa: PLR2004 - a blank
        return False
    if option.takes is Takes.TIME:
        return not statement.value.strip()[:1].isdigit()
    return "_".join(words) not in {mode.lower() for mode in option.modes}


def _is_unknown(statement: Statement) -> bool:
    option = statement.option
    return option is not None and not statement.mode and (option.is_mode or option.takes is Takes.TIME)
