"""The backends: the vendor's library, the simulated HTP, and a recorder in front of either.

Each is imported when it is first used. May import votes, errors, rules and events; never profiles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily

if TYPE_CHECKING:
    from htppower.backends.base import Backend as Backend
    from htppower.backends.base import Description as Description
    from htppower.backends.base import Device as Device
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
    "htppower.backends.qnn.htp": ("QnnHtp",),
    "htppower.backends.recording": ("Call", "RecordingBackend"),
    "htppower.backends.simulated.clocks": ("Effective",),
    "htppower.backends.simulated.htp": ("SimulatedHtp",),
    "htppower.backends.simulated.timed": ("TimedHtp", "Timing"),
    "htppower.errors": ("Step",),
}
__all__ = [name for names in _EXPORTS.values() for name in names]

if not TYPE_CHECKING:  # A type checker would take any name for one that exists.
    __getattr__ = exported_lazily(__name__, _EXPORTS)


def named_backend(name: str) -> Backend:
    """Return a new backend by name, ``qnn`` or ``simulated``; nothing falls back from one to the other.

    Raises:
        BackendUnavailable: it can't be used, or there is none of that name.
    """
    from htppower.errors import BackendUnavailable, Unavailable  # noqa: PLC0415 - only when a name is given

    if name == "qnn":
        from htppower.backends.qnn.htp import QnnHtp  # noqa: PLC0415

        return QnnHtp()
    if name == "simulated":
        from htppower.backends.simulated.htp import SimulatedHtp  # noqa: PLC0415

        return SimulatedHtp()
    raise BackendUnavailable(Unavailable.NO_SUCH_BACKEND, f"no backend {name!r}; one of qnn, simulated, or your own")
