"""When the library returns each code, and an example. Names and what to do are in ``votes/native_codes.py``.

If the example is a call, it was measured on the vendor's library. The other texts are from the headers.
"""

from __future__ import annotations

from typing import NamedTuple

SOURCE = "QnnHtpPerfInfrastructure.h, QnnCommon.h, QnnBackend.h and QnnDevice.h, SDK 2.48"


class CodeText(NamedTuple):
    """When a code is returned, and a call or a situation that leads to it."""

    why: str
    example: str


_HANDLE = CodeText("A handle is unknown to the library, or was freed.", "deviceFree called twice.")
_CONFIGURATION = CodeText("The library does not know what it was configured with.", "A library of another version.")

CODE_TEXTS: dict[int, CodeText] = {
    0: CodeText("The call was well-formed and allowed.", "setPowerConfig with DCVS_V3 on the caller's own id."),
    1000: CodeText("The library has no such function.", "deviceGetInfrastructure of libQnnIr.so."),
    1002: CodeText(
        "Memory ran out. From deviceCreate: the library gets no queue to the DSP, or no memory to share with it.",
        "A user that may not open /dev/dma_heap/system.",
    ),
    1003: CodeText("A call of the system failed.", "A device file that went away."),
    1004: CodeText(
        "The function does not accept one of the arguments.", "An option of another version of the library."
    ),
    1005: CodeText("The process may not do this.", "A sandbox that keeps the process from the device files."),
    1006: CodeText("The library was not built for this platform.", "A library for Android on Windows."),
    1007: CodeText(
        "The DSP subsystem restarted (SSR), and the link to it was rebuilt: every vote is gone.",
        "Any call after another process has crashed the DSP.",
    ),
    1008: CodeText(
        "The skel, the DSP's half of the library, is of another version. Older releases also return this if they "
        "can't load it.",
        "ADSP_LIBRARY_PATH whose first folder has the skel of another release.",
    ),
    1009: CodeText(
        "The skel, the DSP's half of the library, has another user and can't be shared.",
        "Two processes that use one skel.",
    ),
    1010: CodeText("Something that the call needs is used up.", "More clients than the DSP serves."),
    1011: CodeText(
        "The link to the DSP was lost, and the library has given up rebuilding it: it never tries again by itself.",
        "A call while the DSP stays down: it returns after 11 s. Or a second call during the rebuild, which spoils it.",
    ),
    1100: CodeText("The library does not say what failed.", "deviceGetInfrastructure before backendCreate."),
    4000: CodeText(
        "The library finds no chip that it knows: its number can't be read, this release does not know it, or the chip "
        "has no HTP. In a line of the log about transport or skel it says only that deviceCreate fails (14001).",
        "A container without /sys/devices/soc0; a chip that is newer than the library.",
    ),
    4002: CodeText("The backend can't be ended.", "backendFree while a context is in use."),
    4003: CodeText("The backend does not exist here.", "A library for another architecture."),
    4004: _CONFIGURATION,
    4010: _CONFIGURATION,
    4011: CodeText("The backend's handle is unknown, or was freed.", "backendFree called twice."),
    4012: _CONFIGURATION,
    13000: CodeText("The caller gave the library no place for its answer.", "createPowerConfigId of another program."),
    13001: CodeText(
        "The vote set, the power config id, the device or the core is not a valid one. If one vote of a set is bad, "
        "the votes before it stay in force.",
        "HMX_V2 on an id without DCVS_V3; HMX_TIMEOUT_INTERVAL_US of 50; an id that was destroyed.",
    ),
    13002: CodeText(
        "The library does not know the option. An old library returns this for an option of a newer one.",
        "DCVS_V3_EXP on a library of QAIRT 2.47.",
    ),
    13003: CodeText(
        "The call did not reach the DSP. A healthy link may return this once; on a dead link every vote fails.",
        "A vote after the library has given up the link (1011).",
    ),
    13004: CodeText(
        "The library knows the option, but this Hexagon architecture does not have it.",
        "An explicit HMX_V2 vote below V75; DCVS_V3_EXP below V85.",
    ),
    13005: CodeText("Memory ran out.", "A process at its limit of memory."),
    13006: CodeText(
        "FastRPC refused a setting of the process; clocks in the same call are not sent then. Or the library does not "
        "say what failed.",
        "RPC_POLLING_TIME on a board whose FastRPC has no polling; createPowerConfigId without a place for the id.",
    ),
    14000: _HANDLE,
    14001: CodeText(
        "The link to the DSP can't be opened: FastRPC (libcdsprpc.so) or the stub is missing, or FastRPC refuses the "
        "skel. The vendor's log has the code of FastRPC. On x86-64: the SoC model is unknown.",
        "libcdsprpc.so without its development link; a user who may not open /dev/fastrpc-cdsp.",
    ),
    14002: CodeText(
        "The library knows this chip, but this release does not serve it.",
        "QAIRT 2.51 for Linux on SM8550.",
    ),
    14003: CodeText("A context still uses the device.", "deviceFree before the contexts are freed."),
    14004: CodeText("The process may not use the device.", "A process that crashed the DSP too often."),
}
