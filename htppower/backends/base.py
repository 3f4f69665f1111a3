"""The protocol of a backend, which receives the native calls, and a backend without a library that votes nothing.

Also the protocol of the clock, and the system's clock.
"""

from __future__ import annotations

import itertools
import logging
from typing import TYPE_CHECKING, Protocol

import attrs

if TYPE_CHECKING:
    from htppower.errors import Step
    from htppower.rules.platforms import Platform
    from htppower.votes.vote_set import VoteSet

_LOGGER = logging.getLogger("htppower")


@attrs.frozen
class Device:
    """One device of a platform, as the library reports it.

    Attributes:
        device_id: the number that ``session`` takes.
        core_ids: the numbers of its cores.
        soc_model: the vendor's SoC model number.
        arch: its Hexagon architecture, such as 75; 0 is unknown.
        vtcm_mb: its vector memory in MB.
        signed_pd: whether it has signed process domains.
    """

    device_id: int
    core_ids: tuple[int, ...]
    soc_model: int
    arch: int
    vtcm_mb: int
    signed_pd: bool


@attrs.frozen
class Description:
    """A backend in words: its name, its library and its platform.

    Attributes:
        name: such as ``simulated``.
        library: the library, and the place of its file.
        platform: the platform of the votes; None if it is unknown.
        hardware: whether votes reach hardware.
        versions: the library's ``build``, ``core_api`` and ``htp_api``; may be empty.
        devices: the devices that the library reports.
        path: the library's file, or its bare name if the system's loader found it.
        tried: the steps of the search for it, in order; the last found it.
    """

    name: str
    library: str
    platform: Platform | None
    hardware: bool
    versions: tuple[tuple[str, str], ...] = ()
    devices: tuple[Device, ...] = ()
    path: str = ""
    tried: tuple[Step, ...] = ()


class Backend(Protocol):
    """The native calls, as the controller makes them.

    A backend must have all of these methods, and raise ``VoteRejected`` with the native code for every native call that
    does not return 0. It decides nothing: no retry, no fallback, no reordering.

    One thread at a time calls it: the controller never overlaps calls. A call begins after the one before it has
    returned or raised, on any thread. If two calls overlap, the device library spoils the rebuild of its link
    (measured).
    """

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id for one client's votes on one core; ``destroy_power_config_id`` undoes it."""

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Send a vote set in its order. It is not atomic: after a failure any part of it may be in force."""

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy an id and with it every vote on it; process-wide settings stay.

        Use an id no more once its destroy has failed: the device library has removed it, and its votes may stay in
        force (measured). Destroying twice is fine.
        """

    def renew(self) -> None:
        """Free the device and create it again, for a link to the DSP that works again.

        Every id and every setting of the process is gone afterwards, even if the device can't be created. In that case
        the other calls raise ``VoteRejected`` with 14000 until a later ``renew`` succeeds.

        Raises:
            BackendUnavailable: the device can't be created. A later attempt may succeed.
        """

    def describe(self) -> Description:
        """Return a description of the backend. A controller asks once, when it is created."""

    def close(self) -> None:
        """Free what the backend holds. Closing twice is fine."""


class NoVotes:
    """Lets a host run without votes, on a machine without the vendor's library.

    Every call succeeds and does nothing: the system alone sets the clocks. It logs one WARNING when it is created,
    and the status of a controller on it says that no vote reaches hardware.

    Args:
        why: the reason for the WARNING and the status.
    """

    def __init__(self, why: str = "the host asked for no votes") -> None:
        self._why = why
        self._numbers = itertools.count(1)
        _LOGGER.warning("nothing is voted: %s", why)

    def create_power_config_id(self, device_id: int, core_id: int) -> int:  # noqa: ARG002 - there are no devices
        """Return a number that no other id of this backend has."""
        return next(self._numbers)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Vote nothing."""

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Do nothing."""

    def renew(self) -> None:
        """Do nothing. There is no device, so ids are unaffected."""

    def describe(self) -> Description:
        """Return a description that says that nothing is voted, and why."""
        return Description("none", f"nothing is voted: {self._why}", platform=None, hardware=False)

    def close(self) -> None:
        """Do nothing."""
