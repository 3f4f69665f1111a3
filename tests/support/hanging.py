"""Actions and native calls that hang until they are released, and helpers that wait for other threads."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.votes.vote_set import VoteSet

WAIT_S = 30


def until(holds: Callable[[], object]) -> None:
    """Wait until something holds on other threads."""
    end_s = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < end_s
        time.sleep(0)


class Hang:
    """An action that reports its begin, and ends when it is released."""

    def __init__(self) -> None:
        self.begun, self.let_go, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.thread: threading.Thread | None = None

    def __call__(self, *_: object) -> None:
        """Hang; also called with arguments, such as the seconds of a sleep."""
        self.thread = threading.current_thread()
        self.begun.set()
        assert self.let_go.wait(WAIT_S)
        self.ended.set()


def started(*actions: Callable[[], object]) -> tuple[threading.Thread, ...]:
    """Start each action on a thread of its own, and return the threads."""
    threads = tuple(threading.Thread(target=action, daemon=True) for action in actions)
    for thread in threads:
        thread.start()
    return threads


def join(*threads: threading.Thread) -> None:
    """Wait until threads have ended."""
    for thread in threads:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def on_a_thread(action: Callable[[], object]) -> Callable[[], None]:
    """Return a function that runs an action on another thread to its end."""
    return lambda: join(*started(action))


def start_no_thread(thread: threading.Thread) -> None:
    """Fail as ``Thread.start`` does if threads can't be started, as at the very end of a process."""
    raise RuntimeError("can't start new thread")


class HangingHtp(SimulatedHtp):
    """A simulated HTP that can make the next call on an id hang."""

    def __init__(self) -> None:
        super().__init__(arch=75)
        self._hangs: dict[tuple[str, int | None], Hang] = {}

    def hang_next(self, function: str, power_config_id: int | None = None) -> Hang:
        """Let the next call of a function on an id hang before it has an effect; return a function that releases it."""
        return self._hangs.setdefault((function, power_config_id), Hang())

    def let_go(self) -> None:
        """Release every call, including later ones."""
        for hang in self._hangs.values():
            hang.let_go.set()

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create, after hanging."""
        self._hang("createPowerConfigId", None)
        return super().create_power_config_id(device_id, core_id)

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Set, after hanging."""
        self._hang("setPowerConfig", power_config_id)
        super().set_power_config(power_config_id, votes)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy, after hanging."""
        self._hang("destroyPowerConfigId", power_config_id)
        super().destroy_power_config_id(power_config_id)

    def _hang(self, function: str, power_config_id: int | None) -> None:
        hang = self._hangs.get((function, power_config_id))
        if hang is not None and not hang.begun.is_set():
            hang()
