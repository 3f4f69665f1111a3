"""The log of a dialog of the vendor's voter: its calls, with their times and stages."""

from __future__ import annotations

import logging
import re

import attrs
from support.vendorlib import decoded

_LOGGED = re.compile(r"Genie:\s*(?P<at_ms>[\d.]+)ms \[[ A-Z]+\]\s*(?:<\w>)?(?P<text>.*)")
_STARTED = re.compile(r"htpPerfInfrastructureSetPowerConfig started for powerConfigId: (-?\d+)")
_DONE = re.compile(r"htpPerfInfrastructureSetPowerConfig done\. status 0x(\w+)")
_REFUSED = "Failure in loading backend extensions"
_CODE = 0xFFFF


@attrs.frozen
class Call:
    """A setPowerConfig of the vendor's voter.

    Attributes:
        stage: create, query, idle or free.
        at_ms: when it began, from the begin of the dialog.
        power_config_id: the id.
        code: the native result code.
        votes: options in order, each with its fields, as ``vendorlib.decoded`` gives them.
    """

    stage: str
    at_ms: float
    power_config_id: int
    code: int
    votes: tuple[tuple[str, dict[str, int]], ...]


@attrs.frozen
class Dialog:
    """The result of a dialog with an extension file.

    Attributes:
        refused: whether the vendor's parser refused the file, so that the dialog cast no votes.
        code: the last code of the dialog that is not 0; 0 if all are.
        calls: the calls.
        executed_ms: start and end of each inference, from the begin of the dialog.
        lines: the stage and the text of each line of the log.
    """

    refused: bool
    code: int
    calls: tuple[Call, ...]
    executed_ms: tuple[tuple[float, float], ...]
    lines: tuple[tuple[str, str], ...] = attrs.field(repr=False)

    def at(self, stage: str) -> tuple[Call, ...]:
        """Return the calls of one stage."""
        return tuple(call for call in self.calls if call.stage == stage)


class Log:
    """Parses the lines of one dialog as they arrive.

    Attributes:
        stage: the last that began; ``end`` when the dialog is over.
        calls: those that have returned.
    """

    def __init__(self) -> None:
        self.stage = ""
        self.lines: list[tuple[str, str]] = []
        self._code = 0
        self.calls: list[Call] = []
        self._open: tuple[str, float, int] | None = None
        self._said: list[str] = []
        self._executed: list[float] = []

    def take(self, line: str) -> None:
        """Take the next line."""
        if line.startswith("## "):
            self.stage, *code = line.removeprefix("## ").split()
            self._code = int(code[0]) if code else 0
        elif logged := _LOGGED.match(line):
            text = logged["text"].strip()
            self.lines.append((self.stage, text))
            self._take(float(logged["at_ms"]), text)
        elif line:
            self.lines.append((self.stage, line))

    def dialog(self) -> Dialog:
        """Return the result of the dialog."""
        refused = any(_REFUSED in text for _, text in self.lines)
        executed = zip(self._executed[::2], self._executed[1::2], strict=True)
        return Dialog(refused, self._code, tuple(self.calls), tuple(executed), tuple(self.lines))

    def _take(self, at_ms: float, text: str) -> None:
        if started := _STARTED.search(text):
            self._open, self._said = (self.stage, at_ms, int(started[1]) % 2**32), []
        elif self._open is not None and (done := _DONE.search(text)):
            votes = decoded(logging.makeLogRecord({"msg": line}) for line in self._said)
            self.calls.append(Call(*self._open, int(done[1], 16) & _CODE, tuple(votes)))
            self._open = None
        elif text.startswith(("QnnGraph_execute started", "QnnGraph_execute done")):
            self._executed.append(at_ms)
        elif self._open is not None:
            self._said.append(text)
