"""A limit on the wake-up latency of the CPUs, held while inferences of a session run (PM QoS of Linux).

Source: ``Documentation/power/pm_qos_interface.rst`` of the kernel: a write of a signed 32-bit number of us changes the
request of the descriptor, which lasts as long as a copy of it is open. So it also ends with the process.
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
# PM_QOS_CPU_LATENCY_DEFAULT_VALUE in ``include/linux/pm_qos.h`` of the kernel, which stands for no request.
NO_LIMIT_US = 2_000_000_000


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

    The first inference with a limit opens the device, and it stays open. Two writes for each inference take 1.2 us; to
    open and close the device each time would take 10 us (Linux 6.18). And if a forked child keeps a copy of the
    descriptor, this process can still take the request back.

    Args:
        call_soon: calls a function soon, on another thread.
    """

    __slots__ = ("_call_soon", "_file", "_problem", "_told", "_us", "_written_us")

    def __init__(self, call_soon: Callable[[Callable[[], object]], object]) -> None:
        # A handler of the log may use the session, so it is not called while the gate's lock is held.
        self._call_soon = call_soon
        self._told: str | None = None
        self._us: int | None = None
        self._problem: str | None = None
        # A file object instead of a descriptor: if an exception of a signal handler interrupts ``hold``, it is closed.
        self._file: FileIO | None = None
        # What the file has last got; None if that is not known.
        self._written_us: int | None = None

    def use(self, us: int | None, *, running: bool) -> None:
        """Use the limit of another profile; None for no limit. ``running``: whether an inference runs."""
        if us != self._us:
            self._us, self._problem = us, None
            if us is None:
                self.close()
            elif running:
                self.hold()

    def hold(self) -> None:
        """Request the limit. After a failure, nothing is tried until the limit changes."""
        if self._us is None or self._problem is not None:
            return
        try:
            if self._file is None:
                self._written_us = None
                # This mode does not make a missing file.
                self._file = Path(PATH).open("r+b", buffering=0)  # noqa: SIM115 - ``disown`` closes it
            self._write(self._file, self._us)
        except OSError as error:
            self.disown()
            self._problem = f"{PATH}: {error.strerror or error}"
            if self._told != self._problem:
                self._told = self._problem
                text = "cpu_latency_us of %d is not requested: %s"
                self._call_soon(functools.partial(_LOGGER.warning, text, self._us, self._problem))

    def release(self) -> None:
        """Take the request back, if there is one."""
        if self._file is not None:
            self._write(self._file, NO_LIMIT_US)

    def _write(self, file: FileIO, us: int) -> None:
        if self._written_us != us:
            # If an exception of a signal handler interrupts this, the next call writes again.
            self._written_us = None
            file.write(struct.pack("=i", us))
            self._written_us = us

    def close(self) -> None:
        """Take the request back for all copies of the descriptor, and close it."""
        self.release()
        self.disown()

    def disown(self) -> None:
        """Close the descriptor. Its other copies, such as the one of a forked child's parent, keep the request."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def status(self) -> CpuLatencyStatus:
        """Return the state."""
        held = self._file is not None and self._written_us == self._us
        return CpuLatencyStatus(self._us, held, self._problem)
