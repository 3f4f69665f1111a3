"""The backends: the vendor's library, the simulated HTP, none at all, and a recorder in front of each.

The libraries and the simulators are imported on first use. May import votes, errors, rules and events; never profiles.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower._exports import exported_lazily
from htppower.backends.base import Backend, Description, Device, NoVotes
from htppower.errors import BackendUnavailable, Step, Unavailable

if TYPE_CHECKING:
    from htppower.backends.qnn.htp import QnnHtp as QnnHtp
    from htppower.backends.recording import Call as Call
    from htppower.backends.recording import RecordingBackend as RecordingBackend
    from htppower.backends.simulated.clocks import Effective as Effective
    from htppower.backends.simulated.htp import SimulatedHtp as SimulatedHtp
    from htppower.backends.simulated.timed import TimedHtp as TimedHtp
    from htppower.backends.simulated.timed import Timing as Timing

_EXPORTS = {
    "htppower.backends.qnn.htp": ("QnnHtp",),
    "htppower.backends.recording": ("Call", "RecordingBackend"),
    "htppower.backends.simulated.clocks": ("Effective",),
    "htppower.backends.simulated.htp": ("SimulatedHtp",),
    "htppower.backends.simulated.timed": ("TimedHtp", "Timing"),
}
__all__ = ["Backend", "Call", "Description", "Device", "Effective", "NoVotes", "QnnHtp", "RecordingBackend"]
__all__ += ["SimulatedHtp", "Step", "TimedHtp", "Timing"]

if not TYPE_CHECKING:  # With a __getattr__, type checkers would accept any name.
    __getattr__ = exported_lazily(__name__, _EXPORTS)


# The environment variable that names the backend of every controller whose host does not name one.
VARIABLE = "HTPPOWER_BACKEND"
NAMES = ("qnn", "simulated", "none", "qnn_or_none")


def named_backend(name: str | None) -> Backend:
    """Return a new backend by name; None uses the name in ``HTPPOWER_BACKEND``, or ``qnn`` if that is not set.

    ``qnn_or_none`` votes nothing if the vendor's library can't be used, and logs why as a WARNING. No other name falls
    back to another backend.

    Raises:
        BackendUnavailable: it can't be used, or it does not exist.
    """
    origin = ""
    if name is None:
        name = os.environ.get(VARIABLE) or "qnn"
        origin = f"{VARIABLE}: " if VARIABLE in os.environ else ""
    if name == "simulated":
        from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415

        return SimulatedHtp()
    if name == "none":
        return NoVotes(f"{origin}the backend none was asked for")
    if name not in NAMES:
        said = f"{origin}no backend {name!r}; one of {', '.join(NAMES)}, or your own"
        raise BackendUnavailable(Unavailable.NO_SUCH_BACKEND, said)
    from htppower.backends.qnn.htp import QnnHtp  # noqa: PLC0415

    try:
        return QnnHtp()
    except BackendUnavailable as error:
        if name == "qnn":
            raise
        return NoVotes(f"{origin}the vendor's library can't be used: {error.message}")
