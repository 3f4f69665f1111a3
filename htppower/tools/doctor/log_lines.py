"""The vendor's log lines during a diagnosis, with the codes and messages in them."""

from __future__ import annotations

import contextlib
import logging
import re
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.log import LOGGER
from htppower.tools.review.explain.codes import codes_in
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS
from htppower.tools.review.explain.log_texts import EXPLANATIONS, LogText, messages_in, versions_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.explain.codes import Code
    from htppower.tools.review.explain.log_texts import Message

# A dead link logs a line for every call.
_MOST_LINES = 200
_LONGEST_LINE = 1_000
_OPEN_FAILED = re.compile(r"qnn_open failed\D{1,5}(0x[0-9a-f]{1,8})\b", re.IGNORECASE)


@attrs.frozen
class LogLine:
    """A line of the log.

    Attributes:
        level: the name of its level, such as ``ERROR``.
        text: the line.
        codes: the codes in it.
        messages: the messages in it that are known.
    """

    level: str
    text: str
    codes: tuple[Code, ...]
    messages: tuple[Message, ...]

    @property
    def means(self) -> tuple[str, ...]:
        """The codes of FastRPC and the messages of the line, in sentences."""
        texts = ((code.whole, FASTRPC_TEXTS[code.number]) for code in self.codes if code.of_fastrpc)
        told = tuple(f"0x{whole:x} {text.name}: {text.why}" for whole, text in texts)
        known = (message.text for message in self.messages if message.text is not LogText.SKEL_NOT_LOADED)
        return told or tuple(EXPLANATIONS[text].why for text in known)


@attrs.frozen
class Log:
    """The lines of a diagnosis, in their order."""

    lines: tuple[LogLine, ...] = ()

    @property
    def fastrpc_codes(self) -> tuple[Code, ...]:
        """The codes of FastRPC in lines of errors, in their order."""
        errors = (line for line in self.lines if line.level == "ERROR")
        return tuple(code for line in errors for code in line.codes if code.of_fastrpc)

    @property
    def unknown_code(self) -> int | None:
        """The code of the open that failed if it is not a known one, else None."""
        found = (_OPEN_FAILED.search(line.text) for line in self.lines if line.level == "ERROR")
        code = next((int(match[1], 16) for match in found if match is not None), None)
        return code if not self.fastrpc_codes else None

    @property
    def failed_open(self) -> bool:
        """Whether it has an open that failed."""
        return bool(self.fastrpc_codes) or self.unknown_code is not None

    def message(self, text: LogText, *, error: bool = False) -> Message | None:
        """Return the first message of a kind; with ``error``, of a line of an error."""
        lines = (line for line in self.lines if line.level == "ERROR" or not error)
        return next((message for line in lines for message in line.messages if message.text is text), None)

    @property
    def versions(self) -> tuple[str, str] | None:
        """The two versions of a line about versions that differ."""
        lines = (
            line.text for line in self.lines if any(each.text is LogText.VERSIONS_DIFFER for each in line.messages)
        )
        return next(filter(None, map(versions_in, lines)), None)


class _Keeper(logging.Handler):
    """Keeps the first lines of the log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a line."""
        if len(self.lines) < _MOST_LINES:
            self.lines.append((record.levelname, record.getMessage()[:_LONGEST_LINE]))


@contextlib.contextmanager
def kept_lines() -> Iterator[list[tuple[str, str]]]:
    """Yield the list that the errors and warnings of the vendor's log are appended to, each with its level."""
    keeper = _Keeper()
    LOGGER.addHandler(keeper)
    try:
        yield keeper.lines
    finally:
        LOGGER.removeHandler(keeper)


def read_log(lines: list[tuple[str, str]]) -> Log:
    """Return the lines with what they mean."""
    return Log(tuple(LogLine(level, text, codes_in(text), messages_in(text)) for level, text in lines))
