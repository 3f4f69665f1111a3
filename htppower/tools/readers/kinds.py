"""Recognises files by their first bytes, so that advise and trace can name the right command."""

from __future__ import annotations

import re
from typing import NamedTuple


class OtherFile(NamedTuple):
    """A known kind of file without a reader: a pattern, what it is, and which file to give instead."""

    begins: re.Pattern[bytes]
    what: str
    hint: str


_ENABLE_TRACE = "set enable_trace in LoadGen's log settings, and give mlperf_log_trace.json to htppower trace"
_NO_READER = "htppower can't read it; htppower advise --help lists the formats"
_OTHERS = (
    OtherFile(re.compile(rb"^:::MLLOG", re.MULTILINE), "is the detail log of LoadGen, without samples", _ENABLE_TRACE),
    OtherFile(
        re.compile(rb"QuerySamplesComplete|GenerateLoadableSets|\"complete_ns\""),
        "is a trace of LoadGen",
        "htppower trace shows its content",
    ),
    OtherFile(re.compile(rb"^MLPerf Results Summary", re.MULTILINE), "is the summary of LoadGen", _ENABLE_TRACE),
    OtherFile(
        re.compile(rb"\bggml-hex: "),
        "is a log of llama.cpp's Hexagon backend",
        "with GGML_HEXAGON_PROFILE=1 and -v it has a line for each op, which htppower advise reads",
    ),
    OtherFile(
        re.compile(rb"\[Qnn ExecuTorch\]|^[DIWEF] [0-9:.]+ executorch:", re.MULTILINE),
        "is a log of ExecuTorch",
        "htppower advise reads its times, 'inference took' or PyTorchObserver, and ETDumps",
    ),
    OtherFile(
        re.compile(rb"Inference timings in us: Init|^Inference \(avg\): ", re.MULTILINE),
        "is a log of LiteRT's benchmark",
        "htppower advise and htppower compare read it",
    ),
    OtherFile(re.compile(rb"^Dnn Runtime Load/Deserialize", re.MULTILINE), "is the text of snpe-diagview", _NO_READER),
)
_OF_PROFILER = re.compile(
    rb'^"?Msg Timestamp\b|^[- ]*Execute Stats\b|"GENIE_PROFILE"|"execution_summary"|"profilingEvents"', re.MULTILINE
)
# An object or an array; a line of a log that begins with [INFO] or [12:30:01] does not match.
_JSON = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*(?:[\"}]|\Z)"
    rb"|\[\s*(?:[\[\]{\"]|\Z|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\s*(?:,|\]\s*\Z)))"
)


_OWN = re.compile(rb'\s*(?:\[\s*)?\{[^{}]*"name"\s*:\s*"htppower"\s*,\s*"ph"\s*:\s*"M"')


def is_own(head: bytes) -> bool:
    """Return whether a file with these first bytes is a recording of htppower."""
    return _OWN.match(head) is not None


def begins_as_json(head: bytes) -> bool:
    """Return whether a file with these first bytes looks like JSON."""
    return _JSON.match(head) is not None


def other_file(head: bytes) -> OtherFile | None:
    """Return the known kind of a text without a reader, or None."""
    return next((each for each in _OTHERS if each.begins.search(head)), None)


def is_of_profiler(head: bytes) -> bool:
    """Return whether a profiler of QNN wrote a file with these first bytes."""
    return _OF_PROFILER.search(head) is not None
