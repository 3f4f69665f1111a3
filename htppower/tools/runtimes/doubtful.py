"""Recognizes values that only look like settings: placeholders, words for people, and flags of other programs."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

from htppower.tools.runtimes.literals import is_template
from htppower.tools.runtimes.options import Takes, Where

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.tools.runtimes.statements import Statement

# Names of values in usage texts, and of variables in tables.
_PLACEHOLDER = re.compile(r"(?:[A-Z]+_)*(?:MODE|PROFILE|LEVEL|LATENCY|VALUE|VAL|NAME|NUMBER|NUM|INT|STRING|STR|N|X)")
# The programs whose flags are known. Another program may use the same flag with other values.
_PROGRAMS: Mapping[Where, re.Pattern[str]] = MappingProxyType(
    {
        Where.EXECUTORCH_FLAG: re.compile(r"runner|executorch|benchmark_model"),
        Where.TOOL_FLAG: re.compile(r"net-run|qnn-|snpe"),
    }
)
# A program before a flag: an interpreter anywhere, or the first word of a command.
_OTHER_PROGRAM = re.compile(
    r"\b(?:python[\d.]*|node|npm|npx|cargo|dotnet|java|go run|uv|poetry)\b|\.(?:py|js|ts|rb|jar)\b"
    r"|^[ \t]*(?:[$>][ \t]+)?[\"']?[\w./\\-]*\w[\"']?(?:[ \t][^=(,:]*)?$"
)
# A line may be the whole file, so the program is searched only near its flags.
_NEAR = 2000


def is_placeholder(statement: Statement) -> bool:
    """Return whether a value is a placeholder that is replaced later."""
    if is_template(statement.value):
        return True
    return _is_unknown(statement) and _PLACEHOLDER.fullmatch(statement.value) is not None


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
