"""The simulated HTP under the scheduler. A native call begins, takes time, has its effect, and ends.

The program of the run says, by the number of a call, whether it fails, hangs or takes long. The begin of a call is a
*point*, where another task may run. Its end is a point only if something may happen to the subsystem then, since no
other task sees how far a call is.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import attrs
from support.inside import is_dead, is_dsp_up, is_well

from htppower.backends import SimulatedHtp
from htppower.errors import BackendUnavailable, VoteRejected
from htppower.votes.native_codes import DEVICE_INVALID_CONFIG, SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.program import Program
    from simulation.scheduler import Scheduler
    from simulation.specification import Specification
    from simulation.tasks import Task

    from htppower.backends.base import Description
    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet

BAD_ID = 13001
PROCESS_WIDE = frozenset({"RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME", "RPC_CONTROL_LATENCY"})
CREATE, SET, DESTROY, RENEW = "createPowerConfigId", "setPowerConfig", "destroyPowerConfigId", "renew"


@attrs.frozen
class Fault:
    """What goes wrong in a native call.

    Attributes:
        code: the answer, if the call fails.
        applied: how many votes of its list are applied before it fails.
        before_us, after_us: how long the call takes before and after it has its effect.
    """

    code: int = SUCCESS
    applied: int = 0
    before_us: int = 0
    after_us: int = 0


NO_FAULT = Fault()


@attrs.define(eq=False)
class NativeCall:
    """A native call.

    Attributes:
        function: the native function, or ``renew``.
        power_config_id: the id; for a create, the created id.
        configs: the votes and settings that it carries.
        code: the answer; None before the call has its effect.
        injected: whether the code comes from the fault, and is not the library's own answer.
    """

    number: int
    task: Task
    function: str
    core: int | None
    power_config_id: int | None
    configs: tuple[NativeConfig, ...]
    begun_us: int
    code: int | None = None
    injected: bool = False

    @property
    def settings(self) -> frozenset[str]:
        """Return the settings of the process that the call carries."""
        return PROCESS_WIDE.intersection(config.option for config in self.configs)

    @property
    def votes(self) -> bool:
        """Whether the call carries votes of an id."""
        return any(config.option not in PROCESS_WIDE for config in self.configs)

    def __str__(self) -> str:
        on = "" if self.power_config_id is None else f" on id {self.power_config_id}"
        options = f" {[config.option for config in self.configs]}" if self.configs else ""
        return f"call {self.number}: {self.function}{on}{options}"


class SimulatedBackend:
    """A backend of a device library, or of a library without a device, as the program says."""

    def __init__(self, scheduler: Scheduler, program: Program) -> None:
        self.device = program.device
        self.htp = SimulatedHtp(arch=75, cores=2 * len(program.cores), link="device" if self.device else "plain")
        self.calls = 0
        self.judge: Specification | None = None
        self.spared = False
        self._scheduler = scheduler
        self._faults, self._has_fates = program.faults, program.has_fates
        self._counted_from = 0
        self._cores: dict[int, int] = {}

    @property
    def well(self) -> bool:
        """Whether the link works, and the next call will not find that it was lost."""
        return is_well(self.htp)

    @property
    def dead(self) -> bool:
        """Whether the link works again only if the device is made anew, or the DSP comes up."""
        return is_dead(self.htp)

    @property
    def dsp_is_up(self) -> bool:
        """Whether a device can be made."""
        return is_dsp_up(self.htp)

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id."""

        def native(call: NativeCall) -> int:
            code, created = self.htp.native_create(device_id, core_id)
            if code == SUCCESS:
                call.power_config_id = created
                self._cores[created] = core_id
            return code

        created = self._call(native, CREATE, core_id, core=(device_id, core_id)).power_config_id
        assert created is not None
        return created

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Send votes."""
        configs, core = votes.native(power_config_id), self._cores.get(power_config_id)
        self._call(lambda _: self.htp.native_set(power_config_id, configs), SET, core, power_config_id, configs, votes)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy an id."""
        core = self._cores.get(power_config_id)
        self._call(lambda _: self.htp.native_destroy(power_config_id), DESTROY, core, power_config_id)

    def renew(self) -> None:
        """Create the device again."""
        failed: list[BackendUnavailable] = []

        def native(_call: NativeCall) -> int:
            try:
                self.htp.renew()
            except BackendUnavailable as error:
                failed.append(error)
                return DEVICE_INVALID_CONFIG
            return SUCCESS

        with contextlib.suppress(VoteRejected):
            self._call(native, RENEW)
        if failed:
            raise failed[0]

    def describe(self) -> Description:
        """Describe the simulated library."""
        return self.htp.describe()

    def close(self) -> None:
        """Do nothing, so that the specification sees which votes are left."""

    def count_faults(self) -> None:
        """From now on, count the calls, by whose numbers the program's faults are found."""
        self._counted_from = self.calls

    def _call(
        self,
        native: Callable[[NativeCall], int],
        function: str,
        on_core: int | None = None,
        number: int | None = None,
        configs: tuple[NativeConfig, ...] = (),
        votes: VoteSet | None = None,
        core: tuple[int, int] | None = None,
    ) -> NativeCall:
        """Make a native call; raise if it fails."""
        self.calls += 1
        scheduler, judge, now_us = self._scheduler, self.judge, self._scheduler.now_us
        fault = NO_FAULT if self.spared else self._faults.get(self.calls - self._counted_from, NO_FAULT)
        call = NativeCall(self.calls, scheduler.current, function, on_core, number, configs, now_us)
        assert judge is not None
        judge.call_begins(call)
        try:
            scheduler.point()
            scheduler.sleep(fault.before_us)
            # A dead link answers without the library's checks. A destroy of an unknown id is never answered with 13001.
            call.injected = bool(fault.code) and self.well and not (function == DESTROY and fault.code == BAD_ID)
            if call.injected:
                self.htp.fail_next(fault.code, function, applied=fault.applied)
            call.code = native(call)
            judge.call_applied(call)
            if self._has_fates:
                scheduler.point()
            scheduler.sleep(fault.after_us)
        finally:
            if not scheduler.over:
                judge.call_ended(call)
        if call.code:
            raise VoteRejected(call.code, votes, function=function, power_config_id=number, core=core)
        return call
