"""The vendor's library in use: opened from its providers to its power infrastructure, renewed, and freed."""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from ctypes import byref, c_char_p, c_uint32, c_void_p
from typing import TYPE_CHECKING, Any

from htppower.backends.base import Device
from htppower.backends.qnn import abi
from htppower.backends.qnn.log import LOGGER, log_callback, wanted_level
from htppower.errors import BackendUnavailable, Unavailable
from htppower.votes.native_codes import (
    DEVICE_ACCESS_DENIED,
    DEVICE_INVALID_CONFIG,
    LINK_LOST,
    SUCCESS,
    TRANSPORT,
    code_name,
    what_to_do_at_start,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

    from htppower.backends.qnn.library import Library

OLDEST = ".".join(map(str, abi.OLDEST_CORE_API))
# The answers of the first and of later calls on a dead link.
_DEAD_LINK = LINK_LOST | {TRANSPORT}
# QNN_COMMON_ERROR_SYSTEM: on a dead link deviceFree frees the device and answers this (measured).
_FREED_ON_DEAD_LINK = frozenset({1003})


class OpenDevice:
    """The handles of a library that its users in this process share: log, backend, device and ids.

    They are freed once, in reverse order: at ``close``, when this object is collected, or at interpreter exit. A forked
    child frees none of them, since they belong to the parent. Ids are destroyed one by one, since freeing the device is
    not enough: version 2.47 keeps the ids then, and the other versions keep them if the library has another user.

    Attributes:
        ids: the ids that are alive; the users add and remove them.
        users: how many users there are; ``sharing`` counts them.
        create_id, set_config, destroy_id: the native functions; call them only while the device exists.

    Args:
        library: a loaded library.
        soc_model: the SoC model to make the device for, or None for the one that the library finds. It is a setting of
            the whole process, and stays when the device is freed.

    Raises:
        BackendUnavailable: the library can't be used; what was made until then is freed.
    """

    create_id: Callable[..., int]
    set_config: Callable[..., int]
    destroy_id: Callable[..., int]

    def __init__(self, library: Library, soc_model: int | None = None) -> None:
        self._library = library
        self._soc_model = soc_model
        self.ids: set[int] = set()
        self.users = 0
        with contextlib.ExitStack() as undo:
            interface = self._provider()
            self.core_api = str(interface.coreApiVersion)
            self.htp_api = str(interface.backendApiVersion)
            self._functions = {name: self._function(interface, name) for name in abi.FUNCTIONS}
            self._log = self._create_log(undo)
            backend = self._create("backendCreate", self._log, None, Unavailable.BACKEND_CREATE_FAILED)
            undo.callback(_free_one, "backendFree", self._functions["backendFree"], backend)
            self.build = self._build()
            self.devices = self._devices(self._log)
            self._device = _DeviceHandle(self._functions["deviceFree"])
            undo.callback(_destroy_and_free, self.ids, self._device)
            self._make_device()
            self._finalizer = weakref.finalize(self, undo.pop_all().close)

    def close(self) -> None:
        """Free everything. Closing twice is fine."""
        self._finalizer()

    def disown(self) -> None:
        """In a forked child: free nothing."""
        self.ids.clear()
        self._finalizer.detach()

    @property
    def alive(self) -> bool:
        """Whether backend and log are still there; the device may be missing after a failed ``renew``."""
        return self._finalizer.alive

    @property
    def has_device(self) -> bool:
        """Whether the device exists; it does not after a failed ``renew``."""
        return self._device.handle is not None

    def renew(self) -> None:
        """Free the device and create it again; its ids are gone. Log and backend stay.

        Raises:
            BackendUnavailable: it can't be created. The device is then missing, and a later attempt may succeed.
        """
        _destroy_until_dead(self.ids, self._device)
        self.ids.clear()
        self._device.free(expected=_FREED_ON_DEAD_LINK)
        self._make_device()

    def destroy(self, ids: Iterable[int]) -> None:
        """Destroy those of these ids that are alive."""
        chosen = self.ids.intersection(ids)
        self.ids -= chosen
        _destroy_left(chosen, self._device)

    def _make_device(self) -> None:
        """Create the device, and look up its native functions.

        Raises:
            BackendUnavailable: either of them fails. The device is then missing.
        """
        configs = abi.device_configs(self._soc_model)
        made = self._create("deviceCreate", self._log, configs, Unavailable.DEVICE_CREATE_FAILED)
        self._device.handle = made
        try:
            infrastructure = self._infrastructure()
            self.create_id, self.set_config, self.destroy_id = (
                self._perf_function(infrastructure, name) for name in abi.PERF_FUNCTIONS
            )
        except BackendUnavailable:
            self._device.free()
            raise
        self._device.destroy_id = self.destroy_id

    def _provider(self) -> abi.Interface:
        path = self._library.path
        try:
            get_providers = abi.providers_function(self._library.handle)
        except AttributeError:
            hint = "give the path of libQnnHtp.so, or QnnHtp.dll"
            raise self._unavailable(
                Unavailable.SYMBOL_MISSING, f"{path} does not export {abi.PROVIDERS_SYMBOL}", hint
            ) from None
        providers, count = abi.Interfaces(), c_uint32()
        handle = get_providers(byref(providers), byref(count))
        self._check(handle, abi.PROVIDERS_SYMBOL, Unavailable.NO_PROVIDER)
        places = range(count.value if providers else 0)
        found: list[abi.Interface] = [providers[place].contents for place in places if providers[place]]
        interface = next((each for each in found if each.backendId == abi.BACKEND_ID_HTP), None)
        if interface is None:
            names = ", ".join(f"{each.backendId} {(each.providerName or b'').decode()}" for each in found) or "none"
            hint = "give the path of libQnnHtp.so, or QnnHtp.dll"
            raise self._unavailable(
                Unavailable.NO_PROVIDER, f"{path} has no provider of the HTP, backend id 6; it has {names}", hint
            )
        version = interface.coreApiVersion
        if (version.major, version.minor) < abi.OLDEST_CORE_API:
            hint = "use a library of QAIRT 2.15 or later"
            message = f"{path} has core API {version}, older than {OLDEST}"
            raise self._unavailable(Unavailable.CORE_API_TOO_OLD, message, hint)
        if version.major != abi.OLDEST_CORE_API[0]:
            message = f"{path} has core API {version}, but only major version {abi.OLDEST_CORE_API[0]} is known"
            raise self._unavailable(Unavailable.CORE_API_UNKNOWN, message, "use an htppower that knows it")
        return interface

    def _function(self, interface: abi.Interface, name: str) -> Callable[..., int]:
        function = abi.interface_function(interface, name)
        if function is None:
            reason = Unavailable.NO_POWER_INFRASTRUCTURE if name.startswith("device") else Unavailable.SYMBOL_MISSING
            raise self._unavailable(reason, f"{self._library.path} has no {name}", "use another library")
        return function

    def _create_log(self, undo: contextlib.ExitStack) -> c_void_p | None:
        """Create a log. If that fails, the library is used without a log."""
        log = c_void_p()
        create, free = self._functions["logCreate"], self._functions["logFree"]
        code = abi.code_of(create(log_callback(), wanted_level(), byref(log)))
        if code:
            LOGGER.warning("logCreate returned %d %s: the vendor's log is not shown", code, code_name(code))
            undo.callback(_take_callback_away, create, free)
            return None
        undo.callback(_free_one, "logFree", free, log)
        return log

    def _create(self, create: str, log: c_void_p | None, configs: Any, reason: Unavailable) -> c_void_p:
        made = c_void_p()
        self._check(self._functions[create](log, configs, byref(made)), create, reason)
        return made

    def _build(self) -> str:
        build = c_char_p()
        code = abi.code_of(self._functions["backendGetBuildId"](byref(build)))
        return "unknown" if code or not build.value else build.value.decode("utf-8", "replace")

    def _devices(self, log: c_void_p | None) -> tuple[Device, ...]:
        info = ctypes.POINTER(abi.PlatformInfo)()
        handle = self._functions["deviceGetPlatformInfo"](log, byref(info))
        self._check(handle, "deviceGetPlatformInfo", Unavailable.DEVICE_CREATE_FAILED)
        if not info:
            message = f"deviceGetPlatformInfo of {self._library.path} reports no platform"
            raise self._unavailable(Unavailable.DEVICE_CREATE_FAILED, message, "use another library")
        try:
            hardware = info.contents
            return tuple(_device(hardware.hwDevices[place]) for place in range(hardware.numHwDevices))
        finally:
            _free_one("deviceFreePlatformInfo", self._functions["deviceFreePlatformInfo"], log, info)

    def _infrastructure(self) -> abi.PerfInfrastructure:
        found = ctypes.POINTER(abi.PerfInfrastructure)()
        handle = self._functions["deviceGetInfrastructure"](byref(found))
        self._check(handle, "deviceGetInfrastructure", Unavailable.NO_POWER_INFRASTRUCTURE)
        if not found or found.contents.infraType != abi.INFRASTRUCTURE_TYPE_PERF:
            message = f"{self._library.path} has an infrastructure, but none for power votes"
            raise self._unavailable(Unavailable.NO_POWER_INFRASTRUCTURE, message, "use another library")
        return found.contents

    def _perf_function(self, infrastructure: abi.PerfInfrastructure, name: str) -> Any:
        function = abi.perf_function(infrastructure, name)
        if function is None:
            message = f"{self._library.path} has a power infrastructure without {name}"
            raise self._unavailable(Unavailable.NO_POWER_INFRASTRUCTURE, message, "use another library")
        return function

    def _check(self, handle: int, function: str, reason: Unavailable) -> None:
        """Raise an error if a call of the life cycle did not return 0."""
        code = abi.code_of(handle)
        if code:
            reason = Unavailable.DEVICE_BUSY if code == DEVICE_ACCESS_DENIED else reason
            message = f"{function} of {self._library.path} returned {code} {code_name(code)}"
            hint = what_to_do_at_start(code)
            if code == DEVICE_INVALID_CONFIG and self._soc_model is not None:
                hint = f"SoC model {self._soc_model} may be unknown to this library; on a device, omit it"
            raise self._unavailable(reason, message, hint, code)

    def _unavailable(self, reason: Unavailable, message: str, hint: str, code: int | None = None) -> BackendUnavailable:
        return BackendUnavailable(reason, message, hint=hint, tried=self._library.tried, code=code)


def _device(hardware: abi.HardwareDevice) -> Device:
    cores = tuple(hardware.cores[place].coreId for place in range(hardware.numCores if hardware.cores else 0))
    extension = hardware.deviceInfoExtension.contents if hardware.deviceInfoExtension else abi.DeviceExtension()
    # The extension of a device off the chip has another layout.
    on_chip = extension.devType == abi.DEVICE_TYPE_ON_CHIP
    chip = extension.onChipDevice if on_chip else abi.OnChipDevice()
    return Device(hardware.deviceId, cores, chip.socModel, chip.arch, chip.vtcmSize, bool(chip.signedPdSupport))


class _DeviceHandle:
    """The device handle, which is freed without the ``OpenDevice`` that has it, and its function for destroying ids.

    Attributes:
        handle: None while the device does not exist.
        destroy_id: the native function; valid only while the device exists.
    """

    destroy_id: Callable[[int], int]

    def __init__(self, free: Callable[..., int]) -> None:
        self.handle: c_void_p | None = None
        self._free = free

    def free(self, expected: Container[int] = ()) -> None:
        """Free the device, if it exists. Codes that are expected are not logged."""
        handle, self.handle = self.handle, None
        if handle is not None:
            _free_one("deviceFree", self._free, handle, expected=expected)


def _destroy_and_free(ids: set[int], device: _DeviceHandle) -> None:
    try:
        _destroy_left(ids, device)
    finally:
        device.free()


def _destroy_left(ids: set[int], device: _DeviceHandle) -> None:
    try:
        _destroy_each(ids, device)
    finally:
        if ids:  # interrupted: the others must go before the device is freed
            _destroy_left(ids, device)


def _destroy_each(ids: set[int], device: _DeviceHandle) -> None:
    while ids:
        _free_one("destroyPowerConfigId", device.destroy_id, ids.pop())


def _destroy_until_dead(ids: set[int], device: _DeviceHandle) -> None:
    """Destroy ids one by one, up to the first failure that shows a dead link: each call may take seconds there."""
    while ids and device.handle is not None:
        if _free_one("destroyPowerConfigId", device.destroy_id, ids.pop()) in _DEAD_LINK:
            return


def _take_callback_away(create: Callable[..., int], free: Callable[..., int]) -> None:
    """Replace the callback by none.

    A library that refuses to create a log keeps the callback. It calls it when the process exits, after Python has
    ended, and the process crashes (measured for 4000). A second logCreate takes it away, whatever it returns.
    """
    log = c_void_p()
    if abi.code_of(create(abi.LogCallback(), wanted_level(), byref(log))) == SUCCESS:
        _free_one("logFree", free, log)


def _free_one(name: str, free: Callable[..., int], *arguments: Any, expected: Container[int] = ()) -> int:
    """Free one handle, and return the code. A failure is only logged, so that the others are freed, too."""
    code = abi.code_of(free(*arguments))
    if code and code not in expected:
        LOGGER.warning("%s returned %d %s", name, code, code_name(code))
    return code
