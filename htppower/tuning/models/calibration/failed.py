"""What a calibration fails with."""

from __future__ import annotations

from htppower.errors import HtpPowerError


class CalibrationFailed(HtpPowerError):  # noqa: N818 - as VoteRejected: reads as what it is
    """What is to be measured, or to be measured with, can't be used; the message says what and what to do."""
