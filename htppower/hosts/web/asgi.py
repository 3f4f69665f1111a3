"""ASGI middleware: votes around each request, until the last part of its response.

Sources: the ASGI specification 3.0, HTTP and lifespan protocols 2.5.
"""

from __future__ import annotations

import contextlib
from collections import deque
from typing import TYPE_CHECKING, Any, TypeAlias

from htppower.hosts.web.choice import Refusal, choose, field_of, has_field
from htppower.hosts.web.policy import ModePolicy
from htppower.hosts.web.service import Service

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from htppower.control.controller import VoteController
    from htppower.hosts.web.choice import Choice, Route

    Scope: TypeAlias = MutableMapping[str, Any]
    Message: TypeAlias = MutableMapping[str, Any]
    Receive: TypeAlias = Callable[[], Awaitable[Message]]
    Send: TypeAlias = Callable[[Message], Awaitable[None]]

# The messages that carry the response. The last one of them has no true ``more_body``.
_BODIES = frozenset({"http.response.body", "http.response.pathsend", "http.response.zerocopysend"})
# The messages of an application that serves no more requests.
_ENDS = frozenset({"lifespan.startup.failed", "lifespan.shutdown.complete", "lifespan.shutdown.failed"})


class AsgiVotes:
    """An ASGI application whose requests vote.

    A request is one inference: from its begin to the last part of its response, to the end of the application, or to
    its cancellation. ``scope["htppower"]`` is this inference: ``await scope["htppower"].ause("balanced")`` changes its
    mode, ``use`` does so on a thread, and ``end`` ends it early. WebSockets pass without votes.

    The session is opened when the lifespan starts, or at the first request, and closed when the lifespan ends; if
    several share it, with the last one. A profile that can't be used fails the start.

    Args:
        app: the application.
        controller: the controller; or a function that makes one in the process that serves, such as the class
            ``VoteController``. Then it is closed when the lifespan ends, and otherwise when the process ends.
        policy: which requests vote, and in which modes.

    Raises:
        TypeError: the controller is neither a controller nor a function.
    """

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        controller: VoteController | Callable[[], VoteController],
        policy: ModePolicy | None = None,
    ) -> None:
        self._app = app
        self._policy = ModePolicy() if policy is None else policy
        self._service = Service(controller, self._policy)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a connection, as ASGI states it."""
        if scope["type"] == "lifespan":
            await self._live(scope, receive, send)
            return
        route = self._service.route(scope["method"], _path(scope)) if scope["type"] == "http" else None
        if route is None:
            await self._app(scope, receive, send)
            return
        receive, choice, left = await self._choose(route, scope, receive)
        if isinstance(choice, Refusal):
            await _refuse(choice, send)
        elif left:
            # The application finds an inference here as usual; it has not begun.
            await self._app({**scope, "htppower": self._service.inference(choice)[0]}, receive, send)
        else:
            await self._infer(choice, scope, receive, send)

    async def _infer(self, choice: Choice, scope: Scope, receive: Receive, send: Send) -> None:
        service = self._service
        inference, capped = service.inference(choice)

        async def send_watched(message: Message) -> None:
            kind = message["type"]
            if kind == "http.response.start":
                headers = service.headers(choice, inference, capped=capped)
                added = [(name.lower().encode(), value.encode()) for name, value in headers]
                message = {**message, "headers": [*message.get("headers", ()), *added]}
            elif kind in _BODIES and not message.get("more_body", False):
                # All of the response exists now, so the votes don't wait for a slow client.
                inference.end()
            await send(message)

        await inference.__aenter__()
        try:
            await self._app({**scope, "htppower": inference}, receive, send_watched)
        finally:
            inference.end()

    async def _choose(self, route: Route, scope: Scope, receive: Receive) -> tuple[Receive, Choice | Refusal, bool]:
        """Return a function with which the application receives the whole request, its mode, and if its client left."""
        policy, headers = self._policy, scope["headers"]
        asked = None if policy.header is None else _header(headers, policy.header)
        if not has_field(policy, _header(headers, "content-type"), _header(headers, "content-encoding"), asked):
            return receive, choose(policy, route, asked), False
        received = deque[Any]()
        body = await _read(receive, policy.most_json_bytes, received)

        async def receive_again() -> Message:
            return received.popleft() if received else await receive()

        field = None if body is None else field_of(policy, body)
        left = received[-1]["type"] != "http.request"
        return receive_again, choose(policy, route, asked, field, unread=body is None), left

    async def _live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Open the session before the application starts, and close it when the application has shut down."""
        try:
            self._service.begin_lifespan()
        except Exception as error:  # noqa: BLE001 - a server may take an exception for an application without lifespan
            await receive()
            await send({"type": "lifespan.startup.failed", "message": f"htppower: {error}"})
            return
        with contextlib.ExitStack() as lifespan:
            lifespan.callback(self._service.end_lifespan)

            async def send_watched(message: Message) -> None:
                if message["type"] in _ENDS:
                    lifespan.close()
                await send(message)

            await self._app(scope, receive, send_watched)


def _path(scope: Scope) -> str:
    """Return the path of a request within the application."""
    path: str = scope["path"]
    below = path.removeprefix(scope.get("root_path", "").rstrip("/"))
    return below if below.startswith("/") else path


def _header(headers: Any, name: str) -> str:
    """Return the value of a header; several values are separated by commas, as in RFC 9110."""
    wanted = name.lower().encode()
    return ", ".join(value.decode("latin-1") for key, value in headers if key.lower() == wanted)


async def _read(receive: Receive, most_bytes: int, received: deque[Any]) -> bytes | None:
    """Return the body, and keep what was received; None if the body is too long, or the client has left."""
    body = bytearray()
    while len(body) <= most_bytes:
        message = await receive()
        received.append(message)
        if message["type"] != "http.request":
            break
        body += message.get("body", b"")
        if not message.get("more_body", False) and len(body) <= most_bytes:
            return bytes(body)
    return None


async def _refuse(refusal: Refusal, send: Send) -> None:
    body = refusal.body
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
