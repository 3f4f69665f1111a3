"""Reads events of Chrome's trace format one at a time, so that only one event is in memory.

Source: "Trace Event Format", a document of the Chromium project. A file is an array of events, or an object whose
``traceEvents`` is that array; the array need not be closed. Most writers put each event on its own line, which is fast
to read. Events over several lines, and several events on a line, are read, too.

Some lines of LoadGen are not valid JSON (``"key":""loadgen_version""``). So a reader may name the texts that its events
contain, and a line without any of them is not parsed.
"""

from __future__ import annotations

import codecs
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from htppower.tools.tuning.traces.readers.source import Source

# An event that is longer is refused.
_LONGEST_EVENT = 2**24
# A batch is halved down to this size to find a line that has another form.
_SMALLEST_BATCH = 2**13
# How many characters are parsed at once.
_BATCH = 2**18
_KEY = re.compile(r'"traceEvents"\s*:\s*')
# The end of a piece may hold the beginning of the key, which is shorter than this.
_KEY_ROOM = 64
_BETWEEN = re.compile(r"[\s,\[\x00]*")
# How a recording of htppower begins.
_RESTART = re.compile(r'[\s,]*(?:\[|\{\s*"name"\s*:\s*"htppower")')
# If a word or a number is cut off, the error is at most this many characters before the end.
_LONGEST_WORD = 16
_SPACE = b" \t\r\n,"
_decode = json.JSONDecoder().raw_decode


def events(
    source: Source, needles: Sequence[bytes] = (), *, take_lines: Callable[[bytes], int] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the events of a file in their order.

    An event that is cut off, by the end of the file or by the begin of another recording, is left out with a note.

    Args:
        source: the file.
        needles: events on a line without any of these texts are left out.
        take_lines: is called with many whole lines at a time. If it returns their number, it has read them, and their
            events are not yielded; if it returns 0, it has read none of them.

    Raises:
        TraceError: something in the array is not JSON, or is not an event.
    """
    scanner = _Scanner(source)
    for batch in source.batches():
        for part in _not_taken(batch, source, scanner, take_lines):
            for piece in source.lines(part):
                line = piece.strip(_SPACE)
                if not line:
                    continue
                if scanner.between_events and line[:1] == b"{" and line[-1:] == b"}":
                    if _has_none(line, needles):
                        continue
                    event = _whole(line)
                    if event is not None:
                        yield event
                        continue
                yield from scanner.take(piece)
                if scanner.ended:
                    return
    yield from scanner.finish()


def _not_taken(
    batch: bytes, source: Source, scanner: _Scanner, take_lines: Callable[[bytes], int] | None
) -> Iterator[bytes]:
    """Yield the parts of a batch that have to be read line by line."""
    if take_lines is None or (len(batch) <= _SMALLEST_BATCH and not scanner.between_events):
        yield batch
    elif scanner.between_events and source.line_ended and (lines := take_lines(batch)):
        source.line += lines
    elif len(batch) <= _SMALLEST_BATCH:
        yield batch
    else:
        # One of the lines has another form, such as a line about lost inferences. Find the half that contains it.
        middle = batch.find(b"\n", len(batch) // 2) + 1
        halves = (batch[:middle], batch[middle:]) if 0 < middle < len(batch) else ()
        for half in halves:
            yield from _not_taken(half, source, scanner, take_lines)
        if not halves:
            yield batch


def _has_none(line: bytes, needles: Sequence[bytes]) -> bool:
    """Return whether a line is a whole event and contains none of the texts; False if ``needles`` is empty."""
    return bool(needles) and not any(each in line for each in needles) and line.count(b"{") == line.count(b"}")


def _whole(line: bytes) -> dict[str, Any] | None:
    """Return the event of a line; None if the line is not exactly one event."""
    try:
        text = line.decode()
        event, end = _decode(text)
    except (ValueError, RecursionError):
        return None
    return event if end == len(text) and isinstance(event, dict) else None


class _Scanner:
    """Reads all lines that are not exactly one event, in batches.

    Attributes:
        between_events: whether the next character is between two events of the array.
        ended: whether the array has ended, so that the rest of the file does not matter.
    """

    def __init__(self, source: Source) -> None:
        self.between_events = False
        self.ended = False
        self._source = source
        self._text = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending: list[str] = []
        self._size = 0
        self._due = _BATCH
        self._line = 0
        # The line of the event that was read last.
        self._read_line = 0
        self._begun = False
        self._in_object = False

    def take(self, piece: bytes) -> Iterator[dict[str, Any]]:
        """Add a piece. When enough text has been added, yield the complete events."""
        text = self._text.decode(piece)
        if not self._begun:
            text = self._within(text)
            if not self._begun or _between(text, 0) == len(text):
                self.between_events = self._begun
                return
        if not self._pending:
            self._line = self._source.line
        self._pending.append(text)
        self._size += len(text)
        if self._size >= self._due:
            yield from self._drain()
        self.between_events = not self._pending

    def finish(self) -> Iterator[dict[str, Any]]:
        """Yield the remaining events, and add a note about an incomplete event."""
        if not self._begun:
            raise self._source.wrong("has no trace events", "give a trace, or name its format with --from", line=0)
        if self._pending:
            yield from self._drain()
        if self._pending:
            self._leave_out()

    def _within(self, text: str) -> str:
        """Return the part of a text that is in the array; before the array begins, the text to search again."""
        text = "".join((*self._pending, text))
        said = text.lstrip()
        if not self._in_object and said.startswith("{") and '"ph"' in said and '"traceEvents"' not in said:
            self._begun = True  # lines of events without an array around them
        elif self._in_object or said.startswith("{"):
            self._in_object = True
            found = _KEY.search(text)
            self._begun = found is not None
            text = text[-_KEY_ROOM:] if found is None else text[found.end() :]
        elif said:
            self._begun = True
        self._pending = [] if self._begun else [text]
        return text

    def _drain(self) -> Iterator[dict[str, Any]]:
        """Yield the complete pending events; while an event is handled, ``source.line`` is the line of the event."""
        text = "".join(self._pending)
        read_to = self._source.line
        place = 0
        while not self.ended:
            place = self._on(text, place, _between(text, place))
            if text[place : place + 1] == "]":
                # If recordings were concatenated, the next array begins here.
                self.ended = self._in_object
                place += 1
                continue
            if place == len(text):
                break
            event, end = self._next(text, place)
            if end == place:
                break
            self._source.line = self._line
            if event is not None:
                self._read_line = self._line
                yield event
            place = self._on(text, place, end)
        self._source.line = read_to
        left = "" if self.ended else text[place:]
        self._pending = [left] if left else []
        self._size = len(left)
        self._due = max(_BATCH, 2 * self._size)
        if self._size > _LONGEST_EVENT:
            raise self._source.wrong(f"an event has more than {_LONGEST_EVENT} characters", _HINT, line=self._line)

    def _on(self, text: str, place: int, to: int) -> int:
        """Return the next place, and count the lines between the places."""
        self._line += text.count("\n", place, to)
        return to

    def _next(self, text: str, place: int) -> tuple[dict[str, Any] | None, int]:
        """Return an event and its end; or None and the place to continue, which is ``place`` if more text is needed.

        Raises:
            TraceError: the text is not JSON, and another recording does not begin after it.
        """
        try:
            if text[place] != "{":
                raise json.JSONDecodeError("Expecting an event", text, place)  # noqa: TRY301 - one place for all
            event, end = _decode(text, place)
        except json.JSONDecodeError as error:
            unfinished = error.msg.startswith("Unterminated") or error.pos > len(text.rstrip()) - _LONGEST_WORD
            why = f"is not an event of a trace: {error.msg}"
        except RecursionError:
            unfinished, why = False, "is nested too deeply"
        except ValueError:
            unfinished, why = False, "has a number that is too long"
        else:
            return event, end
        line_end = text.find("\n", place) + 1
        if line_end and _RESTART.match(text, line_end):
            self._leave_out()
            return None, line_end
        if unfinished or (line_end and not text[line_end:].strip()):
            return None, place
        raise self._source.wrong(why, _HINT, line=self._line)

    def _leave_out(self) -> None:
        what = "the last event of line" if self._line == self._read_line else "line"
        self._source.notes.append(f"{what} {self._line} is cut off, and was left out")


_HINT = "give a complete trace, or name the format with --from"


def _between(text: str, place: int) -> int:
    found = _BETWEEN.match(text, place)
    return place if found is None else found.end()
