"""Messages of the vendor's library, and of the loader, that name a cause in words: what each means, and the mend.

The words differ between releases. Each pattern matches the words of releases that were seen in logs.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple


class LogText(enum.Enum):
    """The kinds of messages."""

    NO_SOC = "no SoC detected"
    SOC_UNSUPPORTED = "SoC model unsupported"
    LIBRARY_MISSING = "a library is missing"
    SYMBOL_MISSING = "a symbol is missing"
    UNSIGNED_REFUSED = "no unsigned process domain"
    VERSIONS_DIFFER = "stub and skel are of different versions"
    SECOND_CONNECTION = "the skel has another user"
    NO_QUEUE = "no queue or no shared memory"
    SKEL_NOT_LOADED = "skel not loaded"


class Explanation(NamedTuple):
    """What a message means, and the mend."""

    why: str
    mend: str


EXPLANATIONS: dict[LogText, Explanation] = {
    LogText.NO_SOC: Explanation(
        "The library finds no chip: it can't read the chip's number, or this release does not know the number. "
        "logCreate and backendCreate then return 4000.",
        "check that /sys/devices/soc0/soc_id can be read; else use a later release of the library",
    ),
    LogText.SOC_UNSUPPORTED: Explanation(
        "The library knows the chip, and this release does not serve it. deviceCreate then returns 14002, or "
        "backendCreate 4000 if the chip has no HTP.",
        "use a release of the library that serves the chip; a chip without an HTP needs another backend",
    ),
    LogText.LIBRARY_MISSING: Explanation(
        "The loader does not find FastRPC (libcdsprpc.so), or the stub of this Hexagon. deviceCreate then returns "
        "14001.",
        "install FastRPC with its development link libcdsprpc.so, and leave the stub in the folder of the library",
    ),
    LogText.SYMBOL_MISSING: Explanation(
        "FastRPC (libcdsprpc.so) lacks a function that the stub calls. deviceCreate then returns 14001.",
        "update FastRPC",
    ),
    LogText.UNSIGNED_REFUSED: Explanation(
        "The DSP, or its driver, gives this process no unsigned process domain.",
        "update FastRPC and the firmware of the DSP; a signed domain needs a skel that is signed for the device",
    ),
    LogText.VERSIONS_DIFFER: Explanation(
        "FastRPC has loaded a skel of another release than the library. deviceCreate then returns 1008.",
        "put the folder of the skel of the library's release first in ADSP_LIBRARY_PATH, folders separated by ';'",
    ),
    LogText.SECOND_CONNECTION: Explanation(
        "Another user of the DSP has the skel, which can't be shared. deviceCreate then returns 1009.",
        "end the other user of the DSP",
    ),
    LogText.NO_QUEUE: Explanation(
        "The library gets no queue to the DSP, or no memory that it can share with the DSP. deviceCreate then returns "
        "1002.",
        "check that this user may open /dev/dma_heap/system, and close other users of the DSP",
    ),
    LogText.SKEL_NOT_LOADED: Explanation(
        "The DSP can't load the skel. The code of FastRPC in the line before it says why.",
        "look for that code: htppower doctor prints it",
    ),
}

_MISSING_FILE = r"(?P<file>[\w./+-]+\.(?:so(?:\.\d+)*|dll))"
_VERSION = r"v?\d+\.\d+\.\d+(?:\.\w+)?"
_PATTERNS: tuple[tuple[LogText, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            LogText.NO_SOC,
            r"\bno\b.{0,30}\bsoc\b.{0,20}detected|\bsoc\b.{0,20}not detected|fail\w* to detect.{0,20}\bsoc\b",
        ),
        (LogText.SOC_UNSUPPORTED, r"\bsoc\b.{0,40}(?:\bunsupported\b|not supported)|\bmodel\b.{0,20}\bunsupported\b"),
        (LogText.SYMBOL_MISSING, r"(?:undefined symbol:?|cannot locate symbol|missing symbol:?)\s+[\"']?(?P<file>\w+)"),
        (LogText.LIBRARY_MISSING, rf"{_MISSING_FILE}[\"']?:? (?:cannot open shared object|not found|no such file)"),
        (
            LogText.LIBRARY_MISSING,
            rf"(?:fail\w*|unable|not?) (?:to )?(?:load|open|found)\w*[^.]{{0,20}} {_MISSING_FILE}",
        ),
        (LogText.UNSIGNED_REFUSED, r"unsigned[ _]?(?:pd|process domain|module)|createUnsignedPD"),
        (LogText.VERSIONS_DIFFER, rf"(?:skel|stub|version|mismatch|expected).*?{_VERSION}.+?{_VERSION}"),
        (LogText.SECOND_CONNECTION, r"more than one connection|multiple connections"),
        (
            LogText.NO_QUEUE,
            r"(?:fail\w*|unable|error|no)\b.*\b(?:dsp ?queue|queue|mmap|map|mapping|mem(?:ory)? ?map)\b",
        ),
        (LogText.NO_QUEUE, r"\b(?:dsp ?queue|queue|mmap|mapping|mem(?:ory)? ?map)\b.*\bfail"),
        (LogText.SKEL_NOT_LOADED, r"unable to load (?:skel|lib\b)|fail\w* to load skel"),
    )
)
_TWO_VERSIONS = re.compile(rf"({_VERSION}).+?({_VERSION})", re.IGNORECASE)
_LONGEST_LINE = 2_000


class Message(NamedTuple):
    """A message that was recognised.

    Attributes:
        text: its kind.
        said: the words that matched.
        file: the library, or the symbol, that it names; empty if none.
    """

    text: LogText
    said: str
    file: str


def messages_in(line: str) -> tuple[Message, ...]:
    """Return the messages in a line, each kind once."""
    found: dict[LogText, Message] = {}
    for kind, pattern in _PATTERNS:
        match = pattern.search(line[:_LONGEST_LINE])
        if match is not None and kind not in found:
            found[kind] = Message(kind, match[0], match.groupdict().get("file") or "")
    return tuple(found.values())


def versions_in(line: str) -> tuple[str, str] | None:
    """Return the two versions that a line compares; None if it has not two that differ."""
    match = _TWO_VERSIONS.search(line[:_LONGEST_LINE])
    return None if match is None or match[1] == match[2] else (match[1], match[2])
