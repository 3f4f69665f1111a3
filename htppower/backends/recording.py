"""A recorder in front of any backend: every native call with its time, and assertions on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.backends.clock import MonotonicClock
from htppower.backends.whole_lock import whole_lock
from htppower.errors import BackendUnavailable, VoteRejected
from htppower.votes.native_codes import DEVICE_INVALID_CONFIG, SUCCESS
from htppower.votes.options import Option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.backends.base import Backend, Description
    from htppower.backends.clock import Clock
    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet


@attrs.frozen
class Call:
    """One native call.

    Attributes:
        time_us: when it began, by the recorder's clock.
        function: ``createPowerConfigId``, ``setPowerConfig``, ``destroyPowerConfigId``, or ``renew`` for the native
            calls that free the device and create it again.
        power_config_id: the id; None for a failed createPowerConfigId and for ``renew``.
        configs: the votes of a setPowerConfig in native form; empty for other functions.
        code: the native code; 0 is success.
        device_id, core_id: the device and core of the id; None if the recorder did not see its creation.
        votes: the vote set of a setPowerConfig.
    """

    time_us: int
    function: str
    power_config_id: int | None
    configs: tuple[NativeConfig, ...]
    code: int
    device_id: int | None = None
    core_id: int | None = None
    votes: VoteSet | None = attrs.field(default=None, eq=False, repr=False)

    def config(self, option: str) -> NativeConfig | None:
        """Return the call's vote on an option, such as ``DCVS_V3``, or None.

        Raises:
            ValueError: no option has that name.
        """
        if option not in Option.__members__:
            raise ValueError(f"no option {option!r}; one of {', '.join(Option.__members__)}")
        return next((config for config in self.configs if config.option == option), None)


class RecordingBackend:
    """Records every call that goes through it to another backend.

    Args:
        inner: the backend that answers.
        time: the clock that dates the calls; the monotonic clock by default.

    Attributes:
        inner: the backend that answers.
    """

    def __init__(self, inner: Backend, time: Clock | None = None) -> None:
        self.inner = inner
        self._time = MonotonicClock() if time is None else time
        self._lock = whole_lock()
        self._calls: list[Call] = []
        self._cores: dict[int, tuple[int, int]] = {}

    @property
    def calls(self) -> tuple[Call, ...]:
        """Every call so far, in order."""
        with self._lock:
            return tuple(self._calls)

    def calls_since(self, count: int) -> tuple[Call, ...]:
        """Return the calls after the first ``count``."""
        with self._lock:
            return tuple(self._calls[count:])

    def clear(self) -> None:
        """Forget the calls so far."""
        with self._lock:
            self._calls.clear()

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Pass on and record a createPowerConfigId."""
        time_us = self._time.now_us
        core = (device_id, core_id)
        try:
            created = self.inner.create_power_config_id(device_id, core_id)
        except VoteRejected as error:
            self._record(time_us, "createPowerConfigId", None, (), error.code, core)
            raise
        self._record(time_us, "createPowerConfigId", created, (), SUCCESS, core)
        return created

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Pass on and record a setPowerConfig."""
        time_us = self._time.now_us
        configs = votes.native(power_config_id)
        try:
            self.inner.set_power_config(power_config_id, votes)
        except VoteRejected as error:
            self._record(time_us, "setPowerConfig", power_config_id, configs, error.code, votes=votes)
            raise
        self._record(time_us, "setPowerConfig", power_config_id, configs, SUCCESS, votes=votes)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Pass on and record a destroyPowerConfigId."""
        time_us = self._time.now_us
        try:
            self.inner.destroy_power_config_id(power_config_id)
        except VoteRejected as error:
            self._record(time_us, "destroyPowerConfigId", power_config_id, (), error.code)
            raise
        self._record(time_us, "destroyPowerConfigId", power_config_id, (), SUCCESS)

    def renew(self) -> None:
        """Pass on and record a renewal; a failed one has the code of its error, or 14001 if the error has none."""
        time_us = self._time.now_us
        try:
            self.inner.renew()
        except BackendUnavailable as error:
            code = DEVICE_INVALID_CONFIG if error.code is None else error.code
            self._record(time_us, "renew", None, (), code)
            raise
        self._record(time_us, "renew", None, (), SUCCESS)

    def describe(self) -> Description:
        """Return the description of the inner backend."""
        return self.inner.describe()

    def close(self) -> None:
        """Close the inner backend; the calls stay."""
        self.inner.close()

    def assert_calls(self, expected: Sequence[str]) -> None:
        """Assert the native functions that were called, in order."""
        __tracebackhide__ = True  # pytest then shows the line of the test
        found = [call.function for call in self.calls]
        if found != list(expected):
            raise AssertionError(f"native calls are\n  {found}\nnot\n  {list(expected)}")

    def assert_calls_and_times(self, expected: Sequence[tuple[int, str]]) -> None:
        """Assert the native functions that were called, in order, each with its time in us."""
        __tracebackhide__ = True
        found = [(call.time_us, call.function) for call in self.calls]
        if found != list(expected):
            raise AssertionError(f"native calls are\n  {found}\nnot\n  {list(expected)}")

    def assert_nothing_left(self) -> None:
        """Assert that every id was destroyed, or was gone with its device, and that RPC polling was turned off."""
        __tracebackhide__ = True
        alive: set[int | None] = set()
        polling_us = 0
        for call in self.calls:
            if call.function == "renew":
                alive.clear()
                polling_us = 0
            elif call.function == "createPowerConfigId" and call.code == SUCCESS:
                alive.add(call.power_config_id)
            elif call.function == "destroyPowerConfigId" and call.code == SUCCESS:
                alive.discard(call.power_config_id)
            polling = call.config("RPC_POLLING_TIME")
            if polling is not None and call.code == SUCCESS:
                polling_us = polling.fields["rpcPollingTimeConfig"]
        if alive or polling_us:
            raise AssertionError(f"left behind: power config ids {sorted(map(str, alive))}, polling {polling_us} us")

    def _record(
        self,
        time_us: int,
        function: str,
        power_config_id: int | None,
        configs: tuple[NativeConfig, ...],
        code: int,
        core: tuple[int, int] | None = None,
        votes: VoteSet | None = None,
    ) -> None:
        with self._lock:
            if power_config_id is not None and core is not None:
                self._cores[power_config_id] = core
            elif power_config_id is not None:
                core = self._cores.get(power_config_id)
            device_id, core_id = core or (None, None)
            self._calls.append(Call(time_us, function, power_config_id, configs, code, device_id, core_id, votes))
