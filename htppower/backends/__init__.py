"""The backends: the vendor's library, the simulated HTP, none at all, and a recorder in front of each.

Each is imported on first use. May import votes, errors, rules and events; never profiles.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from htppower._exports import exported_lazily

if TYPE_CHECKING:
    from htppower.backends.base import Backend as Backend
    from htppower.backends.base import Description as Description
    from htppower.backends.base import Device as Device
    from htppower.backends.no_votes import NoVotes as NoVotes
    from htppower.backends.qnn.htp import QnnHtp as QnnHtp
    from htppower.backends.recording import Call as Call
    from htppower.backends.recording import RecordingBackend as RecordingBackend
    from htppower.backends.simulated.clocks import Effective as Effective
    from htppower.backends.simulated.htp import SimulatedHtp as SimulatedHtp
    from htppower.backends.simulated.timed import TimedHtp as TimedHtp
    from htppower.backends.simulated.timed import Timing as Timing
    from htppower.errors import Step as Step

_EXPORTS = {
    "htppower.backends.base": ("Backend", "Description", "Device"),
    "htppower.backends.no_votes": ("NoVotes",),
    "htppower.backends.qnn.htp": ("QnnHtp",),
    "htppower.backends.recording": ("Call", "RecordingBackend"),
    "htppower.backends.simulated.clocks": ("Effective",),
    "htppower.backends.simulated.htp": ("SimulatedHtp",),
    "htppower.backends.simulated.timed": ("TimedHtp", "Timing"),
    "htppower.errors": ("Step",),
}
__all__ = [name for names in _EXPORTS.values() for name in names]

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
    from htppower.errors import BackendUnavailable, Unavailable  # noqa: PLC0415 - only when a name is given

    origin = ""
    if name is None:
        name = os.environ.get(VARIABLE) or "qnn"
        origin = f"{VARIABLE}: " if VARIABLE in os.environ else ""
    if name == "simulated":
        from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415

        return SimulatedHtp()
    if name == "none":
        from htppower.backends.no_votes import NoVotes  # noqa: PLC0415

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
        from htppower.backends.no_votes import NoVotes  # noqa: PLC0415

        return NoVotes(f"{origin}the vendor's library can't be used: {error.message}")
