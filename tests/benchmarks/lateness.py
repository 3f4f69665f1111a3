"""How late votes are lowered after the deadline, by the real timer in an idle interpreter."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import attrs
from figures import Figure

from htppower import State, VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.backends.clock import MonotonicClock
from htppower.events import Event, Transition

if TYPE_CHECKING:
    from collections.abc import Iterator

SUSTAIN_US = 25_000


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield lateness at the median and at p99, and how many votes were lowered early."""
    rounds = 10 if smoke else 300
    burst = load_profile("burst")
    assert burst.relax is not None
    short = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_inference_us=SUSTAIN_US))
    clock, lowered = MonotonicClock(), threading.Event()
    recorder = RecordingBackend(SimulatedHtp(arch=75))
    late_us: list[int] = []

    def see(event: Event) -> None:
        if isinstance(event, Transition) and event.dest is State.LOWERED:
            lowered.set()

    with VoteController(recorder, handle_sigterm=False) as controller:
        controller.subscribe(see)
        session = controller.session(short)
        for _ in range(rounds):
            lowered.clear()
            with session.inference():
                before_us = clock.now_us
            after_us = clock.now_us
            assert lowered.wait(10)
            # The end of the inference lies between the two reads: the later one is the kinder to lateness, the earlier
            # one to earliness.
            called_us = recorder.calls[-1].time_us
            late_us.append(called_us - after_us - SUSTAIN_US)
            assert called_us >= before_us + SUSTAIN_US, "lowered early"
    late_us.sort()
    detail = f"{rounds} lowerings, at the latest {late_us[-1] / 1000:.2f} ms"
    yield Figure("lowering after the deadline, p99", late_us[int(len(late_us) * 0.99)] / 1000, 2, "ms", detail)
    yield Figure("lowering after the deadline, median", late_us[len(late_us) // 2] / 1000, None, "ms")
