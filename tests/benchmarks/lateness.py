"""How late votes are lowered after the deadline, with the real timer in an idle interpreter."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import attrs
from figures import Figure, quantile

from htppower import State, VoteController, load_profile
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.backends.clock import MonotonicClock
from htppower.events import Event, Transition

if TYPE_CHECKING:
    from collections.abc import Iterator

SUSTAIN_US = 25_000


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield lateness at the median and at p99, and how many votes were lowered early."""
    rounds = 20 if smoke else 300
    burst = load_profile("burst")
    assert burst.relax is not None
    short = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_inference_us=SUSTAIN_US))
    clock, lowered = MonotonicClock(), threading.Event()
    recorder = RecordingBackend(SimulatedHtp(arch=75))
    late_us: list[int] = []
    bare_us: list[int] = []

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
            bare_us.append(_bare_wait_us(clock))
    detail = f"{rounds} lowerings, at the latest {max(late_us) / 1000:.2f} ms; a bare wait beside "
    # The p99 of a few lowerings is the latest one, which depends on how busy the machine is.
    for share, what, budget in ((0.99, "p99", None if smoke else 2), (0.5, "median", None)):
        late_ms, bare_ms = quantile(late_us, share) / 1000, quantile(bare_us, share) / 1000
        yield Figure(f"lowering after the deadline, {what}", late_ms, budget, "ms", f"{detail}{bare_ms:.2f} ms")


def _bare_wait_us(clock: MonotonicClock) -> int:
    """Return how late a thread continues that waits only for a time: the delay of the machine itself."""
    began_us = clock.now_us
    threading.Event().wait(SUSTAIN_US / 1e6)
    return clock.now_us - began_us - SUSTAIN_US
