"""Readings from Qualcomm's libqcnpuperf, by ctypes.

The source of the functions and units is ``inc/qcom_dsp.h`` of qualcomm/libqcnpuperf 1.0.1. The library asks the DSP by
FastRPC, which keeps its state for each thread of the system.
"""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

from htppower.control.arguments import check_path, checked_whole
from htppower.control.clock.reading import ClockReading

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMES = ("libqcnpuperf.so.1", "libqcnpuperf.so")
# DSP_NPU0 in qcom_dsp_types.h: the compute DSP.
_NPU = 3
# Each function of the library with its result and its arguments. ``data`` is the pointer that qcom_dsp_get_prof_data
# returns; it belongs to the library.
_FUNCTIONS = {
    "qcom_dsp_open": (ctypes.c_void_p, (ctypes.c_int,)),
    "qcom_dsp_get_prof_data": (ctypes.c_void_p, (ctypes.c_void_p, ctypes.POINTER(ctypes.c_int))),
    "qcom_dsp_prof_get_q6_clock": (ctypes.c_uint, (ctypes.c_void_p,)),
    "qcom_dsp_prof_get_q6_utilization": (ctypes.c_float, (ctypes.c_void_p,)),
    "qcom_dsp_prof_get_hvx_utilization": (ctypes.c_float, (ctypes.c_void_p,)),
    "qcom_dsp_prof_get_hmx_utilization": (ctypes.c_float, (ctypes.c_void_p,)),
    "qcom_dsp_prof_get_q6_arch_version": (ctypes.c_uint, (ctypes.c_void_p,)),
    "qcom_dsp_close": (None, (ctypes.c_void_p,)),
}
_NOT_OPENED = (
    "qcom_dsp_open({}) failed: it needs libcdsprpc, libsysmonquery_skel.so on its search path, and access to "
    "/dev/fastrpc-cdsp"
)


class Qcnpuperf:
    """Qualcomm's libqcnpuperf: the clock of the Q6 core, and the use of Q6, HVX and HMX. It needs no root.

    Args:
        library: the path of the library; None to ask the system's loader for it.
        domain_id: the DSP: 3 is the compute DSP.

    Raises:
        TypeError: an argument is of another type.

    Attributes:
        name: ``libqcnpuperf``, once it is open with the Hexagon architecture.
    """

    def __init__(self, library: str | os.PathLike[str] | None = None, *, domain_id: int = _NPU) -> None:
        if library is not None:
            check_path("library", library)
        self._names = _NAMES if library is None else (os.fspath(library),)
        self._domain_id = checked_whole(domain_id, "domain_id is", "a whole number, such as 3 for the compute DSP")
        self._functions: dict[str, Callable[..., int | float | None]] = {}
        self._context: int | None = None
        self.name = "libqcnpuperf"

    def open(self) -> None:
        """Load the library, and open a session of the DSP; ``close`` closes it.

        Raises:
            OSError: the library can't be loaded, lacks a function, or can't open the DSP.
        """
        if not self._functions:
            self._functions = _bound(_loaded(self._names))
        context = self._call("qcom_dsp_open", self._domain_id)
        if not context:
            raise OSError(_NOT_OPENED.format(self._domain_id))
        self._context = int(context)
        arch = self._call("qcom_dsp_prof_get_q6_arch_version", self._context)
        if arch:
            self.name = f"libqcnpuperf on V{arch}"

    def read(self, now_ns: int) -> ClockReading:
        """Return a reading.

        Raises:
            OSError: the DSP does not answer.
        """
        count = ctypes.c_int()
        data = self._call("qcom_dsp_get_prof_data", self._context, ctypes.byref(count))
        if not data or count.value <= 0:
            raise OSError("qcom_dsp_get_prof_data failed: the DSP has not answered")
        clock_khz = self._call("qcom_dsp_prof_get_q6_clock", data)
        uses = (self._call(f"qcom_dsp_prof_get_{unit}_utilization", data) for unit in ("q6", "hvx", "hmx"))
        return ClockReading(self.name, now_ns, clock_khz, *(round(float(use or 0), 2) for use in uses))

    def close(self) -> None:
        """Close the session of the DSP; the library stays loaded."""
        context, self._context = self._context, None
        if context is not None:
            self._call("qcom_dsp_close", context)

    def _call(self, function: str, *arguments: object) -> int | float | None:
        return self._functions[function](*arguments)


def _loaded(names: tuple[str, ...]) -> ctypes.CDLL:
    problem = OSError()
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            problem = error
    if os.name == "nt" and names == _NAMES:
        raise OSError("libqcnpuperf is for Linux; on Windows a power can be read: EnergyMeter, or --clock meter:RAIL")
    raise OSError(f"{problem}; install libqcnpuperf, or give the path of the library")


def _bound(library: ctypes.CDLL) -> dict[str, Callable[..., int | float | None]]:
    """Return the functions of the library, with their types."""
    found: dict[str, Callable[..., int | float | None]] = {}
    for name, (result, arguments) in _FUNCTIONS.items():
        try:
            function = library[name]
        except AttributeError:
            raise OSError(f"{library._name} has no function {name}: it is not libqcnpuperf") from None  # noqa: SLF001
        function.restype, function.argtypes = result, arguments
        found[name] = function
    return found
