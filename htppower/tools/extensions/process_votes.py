"""The votes of a core in addition to its profile: RPC latency and polling, HMX timeout, DDR."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.tools.extensions.extension_file import Remark
from htppower.tools.extensions.keys import Section
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from htppower.tools.extensions.extension_file import Block, ExtensionFile
    from htppower.tools.extensions.json_nodes import Node

# The votes of the vendor's voter for each profile if the file has no value.
DEFAULT_LATENCY_US = 100
_POLLING = LIMITS[VoteSet, "rpc_polling_time_us"]
_TIMEOUT = LIMITS[VoteSet, "hmx_timeout_us"]


def with_process_votes(
    file: ExtensionFile, core: Block | None, votes: VoteSet, remarks: list[Remark], *, named: bool
) -> VoteSet:
    """Return the votes of a profile with the core's additional votes, which are sent when the device is created.

    Args:
        file: the file.
        core: the core; None if the file has no core.
        votes: the votes of the profile.
        remarks: remarks on settings that can't be expressed are added here.
        named: whether it is a vendor's profile, with the vendor's latency and polling.
    """
    stated = _Stated(file, core, remarks)
    said: dict[str, Any] = {
        "rpc_control_latency_us": stated.number("rpc_control_latency"),
        "rpc_polling_time_us": stated.polling_us(),
        "hmx_timeout_us": stated.timeout_us(),
        "ddr_perf_mode": stated.ddr(),
    }
    asks = said["rpc_control_latency_us"] or said["rpc_polling_time_us"]
    if not votes and not asks and said["hmx_timeout_us"] is None and said["ddr_perf_mode"] is None:
        return votes  # system_settings: a latency of 0 is not a vote
    if not named or not votes:
        said = {"rpc_control_latency_us": DEFAULT_LATENCY_US, "rpc_polling_time_us": 0, **_but_none(said)}
    votes = attrs.evolve(votes, **_but_none(said))
    adaptive_us = stated.number("adaptive_polling_time")
    if adaptive_us and not votes.rpc_polling_time_us:
        stated.remark("adaptive_polling_time", "adaptive polling without polling is not voted; omitted")
    elif adaptive_us:
        votes = attrs.evolve(votes, adaptive_polling_time_us=adaptive_us)
    return votes


def _but_none(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


class _Stated:
    """The keys of a core."""

    def __init__(self, file: ExtensionFile, core: Block | None, remarks: list[Remark]) -> None:
        self._file = file
        self._core = core
        self._remarks = remarks

    def number(self, name: str) -> int | None:
        number = None if self._core is None else self._core.number(name)
        node = self._node(name)
        if node is not None and number is None:
            self.remark(name, f"{name} is {node.value}, which is not a number of us; omitted")
        return number

    def polling_us(self) -> int | None:
        polling_us = self.number("rpc_polling_time")
        if polling_us is None or _POLLING.hold(polling_us):
            return polling_us
        says = f"a polling time of {polling_us} us is voted unchanged; {_POLLING.high} here, the documented maximum"
        self.remark("rpc_polling_time", says)
        return _POLLING.high

    def timeout_us(self) -> int | None:
        timeout_us = self.number("hmx_timeout_us")
        if timeout_us is None or _TIMEOUT.hold(timeout_us):
            return timeout_us
        says = f"the library refuses an HMX timeout of {timeout_us} us, and the run continues without it; omitted"
        self.remark("hmx_timeout_us", says)
        return None

    def ddr(self) -> bool | None:
        node = self._node("ddr_perf_mode")
        if node is None:
            return None
        if node.value:
            says = "if the chip lacks the DDR performance mode, the vendor's voter loses the raised votes, too"
            self.remark("ddr_perf_mode", f"{says}; a session of htppower loses only this vote")
        return bool(node.value)

    def remark(self, name: str, says: str) -> None:
        node = self._node(name)
        if node is not None:
            self._remarks.append(Remark(self._file.place(node), says))

    def _node(self, name: str) -> Node | None:
        return None if self._core is None else self._core.get(name)


def hmx_beside(file: ExtensionFile, core: Block | None) -> Block | None:
    """Return the vote on the matrix unit next to a profile, or None."""
    found = () if core is None else file.of(Section.CORE_HMX, core.at)
    return found[0] if found else None
