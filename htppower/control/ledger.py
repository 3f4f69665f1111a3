"""What is known to be in force on each power config id and in the process, and the difference to what is wanted.

An option is in the ledger once it has been sent: known after a call that returned 0, unknown while a call carries it
and after one that failed (the library is not atomic), and after a restart of the DSP. What a new vote set leaves unset
is taken back, so that no vote outlives the profile that cast it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from htppower.votes.corners import PowerMode, VoltageCorner
from htppower.votes.native import Option
from htppower.votes.vote_set import (
    DEFAULT_HMX_TIMEOUT_US,
    HMX_DEFAULT,
    PROCESS_WIDE,
    SEND_ORDER,
    DcvsV3,
    VoltageRange,
    VoteSet,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# What removes an HVX vote from an id that lives on (HAP_power: sleep latency 65535 and all corners DISABLE), and, field
# by field, what a DCVS_V3 vote must say of a field that it leaves unset and an earlier one has set.
HVX_REMOVED = DcvsV3(
    dcvs_enable=True,
    power_mode=PowerMode.POWER_SAVER,
    sleep_latency_us=65535,
    sleep_disable=False,
    bus=VoltageRange.at(VoltageCorner.DISABLE),
    core=VoltageRange.at(VoltageCorner.DISABLE),
)

# What takes each vote back. A control latency can't be taken back (rule RPC-5). The HMX timeout's default is the one
# that the vendor documents for its own tools (backend extensions, hmx_timeout_us).
TAKEN_BACK: Mapping[Option, Any] = {
    Option.DCVS_V3: HVX_REMOVED,
    Option.HMX_V2: HMX_DEFAULT,
    Option.RPC_POLLING_TIME: 0,
    Option.ADAPTIVE_POLLING_TIME: 0,
    Option.HMX_TIMEOUT_INTERVAL_US: DEFAULT_HMX_TIMEOUT_US,
    Option.DDR_PERF_MODE: False,
}

_DCVS_FIELDS = ("dcvs_enable", "sleep_latency_us", "sleep_disable", "bus", "core")


@attrs.define
class _Entry:
    """One option: what was last sent, whether it is known to be in force, and whether it ever was accepted."""

    value: Any
    known: bool
    accepted: bool = False


class Ledger:
    """The entries of every id, and of the process. The controller's lock protects it."""

    def __init__(self) -> None:
        self._ids: dict[int, dict[Option, _Entry]] = {}
        self._process: dict[Option, _Entry] = {}

    def difference(self, power_config_id: int, wanted: VoteSet) -> VoteSet:
        """Return what must be sent so that the wanted votes are in force, and no others."""
        return VoteSet.of(dict(self._differing(self._ids.get(power_config_id, {}), wanted, SEND_ORDER)))

    def process_difference(self, wanted: VoteSet) -> VoteSet:
        """Return the process-wide settings that must be sent, on any id, so that the wanted ones are in force."""
        options = [option for option in SEND_ORDER if option in PROCESS_WIDE]
        return VoteSet.of(dict(self._differing({}, wanted, options)))

    def sending(self, power_config_id: int, votes: VoteSet) -> None:
        """Note that a call is about to carry these votes: until it returns, nothing is known of them."""
        for option, value in votes.items():
            entries = self._entries(power_config_id, option)
            entry = entries.get(option)
            accepted = entry is not None and entry.accepted
            entries[option] = _Entry(value if entry is None else _after(entry.value, value), False, accepted)

    def sent(self, power_config_id: int, votes: VoteSet) -> None:
        """Note that the call returned 0."""
        for option in votes.options:
            entry = self._entries(power_config_id, option)[option]
            entry.known = entry.accepted = True

    def was_accepted(self, power_config_id: int, option: Option) -> bool:
        """Return whether the library has ever taken this option, on the id or, process-wide, on any."""
        entry = self._entries(power_config_id, option).get(option)
        return entry is not None and entry.accepted

    def refused(self, power_config_id: int, option: Option) -> None:
        """Note that the platform does not have an option, so nothing of it is in force."""
        self._entries(power_config_id, option).pop(option, None)

    def forget(self, power_config_id: int) -> None:
        """Know no longer what is in force on an id."""
        for entry in self._ids.get(power_config_id, {}).values():
            entry.known = False

    def forget_process(self) -> None:
        """Know no longer which process-wide settings are in force."""
        for entry in self._process.values():
            entry.known = False

    def drop(self, power_config_id: int) -> None:
        """Remove an id that is gone, and with it every vote on it."""
        self._ids.pop(power_config_id, None)

    def in_force(self, power_config_id: int) -> VoteSet:
        """Return the votes known to be in force on an id, and in the process."""
        entries = {**self._ids.get(power_config_id, {}), **self._process}
        return VoteSet.of({option: entry.value for option, entry in entries.items() if entry.known})

    def knows(self, power_config_id: int) -> bool:
        """Return whether everything that was ever sent on an id is known to be in force, or was taken back."""
        return all(entry.known for entry in self._ids.get(power_config_id, {}).values())

    def process_settings(self) -> VoteSet:
        """Return the process-wide settings known to be in force."""
        return VoteSet.of({option: entry.value for option, entry in self._process.items() if entry.known})

    def _entries(self, power_config_id: int, option: Option) -> dict[Option, _Entry]:
        return self._process if option in PROCESS_WIDE else self._ids.setdefault(power_config_id, {})

    def _differing(
        self, ours: dict[Option, _Entry], wanted: VoteSet, options: Iterable[Option]
    ) -> Iterator[tuple[Option, Any]]:
        for option in options:
            entry = (self._process if option in PROCESS_WIDE else ours).get(option)
            value = wanted.get(option)
            if entry is None:
                if value is not None:
                    yield option, value
                continue
            complete = _complete(option, value, entry)
            if complete is not None and not (entry.known and _after(entry.value, complete) == entry.value):
                yield option, complete


def _complete(option: Option, value: Any, entry: _Entry) -> Any:
    """Return the vote with what takes back the parts of an earlier one that it does not mention."""
    if value is None or (option is Option.RPC_CONTROL_LATENCY and value == 0):
        return TAKEN_BACK.get(option)
    if not isinstance(value, DcvsV3):
        return value
    left_unset = {}
    for name in _DCVS_FIELDS:
        earlier, taken_back = getattr(entry.value, name), getattr(HVX_REMOVED, name)
        stays = earlier is not None and not (entry.known and earlier == taken_back)
        if getattr(value, name) is None and stays:
            left_unset[name] = taken_back
    return attrs.evolve(value, **left_unset) if left_unset else value


def _after(earlier: Any, value: Any) -> Any:
    """Return what is in force after a vote: a DCVS_V3 vote changes only the fields it sets."""
    if not isinstance(value, DcvsV3):
        return value
    kept = {name: getattr(earlier, name) for name in _DCVS_FIELDS if getattr(value, name) is None}
    return attrs.evolve(value, **kept) if any(field is not None for field in kept.values()) else value
