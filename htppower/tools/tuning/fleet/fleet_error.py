"""The error of a fleet that can't be read."""

from __future__ import annotations

from htppower.errors import HtpPowerError


class FleetError(HtpPowerError, RuntimeError):
    """No trace file can be read, the cluster can't be used, or the results file is another kind of file."""
