"""The vendor's log in Python's log: lines, levels, and failures while a line is written."""

from __future__ import annotations

import json
import logging
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from support.live import command, finish
from support.standin import ALWAYS, functions

from htppower.backends import QnnHtp

if TYPE_CHECKING:
    from support.standin import Standin


def test_a_log_that_can_not_be_made_is_done_without(standin: Standin, caplog: pytest.LogCaptureFixture) -> None:
    """Without the vendor's log, votes are still sent, and a warning reports it."""
    standin.script(f"logCreate 1 {ALWAYS} 1002 0")
    backend = QnnHtp(standin.path)
    backend.create_power_config_id(0, 0)
    backend.close()
    assert "logCreate returned 1002 QNN_COMMON_ERROR_MEM_ALLOC" in caplog.text
    assert "logFree" not in functions(standin.trace)


def test_a_library_that_keeps_the_callback_does_not_crash_at_the_exit(standin: Standin) -> None:
    """If logCreate fails, the callback is taken away, so that the library can't call it after Python has ended."""
    for last in (ALWAYS, 1):
        standin.script(f"logCreate 1 {last} 4000 0", f"backendCreate 1 {ALWAYS} 4000 0")
        code, output, _ = finish(command(standin, "doctor", "--format", "json"))
        assert (code, json.loads(output)["problem"]["code"]) == (1, 4000)
        assert len(standin.calls("logCreate")) == 2
        assert len(standin.calls("logFree")) == (1 if last == 1 else 0)
        standin.trace_path.write_text("", encoding="utf-8")


@pytest.mark.parametrize(
    ("level", "lines"),
    [
        (logging.DEBUG, [("INFO", "log of level 4, a string, 2.5 and 68"), ("ERROR", "an error")]),
        (logging.DEBUG // 2, [("INFO", "log of level 5, a string, 2.5 and 68"), ("ERROR", "an error")]),
        (logging.WARNING, [("ERROR", "an error")]),
        (logging.CRITICAL, []),
    ],
)
def test_the_vendors_lines_go_to_the_logger(
    standin: Standin, caplog: pytest.LogCaptureFixture, level: int, lines: list[tuple[str, str]]
) -> None:
    """The vendor's lines are formatted and logged with their level, if the logger is enabled for it."""
    caplog.set_level(level, "htppower.qnn")
    QnnHtp(standin.path).close()
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == lines


# Python loses the interrupt if it arrives at the entry of another line's callback (``backends/qnn/log.py``).
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_in_a_line_of_the_log_is_not_lost(standin: Standin, caplog: pytest.LogCaptureFixture) -> None:
    """An interrupt while the vendor logs is raised when Python runs again, for at least one of five."""

    class Interrupting(logging.Handler):
        interrupts = 1

        def emit(self, record: logging.LogRecord) -> None:
            if self.interrupts:
                self.interrupts = 0
                raise KeyboardInterrupt

    kept: list[QnnHtp] = []
    # Backends on one library share its log.
    copies = [shutil.copy(standin.path, standin.path.with_name(f"{number}.so")) for number in range(5)]

    def start_and_wait() -> None:
        for copy in copies:
            handler.interrupts = 1
            # Kept, so that the interrupt does not arrive during its garbage collection.
            kept.append(QnnHtp(copy))
            for _ in range(100):
                time.sleep(0.01)

    caplog.set_level(logging.INFO, "htppower.qnn")
    handler = Interrupting()
    logging.getLogger("htppower.qnn").addHandler(handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            start_and_wait()
    finally:
        logging.getLogger("htppower.qnn").removeHandler(handler)
        for backend in kept:
            backend.close()
