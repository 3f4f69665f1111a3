"""The vendor's error codes: their names, and what to do about each.

Source: the enumerators of the QNN headers of SDK 2.48 (QnnHtpPerfInfrastructure.h, QnnCommon.h, QnnBackend.h,
QnnDevice.h).
"""

from __future__ import annotations

from types import MappingProxyType

SUCCESS = 0
INVALID_INPUT = 13001
# Not an error code: the NULL client's id. Votes on it may override all others of the process (header of SDK 2.50).
NULL_CLIENT = 0
UNSUPPORTED_CONFIG = 13002
TRANSPORT = 13003
UNSUPPORTED = 13004
FAILED = 13006
DEVICE_INVALID_HANDLE = 14000
DEVICE_INVALID_CONFIG = 14001
DEVICE_ACCESS_DENIED = 14004
# The DSP restarted: its link was rebuilt (1007) or was not (1011).
SYSTEM_COMMUNICATION = 1007
SYSTEM_COMMUNICATION_FATAL = 1011

# With the link to the DSP, every vote is lost: both if the link was rebuilt (1007) and if it was not (1011).
LINK_LOST = frozenset({SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL})

# The option is not supported: an old library answers 13002, a new library on an old chip answers 13004.
NOT_ON_THIS_PLATFORM = frozenset({UNSUPPORTED_CONFIG, UNSUPPORTED})

_ANOTHER_VOTE = "check the vote set against the rules"
_SKELETON = (
    "put the folder of the skeleton library of the same version (libQnnHtpV75Skel.so for V75) first in "
    "ADSP_LIBRARY_PATH, folders separated by ';'"
)
_CHIP = (
    "check that /sys/devices/soc0/soc_id can be read; else use a later release of the library; htppower doctor names "
    "the cause"
)
_LINK = "htppower doctor names the cause: FastRPC, its device files, the stub or the skeleton library"
_RETRIED = "the votes are sent again at the next transition"
_RETRIED_ON_A_LINK = "the votes are sent again; if that keeps failing, the device is created again"
_RETRIED_BUT_SETTINGS = f"{_RETRIED}; an RPC setting that FastRPC refuses is omitted (RPC-7)"
_ALL_RETRIED = (_RETRIED, _RETRIED_ON_A_LINK, _RETRIED_BUT_SETTINGS)
# Other functions return the same codes, and need other advice.
_RETRIED_OTHERWISE = {
    "createPowerConfigId": "no id was created and nothing is voted on it; only an open session tries again",
    "destroyPowerConfigId": "the id and its votes may still exist; look into the vendor's log",
}

_CODES = MappingProxyType(
    {
        0: ("SUCCESS", "nothing"),
        1000: ("QNN_COMMON_ERROR_NOT_SUPPORTED", "use a library with performance infrastructure"),
        1002: ("QNN_COMMON_ERROR_MEM_ALLOC", _RETRIED),
        1003: ("QNN_COMMON_ERROR_SYSTEM", _RETRIED),
        1004: ("QNN_COMMON_ERROR_INVALID_ARGUMENT", _ANOTHER_VOTE),
        1005: ("QNN_COMMON_ERROR_OPERATION_NOT_PERMITTED", "check the permissions of the process"),
        1006: ("QNN_COMMON_ERROR_PLATFORM_NOT_SUPPORTED", "use a library built for this platform"),
        1007: ("QNN_COMMON_ERROR_SYSTEM_COMMUNICATION", "the DSP restarted; the votes of every session are sent again"),
        1008: ("QNN_COMMON_ERROR_INCOMPATIBLE_BINARIES", f"match the library and its skeleton by version; {_SKELETON}"),
        1009: ("QNN_COMMON_ERROR_LOADING_BINARIES", "end the other user of the DSP; htppower doctor names the command"),
        1010: ("QNN_COMMON_ERROR_RESOURCE_UNAVAILABLE", _RETRIED),
        1011: ("QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL", "the link is dead; the device is created again"),
        1100: ("QNN_COMMON_ERROR_GENERAL", _RETRIED),
        4000: ("QNN_BACKEND_ERROR_CANNOT_INITIALIZE", _CHIP),
        4002: ("QNN_BACKEND_ERROR_TERMINATE_FAILED", "end the process; the driver cleans up"),
        4003: ("QNN_BACKEND_ERROR_NOT_SUPPORTED", "use a library built for this platform"),
        4004: ("QNN_BACKEND_ERROR_INVALID_ARGUMENT", "use a library of a known version"),
        4010: ("QNN_BACKEND_ERROR_INCONSISTENT_CONFIG", "use a library of a known version"),
        4011: ("QNN_BACKEND_ERROR_INVALID_HANDLE", "open the library again"),
        4012: ("QNN_BACKEND_ERROR_INVALID_CONFIG", "use a library of a known version"),
        13000: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_INVALID_HANDLE_PTR", _RETRIED),
        13001: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_INVALID_INPUT", _ANOTHER_VOTE),
        13002: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_UNSUPPORTED_CONFIG", "the library does not know this option"),
        13003: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_TRANSPORT", _RETRIED_ON_A_LINK),
        13004: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_UNSUPPORTED", "this platform does not have this option"),
        13005: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_MEM_ALLOC", _RETRIED),
        13006: ("QNN_HTP_PERF_INFRASTRUCTURE_ERROR_FAILED", _RETRIED_BUT_SETTINGS),
        14000: ("QNN_DEVICE_ERROR_INVALID_HANDLE", "create the device again"),
        14001: ("QNN_DEVICE_ERROR_INVALID_CONFIG", _LINK),
        14002: ("QNN_DEVICE_ERROR_HARDWARE_UNAVAILABLE", "use a release of the library that serves this chip"),
        14003: ("QNN_DEVICE_ERROR_ASSOCIATED_TO_CONTEXT", "free the contexts of the device first"),
        14004: ("QNN_DEVICE_ERROR_ACCESS_DENIED", "the device is busy or banned for this process"),
    }
)


def code_name(code: int) -> str:
    """Return the vendor's name for a native code, or ``UNKNOWN`` if the headers do not name it."""
    return _CODES[code][0] if code in _CODES else "UNKNOWN"


def what_to_do_at_start(code: int, function: str = "setPowerConfig") -> str:
    """Return advice about a native code at the start, when no session is open that would send the votes again."""
    advice = what_to_do(code, function)
    return "try again, and look into the vendor's log" if advice in _ALL_RETRIED else advice


def what_to_do(code: int, function: str = "setPowerConfig") -> str:
    """Return advice for the operator about a native code of a function."""
    if code == INVALID_INPUT and function == "createPowerConfigId":
        return "name an existing device and core; htppower doctor lists them"
    advice = _CODES[code][1] if code in _CODES else _RETRIED
    return _RETRIED_OTHERWISE.get(function, advice) if advice in _ALL_RETRIED else advice


def known_codes() -> tuple[int, ...]:
    """Return the native codes that the headers name."""
    return tuple(_CODES)
