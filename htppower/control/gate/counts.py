"""Counts of a session's inferences: how many run, have begun, and have begun without a call."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from htppower.control.gate.gate import Gate


def count_begun(gate: Gate) -> int:
    """Return how many inferences have begun without a call: neither at their begin nor by a raise ahead.

    An inference counts until it waits for a call. So the number falls again by the inferences that wait a moment later.
    """
    with gate.lock:
        # For an idle session this block calls no Python function: in a function call the interpreter may let other
        # threads run.
        tokens, learning, begun = gate.tokens, gate.learning, gate.saved
        if learning is not None:
            begun -= learning.ahead.found_up
        if len(tokens.idle) != tokens.made:
            begun += sum(not token.waited for token in tokens.running())
            begun -= learning is not None and learning.ahead.made_calls
        return begun


def count_inferences(gate: Gate) -> int:
    """Return how many inferences have begun, including those that wait for their votes."""
    with gate.lock:
        return gate.saved + gate.unsaved + gate.tokens.in_flight


def count_all(gate: Gate) -> tuple[int, int, int | None, int]:
    """Return what a status needs, at one time.

    These are: how many inferences run, ``count_begun``, when an idle session's votes come down, and
    ``count_inferences``. The third value is None if no alarm is armed.
    """
    with gate.lock:
        tokens, sustain, ended = gate.tokens, gate.sustain, gate.saved + gate.unsaved
        in_flight = tokens.made - len(tokens.idle)
        if in_flight:
            return in_flight, count_begun(gate), None, ended + in_flight
        # No Python function is called here, for the reason given in ``count_begun``.
        found_up = 0 if gate.learning is None else gate.learning.ahead.found_up
        deadline_us = max(sustain.ended_ns // 1000 + sustain.us, sustain.until_us)
        return 0, gate.saved - found_up, None if sustain.alarm is None else deadline_us, ended
