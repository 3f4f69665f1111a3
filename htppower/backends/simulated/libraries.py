"""How a library executes the list of a setPowerConfig: the library for x86-64, and the library for devices.

Both give the same answers to most options (``answers``). They differ in the effect of a list with a refused option.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs

from htppower.backends.simulated.answers import answer, has_option
from htppower.backends.simulated.clocks import Client
from htppower.backends.simulated.link import SETTINGS, Link
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native import NativeConfig
from htppower.votes.native_codes import FAILED, INVALID_INPUT, SUCCESS, UNSUPPORTED
from htppower.votes.options import PROCESS_WIDE, Option

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from htppower.backends.simulated.answers import LibraryVersion
    from htppower.backends.simulated.clocks import ProcessSettings
    from htppower.rules.platforms import Platform

LinkKind = Literal["plain", "device"]

# Measured on V68, V73, V75, V79 and V81; assumed for the others.
_FIRST_ARCH_WITH_POLLING = 73
_FIRST_ARCH_WITH_DDR = 79
_SHORTEST_REFUSED_POLLING_US = 10_000
_HIGHEST = frozenset({VoltageCorner.MAX_VOLTAGE_CORNER.value, ExpandedCorner.MAX.value})
_HVX = frozenset({Option.DCVS_V3, Option.DCVS_V3_EXP})
_PICK_DEFAULT = NativeConfig("HMX_V2", {"hmxPickDefault": 1})


class PlainLibrary:
    """The library for x86-64: options are applied in list order up to the first refused option.

    Attributes:
        left: the clients whose votes are in force without an id; always empty.
    """

    def __init__(self, version: LibraryVersion, platform: Platform) -> None:
        self.left: list[Client] = []
        self._version = version
        self._platform = platform

    def client(self, device_id: int, core_id: int) -> Client:
        """Return a client without votes."""
        return Client(device_id, core_id)

    def set(
        self, power_config_id: int, client: Client, configs: Sequence[NativeConfig], process: ProcessSettings
    ) -> tuple[int, ProcessSettings]:
        """Apply a list to the client; return the code of the call, and the settings of the process after it."""
        for place, config in enumerate(configs):
            code = answer(
                self._version,
                self._platform,
                config,
                power_config_id,
                has_hvx_vote=client.has_hvx_vote,
                earlier={before.number for before in configs[:place]},
            )
            if code != SUCCESS:
                return code, process
            client.apply(config)
            process = process.after(config)
        return SUCCESS, process

    @staticmethod
    def destroy(_power_config_id: int, _client: Client, fault: int) -> tuple[int, bool]:
        """Return the code of a destroy that is to fail with ``fault``, 0 for success, and whether the id is gone."""
        return fault, fault == SUCCESS


@attrs.frozen
class Remembered:
    """The device library's memory of an id. A restart of the DSP changes nothing in it.

    Attributes:
        hvx: it has read an HVX vote, possibly in a list that it did not send in the end.
        hmx: it has read an HMX vote, and no longer adds an HMX vote of its own.
        bus_at_max: it has read bus corners, and all of the last ones are the highest.
    """

    hvx: bool = False
    hmx: bool = False
    bus_at_max: bool = False

    def after(self, config: NativeConfig) -> Remembered:
        """Return the memory after the library has read a vote."""
        if config.number == Option.HMX_V2:
            return attrs.evolve(self, hmx=True)
        if config.number not in _HVX:
            return self
        fields = config.fields
        at_max = self.bus_at_max
        if fields["setBusParams"]:
            at_max = all(fields[f"busVoltageCorner{limit}"] in _HIGHEST for limit in ("Min", "Target", "Max"))
        return attrs.evolve(self, hvx=True, bus_at_max=at_max)


class DeviceLibrary:
    """The library for devices: it sends settings of the process while it reads the list, and the votes of the id last.

    So a list with a refused option is neither atomic nor ordered: the settings before the refused option are in
    force, and no vote of the id is.

    Attributes:
        link: the link to the DSP.
        left: the clients whose destroy failed: the DSP may keep their votes, and the library has removed their ids.
    """

    def __init__(self, version: LibraryVersion, platform: Platform) -> None:
        self.link = Link()
        self.left: list[Client] = []
        self._version = version
        self._arch = platform.arch or 0
        self._platform = platform
        self._has_hmx = has_option(version, platform, Option.HMX_V2)
        self._remembered: dict[int, Remembered] = {}

    def client(self, device_id: int, core_id: int) -> Client:
        """Return a client without votes. Its HMX follows the core clock only if it can't be voted on."""
        return Client(device_id, core_id, hmx_follows_core=not self._has_hmx)

    def set(
        self, power_config_id: int, client: Client, configs: Sequence[NativeConfig], process: ProcessSettings
    ) -> tuple[int, ProcessSettings]:
        """Send a list and apply it to the client; return the code of the call, and the settings of the process."""
        message: list[NativeConfig] = []
        remembered = self._remembered.get(power_config_id, Remembered())
        for place, config in enumerate(configs):
            code = self._read(config, power_config_id, remembered, {before.number for before in configs[:place]})
            if code != SUCCESS:
                return code, process
            if config.number in PROCESS_WIDE:
                process = process.after(config) if self._has_setting(config) else process
            else:
                message.append(config)
                remembered = self._remembered[power_config_id] = remembered.after(config)
        if self._has_hmx and not remembered.hmx and any(config.number in _HVX for config in message):
            message.append(_PICK_DEFAULT)
        code = self.link.invoke() if message else SUCCESS
        for config in message if code == SUCCESS else ():
            client.apply(config)
        return code, process

    def destroy(self, power_config_id: int, client: Client, fault: int) -> tuple[int, bool]:
        """Return the code of a destroy that is to fail with ``fault``, 0 for success, and that the id is gone."""
        self._remembered.pop(power_config_id, None)
        code = fault or self.link.invoke()
        if code != SUCCESS:
            self.left.append(client)
        return code, True

    def renew(self, *, second_user: bool) -> bool:
        """Free the device and create it again; return whether the DSP was there.

        All device handles of the process share the link. It does not change while a second user has a handle.
        """
        self._remembered.clear()
        return second_user or self.link.renew()

    def _read(
        self, config: NativeConfig, power_config_id: int, remembered: Remembered, earlier: Collection[int]
    ) -> int:
        """Return the code for one option of a list; a setting of FastRPC is sent."""
        if config.number == Option.DDR_PERF_MODE:
            if self._arch < _FIRST_ARCH_WITH_DDR:
                return UNSUPPORTED
            return SUCCESS if remembered.bus_at_max else INVALID_INPUT
        code = answer(
            self._version, self._platform, config, power_config_id, has_hvx_vote=remembered.hvx, earlier=earlier
        )
        if code != SUCCESS or config.option not in SETTINGS or not self._has_setting(config):
            return code
        is_too_long = config.fields.get("rpcPollingTimeConfig", 0) >= _SHORTEST_REFUSED_POLLING_US
        return FAILED if is_too_long else self.link.control(config.option)

    def _has_setting(self, config: NativeConfig) -> bool:
        """Return whether a setting of the process has an effect: RPC polling has none before V73."""
        return config.number != Option.RPC_POLLING_TIME or self._arch >= _FIRST_ARCH_WITH_POLLING
