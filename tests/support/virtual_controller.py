"""A controller in virtual time."""

from __future__ import annotations

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime


class Rig:
    """A controller over a simulated HTP."""

    def __init__(self) -> None:
        self.time = VirtualTime()
        self.simulated = SimulatedHtp(arch=75)
        self.controller = VoteController(self.simulated, time=self.time, handle_sigterm=False, heartbeat_us=0)
