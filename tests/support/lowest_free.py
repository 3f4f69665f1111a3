"""A simulated HTP that gives the lowest free number for an id, as a library may, and what meets on these numbers."""

from __future__ import annotations

import itertools
import threading
from typing import TYPE_CHECKING

from hanging import WAIT_S, HangingHtp, until

from htppower import State, VoteController
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def nothing() -> None:
    """Do nothing."""


class LowestFree(HangingHtp):
    """Other threads may run once as a create returns, before a destroy, and as one returns.

    Attributes:
        created, destroys, destroyed: what runs then.
        fails: how often a destroy fails that ``destroys`` has held up, or that was carried out.
        carried_out: whether what fails is carried out.
    """

    def __init__(self) -> None:
        super().__init__()
        self.created: Callable[[], object] = nothing
        self.destroys: Callable[[], object] = nothing
        self.destroyed: Callable[[], object] = nothing
        self.fails = 0
        self.carried_out = False
        # The thread whose next create hangs.
        self.held = 0
        self.is_held, self.go_on = threading.Event(), threading.Event()

    def native_create(self, device_id: int, core_id: int) -> tuple[int, int]:
        """Create, and let others go on."""
        if self.held == threading.get_ident():
            self.is_held.set()
            self.go_on.wait(WAIT_S)
        with self._lock:
            self._next_id = next(each for each in itertools.count(1) if each not in self._clients)
            answer = super().native_create(device_id, core_id)
        created, self.created = self.created, nothing
        created()
        return answer

    def native_destroy(self, power_config_id: int) -> int:
        """Let others go on, destroy, and let others go on."""
        destroys, self.destroys = self.destroys, nothing
        destroys()
        self.fails, fails = max(0, self.fails - 1), self.fails > 0
        code = FAILED if fails and not self.carried_out else super().native_destroy(power_config_id)
        destroyed, self.destroyed = self.destroyed, nothing
        destroyed()
        return FAILED if fails else code

    def hold_thread(self) -> None:
        """Let the next create of this thread hang."""
        self.held = threading.get_ident()

    def forget(self) -> None:
        """Restart, and forget all ids; no call is told of that."""
        self.restart_subsystem(forget_ids=True)
        self._restarted = False


def controller_on(htp: LowestFree) -> VoteController:
    """Return a controller without a heartbeat."""
    return VoteController(htp, handle_sigterm=False, heartbeat_us=0)


def leave_an_orphan(controller: VoteController, htp: LowestFree) -> None:
    """Close a session whose id, the first, can't be destroyed."""
    session = controller.session("balanced")
    htp.fail_next(FAILED, function="destroyPowerConfigId")
    session.close()
    assert controller.status().orphans == (1,)


def lose_and_free(htp: LowestFree, controller: VoteController, number: int) -> None:
    """Lose all ids, and have a number free that was given once more, so that nobody is known to have it."""
    htp.forget()
    controller.link_lost(SYSTEM_COMMUNICATION)
    # Restarts that come too often are left to the back-off.
    controller._recovery._lost_us.clear()
    # It is given the number first, which is not used.
    assert number not in controller.session("balanced").power_config_ids.values()
    controller._closer._remains.destroy_orphans()
    assert number not in htp.power_config_ids


class LateVotes:
    """An inference of a session whose votes hang on their way to its id, and its number, which is free meanwhile.

    Nobody is known to have it: the library has forgotten it, and another has had it.
    """

    def __init__(self, htp: LowestFree, controller: VoteController) -> None:
        self._session = controller.session("burst")
        (self.number,) = self._session.power_config_ids.values()
        # That of one before has let go.
        htp._hangs.pop(("setPowerConfig", self.number), None)
        self._hang = htp.hang_next("setPowerConfig", self.number)
        self._inference = self._session.inference()
        self._thread = threading.Thread(target=self._inference.__enter__)
        self._thread.start()
        assert self._hang.begun.wait(WAIT_S)
        lose_and_free(htp, controller, self.number)

    def arrive(self) -> None:
        """Let them reach whoever has the number now, and return; wait until the session is voted again."""
        self._hang.let_go.set()
        until(lambda: self._session.state is State.RAISED and self._ids() - {self.number})

    def end(self) -> None:
        """Let them arrive, end the inference, and close its session."""
        self._hang.let_go.set()
        self._thread.join(WAIT_S)
        self._inference.__exit__(None, None, None)
        self._session.close()

    def _ids(self) -> set[int]:
        return set(self._session.power_config_ids.values())


def nobodys(htp: LowestFree, *controllers: VoteController) -> Iterator[int]:
    """Yield the ids in the library that neither a session nor the orphans have."""
    known: set[int] = set()
    for controller in controllers:
        known.update(controller.status().orphans)
        known.update(*(session.power_config_ids.values() for session in controller._registry.all()))
    yield from set(htp.power_config_ids) - known
