"""Votes in real time: a slow or hanging call or sensor delays no other vote."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import attrs
import pytest
from support.bench import MAX_CORNER

from htppower import Lowering, State, ThermalCap, VoteController, load_profile
from htppower.backends import SimulatedHtp
from htppower.events import CapSet, Transition, Trigger
from htppower.votes.corners import VoltageCorner

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.votes.vote_set import VoteSet

# Far longer than anything here takes, also on a busy machine.
WAIT_S = 30.0


class Slow(SimulatedHtp):
    """Delays the setPowerConfig of a lowering until it is let go."""

    def __init__(self) -> None:
        super().__init__(arch=75)
        self.lowering = threading.Event()
        self.let_go = threading.Event()

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Wait if the votes lower the core, then apply."""
        hvx = votes.hvx
        if hvx is not None and hvx.core is not None and hvx.core.target is VoltageCorner.SVS:
            self.lowering.set()
            assert self.let_go.wait(WAIT_S)
        super().set_power_config(power_config_id, votes)


def test_an_inference_returns_while_its_lowering_is_on_the_way() -> None:
    """The inference returns while the lowering call hangs, and the votes come down after it."""
    slow, lowered = Slow(), threading.Event()
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    behind = attrs.evolve(balanced, relax=attrs.evolve(balanced.relax, lowering=Lowering.BACKGROUND))
    with VoteController(slow, handle_sigterm=False) as controller:
        controller.subscribe(
            lambda event: lowered.set() if getattr(event, "trigger", None) is Trigger.LOWER else None, (Transition,)
        )
        session = controller.session(behind)
        with session.inference():
            pass
        assert slow.lowering.wait(WAIT_S)
        assert session.in_flight == 0
        assert slow.effective().core_target == VoltageCorner.NOM_PLUS
        slow.let_go.set()
        assert lowered.wait(WAIT_S)
        assert slow.effective().core_target == VoltageCorner.SVS


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_sensor_that_hangs_keeps_no_vote_waiting(tmp_path: Path) -> None:
    """Votes are raised and lowered while a read blocks; its answer then sets a cap."""
    zone = tmp_path / "thermal_zone0"
    zone.mkdir()
    (zone / "type").write_text("cpu-0-0\n", encoding="ascii")
    os.mkfifo(zone / "temp")
    capped, lowered = threading.Event(), threading.Event()
    simulated = SimulatedHtp(arch=75)
    with VoteController(simulated, handle_sigterm=False) as controller:
        controller.subscribe(lambda _: capped.set(), (CapSet,))
        controller.subscribe(lambda event: lowered.set() if getattr(event, "dest", None) is State.LOWERED else None)
        thermal = ThermalCap(controller, above_c=70, below_c=60, root=tmp_path)
        session = controller.session("burst")
        with session.inference():
            assert simulated.effective().core_target == MAX_CORNER
        assert lowered.wait(WAIT_S)
        assert thermal.status().looked_us is None
        (zone / "temp").write_text("80000\n", encoding="ascii")
        assert capped.wait(WAIT_S)
        with session.inference():
            assert simulated.effective().core_target == VoltageCorner.NOM_PLUS
