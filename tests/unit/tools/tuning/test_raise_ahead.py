"""The use of a raise ahead, and its cost by the device model: the table of ``docs/hints.md``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.checkout import ROOT
from support.learning import relaxing

from htppower import VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.events import Event, State, Transition
from htppower.testing import VirtualTime
from htppower.tools.tuning.cost.power import Power
from htppower.tools.tuning.models.file import load_device_model

INFERENCES = 300
INFERENCE_US = 8_000
PERIOD_US = 33_333
# A raise and a lowering of these profiles are two calls each, with clocks and with settings of the process.
CALL_US = 1_000
WHOLE_US = INFERENCES * PERIOD_US


def row(hinted: bool, **relax: Any) -> list[str]:
    """Return a row of the table: waits, calls, time raised, and the energy beyond the inferences."""
    time = VirtualTime()
    backend = SimulatedHtp(arch=75, sleep=time.sleep)
    backend.delay_calls(CALL_US, "setPowerConfig")
    recorder = RecordingBackend(backend, time=time)
    profile = relaxing(**relax)
    seen: list[Event] = []
    with VoteController(recorder, time=time, handle_sigterm=False, heartbeat_us=0) as controller:
        controller.subscribe(seen.append, kinds=(Transition,))
        session, waits = controller.session(profile), 0
        if hinted:
            session.expect(every_us=PERIOD_US)
        for place in range(INFERENCES):
            time.advance_us(max(0, place * PERIOD_US - time.now_us))
            waits += session.state is not State.RAISED
            with session.inference():
                time.advance_us(INFERENCE_US)
        time.advance_us(1_000_000)
        assert session.state is State.LOWERED
        controller.flush_events()
        calls = sum(call.config("DCVS_V3") is not None for call in recorder.calls)
    raised = [event.time_us for event in seen if isinstance(event, Transition) and event.dest is State.RAISED]
    lowered = [event.time_us for event in seen if isinstance(event, Transition) and event.dest is State.LOWERED]
    assert len(raised) == len(lowered) == calls / 2
    up_us = int((np.array(lowered) - np.array(raised)).sum())
    power = Power.of(load_device_model(), profile)
    idle_uj = power.raised_idle_w * (up_us - INFERENCES * INFERENCE_US) + power.lowered_idle_w * (WHOLE_US - up_us)
    energy_j = idle_uj / 1e6 + power.call_j * calls
    return [str(waits), str(calls), f"{up_us / 1e6:.3f} s", f"{energy_j:.3f} J"]


@pytest.mark.parametrize(
    ("named", "hinted", "relax"),
    [
        ("the vendor's 300 ms", False, {}),
        ("sustain 0, no hint, no raise ahead", False, {"after_inference_us": 0}),
        ("sustain 0, `raise_ahead_us: 5000`, no hint", False, {"after_inference_us": 0, "raise_ahead_us": 5_000}),
        ("the same with `expect(every_us=33_333)`", True, {"after_inference_us": 0, "raise_ahead_us": 5_000}),
    ],
)
def test_the_page_says_what_it_costs(named: str, hinted: bool, relax: dict[str, Any]) -> None:
    """Each row of the table equals a run of the controller, at the energies of the model."""
    lines = (ROOT / "docs" / "hints.md").read_text(encoding="utf-8").splitlines()
    (said,) = (line.strip("| ").split(" | ")[1:] for line in lines if line.startswith(f"| {named} |"))
    assert said == row(hinted, **relax)
