"""Messages of the vendor's library, and of the loader, that name a cause in words: what each means, and the mend.

The words differ between releases. Each recogniser looks for the words that logs of several releases have in common.
"""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


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
    SHELL_MISSING = "no program of the process domain"
    SKEL_NOT_LOADED = "skel not loaded"


class Explanation(NamedTuple):
    """The meaning of a message, and the mend."""

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
    LogText.SHELL_MISSING: Explanation(
        "FastRPC does not find the program of the process domain (fastrpc_shell_unsigned_3), which belongs to the "
        "firmware of the board. It searches /usr/lib/rfsa, /usr/lib/dsp, and the folder of the board in "
        "/usr/share/qcom.",
        "install the package with the DSP's files of the board; in a container, mount these folders of the host and "
        "set MACHINE_NAME to the text of /sys/firmware/devicetree/base/model",
    ),
    LogText.SKEL_NOT_LOADED: Explanation(
        "The DSP can't load the skel. The code of FastRPC in the line before it says why.",
        "look for that code: htppower doctor prints it",
    ),
}

_LONGEST_LINE = 2_000
_WORD = re.compile(r"[a-z0-9_.+-]+", re.IGNORECASE)
_VERSION = re.compile(r"v?[0-9]+\.[0-9]+\.[0-9]+(?:\.[0-9a-z_]+)?", re.IGNORECASE)
_FAILS = ("fail", "unable", "error", "cannot", "can't", "not")
_ABSENT = ("cannot open shared object", "not found", "no such file")
_NO_SYMBOL = ("undefined symbol", "cannot locate symbol", "missing symbol")
_SHARED = (".so", ".dll")
_UNSIGNED_DOMAIN = ("unsigned pd", "unsigned domain", "unsigned process", "unsignedpd", "unsigned_pd")
_SHARED_MEMORY = ("queue", "dspqueue", "mmap", "map", "mapping")
_ABOUT_VERSIONS = ("skel", "stub", "version", "mismatch", "expected")


class Message(NamedTuple):
    """A message that was recognised.

    Attributes:
        text: its kind.
        file: the library, or the symbol, that it names; empty if none.
    """

    text: LogText
    file: str = ""


class _Line:
    """A line as its words: in lower case, and as they are written."""

    def __init__(self, line: str) -> None:
        self.low = line[:_LONGEST_LINE].lower()
        self.words = [(found.start(), found[0].strip(".")) for found in _WORD.finditer(line[:_LONGEST_LINE])]
        self.known = [word.lower() for _, word in self.words]
        self.fails = any(word.startswith(_FAILS) for word in self.known)

    def has(self, *words: str) -> bool:
        """Return whether it has one of these words."""
        return any(word in self.known for word in words)

    def after(self, phrases: Iterable[str]) -> str | None:
        """Return the word after the first of these phrases; None if the line has none of them."""
        place = next((place for each in phrases if (place := self.low.find(each)) >= 0), None)
        if place is None:
            return None
        return next((word for start, word in self.words if start > place and word.lower() not in _PHRASED), "")

    def library_before(self, phrases: Iterable[str]) -> str:
        """Return the last library before one of these phrases; empty if there is none."""
        place = next((place for each in phrases if (place := self.low.find(each)) >= 0), 0)
        return next((word for start, word in reversed(self.words) if start < place and _is_library(word)), "")


_PHRASED = frozenset(word for phrase in _NO_SYMBOL for word in phrase.split())


def _is_library(word: str) -> bool:
    """Return whether a word is a library of the CPU; a skel is one of the DSP."""
    low = word.lower()
    return (low.endswith(_SHARED) or ".so." in low) and "skel" not in low


def _missing_library(line: _Line) -> str | None:
    named = line.library_before(_ABSENT)
    if not named and line.fails and line.has("load", "open"):
        named = next((word for _, word in line.words if _is_library(word)), "")
    return named or None


def _unsupported_soc(line: _Line) -> bool:
    """Return whether the chip is not supported. Lines about single features name the chip, but not its model."""
    return ("unsupported" in line.low or "not supported" in line.low) and any("model" in word for word in line.known)


def _found(is_there: bool) -> str | None:
    return "" if is_there else None


# Each returns the file or the symbol that the line names, an empty text if it names none, or None if the line is not
# such a message.
_RECOGNISERS: tuple[tuple[LogText, Callable[[_Line], str | None]], ...] = (
    (
        LogText.NO_SOC,
        lambda line: _found(line.has("soc") and line.has("detected", "detect") and (line.fails or line.has("no"))),
    ),
    (LogText.SOC_UNSUPPORTED, lambda line: _found(_unsupported_soc(line))),
    (LogText.SYMBOL_MISSING, lambda line: line.after(_NO_SYMBOL)),
    (LogText.LIBRARY_MISSING, _missing_library),
    (LogText.UNSIGNED_REFUSED, lambda line: _found(any(each in line.low for each in _UNSIGNED_DOMAIN))),
    (LogText.VERSIONS_DIFFER, lambda line: _found(_two_versions(line) is not None)),
    (LogText.SECOND_CONNECTION, lambda line: _found("more than one connection" in line.low)),
    (LogText.NO_QUEUE, lambda line: _found(line.fails and line.has(*_SHARED_MEMORY))),
    (
        LogText.SHELL_MISSING,
        lambda line: _found(line.fails and ("open_shell" in line.low or "fastrpc_shell" in line.low)),
    ),
    (
        LogText.SKEL_NOT_LOADED,
        lambda line: _found(line.fails and line.has("load") and ("skel" in line.low or "load lib " in line.low)),
    ),
)


def _two_versions(line: _Line) -> tuple[str, str] | None:
    """Return two versions that differ, of a line that compares them; None if the line does not."""
    if not any(each in line.low for each in _ABOUT_VERSIONS):
        return None
    versions = [word for _, word in line.words if _VERSION.fullmatch(word)]
    first = versions[0] if versions else ""
    return next(((first, other) for other in versions[1:] if other != first), None)


def messages_in(line: str) -> tuple[Message, ...]:
    """Return the messages in a line, each kind once."""
    words = _Line(line)
    named = ((kind, recognise(words)) for kind, recognise in _RECOGNISERS)
    return tuple(Message(kind, file) for kind, file in named if file is not None)


def versions_in(line: str) -> tuple[str, str] | None:
    """Return the two versions that a line compares; None if it has not two that differ."""
    return _two_versions(_Line(line))
