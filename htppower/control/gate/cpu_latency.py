"""A limit on the wake-up latency of the CPUs, held while inferences of a session run (PM QoS of Linux).

Source: ``Documentation/power/pm_qos_interface.rst`` of the kernel: the request is a signed 32-bit number of us, and
lasts as long as its descriptor is open. So it also ends with the process.
"""

from __future__ import annotations

import functools
import logging
import struct
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from collections.abc import Callable
    from io import FileIO

_LOGGER = logging.getLogger("htppower")

PATH = "/dev/cpu_dma_latency"


@attrs.frozen
class CpuLatencyStatus:
    """The limit on the wake-up latency of the CPUs that a session wishes for.

    Attributes:
        us: the limit, in us; None if the profile in use has none.
        held: whether it is requested now.
        problem: why it can't be requested; None if it can.
    """

    us: int | None
    held: bool
    problem: str | None


class CpuLatency:
    """The request of one session. The lock of its gate is held.

    Args:
        call_soon: calls a function soon, on another thread.
    """

    __slots__ = ("_call_soon", "_file", "_problem", "_told", "_us")

    def __init__(self, call_soon: Callable[[Callable[[], object]], object]) -> None:
        # A handler of the log may use the session, so it is not called while the gate's lock is held.
        self._call_soon = call_soon
        self._told: str | None = None
        self._us: int | None = None
        self._problem: str | None = None
        # A file object instead of a descriptor: if an exception of a signal handler interrupts ``hold``, it is closed.
        self._file: FileIO | None = None

    def use(self, us: int | None, *, running: bool) -> None:
        """Use the limit of another profile; None for no limit. ``running``: whether an inference runs."""
        if us != self._us:
            self.release()
            self._us, self._problem = us, None
            if running:
                self.hold()

    def hold(self) -> None:
        """Request the limit. After a failure, nothing is tried until the limit changes."""
        if self._us is None or self._file is not None or self._problem is not None:
            return
        try:
            # This mode does not make a missing file.
            self._file = Path(PATH).open("r+b", buffering=0)  # noqa: SIM115 - ``release`` closes it
            self._file.write(struct.pack("=i", self._us))
        except OSError as error:
            self.release()
            self._problem = f"{PATH}: {error.strerror or error}"
            if self._told != self._problem:
                self._told = self._problem
                text = "cpu_latency_us of %d is not requested: %s"
                self._call_soon(functools.partial(_LOGGER.warning, text, self._us, self._problem))
        except BaseException:
            # Without this, an open file without a request would count as one.
            self.release()
            raise

    def release(self) -> None:
        """Take the request back, if there is one."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def status(self) -> CpuLatencyStatus:
        """Return the state."""
        return CpuLatencyStatus(self._us, self._file is not None, self._problem)
