"""The simulated HTP: answers like the vendor's library, and keeps the clocks like the DSP.

It answers like the real ``libQnnHtp.so``, by version (``answers``), for x86-64 or for a device (``libraries``).
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, get_args

from htppower.backends.base import Description, Device
from htppower.backends.simulated.answers import NEWEST, find_version
from htppower.backends.simulated.calls import RENEW, Calls
from htppower.backends.simulated.clocks import Effective, ProcessSettings, effective_clocks
from htppower.backends.simulated.libraries import DeviceLibrary, LinkKind, PlainLibrary
from htppower.backends.whole_lock import whole_lock
from htppower.errors import BackendUnavailable, Unavailable, VoteRejected
from htppower.rules.platforms import platform_of
from htppower.votes import native_codes
from htppower.votes.native_codes import INVALID_INPUT, SUCCESS
from htppower.votes.options import LARGEST_UINT32

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.backends.simulated.clocks import Client
    from htppower.backends.simulated.link import FastRpcAnswer, Link
    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet


class SimulatedHtp:
    """A Hexagon NPU without hardware.

    Args:
        arch: its architecture, ``75`` or ``"V75"``; V75 if neither it nor a SoC is given.
        soc_model: its SoC, by model number or part number, such as ``57`` or ``"SM8650"``.
        platform: its operating system: android, linux, windows or qnx.
        devices, cores: how many there are.
        library_version: the version of the library, by QAIRT, whose answers it gives: 2.47 to 2.51.
        first_id: the first power config id; the real library starts anywhere, also above 2**31.
        link: ``plain`` answers like the library for x86-64; ``device`` like that for devices, whose link can break.
        sleep: waits for a number of seconds if calls take time.

    Attributes:
        platform: the simulated platform.
        second_user: another user of the library holds the device, too: with ``link="device"`` a ``renew`` then does not
            change the link.

    Raises:
        UnknownPlatform: an architecture, SoC or operating system that is not in the tables.
        ValueError: a library version that was not measured, no such link, or no device or core.
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
        link: LinkKind = "plain",
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if devices < 1 or cores < 1:
            raise ValueError(f"devices is {devices}, cores is {cores}: at least one of each")
        if link not in get_args(LinkKind):
            raise ValueError(f"no link {link!r}; one of {', '.join(get_args(LinkKind))}")
        if arch is None and soc_model is None:
            arch = 75
        self.platform = platform_of(soc_model, arch, platform)
        self.second_user = False
        self._library_version = find_version(library_version)
        self._device = DeviceLibrary(self._library_version, self.platform) if link == "device" else None
        self._library = self._device or PlainLibrary(self._library_version, self.platform)
        self._devices = devices
        self._cores = cores
        self._next_id = first_id
        self._sleep = sleep
        self._lock = whole_lock()
        self._calls = Calls(self._lock, None if self._device is None else self._device.link)
        self._clients: dict[int, Client] = {}
        # The ids that refused creates have written.
        self._refused: set[int] = set()
        self._process = ProcessSettings()
        # After a failed renewal.
        self._without_device = False
        # With a plain link: a restart that no call has met yet, a fatal restart, and either of them before a call.
        self._restarted = False
        self._dead = False
        self._unnoticed = False

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id; any code but 0 is raised as VoteRejected, 14000 after a ``renew`` that failed."""
        code, power_config_id = self.native_create(device_id, core_id)
        if code != SUCCESS:
            raise VoteRejected(code, function="createPowerConfigId", core=(device_id, core_id))
        return power_config_id

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Apply a vote set; any code but 0 is raised as VoteRejected."""
        code = self.native_set(power_config_id, votes.native(power_config_id))
        if code != SUCCESS:
            raise VoteRejected(code, votes, power_config_id=power_config_id)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy an id and every vote on it; the library answers 0 to an unknown id, too."""
        code = self.native_destroy(power_config_id)
        if code != SUCCESS:
            raise VoteRejected(code, function="destroyPowerConfigId", power_config_id=power_config_id)

    def renew(self) -> None:
        """Free the device and create it again: every id and every setting of the process is gone.

        Raises:
            BackendUnavailable: the DSP is down, or ``fail_next`` requested it; the device is then missing.
        """
        with self._calls.make(RENEW, self._sleep):
            code, _ = self._calls.faults.of_next(RENEW)
            self._restarted = self._unnoticed = False
            if code == SUCCESS:
                opened = not self._dead if self._device is None else self._device.renew(second_user=self.second_user)
                code = SUCCESS if opened else native_codes.DEVICE_INVALID_CONFIG
            self._forget_all()
            self._without_device = code != SUCCESS
        if code != SUCCESS:
            message = f"deviceCreate of the simulated HTP returned {code} {native_codes.code_name(code)}"
            hint = native_codes.what_to_do_at_start(code)
            raise BackendUnavailable(Unavailable.DEVICE_CREATE_FAILED, message, hint=hint, code=code)

    def describe(self) -> Description:
        """Return a description of the simulated platform."""
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
        """Free every id, like freeing the device."""
        with self._lock:
            self._forget_all()

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Return code and id of createPowerConfigId; the id is written even if the code is not 0."""
        if self._without_device:
            return native_codes.DEVICE_INVALID_HANDLE, 0
        with self._calls.make("createPowerConfigId", self._sleep):
            power_config_id = self._next_id
            code, _ = self._fault("createPowerConfigId")
            if code == SUCCESS and not (device_id in range(self._devices) and core_id in range(self._cores)):
                code = INVALID_INPUT
            self._next_id = (self._next_id + 1) & LARGEST_UINT32
            if code == SUCCESS:
                self._clients[power_config_id] = self._library.client(device_id, core_id)
            else:
                self._refused.add(power_config_id)
            return code, power_config_id

    def native_set(self, power_config_id: int, configs: Sequence[NativeConfig] | None) -> int:
        """Return the code of setPowerConfig with a native list, well-formed or not; None is the NULL list."""
        if self._without_device:
            return native_codes.DEVICE_INVALID_HANDLE
        with self._calls.make("setPowerConfig", self._sleep):
            fault, applied = self._fault("setPowerConfig")
            client = self._clients.get(power_config_id)
            if fault == SUCCESS and (configs is None or client is None):
                return INVALID_INPUT
            if client is None:
                return fault
            votes = (configs or ())[: None if fault == SUCCESS else applied]
            code, self._process = self._library.set(power_config_id, client, votes, self._process)
            return code or fault

    def native_destroy(self, power_config_id: int) -> int:
        """Return the code of destroyPowerConfigId: 0, also for unknown ids; 13001, once, for an id that was refused."""
        if self._without_device:
            return native_codes.DEVICE_INVALID_HANDLE
        with self._calls.make("destroyPowerConfigId", self._sleep):
            code, _ = self._fault("destroyPowerConfigId")
            if code == SUCCESS and power_config_id in self._refused:
                self._refused.discard(power_config_id)
                return INVALID_INPUT
            client = self._clients.get(power_config_id)
            if client is not None:
                code, gone = self._library.destroy(power_config_id, client, code)
                if gone:
                    del self._clients[power_config_id]
            return code

    def effective(self, device_id: int = 0, core_id: int = 0) -> Effective:
        """Return the clocks of a core over all ids, and the process's settings, in native numbers."""
        with self._lock:
            return effective_clocks(self._clients_on((device_id, core_id)), self._process)

    def _clients_on(self, core: tuple[int, int]) -> list[Client]:
        clients = (*self._clients.values(), *self._library.left)
        return [each for each in clients if (each.device_id, each.core_id) == core]

    @property
    def power_config_ids(self) -> tuple[int, ...]:
        """The ids that are alive."""
        with self._lock:
            return tuple(self._clients)

    @property
    def overlaps(self) -> int:
        """How many calls were refused because a call of another thread was in progress."""
        return self._calls.overlaps

    def clear_faults(self) -> None:
        """Fail none of the calls to come."""
        with self._lock:
            self._calls.faults.clear()

    def fail_next(
        self, code: int, function: str = "setPowerConfig", *, nth: int = 1, times: int = 1, applied: int = 0
    ) -> None:
        """Fail later calls of a native function, or of ``renew``, with a native code.

        The ``nth`` call from now on fails, 1 being the very next, and ``times`` calls in total. The first
        ``applied`` votes of a setPowerConfig take effect before it fails.
        """
        with self._lock:
            self._calls.faults.add(code, function, nth, times, applied)

    def delay_calls(self, delay_us: int, function: str | None = None) -> None:
        """Make each native call, or each call of one function or of ``renew``, take this long; 0 ends that."""
        self._calls.delay(delay_us, function)

    def restart_subsystem(
        self, *, fatal: bool = False, forget_ids: bool = False, fastrpc: FastRpcAnswer = "reset", rebuild_us: int = 0
    ) -> None:
        """Restart the DSP subsystem (SSR): every vote is lost, and the next call that meets the restart answers 1007.

        Args:
            fatal: the DSP stays down until it is restarted without ``fatal``. A plain link answers 1011 to every call;
                a device's answers 1011 once, and then 13003 or 13006 until ``renew``.
            forget_ids: the library no longer knows the ids that were alive. The device library does not forget them.
            fastrpc: the answer of FastRPC on a device: ``reset``; ``gone``, which rebuilds the link only at votes of an
                id; or ``crashed``, a crash of the process domain, which never rebuilds it.
            rebuild_us: how long the call that rebuilds a device's link takes.
        """
        with self._lock:
            if self._device is not None or fastrpc != "reset" or rebuild_us:
                self._device_link().restart(fastrpc, fatal=fatal, rebuild_us=rebuild_us)
                self._process = self._process.after_restart()
            else:
                self._dead = fatal
                self._restarted = not fatal
                self._unnoticed = True
                self._process = ProcessSettings()
            self._library.left.clear()
            for power_config_id, client in tuple(self._clients.items()):
                self._clients[power_config_id] = self._library.client(client.device_id, client.core_id)
            if forget_ids:
                self._clients.clear()

    def spoil_rebuild(self) -> None:
        """Spoil the next rebuild of a device's link, as a second caller does: it answers 1011, and later calls fail."""
        with self._lock:
            self._device_link().spoil_rebuild()

    def refuse_settings(self, *options: str) -> None:
        """Make FastRPC refuse settings on a device, ``RPC_POLLING_TIME`` or ``RPC_CONTROL_LATENCY``, and no others."""
        with self._lock:
            self._device_link().refuse_settings(options)

    def _device_link(self) -> Link:
        if self._device is None:
            raise ValueError("a plain link can't do that: create the simulated HTP with link='device'")
        return self._device.link

    def _forget_all(self) -> None:
        """Forget ids, votes and settings, like the library and the DSP if the device is freed."""
        self._clients.clear()
        self._library.left.clear()
        self._process = ProcessSettings()

    def _fault(self, function: str) -> tuple[int, int]:
        """Return the code with which this call fails, and how many votes are applied before."""
        fault = self._calls.faults.of_next(function)
        if self._dead or self._restarted:
            self._unnoticed = False
        if self._dead:
            return native_codes.SYSTEM_COMMUNICATION_FATAL, 0
        if self._restarted:
            self._restarted = False
            return native_codes.SYSTEM_COMMUNICATION, 0
        return fault
