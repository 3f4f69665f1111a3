"""A session: one client of the controller, as its user sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.events import Phase
from htppower.phases import Inference, Preparation
from htppower.usage import Usage

if TYPE_CHECKING:
    import os
    from types import TracebackType

    from typing_extensions import Self

    from htppower.events import Degradation
    from htppower.plans import Plan
    from htppower.ports import Controller, Keeper
    from htppower.profiles import Profile
    from htppower.timing import Time


class Session(Usage):
    """One client: one profile, one power config id per core. Made by ``VoteController.session``.

    All methods may be called from any thread, and phases may overlap.
    """

    __slots__ = ("_controller", "_inference")

    def __init__(
        self,
        controller: Controller,
        keeper: Keeper,
        time: Time,
        plan: Plan,
        number: int,
        device_id: int,
        core_ids: tuple[int, ...],
        owner: str | None,
    ) -> None:
        super().__init__(keeper, time, plan, number, device_id, core_ids, owner)
        self._controller = controller
        self._inference = Inference(self)

    @property
    def profile(self) -> Profile:
        """The profile in use."""
        return self._plan.profile

    @property
    def degradations(self) -> tuple[Degradation, ...]:
        """The votes of the profile that this platform does not have."""
        return self._plan.degradations

    def init(self) -> Preparation:
        """Return a context manager around the initialisation of a graph: raised in it, lowered after it."""
        return Preparation(self, Phase.INIT)

    def inference(self) -> Inference:
        """Return a context manager around one inference.

        Entering it returns when the votes are in force; leaving it lowers at once, or after the profile's sustain time
        without an inference.

        Raises:
            VoteRejected: on entering, if raising fails and the controller has ``on_error="raise"``; the inference has
                then not begun. On leaving, if lowering fails, likewise.
            SessionClosed: on entering, if the session is closed.
        """
        return self._inference

    def deinit(self) -> Preparation:
        """Return a context manager around the release of a graph: raised in it, lowered after it."""
        return Preparation(self, Phase.DEINIT)

    def use(self, profile: str | os.PathLike[str] | Profile) -> None:
        """Change the profile: at once if votes are raised, otherwise at the next raise. A pending sustain ends.

        Args:
            profile: a name, a path or a profile.

        Raises:
            ProfileError: the profile can't be found or is invalid; the session keeps the one it has.
            SessionClosed: the session is closed.
        """
        self._controller.use(self, profile)

    def close(self) -> None:
        """Stop the timer, lower, give back process-wide settings and destroy the ids. Closing twice is fine.

        Every step is tried even if the one before failed.

        Raises:
            VoteRejected: a step failed and the controller has ``on_error="raise"``; the first one that did.
        """
        self._controller.close_session(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        """Return number, owner, profile and state."""
        owner = f" {self.owner!r}" if self.owner is not None else ""
        return f"<Session {self.number}{owner} {self.profile.name} {self._state}>"
