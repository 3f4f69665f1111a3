"""The vendor's own voter in tests: whether it accepts an extension file, and the votes that it casts for the file.

Genie's library, in a separate process (``processes/voter_host.py``), reads the file and holds a dialog with a toy model
(``processes/toy_model.py``). The votes are read from the log; on x86-64 they change no clock.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.checkout import TESTS
from support.needs import LACKING, WINDOWS
from support.vendorlib import give_up, library_path
from support.voter_log import Dialog, Log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from support.voter_log import Call

PROCESSES = TESTS / "support" / "processes"
MODEL = "toy_ctx_qnn.bin"
TOKENIZER = {
    "version": "1.0",
    "pre_tokenizer": {"type": "Whitespace"},
    "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "unk_token": "<unk>"},
}
# A folder of the vendor's libraries, in place of the installed package's.
FOLDER = "HTPPOWER_VOTER"
ANSWER_S = 60
_TAIL = 20
_GOES_S = 5


class VoterEndedError(Exception):
    """The vendor's library has ended its process, or does not answer; the error has the end of its log."""


class Voter:
    """A process with the vendor's voter. It is started by the first request, and restarted after it has died.

    Files that are only read take 1 to 2 ms each, and dialogs 25 to 50 ms. A process has one dialog at a time; several
    voters run side by side.

    Args:
        libraries: the folder of the vendor's libraries.
        model: the toy model; dialogs need it.
    """

    def __init__(self, libraries: Path, model: Path | None = None) -> None:
        self._libraries = libraries
        self._model = model
        self._folder = tempfile.TemporaryDirectory()
        self._file = Path(self._folder.name, "extensions.json")
        self.process: subprocess.Popen[bytes] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()

    def accepted(self, text: str | bytes) -> bool:
        """Return whether the vendor's parser accepts a file; it accepts or refuses the whole file.

        Raises:
            VoterEndedError: the parser did not survive the file. The next call starts a new process.
        """
        dialog = self._ask(text, 0, 0, bool)
        assert any("Backend extensions config path" in line for _, line in dialog.lines), dialog.lines
        return not dialog.refused

    def dialog(
        self,
        text: str | bytes | None,
        *,
        tokens: int = 1,
        idle_s: float = 0,
        until: Callable[[Sequence[Call]], bool] | None = None,
    ) -> Dialog:
        """Hold a dialog with an extension file, or with none.

        Args:
            text: the file.
            tokens: how many to generate: there is an inference for each, and one for the prompt.
            idle_s: how long to wait after the last inference, at most.
            until: is called with the calls so far, and ends the wait. By default, the wait ends with the first call in
                it. The voter lowers on its own thread, so that call may precede the end of the last inference.

        Raises:
            VoterEndedError: the library did not survive it. The next call starts a new process.
        """
        assert self._model is not None, "a voter without a model holds no dialogs"
        assert tokens > 0
        return self._ask(text, tokens, idle_s, until or _cast_when_idle)

    def close(self) -> None:
        """End the process."""
        self._end()
        self._folder.cleanup()

    def _ask(
        self, text: str | bytes | None, tokens: int, idle_s: float, until: Callable[[Sequence[Call]], bool]
    ) -> Dialog:
        if text is not None:
            self._file.write_bytes(text.encode() if isinstance(text, str) else text)
        self._send({"extensions": None if text is None else str(self._file), "tokens": tokens})
        log = Log()
        while log.stage not in ("idle", "end"):
            log.take(self._next(log))
        if log.stage == "idle":
            self._rest(log, idle_s, until)
            self._send(None)
        while log.stage != "end":
            log.take(self._next(log))
        return log.dialog()

    def _rest(self, log: Log, idle_s: float, until: Callable[[Sequence[Call]], bool]) -> None:
        """Wait until the calls so far are enough, or the time is over."""
        until_s = time.monotonic() + idle_s
        while not until(log.calls) and (left_s := until_s - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                log.take(self._next(log, left_s))

    def _next(self, log: Log, within_s: float = ANSWER_S) -> str:
        """Return the next line; end the process if its output has ended, or after a timeout."""
        line: str | None = None
        try:
            line = self._lines.get(timeout=within_s)
        except queue.Empty:
            if within_s != ANSWER_S:
                raise
        if line is None:
            code = self._end()
            tail = "\n".join(text for _, text in log.lines[-_TAIL:])
            raise VoterEndedError(f"the voter's process ended with {code} in the stage {log.stage!r}:\n{tail}")
        return line

    def _send(self, request: dict[str, object] | None) -> None:
        """Send a request; None sends the line that ends the idle stage."""
        process = self.process or self._start()
        assert process.stdin is not None
        # If the process is gone, its output shows that.
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()

    def _start(self) -> subprocess.Popen[bytes]:
        tokenizer = Path(self._folder.name, "tokenizer.json")
        tokenizer.write_text(json.dumps(TOKENIZER), encoding="utf-8")
        command = [str(PROCESSES / "voter_host.py"), str(self._libraries), str(self._model), str(tokenizer)]
        self.process = subprocess.Popen(
            # Unbuffered, so that the output of the libraries is not buffered either.
            [sys.executable, "-u", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=self._folder.name,
            env={**os.environ, "LD_LIBRARY_PATH": str(self._libraries)},
        )
        self._lines = queue.Queue()
        threading.Thread(target=_read, args=(self.process, self._lines), daemon=True).start()
        return self.process

    def _end(self) -> int | None:
        """End the process, if any, and return its exit code."""
        process, self.process = self.process, None
        if process is None:
            return None
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        try:
            return process.wait(_GOES_S)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _cast_when_idle(calls: Sequence[Call]) -> bool:
    return any(call.stage == "idle" for call in calls)


def _read(process: subprocess.Popen[bytes], lines: queue.Queue[str | None]) -> None:
    """Pass on the lines of a process, and None at its end."""
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line.decode(errors="replace").strip())
    lines.put(None)


def libraries() -> Path:
    """Return the folder of the vendor's libraries, including the voter's; skip the test if it is missing.

    With HTPPOWER_VENDOR=required, a missing folder is a failure.
    """
    if WINDOWS:
        pytest.skip(LACKING["voter"])
    folder = Path(os.environ.get(FOLDER) or library_path().parent)
    for name in ("libGenie.so", "libQnnHtpNetRunExtensions.so"):
        if not (folder / name).is_file():
            give_up(f"{folder} has no {name}")
    return folder


def make_model(folder: Path) -> None:
    """Make the toy model in a folder; skip the test if a required package is not installed."""
    for name in ("onnx", "onnxruntime"):
        if find_spec(name) is None:
            give_up(f"{name} is not installed: pip install '.[test]'")
    command = [sys.executable, str(PROCESSES / "toy_model.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
