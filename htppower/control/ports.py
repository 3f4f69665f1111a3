"""What a session asks of those above it, so that it need not know them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from htppower.control.gate import Usage
    from htppower.control.holds import Hold
    from htppower.events import Cause, Phase
    from htppower.profiles.profile import Profile


class Keeper(Protocol):
    """What a session asks of what keeps its votes."""

    def settle(
        self, session: Usage, cause: Cause, phase: Phase | None = None, *, quiet: bool = False, doubt: bool = False
    ) -> None:
        """Bring what is in force in line with what the session should have.

        With ``quiet``, raise nothing; with ``doubt``, forget then what its votes are known to be, so that the next
        raise sends everything.
        """


class Controller(Protocol):
    """What a session asks of its controller."""

    def use(self, session: Usage, profile: str | os.PathLike[str] | Profile) -> None:
        """Change the session's profile."""

    def hold(
        self,
        session: Usage,
        profile: str | os.PathLike[str] | Profile,
        reason: str,
        timeout_us: int | None,
        owner: object | None,
    ) -> Hold:
        """Let the session use another profile for a while."""

    def off_thread(self, action: Callable[[], object]) -> None:
        """Run an action that may wait for a native call on another thread; on the caller's once it is closed."""

    def close_session(self, session: Usage) -> None:
        """Lower, give back, destroy."""
