"""The simulated HTP: answers as the vendor's library does, and keeps the clocks as the DSP would.

Answers are those of the real ``libQnnHtp.so``, by version (``answers.py``). What becomes of an id when the subsystem
restarts is assumed, since no library could be asked.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from htppower.backends.base import Description, Device
from htppower.backends.simulated.answers import NEWEST, answer, find_version
from htppower.backends.simulated.clocks import Client, Effective, ProcessSettings, effective_clocks
from htppower.backends.simulated.faults import FUNCTIONS, Faults, check_function
from htppower.backends.whole_lock import whole_lock
from htppower.errors import VoteRejected
from htppower.rules.platforms import platform_of
from htppower.votes.native_codes import INVALID_INPUT, SUCCESS, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL
from htppower.votes.options import LARGEST_UINT32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet


class SimulatedHtp:
    """A Hexagon NPU without hardware.

    Args:
        arch: its architecture, ``75`` or ``"V75"``; V75 where neither it nor a SoC is given.
        soc_model: its SoC, by model number or part number, such as ``57`` or ``"SM8650"``.
        platform: its operating system: android, linux, windows or qnx.
        devices, cores: how many there are.
        library_version: as which version of the library it answers, by QAIRT, 2.47 to 2.51.
        first_id: the first power config id; the real library starts anywhere, also above 2**31.
        sleep: waits for a number of seconds when calls are delayed.

    Attributes:
        platform: what it simulates.

    Raises:
        UnknownPlatform: an architecture, SoC or operating system that is not in the tables.
        ValueError: a library version that was not measured, or no device or core.
    """

    def __init__(
        self,
        arch: int | str | None = None,
        soc_model: int | str | None = None,
        platform: str = "linux",
        *,
        devices: int = 1,
        cores: int = 1,
        library_version: str = NEWEST,
        first_id: int = 1,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if devices < 1 or cores < 1:
            raise ValueError(f"devices is {devices}, cores is {cores}: at least one of each")
        if arch is None and soc_model is None:
            arch = 75
        self.platform = platform_of(soc_model, arch, platform)
        self._library_version = find_version(library_version)
        self._devices = devices
        self._cores = cores
        self._next_id = first_id
        self._sleep = sleep
        self._lock = whole_lock()
        self._clients: dict[int, Client] = {}
        # The ids that a refused create has written.
        self._refused: set[int] = set()
        self._process = ProcessSettings()
        self._faults = Faults()
        self._delays_us: dict[str, int] = {}
        self._restarted = False
        self._dead = False
        self._unnoticed = False

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id.

        Raises:
            VoteRejected: 13001 on an unknown device or core, or a code asked for with ``fail_next``.
        """
        code, power_config_id = self.native_create(device_id, core_id)
        if code != SUCCESS:
            raise VoteRejected(code, function="createPowerConfigId", core=(device_id, core_id))
        return power_config_id

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Apply a vote set.

        Raises:
            VoteRejected: with the code that the library answers.
        """
        code = self.native_set(power_config_id, votes.native(power_config_id))
        if code != SUCCESS:
            raise VoteRejected(code, votes, power_config_id=power_config_id)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy an id and every vote on it; the library answers 0 to an unknown id, too."""
        code = self.native_destroy(power_config_id)
        if code != SUCCESS:
            raise VoteRejected(code, function="destroyPowerConfigId", power_config_id=power_config_id)

    def describe(self) -> Description:
        """Return what is simulated."""
        soc, arch = self.platform.soc, self.platform.arch or 0
        model, vtcm_mb = (0, 0) if soc is None else (soc.model, soc.vtcm_mb or 0)
        cores = tuple(range(self._cores))
        return Description(
            "simulated",
            f"simulated HTP, as QAIRT {self._library_version.name} answers",
            self.platform,
            hardware=False,
            devices=tuple(Device(each, cores, model, arch, vtcm_mb, signed_pd=False) for each in range(self._devices)),
        )

    def close(self) -> None:
        """Free every id, as freeing the device does."""
        with self._lock:
            self._clients.clear()
            self._process = ProcessSettings()

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Return code and id of createPowerConfigId; the id is written also where the code is not 0."""
        self._wait("createPowerConfigId")
        with self._lock:
            power_config_id = self._next_id
            code, _ = self._fault("createPowerConfigId")
            if code == SUCCESS and not (device_id in range(self._devices) and core_id in range(self._cores)):
                code = INVALID_INPUT
            self._next_id = (self._next_id + 1) & LARGEST_UINT32
            if code == SUCCESS:
                self._clients[power_config_id] = Client(device_id, core_id)
            else:
                self._refused.add(power_config_id)
            return code, power_config_id

    def native_set(self, power_config_id: int, configs: Sequence[NativeConfig] | None) -> int:
        """Return the code of setPowerConfig with a native list, well-formed or not; None is the NULL list.

        Options are applied in list order up to the first that is refused: what came before it stays.
        """
        self._wait("setPowerConfig")
        with self._lock:
            fault, applied = self._fault("setPowerConfig")
            client = self._clients.get(power_config_id)
            if fault == SUCCESS and (configs is None or client is None):
                return INVALID_INPUT
            if client is None:
                return fault
            votes = (configs or ())[: None if fault == SUCCESS else applied]
            return self._apply(power_config_id, client, votes) or fault

    def native_destroy(self, power_config_id: int) -> int:
        """Return code of destroyPowerConfigId: 0, for unknown ids and 0, too; 13001, once, for one that was refused."""
        self._wait("destroyPowerConfigId")
        with self._lock:
            code, _ = self._fault("destroyPowerConfigId")
            if code == SUCCESS and power_config_id in self._refused:
                self._refused.discard(power_config_id)
                return INVALID_INPUT
            if code == SUCCESS:
                self._clients.pop(power_config_id, None)
            return code

    def effective(self, device_id: int = 0, core_id: int = 0) -> Effective:
        """Return the clocks of a core over all ids, and the process's settings, in native numbers."""
        with self._lock:
            return effective_clocks(self._clients_on(device_id, core_id), self._process)

    def _clients_on(self, device_id: int, core_id: int) -> list[Client]:
        return [each for each in self._clients.values() if (each.device_id, each.core_id) == (device_id, core_id)]

    @property
    def power_config_ids(self) -> tuple[int, ...]:
        """The ids that are alive."""
        with self._lock:
            return tuple(self._clients)

    def clear_faults(self) -> None:
        """Fail none of the calls to come."""
        with self._lock:
            self._faults.clear()

    def fail_next(
        self, code: int, function: str = "setPowerConfig", *, nth: int = 1, times: int = 1, applied: int = 0
    ) -> None:
        """Fail a call to come.

        Args:
            code: the native code to answer.
            function: the native function that fails.
            nth: which of its calls fails, counted from now; 1 is the very next.
            times: how many calls from there on fail.
            applied: for setPowerConfig, how many votes of the list are applied before the failure.
        """
        with self._lock:
            self._faults.add(code, function, nth, times, applied)

    def delay_calls(self, delay_us: int, function: str | None = None) -> None:
        """Make every call, or those of one function, take this long; 0 takes it back."""
        if delay_us < 0:
            raise ValueError(f"a delay of {delay_us} us")
        if function is not None:
            check_function(function)
        for name in FUNCTIONS if function is None else (function,):
            self._delays_us[name] = delay_us

    def restart_subsystem(self, *, fatal: bool = False, forget_ids: bool = False) -> None:
        """Restart the DSP subsystem (SSR): every vote is lost at once.

        The next call answers 1007 once, as when the link has been rebuilt; with ``fatal`` every call answers 1011 until
        the subsystem is restarted without it.

        Args:
            fatal: the link is not rebuilt.
            forget_ids: the library no longer knows the ids that were alive (assumed; the vendor leaves it open).
        """
        with self._lock:
            self._dead = fatal
            self._restarted = not fatal
            self._unnoticed = True
            self._process = ProcessSettings()
            for power_config_id, client in tuple(self._clients.items()):
                self._clients[power_config_id] = Client(client.device_id, client.core_id)
            if forget_ids:
                self._clients.clear()

    def _wait(self, function: str) -> None:
        delay_us = self._delays_us.get(function, 0)
        if delay_us:
            self._sleep(delay_us / 1_000_000)

    def _fault(self, function: str) -> tuple[int, int]:
        """Return the code that this call is to fail with, and how many votes are applied before."""
        fault = self._faults.of_next(function)
        if self._dead or self._restarted:
            self._unnoticed = False
        if self._dead:
            return SYSTEM_COMMUNICATION_FATAL, 0
        if self._restarted:
            self._restarted = False
            return SYSTEM_COMMUNICATION, 0
        return fault

    def _apply(self, power_config_id: int, client: Client, configs: Sequence[NativeConfig]) -> int:
        """Apply options up to the first that is refused, and return its code."""
        for place, config in enumerate(configs):
            code = answer(
                self._library_version,
                self.platform,
                config,
                power_config_id,
                has_hvx_vote=client.has_hvx_vote,
                earlier={before.number for before in configs[:place]},
            )
            if code != SUCCESS:
                return code
            client.apply(config)
            self._process = self._process.after(config)
        return SUCCESS
