"""The root of the errors."""


class HtpPowerError(Exception):
    """The root of every error that htppower raises."""
