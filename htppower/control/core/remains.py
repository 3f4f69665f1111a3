"""What is left of closed sessions: ids that were not destroyed, and settings of the process that were not given back.

The back-off tries again to bring it down; so does closing the controller, after which the back-off goes on where
something is left still. One thread does at a time: a close that finds nothing left ends the delivery of events and
frees the backend, so no call may come after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.control.time.locks import Rank, is_held, make_lock, run_if_free
from htppower.votes.native_codes import DEVICE_INVALID_HANDLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.control.core.executor import Executor
    from htppower.control.core.other_controllers import OtherControllers
    from htppower.control.core.power_config_ids import PowerConfigIds
    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.reconciler import Reconciler
    from htppower.control.core.recovery import Recovery
    from htppower.control.core.registry import Registry
    from htppower.control.core.stepper import Stepper
    from htppower.control.time.locks import Lock
    from htppower.errors import VoteRejected


@attrs.define(eq=False, repr=False)
class Remains:
    """Brings down what is left.

    Args:
        close_again: called once nothing is left of a controller whose closing had left something, or had given up on
            a call.
    """

    _registry: Registry
    _executor: Executor
    _ids: PowerConfigIds
    _settings: ProcessSettings
    _others: OtherControllers
    _recovery: Recovery
    _stepper: Stepper
    _reconciler: Reconciler
    close_again: Callable[[], object]
    # Held over the native calls.
    _lock: Lock = attrs.field(init=False, factory=lambda: make_lock(Rank.REMAINS))

    def retry(self) -> None:
        """Try again what is left, but for what another thread does."""
        # First those who lack votes: the call that destroys an orphan may hang.
        self._reconciler.after_turn()
        failed = self._run_if_free(self._ids.destroy_orphans)
        self._reconciler.after_turn()
        if self._stepper.restarted(failed):
            failed = self._run_if_free(self._ids.destroy_orphans)
        if not self._recovery.settings_follow:
            failed = self._run_if_free(self._executor.cast_settings) or failed
        self._recovery.retried(failed)
        self._reconciler.after_turn()
        if self._registry.closed and failed is not None and failed.code == DEVICE_INVALID_HANDLE:
            # The host has closed its backend, which must not be called any more.
            self._recovery.stop()
        elif self._registry.closed and not self._registry.sessions and not self._recovery.is_left():
            self.close_again()

    def _run_if_free(self, action: Callable[[], VoteRejected | None]) -> VoteRejected | None:
        failures: list[VoteRejected | None] = [None]
        run_if_free(self._lock, lambda: failures.append(action()))
        return failures[-1]

    def destroy_orphans(self) -> None:
        """Try once more to destroy the ids that no session has any more; wait for another thread that does."""
        with self._lock:
            self._ids.destroy_orphans()

    def stop(self) -> bool:
        """Try once more what is left, and leave it to the back-off if it fails; return whether nothing is left.

        Settings of the process are left to other controllers that share them: nobody waits for a call of theirs.
        """
        if is_held(self._lock):
            # A signal handler, in the middle of one of these calls: whoever it interrupts goes on.
            return False
        alone = self._others.none
        with self._lock:
            if self._bring_down(alone=alone):
                # It is there again.
                self._bring_down(alone=alone)
        self._reconciler.after_turn()
        nothing_left = False
        with self._lock:
            try:
                # First: of two controllers that are closed, none leaves its settings to one that leaves, too.
                self._recovery.stop()
                nothing_left = self._leave(alone=alone)
                return nothing_left
            finally:
                # Also where an exception such as Ctrl-C comes: nobody else would try again.
                if not nothing_left:
                    self._recovery.resume()

    def _bring_down(self, *, alone: bool) -> bool:
        """Cast the settings, and destroy the ids; return whether the DSP has restarted meanwhile."""
        restarted = self._stepper.restarted(self._executor.cast_settings(wait=alone))
        return self._stepper.restarted(self._ids.destroy_orphans()) or restarted

    def _leave(self, *, alone: bool) -> bool:
        if self._registry.sessions or self._registry.orphans:
            return False
        if self._settings.leave():
            return True
        # Where the others were closed meanwhile.
        return not alone and self._executor.cast_settings(wait=True) is None and self._settings.leave()
