"""The lines that a controller logs, for subscribers of your own that write them to another place."""

from htppower.control.log import LOWERINGS, level_of, line, log_event
from htppower.control.log import log_wants as wants

__all__ = ["LOWERINGS", "level_of", "line", "log_event", "wants"]
