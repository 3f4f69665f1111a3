"""A controller over a backend that is interrupted when it is told to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from htppower import VoteController
from htppower.backends import RecordingBackend, SimulatedHtp
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from htppower.votes.vote_set import VoteSet


class Interrupted(RecordingBackend):
    """Raises in the n-th call of a verb, before or after the call is made."""

    def __init__(self, time: VirtualTime) -> None:
        super().__init__(SimulatedHtp(arch=75), time=time)
        self.raises: BaseException | None = None
        self.verb = "set"
        self.after = False

    def next_raises(self, error: BaseException, verb: str = "set", *, after: bool = False) -> None:
        """Raise in the next call of this verb."""
        self.raises, self.verb, self.after = error, verb, after

    def _maybe(self, verb: str, *, after: bool) -> None:
        if self.raises is not None and (verb, after) == (self.verb, self.after):
            error, self.raises = self.raises, None
            raise error

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Set, and raise."""
        self._maybe("set", after=False)
        super().set_power_config(power_config_id, votes)
        self._maybe("set", after=True)

    def destroy_power_config_id(self, power_config_id: int) -> None:
        """Destroy, and raise."""
        self._maybe("destroy", after=False)
        super().destroy_power_config_id(power_config_id)


class Rig:
    """A controller over such a backend."""

    def __init__(self, on_error: Literal["continue", "raise"] = "continue") -> None:
        self.time = VirtualTime()
        self.backend = Interrupted(self.time)
        assert isinstance(self.backend.inner, SimulatedHtp)
        self.simulated = self.backend.inner
        self.controller = VoteController(
            self.backend, time=self.time, handle_sigterm=False, heartbeat_us=0, on_error=on_error
        )

    @property
    def core_target(self) -> int:
        """The core target in force."""
        return self.simulated.effective().core_target
