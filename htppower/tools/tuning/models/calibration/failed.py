"""The error of a calibration."""

from __future__ import annotations

from htppower.errors import HtpPowerError


class CalibrationFailed(HtpPowerError):  # noqa: N818 - as VoteRejected: reads as what it is
    """The inference, the power rail or the profile can't be used; the message says why, and what to do."""
