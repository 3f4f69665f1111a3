"""The log of a controller, which the controller itself writes; here for subscribers of your own that write another."""

from htppower.control.log import LOWERINGS, level_of, line, log_event, wants

__all__ = ["LOWERINGS", "level_of", "line", "log_event", "wants"]
