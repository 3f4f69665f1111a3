"""Random sessions, with more examples than fit into the unit tests."""

from __future__ import annotations

from any_sessions import Sessions
from examples import examples
from hypothesis.stateful import run_state_machine_as_test


def test_whatever_is_done_in_whatever_order() -> None:
    """The checks of ``Sessions`` hold after every step."""
    run_state_machine_as_test(Sessions, settings=examples(45, stateful_step_count=50))
