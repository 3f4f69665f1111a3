"""The simulated HTP under the scheduler: a native call begins, takes time, takes effect, and ends, each a point.

Calls fail, hang and take long as the program of the run says, by their numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs
from simulation.numbers import Numbers

from htppower.backends import SimulatedHtp
from htppower.errors import VoteRejected
from htppower.votes.native_codes import INVALID_INPUT, SUCCESS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from simulation.scheduler import Scheduler
    from simulation.tasks import Task

    from htppower.backends.base import Description
    from htppower.votes.native import NativeConfig
    from htppower.votes.vote_set import VoteSet

PROCESS_WIDE = frozenset({"RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME", "RPC_CONTROL_LATENCY"})


@attrs.frozen
class Fault:
    """What happens to a native call.

    Attributes:
        code: what it fails with; 0 where it does not.
        applied: how many votes of its list are applied before it fails.
        before_us, after_us: how long it takes until it takes effect, and from there on.
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
        number: counted from 1 over the run.
        task: who makes it.
        function: the native function.
        core: the core of its id.
        power_config_id: the id; for a create, what it created.
        known_as: the number that the controller has for it.
        configs: what a setPowerConfig carries.
        begun_us: when it began.
        code: what it was answered; None before it took effect.
        fault: what was in store for it.
        over: whether it has ended, also by an interrupt.
        restarted: whether the subsystem restarted while it was under way, so that it tells of that.
        earlier: whether it was under way when another told of a restart: what it tells may be from before that.
        dead_known: whether it was known when it began that the DSP is dead.
        perhaps_earlier: whether it was when the host told of one, which may have been known already.
        crosses: whether it has reached the id of another, or given a number that another may have.
    """

    number: int
    task: Task
    function: str
    core: int | None
    power_config_id: int | None
    known_as: int | None
    configs: tuple[NativeConfig, ...]
    begun_us: int
    fault: Fault
    code: int | None = None
    over: bool = False
    restarted: bool = False
    earlier: bool = False
    dead_known: bool = False
    perhaps_earlier: bool = False
    crosses: bool = False

    @property
    def process_wide(self) -> bool:
        """Whether it carries a setting of the whole process."""
        return any(config.option in PROCESS_WIDE for config in self.configs)

    @property
    def unknown_id(self) -> bool:
        """Whether the library has answered that it does not know the id."""
        return self.function != "createPowerConfigId" and self.code == INVALID_INPUT != self.fault.code

    def __str__(self) -> str:
        """Return number, function, id and code."""
        on = "" if self.power_config_id is None else f" on id {self.power_config_id}"
        if self.known_as != self.power_config_id:
            on += f", given as {self.known_as}"
        options = f" {[config.option for config in self.configs]}" if self.configs else ""
        return f"call {self.number}: {self.function}{on}{options}"


class Watcher(Protocol):
    """Who is told of calls."""

    def call_begins(self, call: NativeCall) -> None:
        """Take in that a call begins."""

    def call_applied(self, call: NativeCall) -> None:
        """Take in that it has taken effect: its code is known to the library."""

    def call_ended(self, call: NativeCall, *, interrupted: bool) -> None:
        """Take in that it has returned, or that an exception has gone through it."""


class SimulatedBackend:
    """A backend whose calls are points.

    Args:
        scheduler: lets others go on, and time go by, during a call.
        cores: how many there are.
        faults: what happens to calls, by number.
        all_told: whether every call that is under way when the subsystem restarts tells of that; otherwise only the
            first that takes effect does.
        lowest_ids: whether the library gives the lowest free number, and not one that nobody had.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        cores: int,
        faults: Mapping[int, Fault],
        *,
        all_told: bool,
        lowest_ids: bool = False,
    ) -> None:
        self.htp = SimulatedHtp(arch=75, cores=cores)
        self.numbers = Numbers(self.htp, lowest=lowest_ids)
        self.calls = 0
        self.watcher: Watcher | None = None
        self.spared = False
        self._scheduler = scheduler
        self._faults = faults
        self._counted_from = 0
        self._cores: dict[int, int] = {}
        self._all_told = all_told
        self._under_way: list[NativeCall] = []

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id."""
        call = self._call("createPowerConfigId", core_id)

        def native() -> int:
            code, created = self.htp.native_create(device_id, core_id)
            if code == SUCCESS:
                call.power_config_id = created
                call.known_as, call.crosses = self.numbers.give(created)
                self._cores[created] = core_id
            return code

        self._make(call, native)
        if call.code:
            raise VoteRejected(call.code, function=call.function, core=(device_id, core_id))
        assert call.known_as is not None
        return call.known_as

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Send votes."""
        call = self._call_on("setPowerConfig", power_config_id, votes)

        def native() -> int:
            reached = self._reach(call)
            return self.htp.native_set(reached, votes.native(reached))

        self._make(call, native)
        if call.code:
            raise VoteRejected(call.code, votes, power_config_id=power_config_id)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy an id."""
        call = self._call_on("destroyPowerConfigId", power_config_id)
        assert call.power_config_id is not None
        meant = call.power_config_id
        self.numbers.ending(power_config_id, meant, ending=True)

        def native() -> int:
            code = self.htp.native_destroy(self._reach(call))
            if code == SUCCESS:
                assert call.power_config_id is not None
                self.numbers.destroyed(power_config_id, call.power_config_id)
            return code

        self._make(call, native)
        if not call.code:
            assert call.power_config_id is not None
            self.numbers.told_destroyed(power_config_id, call.power_config_id)
        if call.code:
            self.numbers.ending(power_config_id, meant, ending=False)
            raise VoteRejected(call.code, function=call.function, power_config_id=power_config_id)

    def describe(self) -> Description:
        """Return what is simulated."""
        return self.htp.describe()

    def close(self) -> None:
        """Do nothing: what stays behind is to be seen."""

    def restart(self, *, fatal: bool = False, forget_ids: bool = False) -> None:
        """Restart the subsystem, as ``SimulatedHtp.restart_subsystem``."""
        self.htp.restart_subsystem(fatal=fatal, forget_ids=forget_ids)
        for call in self._under_way if self._all_told else ():
            call.restarted = True

    def count_faults(self) -> None:
        """Count the calls that faults are for from now on."""
        self._counted_from = self.calls

    def _call_on(self, function: str, number: int, votes: VoteSet | None = None) -> NativeCall:
        power_config_id = self.numbers.id_of(number)
        configs = () if votes is None else votes.native(power_config_id)
        return self._call(function, self._cores.get(power_config_id), power_config_id, number, configs)

    def _reach(self, call: NativeCall) -> int:
        """Return the id that a call reaches, which is that of its number when it takes effect."""
        assert call.known_as is not None
        assert call.power_config_id is not None
        if call.configs and all(config.option in PROCESS_WIDE for config in call.configs):
            # It is no matter on which id it is made.
            return self.numbers.id_of(call.known_as)
        reached, crosses = self.numbers.reach(call.known_as, call.power_config_id)
        call.crosses |= crosses
        return reached

    def _call(
        self,
        function: str,
        core: int | None,
        power_config_id: int | None = None,
        known_as: int | None = None,
        configs: tuple[NativeConfig, ...] = (),
    ) -> NativeCall:
        self.calls += 1
        scheduler = self._scheduler
        fault = NO_FAULT if self.spared else self._faults.get(self.calls - self._counted_from, NO_FAULT)
        return NativeCall(
            self.calls, scheduler.current, function, core, power_config_id, known_as, configs, scheduler.now_us, fault
        )

    def _make(self, call: NativeCall, native: Callable[[], int]) -> None:
        scheduler, watcher, fault = self._scheduler, self.watcher, call.fault
        assert watcher is not None
        watcher.call_begins(call)
        self._under_way.append(call)
        interrupted = True
        try:
            scheduler.sleep(fault.before_us)
            self.htp._restarted |= call.restarted and not self.htp._dead
            if fault.code:
                self.htp.fail_next(fault.code, call.function, applied=fault.applied)
            call.code = native()
            watcher.call_applied(call)
            scheduler.sleep(fault.after_us)
            interrupted = False
        finally:
            call.over = True
            self._under_way.remove(call)
            if not scheduler.over:
                watcher.call_ended(call, interrupted=interrupted)
