"""Failures that a simulated library returns on request."""

from __future__ import annotations

import attrs

from htppower.votes.native_codes import SUCCESS

FUNCTIONS = ("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")
# The native calls that free the device and create it again.
RENEW = "renew"
_NAMES = (*FUNCTIONS, RENEW)


def check_function(function: str) -> None:
    """Refuse a name that is not a native function.

    Raises:
        ValueError: with the known names.
    """
    if function not in _NAMES:
        raise ValueError(f"no native function {function!r}; one of {', '.join(_NAMES)}")


@attrs.frozen(repr=False, eq=False)
class _Fault:
    """A future failure of the calls of a function whose numbers, counted from 1, are in the range."""

    code: int
    function: str
    calls: range
    applied: int


class Faults:
    """The failures to come, and how many calls of each function were made."""

    def __init__(self) -> None:
        self._faults: list[_Fault] = []
        self._made = dict.fromkeys(_NAMES, 0)

    def add(self, code: int, function: str, nth: int, times: int, applied: int) -> None:
        """Fail calls to come, as ``SimulatedHtp.fail_next`` says.

        Raises:
            ValueError: no such function, or a number out of range.
        """
        check_function(function)
        if code == SUCCESS or nth < 1 or times < 1 or applied < 0:
            raise ValueError(f"code {code}, nth {nth}, times {times}, applied {applied}: not 0, from 1, from 1, from 0")
        first = self._made[function] + nth
        self._faults.append(_Fault(code, function, range(first, first + times), applied))

    def clear(self) -> None:
        """Fail none of the calls to come."""
        self._faults.clear()

    def of_next(self, function: str) -> tuple[int, int]:
        """Count a call, and return its code, 0 for success, and how many votes are applied before a failure."""
        self._made[function] += 1
        for fault in self._faults:
            if fault.function == function and self._made[function] in fault.calls:
                return fault.code, fault.applied
        return SUCCESS, 0
