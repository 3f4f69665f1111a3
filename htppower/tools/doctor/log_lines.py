"""The vendor's log lines during a diagnosis, with the codes and messages in them."""

from __future__ import annotations

import contextlib
import logging
import re
from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.log import LOGGER
from htppower.tools.review.explain.code_texts import CODE_TEXTS
from htppower.tools.review.explain.codes import codes_in
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS
from htppower.tools.review.explain.log_texts import EXPLANATIONS, LogText, messages_in, versions_in
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.explain.codes import Code
    from htppower.tools.review.explain.log_texts import Message

# A dead link logs a line for every call.
_MOST_LINES = 200
_LONGEST_LINE = 1_000
_OF_OURS = re.compile(r"(\w+) returned (\d+) ")


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
        """The codes and messages of the line in sentences."""
        told = []
        for code in self.codes:
            if code.of_fastrpc:
                text = FASTRPC_TEXTS[code.number]
                told.append(f"0x{code.whole:x} {text.name}: {text.why}")
            else:
                told.append(f"{code.number} {code_name(code.number)}: {CODE_TEXTS[code.number].why}")
        return tuple(told) or tuple(EXPLANATIONS[message.text].why for message in self.messages)


@attrs.frozen
class Log:
    """The lines of a diagnosis, in their order."""

    lines: tuple[LogLine, ...] = ()

    @property
    def fastrpc_codes(self) -> tuple[int, ...]:
        """The codes of FastRPC in lines of errors, in their order."""
        errors = (line for line in self.lines if line.level == "ERROR")
        return tuple(code.number for line in errors for code in line.codes if code.of_fastrpc)

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

    def refused(self, function: str) -> int | None:
        """Return the code that the backend logged for a function of the library, or None."""
        found = (_OF_OURS.match(line.text) for line in self.lines)
        return next((int(each[2]) for each in found if each is not None and each[1] == function), None)


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
