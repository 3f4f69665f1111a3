"""WSGI middleware: votes around each request, until the server closes its response (PEP 3333)."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any, TypeAlias

from htppower.hosts.web.choice import Refusal, choose, field_of, has_field
from htppower.hosts.web.policy import ModePolicy
from htppower.hosts.web.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from htppower.control.controller import VoteController
    from htppower.control.modes.mode_session import ModeInference
    from htppower.hosts.web.choice import Choice, Route

    Environ: TypeAlias = dict[str, Any]
    StartResponse: TypeAlias = Callable[..., Any]


class WsgiVotes:
    """A WSGI application whose requests vote.

    A request is one inference: from its begin until the application has returned a list, until its iterator is
    exhausted, or until the server closes it. ``environ["htppower"]`` is this inference: ``use("balanced")`` changes its
    mode, and ``end`` ends it early.

    The session is opened at the first request, and closed with the controller.

    Args:
        app: the application.
        controller: the controller; or a function that makes one in the process that serves, such as the class
            ``VoteController``. Then it is closed when the process ends.
        policy: which requests vote, and in which modes. A body without a Content-Length is not searched for a mode.

    Raises:
        TypeError: the controller is neither a controller nor a function.
    """

    def __init__(
        self,
        app: Callable[..., Iterable[bytes]],
        controller: VoteController | Callable[[], VoteController],
        policy: ModePolicy | None = None,
    ) -> None:
        self._app = app
        self._policy = ModePolicy() if policy is None else policy
        self._service = Service(controller, self._policy)

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        """Serve a request, as WSGI states it."""
        # PEP 3333 has the bytes of the path as the characters of a text.
        path = environ.get("PATH_INFO", "").encode("latin-1").decode(errors="replace")
        route = self._service.route(environ["REQUEST_METHOD"], path)
        if route is None:
            return self._app(environ, start_response)
        choice = self._choose(route, environ)
        if isinstance(choice, Refusal):
            body = choice.body
            headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
            start_response("400 Bad Request", headers)
            return [body]
        return self._infer(choice, environ, start_response)

    def _infer(self, choice: Choice, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        service = self._service
        inference, capped = service.inference(choice)

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            return start_response(status, [*headers, *service.headers(choice, inference, capped=capped)], *exc_info)

        environ["htppower"] = inference
        inference.__enter__()
        try:
            response = self._app(environ, start)
            wrapper = environ.get("wsgi.file_wrapper")
            if not isinstance(response, (list, tuple)) and not (
                isinstance(wrapper, type) and isinstance(response, wrapper)
            ):
                return _Response(response, inference)
        except BaseException:
            inference.end()
            raise
        # All of the response exists, and the server sends a list or a file quicker than an iterator.
        inference.end()
        return response

    def _choose(self, route: Route, environ: Environ) -> Choice | Refusal:
        policy = self._policy
        asked = None if policy.header is None else environ.get(f"HTTP_{policy.header.upper().replace('-', '_')}")
        if not has_field(policy, environ.get("CONTENT_TYPE", ""), environ.get("HTTP_CONTENT_ENCODING", ""), asked):
            return choose(policy, route, asked)
        length = environ.get("CONTENT_LENGTH", "")
        if not re.fullmatch("[0-9]{1,15}", length) or int(length) > policy.most_json_bytes:
            return choose(policy, route, asked, unread=True)
        body = environ["wsgi.input"].read(int(length))
        environ["wsgi.input"] = io.BytesIO(body)
        return choose(policy, route, asked, field_of(policy, body))


class _Response:
    """An iterator of a response, whose end is the end of the inference."""

    def __init__(self, response: Iterable[bytes], inference: ModeInference) -> None:
        self._response = response
        self._parts = iter(response)
        self._inference = inference

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        try:
            return next(self._parts)
        except BaseException:
            self._inference.end()
            raise

    def close(self) -> None:
        """Close the response, if it can be closed, and end the inference."""
        try:
            if hasattr(self._response, "close"):
                self._response.close()
        finally:
            self._inference.end()
