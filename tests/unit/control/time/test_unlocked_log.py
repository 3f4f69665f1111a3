"""The controller asks the log for its level without the lock of ``logging``, which a thread of the host's may hold."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import pytest
from hanging import WAIT_S

from htppower.control.time.locks import UnlockedLogger

if TYPE_CHECKING:
    from htppower import VoteController


def test_a_raise_waits_for_nobody_who_configures_the_log(controller: VoteController) -> None:
    """Setting a level empties what the log remembers, so that its lock would be asked for at the next event."""
    # APScheduler asks for its own loggers as it starts, with the first alarm.
    with controller.session("burst").inference():
        pass
    session = controller.session("burst")
    begun = threading.Event()

    def infer() -> None:
        with session.inference():
            begun.set()

    logging.getLogger("of.the.host").setLevel(logging.INFO)
    thread = threading.Thread(target=infer)
    with logging._lock:  # type: ignore[attr-defined]
        thread.start()
        assert begun.wait(WAIT_S)
        thread.join(WAIT_S)
        assert not thread.is_alive()


@pytest.mark.parametrize("level", [logging.NOTSET, logging.DEBUG, logging.INFO, logging.ERROR])
@pytest.mark.parametrize("disabled", [False, True])
@pytest.mark.parametrize("above", [0, logging.INFO])
def test_it_answers_as_the_log_does(level: int, disabled: bool, above: int) -> None:
    """For every level of the logger and of a record, where it is disabled, and where all of the log is."""
    logger = logging.getLogger("htppower.test.unlocked")
    before = logging.root.manager.disable
    try:
        logger.setLevel(level)
        logger.disabled = disabled
        logging.disable(above)
        for each in (logging.DEBUG, logging.INFO, logging.WARNING, logging.CRITICAL):
            assert UnlockedLogger(logger, {}).isEnabledFor(each) == logger.isEnabledFor(each)
    finally:
        logger.disabled = False
        logging.disable(before)
