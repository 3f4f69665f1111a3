"""Settings in any text: flags of command lines, options of delegates, TOML, pbtxt, and literals in code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from htppower.runtimes.executorch import RUN_TIME_OPTION
from htppower.runtimes.mistaken import MISTAKEN, is_of
from htppower.runtimes.options import OPTIONS, Where
from htppower.runtimes.statements import Said, Statement, Text
from htppower.runtimes.together import groups

if TYPE_CHECKING:
    from collections.abc import Iterator

TOML = "LiteRT's options in TOML"
PBTXT = "MLPerf's settings"
OTHER = "a text"

_VALUE = r"[\"']?(?P<value>[\w.+-]*)"
# A flag, and where it stands.
_FLAGS = {
    "qualcomm_htp_performance_mode": Where.LITERT_FLAG,
    "qualcomm_htp_perf_ctrl_mode": Where.LITERT_FLAG,
    "htp_performance_mode": Where.EXECUTORCH_FLAG,
    "perf_profile": Where.TOOL_FLAG,
}
_FLAG = re.compile(rf"(?<![\w-])--?(?P<key>{'|'.join(_FLAGS)})(?P<equals>=|\s+){_VALUE}")
# Words that follow a flag in a sentence, such as a comment.
_OF_SENTENCES = frozenset(
    (
        *(
            "",
            "a",
            "an",
            "and",
            "are",
            "as",
            "at",
            "be",
            "but",
            "by",
            "can",
            "do",
            "does",
            "flag",
            "for",
            "from",
            "has",
        ),
        *("if", "in", "is", "it", "of", "on", "option", "or", "says", "sets", "so", "takes", "than", "that", "the"),
        *("then", "to", "was", "wins", "with", "without"),
    )
)
# Many settings in one value: what leads to it, what stands between two, and between a key and its value.
_LISTS = (
    (re.compile(r"--qnn_options(?:=|\s+)[\"']?(?P<list>[^\"'\n]*)"), Where.AIHUB_QNN),
    (re.compile(r"--onnx_options(?:=|\s+)[\"']?(?P<list>[^\"'\n]*)"), Where.AIHUB_ONNX),
    (re.compile(r"--tflite_options(?:=|\s+)[\"']?(?P<list>[^\"'\n]*)"), Where.AIHUB_TFLITE),
    (re.compile(r"QNNExternalDelegate,(?P<list>[^\"'\n]*)"), Where.DELEGATE),
    (re.compile(r"--external_delegate_options(?:=|\s+)[\"']?(?P<list>[^\"'\n]*)"), Where.DELEGATE),
    (re.compile(r"--ep[-_]options(?:=|\s+)[\"']?(?P<list>[^\"'\n]*)"), Where.PROVIDER),
)
_ITEM = re.compile(r"(?P<key>[A-Za-z_][\w.]*)\s*[=:|]\s*(?:\(\w+\))?[\"']?(?P<value>[\w.+-]+)")
# onnxruntime_perf_test: -i "htp_performance_mode|burst".
_BAR = re.compile(r"(?P<key>htp_performance_mode|rpc_control_latency|htp_perf_mode)\|(?P<value>[\w.+-]+)")
# A key in quotes, then a colon, comma or equals sign: a literal of a dict, or two arguments of a call.
_PAIR = re.compile(
    r"""["'](?P<key>qnn\.[\w.]+|ep\.dynamic\.[\w.]+|ep\.qnnexecutionprovider\.[\w.]+|htp_\w+|rpc_\w+)["']"""
    r"""\]?\s*[:,=]\s*(?P<quote>["']?)(?P<value>[\w.+-]+)"""
)
_EXECUTORCH = re.compile(
    rf"(?:[\"']{RUN_TIME_OPTION}[\"']|QNN_RUNTIME_HTP_PERFORMANCE_MODE)\s*,\s*(?P<quote>[\"']?)(?P<value>[\w.+-]+)"
)
# QualcommOptions(htp_performance_mode=QualcommOptions.HTP_PERFORMANCE_MODE.BURST), or the enumeration by its own name.
_ENUMERATOR = re.compile(
    r"\b(?:QualcommOptions\.(?=HTP_)|(?=Qualcomm))(?P<key>HTP_PERFORMANCE_MODE|QualcommHtpPerformanceMode)\.(?P<value>\w+)"
)
_OF_PATTERN = {_BAR: Where.PROVIDER, _ENUMERATOR: Where.LITERT_PYTHON}
_TOML_LINE = re.compile(r"^[ \t]*(?P<key>[\w.-]+)[ \t]*=[ \t]*(?P<quote>[\"']?)(?P<value>[^\"'\n#]*)", re.MULTILINE)
_TOML_ONLY = re.compile(r"[ \t]*(?:#.*|\[[^\]]*\][ \t]*|[\w.-]+[ \t]*=.*)?\r?")
_PBTXT = re.compile(
    r"custom_setting\s*:?\s*\{\s*id\s*:\s*\"(?P<key>[^\"\n]*)\"\s*value\s*:\s*\"(?P<value>[^\"\n]*)\"\s*\}"
)
# What a pair is an option of stands near it, however long its line is.
_ENOUGH_OF_A_LINE = 2000


def said_by_text(given: str, path: str) -> Said:
    """Return what a text says of settings that vote."""
    text = Text(given, path)
    statements = list(_of_pbtxt(text))
    if statements:
        return Said(tuple(statements), form=PBTXT)
    statements = list(_of_toml(text))
    if statements:
        return Said(tuple(statements), form=TOML)
    found = {(each.place, each.where): each for each in _of_any(text)}
    return Said(tuple(sorted(found.values(), key=lambda each: each.place)), form=OTHER if found else "")


def _of_pbtxt(text: Text) -> Iterator[Statement]:
    for found in _PBTXT.finditer(text.text):
        if (Where.MLPERF, found["key"]) in OPTIONS or (Where.MLPERF, found["key"]) in MISTAKEN:
            group = (str(text.text.rfind("benchmark_setting", 0, found.start())),)
            yield _statement(text, Where.MLPERF, found, group)


def _of_toml(text: Text) -> Iterator[Statement]:
    if not all(map(_TOML_ONLY.fullmatch, text.text.split("\n"))):
        return
    for found in _TOML_LINE.finditer(text.text):
        if (Where.LITERT_TOML, found["key"]) in OPTIONS or (Where.LITERT_TOML, found["key"]) in MISTAKEN:
            yield _statement(text, Where.LITERT_TOML, found, ("toml",), quoted=bool(found["quote"]))


def _of_any(text: Text) -> Iterator[Statement]:
    """Yield what stands anywhere in a text; flags of one line belong together, and pairs of one literal or object."""
    taken: list[tuple[int, int]] = []
    for pattern, where in _LISTS:
        for found in pattern.finditer(text.text):
            taken.append(found.span("list"))
            for item in _ITEM.finditer(text.text, *found.span("list")):
                if (where, item["key"]) in OPTIONS or (where, item["key"]) in MISTAKEN:
                    yield _statement(text, where, item, _line(text, found.start()))
    for found in (each for pattern in (_FLAG, _EXECUTORCH, _BAR, _ENUMERATOR) for each in pattern.finditer(text.text)):
        if not any(start <= found.start() < end for start, end in taken) and not _is_prose(found):
            yield _of_match(text, found)
    pairs = tuple(_PAIR.finditer(text.text))
    for found, group in zip(pairs, groups(text.text, pairs), strict=True):
        if any(start <= found.start() < end for start, end in taken):
            continue
        where = _where_of_pair(text, found)
        if is_of(where, found["key"]):
            yield _statement(text, where, found, group, quoted=bool(found["quote"]))


def _is_prose(found: re.Match[str]) -> bool:
    """Return whether a flag is only spoken of: the word behind it is one of a sentence."""
    return found.re is _FLAG and found["equals"] != "=" and found["value"].lower() in _OF_SENTENCES


def _of_match(text: Text, found: re.Match[str]) -> Statement:
    groups = found.groupdict()
    if found.re is _EXECUTORCH:
        group = _line(text, found.start())
        return Statement(
            Where.EXECUTORCH_OPTION,
            RUN_TIME_OPTION,
            found["value"],
            text.place(found.start()),
            text.place(found.start("value")),
            quoted=bool(found["quote"]),
            group=group,
        )
    where = _OF_PATTERN.get(found.re) or _FLAGS[groups["key"]]
    return _statement(text, where, found, _line(text, found.start()))


def _where_of_pair(text: Text, found: re.Match[str]) -> Where:
    key = found["key"]
    if key.startswith("qnn."):
        return Where.RUN
    if key.startswith("ep.dynamic."):
        return Where.DYNAMIC
    if key.startswith("ep.qnnexecutionprovider."):
        return Where.SESSION
    before = text.text[max(0, found.start() - _ENOUGH_OF_A_LINE) : found.start()].rpartition("\n")[2]
    line = before.lower() + text.text[found.start() : found.end() + _ENOUGH_OF_A_LINE].partition("\n")[0].lower()
    if "delegate" in line or "htp_perf_ctrl_strategy" in line:
        return Where.DELEGATE
    return Where.RUN if "add_run_config_entry" in line else Where.PROVIDER


def _line(text: Text, offset: int) -> tuple[str, ...]:
    return (f"line {text.place(offset).line}",)


def _statement(
    text: Text, where: Where, found: re.Match[str], group: tuple[str, ...], *, quoted: bool = True
) -> Statement:
    key, value = found["key"], found["value"].rstrip()
    return Statement(
        where, key, value, text.place(found.start("key")), text.place(found.start("value")), quoted=quoted, group=group
    )
