"""Which votes recorded calls leave in force."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.native_codes import SUCCESS
from htppower.votes.vote_set import DcvsV3, VoteSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends.recording import Call

# These act on the whole process, whichever id they are set with (Hexagon SDK, FastRPC).
_OF_THE_PROCESS = frozenset({"rpc_control_latency_us", "rpc_polling_time_us", "adaptive_polling_time_us"})


class InForce:
    """The votes in force on each power config id, as told by the calls alone.

    It shares no code with the controller's ledger: what it says may neither rest on what the controller believes, nor
    on how the controller comes to believe it.
    """

    def __init__(self) -> None:
        self._ids: dict[int, _Votes] = {}
        self._process = _Votes()

    def see(self, calls: Iterable[Call]) -> None:
        """Take in calls, in their order."""
        for call in calls:
            if call.power_config_id is None:
                continue
            if call.function == "setPowerConfig" and call.votes is not None:
                self._set(call.power_config_id, call.votes, accepted=call.code == SUCCESS)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS:
                self._ids.pop(call.power_config_id, None)

    def lose(self) -> None:
        """Note that the DSP restarted: no vote on any id, nor in the process, is in force."""
        self._process = _Votes()
        self._ids.clear()

    def votes(self, power_config_id: int | None) -> VoteSet:
        """Return the votes in force on an id and in the process; of an id that is gone only the latter."""
        if power_config_id is None:
            return VoteSet()
        own = self._ids.get(power_config_id, _Votes())
        return VoteSet(dcvs_v3=own.hvx_vote(), **own.others, **self._process.others)

    def _set(self, power_config_id: int, votes: VoteSet, *, accepted: bool) -> None:
        own = self._ids.setdefault(power_config_id, _Votes())
        for name, vote in _stated(votes).items():
            if isinstance(vote, DcvsV3):
                _take(own.hvx, _stated(vote), accepted=accepted)
            elif name in _OF_THE_PROCESS:
                # FastRPC ignores a control latency of 0: it is no vote (rule RPC-5).
                ignored = name == "rpc_control_latency_us" and vote == 0
                _take(self._process.others, {} if ignored else {name: vote}, accepted=accepted)
            else:
                _take(own.others, {name: vote}, accepted=accepted)


@attrs.frozen
class _Votes:
    """What is in force, by name: the fields of the HVX vote, and every other vote."""

    hvx: dict[str, Any] = attrs.field(factory=dict)
    others: dict[str, Any] = attrs.field(factory=dict)

    def hvx_vote(self) -> DcvsV3 | None:
        """Return the HVX vote; none where its power mode, which every such vote states, is not known."""
        if "power_mode" not in self.hvx:
            return None
        fields: dict[str, Any] = {field.name: self.hvx.get(field.name) for field in attrs.fields(DcvsV3)}
        return DcvsV3(**fields)


def _stated(votes: VoteSet | DcvsV3) -> dict[str, Any]:
    """Return what is not None, and so has its set flag."""
    found = {field.name: getattr(votes, field.name) for field in attrs.fields(type(votes))}
    return {name: value for name, value in found.items() if value is not None}


def _take(held: dict[str, Any], stated: dict[str, Any], *, accepted: bool) -> None:
    """Take in what a call states; of a call that failed nobody knows which part was applied."""
    for name, value in stated.items():
        if accepted:
            held[name] = value
        else:
            held.pop(name, None)
