"""The clocks that result from votes, as the DSP aggregates them over its clients.

Source: the Hexagon SDK's documentation of HAP_power. The vendor's performance infrastructure maps to it. A client is
one power config id. "DISABLE is no vote and leaves a limit unchanged" is taken to mean the aggregated limit: a client
whose target is voted and whose max is DISABLE caps nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.votes.corners import ExpandedCorner, VoltageCorner, as_expanded
from htppower.votes.options import VOTE_OPTIONS, Option

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from htppower.votes.native import NativeConfig

NO_WISH_US = 65535
_DISABLE = VoltageCorner.DISABLE.value
_NO_VOTE = frozenset({_DISABLE, ExpandedCorner.DISABLE.value})


@attrs.frozen
class Effective:
    """The clocks and settings in force on a core, in native numbers.

    A clock without a vote is DISABLE: 16, and 0 in expanded corners.

    Attributes:
        core_min, core_target, core_max, bus_min, bus_target, bus_max: corners of the core and bus clocks; expanded ones
            if an active client votes in these.
        hmx_min, hmx_target, hmx_max: expanded corners of the HMX clock.
        sleep_latency_us: the smallest latency that any client tolerates; 65535 is any latency.
        sleep_disable: whether any client keeps the DSP from sleeping.
        dcvs_enable: whether DCVS may move the clocks.
        rpc_polling_time_us, rpc_control_latency_us, adaptive_polling_time_us: settings of the whole process.
        ceng_min, ceng_target, ceng_max: expanded corners of the compression engine's clock.
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
    ceng_min: int = 0
    ceng_target: int = 0
    ceng_max: int = 0


@attrs.frozen
class ProcessSettings:
    """The settings that act on the whole process."""

    rpc_polling_time_us: int = 0
    rpc_control_latency_us: int = 0
    adaptive_polling_time_us: int = 0

    def after(self, config: NativeConfig) -> ProcessSettings:
        """Return the settings after a vote; FastRPC ignores a control latency of 0.

        A vote that the library accepts and whose effect is not simulated changes nothing.
        """
        about = VOTE_OPTIONS[Option(config.number)]
        if about.field not in attrs.fields_dict(ProcessSettings):
            return self
        value = config.fields[about.member]
        is_vote = value or about.taken_back is not None
        return attrs.evolve(self, **{about.field: value}) if is_vote else self

    def after_restart(self) -> ProcessSettings:
        """Return the settings after a restart of the DSP: adaptive polling stays, since the device library keeps it."""
        return ProcessSettings(adaptive_polling_time_us=self.adaptive_polling_time_us)


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
    # Without an explicit vote the HMX clock follows the core clock. A device's HMX does so only once it is asked to.
    hmx_follows_core: bool = True
    ceng: tuple[int, int, int] = (0, 0, 0)

    @property
    def active(self) -> bool:
        """Whether the client counts: only with a target other than DISABLE."""
        return self.core[1] not in _NO_VOTE or self.bus[1] not in _NO_VOTE

    @property
    def expanded(self) -> bool:
        """Whether its clocks are voted in expanded corners."""
        return any(corner > VoltageCorner.MAX_VOLTAGE_CORNER for corner in (*self.core, *self.bus))

    def corners(self, clock: str, *, in_expanded: bool) -> tuple[int, int, int]:
        """Return the corners of a clock, ``core`` or ``bus``, in expanded numbers if asked for."""
        corners: tuple[int, int, int] = getattr(self, clock)
        return _expanded(corners) if in_expanded else corners

    @property
    def hmx(self) -> tuple[int, int, int]:
        """The client's HMX corners: explicit, following its core vote, or none."""
        if self.explicit_hmx is not None:
            return self.explicit_hmx
        return _expanded(self.core) if self.hmx_follows_core else (0, 0, 0)

    def apply(self, config: NativeConfig) -> None:
        """Apply a vote that the library has accepted."""
        fields = config.fields
        option = Option(config.number)
        if option in (Option.DCVS_V3, Option.DCVS_V3_EXP):
            self.has_hvx_vote = True
            # A vote in expanded corners implies DCVS.
            if fields.get("setDcvsEnable", 1):
                self.dcvs_enable = bool(fields.get("dcvsEnable", 1))
            if fields["setSleepLatency"]:
                self.sleep_latency_us = fields["sleepLatency"]
            if fields["setSleepDisable"]:
                self.sleep_disable = bool(fields["sleepDisable"])
            if fields["setBusParams"]:
                self.bus = _triple(fields, "busVoltageCorner")
            if fields["setCoreParams"]:
                self.core = _triple(fields, "coreVoltageCorner")
        elif option in (Option.CENG, Option.CENG_EXP):
            self.ceng = _expanded(_triple(fields, "cengVoltageCorner"))
        elif option is Option.HMX_V2:
            self.hmx_follows_core = bool(fields["hmxPickDefault"])
            self.explicit_hmx = None if self.hmx_follows_core else _triple(fields, "hmxVoltageCorner")


def effective_clocks(clients: Sequence[Client], process: ProcessSettings) -> Effective:
    """Return the aggregated votes of a core's clients."""
    active = [client for client in clients if client.active]
    held = [client for client in active if not client.dcvs_enable]
    dcvs_enable = len(held) < len(active) or not active
    # If a client lets DCVS work, the target of a client that does not becomes a floor.
    floors = held if dcvs_enable else []
    alone = len(active) == 1
    in_expanded = any(client.expanded for client in active)
    top = ExpandedCorner.MAX.value
    disable, highest = (0, top) if in_expanded else (_DISABLE, VoltageCorner.MAX_VOLTAGE_CORNER.value)
    clocks = [
        _aggregate(
            [client.corners(clock, in_expanded=in_expanded) for client in active],
            disable,
            None if alone else highest,
            highest,
        )
        for clock in ("core", "bus")
    ]
    core, bus = (
        (max([low, *(client.corners(clock, in_expanded=in_expanded)[1] for client in floors)]), target, high)
        for clock, (low, target, high) in zip(("core", "bus"), clocks, strict=True)
    )
    with_core = [client for client in active if client.core[1] not in _NO_VOTE]
    hmx, ceng = (
        _aggregate([getattr(client, clock) for client in with_core], 0, None if alone else top, top)
        for clock in ("hmx", "ceng")
    )
    return Effective(
        *core,
        *bus,
        *hmx,
        sleep_latency_us=min((client.sleep_latency_us for client in clients), default=NO_WISH_US),
        sleep_disable=any(client.sleep_disable for client in clients),
        dcvs_enable=dcvs_enable,
        **attrs.asdict(process),
        ceng_min=ceng[0],
        ceng_target=ceng[1],
        ceng_max=ceng[2],
    )


def _aggregate(
    votes: Iterable[tuple[int, int, int]], disable: int, lifted: int | None, highest: int
) -> tuple[int, int, int]:
    """Return the largest min and target of the active clients' votes, and the max of a client that is alone.

    If other clients vote, too, every max is ``lifted``. It is ``highest`` if no max is voted. A target of ``disable``
    votes nothing.
    """
    voted = [vote for vote in votes if vote[1] != disable]
    if not voted:
        return disable, disable, disable
    lows = [low for low, _, _ in voted if low != disable]
    own = voted[0][2] if voted[0][2] != disable else highest
    return max(lows, default=disable), max(target for _, target, _ in voted), own if lifted is None else lifted


def _expanded(corners: tuple[int, int, int]) -> tuple[int, int, int]:
    low, target, high = map(as_expanded, corners)
    return low, target, high


def _triple(fields: Mapping[str, int], prefix: str) -> tuple[int, int, int]:
    return fields[f"{prefix}Min"], fields[f"{prefix}Target"], fields[f"{prefix}Max"]
