"""A simulated HTP that claims to be hardware, for what is done only on hardware."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from htppower.backends import Description


class SimulatedHardware(SimulatedHtp):
    """A simulated HTP whose description has hardware."""

    def describe(self) -> Description:
        """Return the description with hardware."""
        return attrs.evolve(super().describe(), hardware=True)
