"""Settings on command lines: flags with their values, and lists of settings in one value."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import TYPE_CHECKING

import attrs

from htppower.tools.runtimes.brackets import is_template
from htppower.tools.runtimes.statements import MISTAKEN, Statement
from htppower.tools.runtimes.voting_settings import OPTIONS, Where

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from htppower.tools.extensions.json_text import PlacedText
    from htppower.tools.runtimes.tokens import Token

# A flag, with its place.
FLAGS: Mapping[str, Where] = MappingProxyType(
    {
        "qualcomm_htp_performance_mode": Where.LITERT_FLAG,
        "qualcomm_htp_perf_ctrl_mode": Where.LITERT_FLAG,
        "htp_performance_mode": Where.EXECUTORCH_FLAG,
        "perf_profile": Where.TOOL_FLAG,
        "power-mode": Where.GENIEX,
    }
)
# Flags whose value is a list of settings.
LISTS: Mapping[str, Where] = MappingProxyType(
    {
        "qnn_options": Where.AIHUB_QNN,
        "onnx_options": Where.AIHUB_ONNX,
        "tflite_options": Where.AIHUB_TFLITE,
        "external_delegate_options": Where.DELEGATE,
        "ep-options": Where.PROVIDER,
        "ep_options": Where.PROVIDER,
    }
)
_GSTREAMER = "QNNExternalDelegate,"
# onnxruntime_perf_test: -i "htp_performance_mode|burst".
_BAR = re.compile(r"(?<![\w.])(?:htp_performance_mode|rpc_control_latency|htp_perf_mode)\|")
# If this does not match a text, the text has no settings.
SPOKEN = re.compile(rf"-(?:{'|'.join((*FLAGS, *LISTS))})|{_GSTREAMER}|{_BAR.pattern}|[\"'](?:qnn|ep|htp|rpc)[._]")
_FLAG = re.compile(r"--?(?P<name>[\w-]+)(?P<equals>=?)")
_ITEM = re.compile(r"(?<![\w.])(?P<key>[A-Za-z_][\w.]*)[ \t]*[=:|][ \t]*(?:\(\w+\))?[\"'\\]*(?P<value>[^\s;,\"'\\]+)")
_VALUE = re.compile(r"[\"'\\]*(?!-\D)(?P<value>[\w.+-]*)(?P<behind>.?)")
# Commands that only print their arguments.
_PRINTS = re.compile(r"(?:echo|printf|print|(?i:write-(?:host|output|verbose|warning|error)))[ \t]")


@attrs.frozen
class Setting:
    """A setting in a text.

    Attributes:
        where: the kind of setting.
        key, value: in the spelling of the file.
        key_at, at: their offsets.
        quoted: whether the value is a text.
    """

    where: Where
    key: str
    value: str
    key_at: int
    at: int
    quoted: bool = True

    def statement(self, text: PlacedText, *group: str) -> Statement:
        """Return it with its places in a text, as one of a group."""
        key_place, place = text.place(self.key_at), text.place(self.at)
        return Statement(self.where, self.key, self.value, key_place, place, quoted=self.quoted, group=group)


def words_of(line: Sequence[Token]) -> list[tuple[int, int]]:
    """Return the start and end of each word of a line; blanks outside quotes separate words."""
    words: list[tuple[int, int]] = []
    for token in line:
        if words and words[-1][1] == token.start:
            words[-1] = (words[-1][0], token.end)
        else:
            words.append((token.start, token.end))
    return words


def prints(text: str, line: Sequence[Token]) -> bool:
    """Return whether a line is a command that only prints its words."""
    return bool(line) and _PRINTS.match(text, line[0].start) is not None


def of_line(text: str, line: Sequence[Token]) -> Iterator[Setting]:
    """Yield the settings of one command line."""
    words = words_of(line)
    of_geniex = bool(words) and "geniex" in text[words[0][0] : words[-1][1]]
    for number, (start, end) in enumerate(words):
        found = _FLAG.match(text, start, end)
        if found is None or found["name"] not in (*FLAGS, *LISTS):
            yield from of_text(text, start, end)
            continue
        sure = bool(found["equals"])
        value = (found.end(), end) if sure else words[number + 1] if number + 1 < len(words) else (end, end)
        if not sure and found.end() != end:
            continue
        if found["name"] in LISTS:
            behind = number + 1 if sure else number + 2
            yield from items(text, value[0], _until_flag(text, words, behind, value[1]), LISTS[found["name"]])
        elif found["name"] != "power-mode" or of_geniex:
            yield from of_flag(text, found["name"], found.start("name"), value)


def _until_flag(text: str, words: list[tuple[int, int]], number: int, end: int) -> int:
    """Return the end of a list that begins before a word: the next flag, or the end of the line."""
    while number < len(words) and not text.startswith("-", words[number][0]):
        end = words[number][1]
        number += 1
    return end


def of_flag(text: str, name: str, key_at: int, value: tuple[int, int]) -> Iterator[Setting]:
    """Yield the setting of a flag and its value; nothing if the value is a template."""
    found = _VALUE.match(text, *value)
    if found is not None and found["value"] and not is_template(found["behind"]):
        yield Setting(FLAGS[name], name, found["value"], key_at, found.start("value"))


def of_text(text: str, start: int, end: int) -> Iterator[Setting]:
    """Yield the settings of a text that is a list of settings."""
    if text.startswith(_GSTREAMER, start) or _GSTREAMER in text[start:end]:
        yield from items(text, start, end, Where.DELEGATE)
    elif _BAR.search(text, start, end) is not None:
        yield from items(text, start, end, Where.PROVIDER)


def items(text: str, start: int, end: int, where: Where) -> Iterator[Setting]:
    """Yield the settings of a list."""
    for item in _ITEM.finditer(text, start, end):
        if ((where, item["key"]) in OPTIONS or (where, item["key"]) in MISTAKEN) and not is_template(item["value"]):
            yield Setting(where, item["key"], item["value"], item.start("key"), item.start("value"))
