"""What is worked out of a session in a status."""

from __future__ import annotations

from typing import Any

from htppower.review.durations import rough_duration


def share_up(session: dict[str, Any]) -> str:
    """Return for how much of the time since it was opened a session was raised, as of the writing."""
    times = session["time_in_state_us"]
    whole_us = sum(times.values())
    share = times.get("RAISED", 0) / whole_us if whole_us else 0
    return f"up {share:.0%} of {rough_duration(whole_us)}"
