"""For any phases, profiles and hints, a session predicts from the last begin while it was idle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
from hypothesis import example, given
from hypothesis import strategies as st
from support.bench import Bench
from support.learning import relaxing

from htppower.events import Cause, Transition

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from htppower.profiles.profile import Profile

PERIOD_US = 10_000_000
LEAD_US = 5_000
AHEAD = relaxing(after_init_us=0, after_inference_us=0, raise_ahead_us=LEAD_US)
OTHER = attrs.evolve(AHEAD, name="other")
PLAIN = attrs.evolve(relaxing(after_init_us=0, after_inference_us=0), name="plain")
PROFILES = {profile.name: profile for profile in (AHEAD, OTHER, PLAIN)}
INFERENCES = ("a", "b", "c")
# A step with a phase begins this phase, or ends it if it runs.
STEPS = (*INFERENCES, "INIT", "DE-INIT", *PROFILES, "hint")


class Host:
    """Uses one session, and records when it last began an inference while it was idle and its begins were timed."""

    def __init__(self, profile: Profile) -> None:
        self.bench = Bench.make()
        self.session = self.bench.controller.session(profile)
        self.begun_us: int | None = None
        self._timed = profile is not PLAIN
        self._running: dict[str, AbstractContextManager[None]] = {}

    def do(self, step: str) -> None:
        """Do one step, a millisecond after the last step."""
        self.bench.time.advance_us(1_000)
        if step in PROFILES:
            self.session.use(PROFILES[step])
            self._timed |= step != PLAIN.name
        elif step == "hint":
            self.session.expect(every_us=PERIOD_US)
            self._timed = True
        elif step in self._running:
            self._running.pop(step).__exit__(None, None, None)
        else:
            if step in INFERENCES and not self._running:
                self.begun_us = self.bench.time.now_us if self._timed else None
            begin: dict[str, Callable[[], AbstractContextManager[None]]] = {
                "INIT": self.session.init,
                "DE-INIT": self.session.deinit,
            }
            self._running[step] = begin.get(step, self.session.inference)()
            self._running[step].__enter__()

    def rest(self) -> None:
        """End every phase, and give a hint: the next inference begins a period after the last begin."""
        for step in (*self._running, AHEAD.name, "hint"):
            self.do(step)


@given(st.sampled_from([AHEAD, PLAIN]), st.lists(st.sampled_from(STEPS), max_size=14))
# The first inference ends before INIT; the second one overlaps it, and ends later.
@example(AHEAD, ["a", "b", "a", "INIT", "b"])
# An inference that was not timed still runs when the profile changes.
@example(PLAIN, ["a", "hint", "b", "b", AHEAD.name, "a"])
@example(PLAIN, ["a", "hint", "b", AHEAD.name, "b", "a"])
# One inference begins within INIT, and another after it.
@example(AHEAD, ["INIT", "a", "INIT", "b", OTHER.name, "b", OTHER.name, "a"])
def test_a_prediction_counts_from_the_last_begin_out_of_idleness(profile: Profile, steps: list[str]) -> None:
    """A begin that was not timed, or that overlaps another phase, leads to no prediction."""
    host = Host(profile)
    for step in steps:
        host.do(step)
    host.rest()
    host.bench.time.advance_us(PERIOD_US + 4 * LEAD_US)
    raised_us = [
        event.time_us
        for event in host.bench.events
        if isinstance(event, Transition) and event.cause is Cause.INFERENCE_EXPECTED
    ]
    expected_us = [] if host.begun_us is None else [host.begun_us + PERIOD_US - LEAD_US]
    assert raised_us[-1:] == expected_us
