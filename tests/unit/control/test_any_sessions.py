"""Random sessions: a few examples here, three times as many in ``process/test_any_sessions.py``."""

from __future__ import annotations

from hypothesis.stateful import run_state_machine_as_test
from support.any_sessions import Sessions
from support.examples import examples


def test_whatever_is_done_in_whatever_order() -> None:
    """The checks of ``Sessions`` hold after every step."""
    run_state_machine_as_test(Sessions, settings=examples(15, stateful_step_count=50))
