"""The clocks that votes add up to, as the DSP aggregates them over its clients.

Source: the Hexagon SDK's documentation of HAP_power, to which the vendor's performance infrastructure maps. A client is
one power config id. "DISABLE is no vote and leaves a limit unchanged" is taken to mean the aggregated limit: a client
whose target is voted and whose max is DISABLE caps nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.votes.corners import EXPANDED_OF_CORE, ExpandedCorner, VoltageCorner
from htppower.votes.native import Option
from htppower.votes.options import VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from htppower.votes.native import NativeConfig

NO_WISH_US = 65535
_LIMITS = ("Min", "Target", "Max")
_DISABLE = VoltageCorner.DISABLE.value


@attrs.frozen
class Effective:
    """What is in force on a core, in native numbers; DISABLE (16, and 0 for HMX) where nothing is voted.

    Attributes:
        core_min, core_target, core_max, bus_min, bus_target, bus_max: corners of the core and bus clocks.
        hmx_min, hmx_target, hmx_max: expanded corners of the HMX clock.
        sleep_latency_us: the smallest wish of any client; 65535 is none.
        sleep_disable: whether any client keeps the DSP from sleeping.
        dcvs_enable: whether DCVS may move the clocks.
        rpc_polling_time_us, rpc_control_latency_us, adaptive_polling_time_us: of the whole process.
    """

    core_min: int
    core_target: int
    core_max: int
    bus_min: int
    bus_target: int
    bus_max: int
    hmx_min: int
    hmx_target: int
    hmx_max: int
    sleep_latency_us: int
    sleep_disable: bool
    dcvs_enable: bool
    rpc_polling_time_us: int
    rpc_control_latency_us: int
    adaptive_polling_time_us: int


@attrs.frozen
class ProcessSettings:
    """The settings that act on the whole process."""

    rpc_polling_time_us: int = 0
    rpc_control_latency_us: int = 0
    adaptive_polling_time_us: int = 0

    def after(self, config: NativeConfig) -> ProcessSettings:
        """Return the settings after a vote; FastRPC ignores a control latency of 0."""
        about = VOTE_OPTIONS.get(Option(config.number))
        if about is None or not about.process_wide:
            return self
        value = config.fields[about.member]
        is_vote = value or about.taken_back is not None
        return attrs.evolve(self, **{about.field: value}) if is_vote else self


@attrs.define
class Client:
    """The votes of one power config id, as they have accumulated: a vote changes only the fields it sets."""

    device_id: int
    core_id: int
    has_hvx_vote: bool = False
    dcvs_enable: bool = True
    sleep_latency_us: int = NO_WISH_US
    sleep_disable: bool = False
    bus: tuple[int, int, int] = (_DISABLE, _DISABLE, _DISABLE)
    core: tuple[int, int, int] = (_DISABLE, _DISABLE, _DISABLE)
    explicit_hmx: tuple[int, int, int] | None = None

    @property
    def active(self) -> bool:
        """A client counts only with a target other than DISABLE."""
        return self.core[1] != _DISABLE or self.bus[1] != _DISABLE

    @property
    def hmx(self) -> tuple[int, int, int]:
        """The client's HMX corners: explicit, or following its core vote."""
        if self.explicit_hmx is not None:
            return self.explicit_hmx
        low, target, high = (EXPANDED_OF_CORE.get(corner, 0) for corner in self.core)
        return low, target, high

    def apply(self, config: NativeConfig) -> None:
        """Take in a vote that the library has accepted."""
        fields = config.fields
        if config.option == "DCVS_V3":
            self.has_hvx_vote = True
            if fields["setDcvsEnable"]:
                self.dcvs_enable = bool(fields["dcvsEnable"])
            if fields["setSleepLatency"]:
                self.sleep_latency_us = fields["sleepLatency"]
            if fields["setSleepDisable"]:
                self.sleep_disable = bool(fields["sleepDisable"])
            if fields["setBusParams"]:
                self.bus = _triple(fields, "busVoltageCorner")
            if fields["setCoreParams"]:
                self.core = _triple(fields, "coreVoltageCorner")
        elif config.option == "HMX_V2":
            self.explicit_hmx = None if fields["hmxPickDefault"] else _triple(fields, "hmxVoltageCorner")


def effective_clocks(clients: Sequence[Client], process: ProcessSettings) -> Effective:
    """Return what the votes of a core's clients add up to."""
    active = [client for client in clients if client.active]
    held = [client for client in active if not client.dcvs_enable]
    dcvs_enable = len(held) < len(active) or not active
    # Beside a client that lets DCVS work, the target of one that does not becomes a floor.
    floors = held if dcvs_enable else []
    alone = len(active) == 1
    highest = VoltageCorner.MAX_VOLTAGE_CORNER.value
    clocks = [
        _aggregate([getattr(client, clock) for client in active], _DISABLE, None if alone else highest, highest)
        for clock in ("core", "bus")
    ]
    core, bus = (
        (max([low, *(getattr(client, clock)[1] for client in floors)]), target, high)
        for clock, (low, target, high) in zip(("core", "bus"), clocks, strict=True)
    )
    hmx_votes = [client.hmx for client in active if client.core[1] != _DISABLE]
    top = ExpandedCorner.MAX.value
    hmx = _aggregate(hmx_votes, ExpandedCorner.DISABLE.value, None if alone else top, top)
    return Effective(
        *core,
        *bus,
        *hmx,
        sleep_latency_us=min((client.sleep_latency_us for client in clients), default=NO_WISH_US),
        sleep_disable=any(client.sleep_disable for client in clients),
        dcvs_enable=dcvs_enable,
        rpc_polling_time_us=process.rpc_polling_time_us,
        rpc_control_latency_us=process.rpc_control_latency_us,
        adaptive_polling_time_us=process.adaptive_polling_time_us,
    )


def _aggregate(
    votes: Iterable[tuple[int, int, int]], disable: int, lifted: int | None, highest: int
) -> tuple[int, int, int]:
    """Return min, target and max: the largest min and target; the max of a client that is alone.

    Args:
        votes: of the active clients.
        disable: the corner that is no vote.
        lifted: what every max is lifted to beside another active client, None where there is none.
        highest: the max where none is voted.
    """
    voted = [vote for vote in votes if vote[1] != disable]
    if not voted:
        return disable, disable, disable
    lows = [low for low, _, _ in voted if low != disable]
    own = voted[0][2] if voted[0][2] != disable else highest
    return max(lows, default=disable), max(target for _, target, _ in voted), own if lifted is None else lifted


def _triple(fields: Mapping[str, int], prefix: str) -> tuple[int, int, int]:
    low, target, high = (fields[prefix + limit] for limit in _LIMITS)
    return low, target, high
