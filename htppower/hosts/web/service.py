"""The session of a web service: opened once in each process that serves requests."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import attrs

from htppower.control.controller import VoteController
from htppower.hosts.web.choice import Route

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from htppower.control.modes.mode_session import ModeInference, ModeSession
    from htppower.control.session import Session
    from htppower.hosts.web.choice import Choice
    from htppower.hosts.web.policy import ModePolicy


@attrs.frozen
class _Opened:
    controller: VoteController
    session: Session
    modes: ModeSession


class Service:
    """Opens the session of a policy at its first use.

    Args:
        controller: the controller, or a function that makes one, such as the class ``VoteController``. A controller
            that is made here is also closed here.
        policy: the modes of the service.
    """

    def __init__(self, controller: VoteController | Callable[[], VoteController], policy: ModePolicy) -> None:
        if not isinstance(controller, VoteController) and not callable(controller):
            raise TypeError(f"controller is {controller!r}: a VoteController, or a function that makes one")
        self._given = controller
        self.policy = policy
        self._routes = tuple(Route.of(pattern, mode) for pattern, mode in policy.routes.items())
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        self._lifespans = 0

    def route(self, method: str, path: str) -> Route | None:
        """Return the first route of a request; None if the request passes without votes."""
        return next((route for route in self._routes if route.matches(method, path)), None)

    def open(self) -> ModeSession:
        """Return the session with its modes; open it if it is not open.

        Raises:
            ProfileError, RuleBreach: a profile can't be found, or is refused on this platform.
            BackendUnavailable: the controller can't be made.
            SessionClosed: the given controller is closed.
        """
        with self._lock:
            return self._open().modes

    def begin_lifespan(self) -> None:
        """Open the session, or raise the errors of ``open``; with the last lifespan it is closed."""
        with self._lock:
            self._open()
            self._lifespans += 1

    def end_lifespan(self) -> None:
        """After the last lifespan, close the session, and the controller if it was made here.

        A later ``open`` opens it again.
        """
        with self._lock:
            self._lifespans -= 1
            if self._lifespans:
                return
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.session.close()
            if opened.controller is not self._given:
                opened.controller.close()

    def inference(self, choice: Choice) -> tuple[ModeInference, bool]:
        """Return the inference of a request, and whether its mode is capped; its code can't go above this mode."""
        modes = self.open()
        return modes.inference(choice.mode, at_most=True), choice.mode in modes.capped

    def headers(self, choice: Choice, inference: ModeInference, *, capped: bool) -> Iterator[tuple[str, str]]:
        """Yield the headers of the response: the profile of the request's mode, and the reason."""
        name = self.policy.header
        if name is None:
            return
        own, used = inference.own_profile.name, inference.profile.name
        reasons = (
            choice.reason,
            f"{choice.mode} is capped" if capped else "",
            f"{used} is in use" if used != own else "",
        )
        yield name, own
        yield f"{name}-reason", "; ".join(filter(None, reasons))

    def _open(self) -> _Opened:
        if self._opened is None:
            self._opened = self._make()
        return self._opened

    def _make(self) -> _Opened:
        policy = self.policy
        controller = self._given if isinstance(self._given, VoteController) else self._given()
        with contextlib.ExitStack() as undo:
            if controller is not self._given:
                undo.callback(controller.close)
            session = controller.session(
                policy.profile, device_id=policy.device_id, core_ids=policy.core_ids, owner=policy.owner
            )
            undo.callback(session.close)
            modes = session.modes({**policy.others, **policy.allowed})
            undo.pop_all()
        return _Opened(controller, session, modes)
