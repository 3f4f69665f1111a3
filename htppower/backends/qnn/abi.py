"""The C interface of the vendor's library: layouts, and the places of its functions.

Source: interface facts of the QNN headers of SDK 2.48 (core API 2.37, HTP API 5.48), compiled and measured; no text of
them. Every function returns a 64-bit error handle, whose low 16 bits are the code. The vendor's spelling is kept here,
so that a line can be compared with a header.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char_p, c_size_t, c_uint32, c_uint64, c_void_p
from typing import TYPE_CHECKING, Any, ClassVar

from htppower.votes.options import LARGEST_UINT32, VOTE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.votes.native import NativeConfig

BACKEND_ID_HTP = 6
# Before SDK 2.15 the functions were at other places of the table.
OLDEST_CORE_API = (2, 9)
INFRASTRUCTURE_TYPE_PERF = 0
DEVICE_TYPE_ON_CHIP = 0
DEVICE_CONFIG_CUSTOM = 0
HTP_DEVICE_CONFIG_SOC = 0

ErrorHandle = c_uint64
LogCallback = ctypes.CFUNCTYPE(None, c_char_p, c_uint32, c_uint64, c_void_p)


def code_of(handle: int) -> int:
    """Return the code of an error handle: its low 16 bits, or all of it if they would read as success."""
    return handle & 0xFFFF or handle


def _struct(name: str, fields: Sequence[tuple[str, Any]]) -> Any:
    # Without a __dict__, assigning to a missing field is an error.
    return type(name, (ctypes.Structure,), {"__slots__": (), "_fields_": list(fields)})


def _uint32s(text: str) -> list[tuple[str, Any]]:
    return [(name, c_uint32) for name in text.split()]


class Version(ctypes.Structure):
    """Qnn_Version_t."""

    _fields_ = tuple(_uint32s("major minor patch"))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


class Interface(ctypes.Structure):
    """QnnInterface_t. It has 72 functions; ``FUNCTIONS`` names the ones that are called."""

    _fields_: ClassVar = [
        ("backendId", c_uint32),
        ("providerName", c_char_p),
        ("coreApiVersion", Version),
        ("backendApiVersion", Version),
        ("functions", c_void_p * 72),
    ]


Interfaces = ctypes.POINTER(ctypes.POINTER(Interface))
PROVIDERS_SYMBOL = "QnnInterface_getProviders"


class OnChipDevice(ctypes.Structure):
    """QnnHtpDevice_OnChipDeviceInfoExtension_t; ``vtcmSize`` in MB."""

    _fields_: ClassVar = [
        ("vtcmSize", c_size_t),
        ("socModel", c_uint32),
        ("signedPdSupport", c_bool),
        ("dlbcSupport", c_bool),
        ("arch", c_uint32),
    ]


class DeviceExtension(ctypes.Structure):
    """QnnHtpDevice_DeviceInfoExtension_t."""

    _fields_: ClassVar = [("devType", c_uint32), ("onChipDevice", OnChipDevice)]


class CoreInfo(ctypes.Structure):
    """QnnDevice_CoreInfo_t, version 1."""

    _fields_: ClassVar = [("version", c_uint64), ("coreId", c_uint32), ("coreType", c_uint32), ("extension", c_void_p)]


class HardwareDevice(ctypes.Structure):
    """QnnDevice_HardwareDeviceInfo_t, version 1."""

    _fields_: ClassVar = [
        ("version", c_uint64),
        ("deviceId", c_uint32),
        ("deviceType", c_uint32),
        ("numCores", c_uint32),
        ("cores", ctypes.POINTER(CoreInfo)),
        ("deviceInfoExtension", ctypes.POINTER(DeviceExtension)),
    ]


class PlatformInfo(ctypes.Structure):
    """QnnDevice_PlatformInfo_t, version 1."""

    _fields_: ClassVar = [
        ("version", c_uint64),
        ("numHwDevices", c_uint32),
        ("hwDevices", ctypes.POINTER(HardwareDevice)),
    ]


class DeviceConfig(ctypes.Structure):
    """QnnDevice_Config_t."""

    _fields_: ClassVar = [("option", c_uint32), ("customConfig", c_void_p)]


class SocConfig(ctypes.Structure):
    """QnnHtpDevice_CustomConfig_t with the SoC's model.

    The union stands at byte 4 in some versions of the library and at byte 8 in others (measured: byte 4 up to the
    headers of 2.43 and in QAIRT 2.49, byte 8 in 2.47, 2.48, 2.50, 2.51). The wrong place reads as model 0, so
    the model is written at both.
    """

    _fields_: ClassVar = [
        ("option", c_uint32),
        ("at_byte_4", c_uint32),
        ("at_byte_8", c_uint32),
        ("rest", c_uint32 * 5),
    ]

    @classmethod
    def of(cls, soc_model: int) -> SocConfig:
        """Return the configuration for a model."""
        return cls(HTP_DEVICE_CONFIG_SOC, soc_model, soc_model)


class PerfInfrastructure(ctypes.Structure):
    """QnnHtpDevice_Infrastructure_t with its QnnHtpDevice_PerfInfrastructure_t."""

    _fields_: ClassVar = [
        ("infraType", c_uint32),
        ("createPowerConfigId", c_void_p),
        ("destroyPowerConfigId", c_void_p),
        ("setPowerConfig", c_void_p),
        ("setMemoryConfig", c_void_p),
    ]


# The structs of the options by their members of the union, each field a uint32; and the members by the option's name.
STRUCTS: dict[str, Any] = {
    about.member: _struct(about.member, [(name, c_uint32) for name in about.native_fields])
    for about in VOTE_OPTIONS.values()
    if about.fields
}
_MEMBERS = {option.name: about.member for option, about in VOTE_OPTIONS.items() if about.fields}


class _Setting(ctypes.Union):
    __slots__ = ()
    _fields_: ClassVar = [
        *STRUCTS.items(),
        *((about.member, c_uint32) for about in VOTE_OPTIONS.values() if not about.fields),
    ]


class PowerConfig(ctypes.Structure):
    """QnnHtpPerfInfrastructure_PowerConfig_t."""

    __slots__ = ()
    _anonymous_ = ("setting",)
    _fields_: ClassVar = [("option", c_uint32), ("setting", _Setting)]


def power_config(config: NativeConfig) -> PowerConfig:
    """Return the struct of one option: the fields have the names that they have in C.

    Raises:
        AttributeError: the option has no such field.
        ValueError: a number does not fit into 32 bits; ctypes would cut it off.
    """
    made = PowerConfig(config.number)
    # An option that is a number is a member of the union itself.
    member = _MEMBERS.get(config.option)
    holder = made if member is None else getattr(made, member)
    for name, number in config.fields.items():
        if not 0 <= number <= LARGEST_UINT32:
            raise ValueError(f"{config.option}: {name} is {number}: not in 0..{LARGEST_UINT32}")
        setattr(holder, name, number)
    return made


def null_terminated(structs: Sequence[ctypes.Structure]) -> Any:
    """Return the NULL-terminated array of pointers to the structs; keep the structs as long as the array."""
    return (c_void_p * (len(structs) + 1))(*map(ctypes.addressof, structs), None)


def device_configs(soc_model: int | None) -> Any:
    """Return the configurations for deviceCreate; the list keeps alive what it points to."""
    if soc_model is None:
        return None
    soc = SocConfig.of(soc_model)
    config = DeviceConfig(DEVICE_CONFIG_CUSTOM, ctypes.addressof(soc))
    configs = null_terminated([config])
    configs.held = (soc, config)
    return configs


# Each function's place in the table, and its argument types.
FUNCTIONS: dict[str, tuple[int, tuple[Any, ...]]] = {
    "backendCreate": (1, (c_void_p, c_void_p, ctypes.POINTER(c_void_p))),
    "backendGetBuildId": (4, (ctypes.POINTER(c_char_p),)),
    "backendFree": (8, (c_void_p,)),
    "logCreate": (25, (LogCallback, c_uint32, ctypes.POINTER(c_void_p))),
    "logFree": (27, (c_void_p,)),
    "deviceGetPlatformInfo": (37, (c_void_p, ctypes.POINTER(ctypes.POINTER(PlatformInfo)))),
    "deviceFreePlatformInfo": (38, (c_void_p, ctypes.POINTER(PlatformInfo))),
    "deviceGetInfrastructure": (39, (ctypes.POINTER(ctypes.POINTER(PerfInfrastructure)),)),
    "deviceCreate": (40, (c_void_p, c_void_p, ctypes.POINTER(c_void_p))),
    "deviceFree": (43, (c_void_p,)),
}
PERF_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "createPowerConfigId": (c_uint32, c_uint32, ctypes.POINTER(c_uint32)),
    "setPowerConfig": (c_uint32, c_void_p),
    "destroyPowerConfigId": (c_uint32,),
}


def providers_function(library: ctypes.CDLL) -> Any:
    """Return the library's one exported function: ``(Interfaces* list, uint32* count)``.

    Raises:
        AttributeError: the library does not export it.
    """
    function = getattr(library, PROVIDERS_SYMBOL)
    function.restype = ErrorHandle
    function.argtypes = (ctypes.POINTER(Interfaces), ctypes.POINTER(c_uint32))
    return function


def interface_function(interface: Interface, name: str) -> Callable[..., int] | None:
    """Return a function of the table, or None if the library leaves its place empty."""
    place, arguments = FUNCTIONS[name]
    address = interface.functions[place]
    return ctypes.CFUNCTYPE(ErrorHandle, *arguments)(address) if address else None


def perf_function(infrastructure: PerfInfrastructure, name: str) -> Callable[..., int] | None:
    """Return a function of the performance infrastructure, or None if its place is empty."""
    address = getattr(infrastructure, name)
    return ctypes.CFUNCTYPE(ErrorHandle, *PERF_FUNCTIONS[name])(address) if address else None
