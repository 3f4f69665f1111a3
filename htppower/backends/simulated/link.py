"""A model of the device library's link to the DSP: which calls fail, which rebuild the link, and which leave it dead.

Measured with the device library on a FastRPC with scripted answers; no DSP took part. A call travels in one
of two ways. An invoke carries votes of a power config id, or destroys the id. A control carries one setting of the
process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from htppower.votes.native_codes import FAILED, SUCCESS, SYSTEM_COMMUNICATION, SYSTEM_COMMUNICATION_FATAL, TRANSPORT

if TYPE_CHECKING:
    from collections.abc import Collection

# The answer of FastRPC to a call after the DSP has lost the process: connection reset (0x68), no such connection (0x27)
# or connection refused (0x72), or a crash of the process domain (0x8000040d). Only the first two cause a rebuild.
FastRpcAnswer = Literal["reset", "gone", "crashed"]
# The settings of the process that are requested from FastRPC, each by a control.
SETTINGS = ("RPC_CONTROL_LATENCY", "RPC_POLLING_TIME")


class Link:
    """The link that all device handles of a process share."""

    def __init__(self) -> None:
        self._spent_us = 0
        self._dsp_is_up = True
        # The library has given up, and never opens the link again by itself.
        self._dead = False
        # The answer of FastRPC because of a restart that the library has not met yet.
        self._answer: FastRpcAnswer | None = None
        self._rebuild_us = 0
        self._next_rebuild_is_spoilt = False
        self._refused: frozenset[str] = frozenset()

    def invoke(self) -> int:
        """Return the code of a call that needs an invoke."""
        if self._dead or self._answer == "crashed":
            return TRANSPORT
        return SUCCESS if self._answer is None else self._rebuild()

    def control(self, setting: str) -> int:
        """Return the code of a call that needs a control for this setting."""
        if setting in self._refused:
            return FAILED
        if self._answer is None and not self._dead:
            return SUCCESS
        return self._rebuild() if self._answer == "reset" and not self._dead else FAILED

    def restart(self, answer: FastRpcAnswer, *, fatal: bool, rebuild_us: int) -> None:
        """Make the DSP lose the process.

        Args:
            answer: the answer of FastRPC to the next calls.
            fatal: the DSP stays down until the next restart without ``fatal``.
            rebuild_us: how long the rebuild takes.

        Raises:
            ValueError: the answer is not one of these, or the time is negative.
        """
        if answer not in get_args(FastRpcAnswer):
            raise ValueError(f"no answer {answer!r} of FastRPC; one of {', '.join(get_args(FastRpcAnswer))}")
        if rebuild_us < 0:
            raise ValueError(f"a rebuild of {rebuild_us} us")
        self._dsp_is_up = not fatal
        self._answer = answer
        self._rebuild_us = rebuild_us

    def spoil_rebuild(self) -> None:
        """Make the next rebuild fail, as if another thread called at the same time."""
        self._next_rebuild_is_spoilt = True

    def refuse_settings(self, settings: Collection[str]) -> None:
        """Let FastRPC refuse these settings, and no others.

        Raises:
            ValueError: FastRPC is not asked for such a setting.
        """
        unknown = [setting for setting in settings if setting not in SETTINGS]
        if unknown:
            raise ValueError(f"FastRPC is not asked for {', '.join(unknown)}, but for {' and '.join(SETTINGS)}")
        self._refused = frozenset(settings)

    def renew(self) -> bool:
        """Close the link and open it anew; return whether the DSP was there to open it."""
        self._dead = not self._dsp_is_up
        if self._dsp_is_up:
            self._answer = None
            self._next_rebuild_is_spoilt = False
        return self._dsp_is_up

    def take_spent_us(self) -> int:
        """Return how long rebuilds have taken since the last call of this method."""
        spent_us, self._spent_us = self._spent_us, 0
        return spent_us

    def _rebuild(self) -> int:
        """Rebuild the link within the call that met the restart, and return the code of that call."""
        self._spent_us += self._rebuild_us
        self._dead = self._next_rebuild_is_spoilt or not self._dsp_is_up
        self._answer = None
        return SYSTEM_COMMUNICATION_FATAL if self._dead else SYSTEM_COMMUNICATION
