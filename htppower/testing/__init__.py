"""Tools for the tests of a host: time that the test moves, and fixtures for pytest.

time = VirtualTime()
recorder = RecordingBackend(SimulatedHtp(arch=75), time=time)
controller = VoteController(recorder, time=time)
...
time.advance_us(300_000)
recorder.assert_calls(["createPowerConfigId", "setPowerConfig", "setPowerConfig"])

May import control and what control may.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower._exports import exported_lazily

if TYPE_CHECKING:
    from htppower.testing.virtual_time import VirtualTime as VirtualTime

_EXPORTS = {"htppower.testing.virtual_time": ("VirtualTime",)}
__all__ = [name for names in _EXPORTS.values() for name in names]

if not TYPE_CHECKING:  # With a __getattr__, type checkers would accept any name.
    __getattr__ = exported_lazily(__name__, _EXPORTS)
