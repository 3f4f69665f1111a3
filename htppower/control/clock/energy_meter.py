"""Readings of Windows' counter set Energy Meter, by the documented functions of ``pdh.dll``.

Sources: "Using the PDH Functions to Consume Counter Data" of Microsoft; the counter ``Power`` is in mW.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from htppower.control.clock.reading import ClockReading

if TYPE_CHECKING:
    import os

# PDH_FMT_DOUBLE in pdh.h.
_AS_DOUBLE = 0x200


class _Value(ctypes.Structure):
    """PDH_FMT_COUNTERVALUE with its double."""

    _fields_ = (("status", ctypes.c_uint32), ("number", ctypes.c_double))


class EnergyMeter:
    """The power of one rail in Windows' counter set Energy Meter. Rails differ by device, and some include others.

    Args:
        rail: the name of the instance, such as ``NSP``; ``typeperf -q "Energy Meter"`` lists the counters.
        library: the path of ``pdh.dll``; None for the system's.

    Raises:
        TypeError: the rail is not a text.
        ValueError: the rail has a character that a counter path can't hold.

    Attributes:
        name: ``Energy Meter`` with the rail.
    """

    def __init__(self, rail: str, *, library: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(rail, str):
            raise TypeError(f"rail is {rail!r}: the name of an instance, such as 'NSP'")
        if not rail or set(rail) & set("()\\/*"):
            raise ValueError(f"rail is {rail!r}: the name of one instance, such as 'NSP'")
        self._path = f"\\Energy Meter({rail})\\Power"
        self._library = library or "pdh.dll"
        self._pdh: ctypes.CDLL | None = None
        self._query, self._counter = ctypes.c_void_p(), ctypes.c_void_p()
        self.name = f"Energy Meter {rail}"

    def open(self) -> None:
        """Open a query of the counter.

        Raises:
            OSError: this is not Windows, or it has no such rail.
        """
        # Windows' functions have another calling convention in 32-bit processes.
        loader: type[ctypes.CDLL] = getattr(ctypes, "WinDLL", ctypes.CDLL)
        self._pdh = loader(str(self._library))
        self._check("PdhOpenQueryW", None, None, ctypes.byref(self._query))
        try:
            self._check("PdhAddEnglishCounterW", self._query, self._path, None, ctypes.byref(self._counter))
            # A counter may need two collections before it has a value.
            self._check("PdhCollectQueryData", self._query)
        except OSError:
            self.close()
            raise

    def read(self, now_ns: int) -> ClockReading:
        """Return a reading.

        Raises:
            OSError: the counter has no value.
        """
        value = _Value()
        self._check("PdhCollectQueryData", self._query)
        self._check("PdhGetFormattedCounterValue", self._counter, _AS_DOUBLE, None, ctypes.byref(value))
        return ClockReading(self.name, now_ns, power_mw=value.number)

    def close(self) -> None:
        """Close the query."""
        if self._query:
            self._check("PdhCloseQuery", self._query)
            self._query = ctypes.c_void_p()

    def _check(self, function: str, *arguments: object) -> None:
        called = self._pdh[function] if self._pdh is not None else None
        if called is None:
            raise OSError("the query is not open")
        called.restype = ctypes.c_uint32
        status = called(*arguments)
        if status:
            raise OSError(f"{function} for {self._path} returned {status:#x}: typeperf -q lists the counters")
