"""Requests to ASGI and WSGI applications by hand, without a server."""

from __future__ import annotations

import asyncio
import io
import wsgiref.util
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htppower.hosts.web import AsgiVotes, WsgiVotes

JSON = {"content-type": "application/json"}
LEFT = {"type": "http.disconnect"}


def parts_of(*bodies: bytes) -> list[dict[str, Any]]:
    """Return the messages of a body in parts."""
    last = len(bodies) - 1
    return [{"type": "http.request", "body": body, "more_body": at < last} for at, body in enumerate(bodies)]


@attrs.define
class Exchange:
    """A request, and what the application sends; a client that has nothing more to send stays connected."""

    scope: dict[str, Any]
    to_receive: list[dict[str, Any]]
    sent: list[dict[str, Any]] = attrs.field(factory=list)

    @classmethod
    def of(
        cls,
        path: str = "/",
        *bodies: bytes,
        method: str = "POST",
        headers: Mapping[str, str] | None = None,
        **scope: Any,
    ) -> Exchange:
        """Return a request; header names may be in any case."""
        given = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
        made = {"type": "http", "method": method, "path": path, "headers": given, **scope}
        return cls(made, parts_of(*bodies or (b"",)))

    async def receive(self) -> Any:
        """Return the next message of the client."""
        if not self.to_receive:
            await asyncio.Event().wait()
        return self.to_receive.pop(0)

    async def send(self, message: Any) -> None:
        """Keep a message of the application."""
        self.sent.append(message)

    async def run(self, app: AsgiVotes) -> Exchange:
        """Let the application answer."""
        await app(self.scope, self.receive, self.send)
        return self

    @property
    def status(self) -> int:
        """The status of the response."""
        status: int = self.sent[0]["status"]
        return status

    @property
    def headers(self) -> dict[str, str]:
        """The headers of the response."""
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        """The body of the response."""
        return b"".join(message.get("body", b"") for message in self.sent)


@attrs.define
class WsgiAnswer:
    """The answer of a WSGI application."""

    status: str = ""
    headers: dict[str, str] = attrs.field(factory=dict)
    response: Any = None

    def start(self, status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
        """Keep the status and the headers."""
        self.status, self.headers = status, dict(headers)


def ask(app: WsgiVotes, path: str = "/", body: bytes = b"", **environ: Any) -> WsgiAnswer:
    """Send a request; the response is not read yet."""
    answer, given = WsgiAnswer(), {"wsgi.input": io.BytesIO(body), "wsgi.file_wrapper": wsgiref.util.FileWrapper}
    request = {"REQUEST_METHOD": "POST", "PATH_INFO": path, "CONTENT_LENGTH": str(len(body))}
    answer.response = app({**request, **given, **environ}, answer.start)
    return answer
