"""WSGI applications: votes from the begin of a request until its response is complete or closed."""

from __future__ import annotations

import gc
import io
import json
import wsgiref.util
from typing import TYPE_CHECKING, Any

import pytest
from support.web import ask

from htppower import State, VoteController
from htppower.hosts.web import ModePolicy, WsgiVotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from support.bench import Bench

    Now = Callable[[], tuple[int, str, State]]

UP = {mode: (1, mode, State.RAISED) for mode in ("burst", "balanced", "power_saver", "low_balanced")}
TOO_LONG = "service; the body was not searched"
JSON = {"CONTENT_TYPE": "application/json"}


class App:
    """Reads its request, notes what is voted, and answers with what it has read."""

    def __init__(self, now: Now) -> None:
        self.now = now
        self.seen: list[Any] = []

    def __call__(self, environ: dict[str, Any], start_response: Any) -> list[bytes]:
        """Answer."""
        self.seen.append(self.now())
        start_response("200 OK", [("A", "b")])
        return [environ["wsgi.input"].read()]


@pytest.fixture
def app(now: Now) -> App:
    """Return an application."""
    return App(now)


@pytest.fixture
def served(bench: Bench, app: App, policy: ModePolicy) -> WsgiVotes:
    """Return the application with votes."""
    return WsgiVotes(app, bench.controller, policy)


@pytest.mark.parametrize(
    ("environ", "body", "mode", "reason"),
    [
        ({}, b"", "burst", "service"),
        ({"HTTP_X_POWER_MODE": "balanced"}, b"", "balanced", "header"),
        (JSON, b'{"power_mode": "power_saver"}', "power_saver", "JSON field"),
        (JSON, b'{"power_mode": "power_saver"}'.ljust(101), "burst", TOO_LONG),
        ({**JSON, "CONTENT_LENGTH": ""}, b"{}", "burst", TOO_LONG),
        ({**JSON, "CONTENT_LENGTH": "9" * 5000}, b"{}", "burst", TOO_LONG),
        ({**JSON, "CONTENT_LENGTH": "20"}, b'{"power_mode"', "burst", "service"),
    ],
)
def test_a_request_votes_in_the_mode_that_it_asks_for(
    served: WsgiVotes, app: App, now: Now, environ: dict[str, Any], body: bytes, mode: str, reason: str
) -> None:
    """A list is all of a response, so the server gets it unchanged, and the inference has ended."""
    answer = ask(served, "/v1/chat", body, **environ)
    assert app.seen == [UP[mode]]
    assert answer.headers == {"A": "b", "x-power-mode": mode, "x-power-mode-reason": reason}
    assert answer.response == [body]
    assert now()[0] == 0


def test_a_wrong_mode_is_refused(bench: Bench, served: WsgiVotes, app: App) -> None:
    """The application does not run, and nothing is voted."""
    answer = ask(served, "/v1/chat", HTTP_X_POWER_MODE="zoom")
    (body,) = answer.response
    assert (answer.status, answer.headers["Content-Length"]) == ("400 Bad Request", str(len(body)))
    assert json.loads(body)["error"]["code"] == "power_mode_not_allowed"
    assert (app.seen, bench.sets) == ([], [])


def test_other_requests_pass(served: WsgiVotes, app: App) -> None:
    """Without votes, and the wrong mode is not looked at."""
    answer = ask(served, "/health", HTTP_X_POWER_MODE="zoom")
    assert (answer.headers, app.seen) == ({"A": "b"}, [(0, "", State.UNVOTED)])
    assert ask(served, "/v1/chat", REQUEST_METHOD="OPTIONS").headers == {"A": "b"}


def test_a_path_that_is_not_ascii(bench: Bench, app: App) -> None:
    """WSGI has the bytes of a path as characters."""
    served = WsgiVotes(app, bench.controller, ModePolicy(routes={"/größe": None}))
    ask(served, "/größe".encode().decode("latin-1"))
    ask(served, b"/gr\xff".decode("latin-1"))
    assert app.seen == [UP["burst"], (0, "burst", State.RAISED)]


def test_the_votes_of_a_complete_answer_end_early(bench: Bench, policy: ModePolicy, now: Now) -> None:
    """The code of an application that returns an iterator ends them, so a slow client does not hold them."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [])
        environ["htppower"].end()
        return iter([b"all of it"])

    answer = ask(WsgiVotes(app, bench.controller, policy), "/v1/chat")
    assert now()[0] == 0
    assert list(answer.response) == [b"all of it"]


@pytest.fixture
def streaming(bench: Bench, policy: ModePolicy, now: Now) -> tuple[WsgiVotes, list[Any]]:
    """Return an application that streams three parts, and what was voted at each, and at the end."""
    seen: list[Any] = []

    def app(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [])
        try:
            for number in range(3):
                seen.append(now())
                yield str(number).encode()
                environ["htppower"].use("decode")
        finally:
            seen.append("closed")

    return WsgiVotes(app, bench.controller, policy), seen


def test_a_stream_holds_its_votes_to_its_end(streaming: tuple[WsgiVotes, list[Any]], now: Now) -> None:
    """Its code changes the mode after the first part."""
    served, seen = streaming
    answer = ask(served, "/v1/chat", HTTP_X_POWER_MODE="balanced")
    assert list(answer.response) == [b"0", b"1", b"2"]
    assert seen == [UP["balanced"], UP["low_balanced"], UP["low_balanced"], "closed"]
    assert now() == (0, "low_balanced", State.LOWERED)
    answer.response.close()


@pytest.mark.parametrize("begun", [False, True])
def test_a_server_that_closes_a_stream_early(streaming: tuple[WsgiVotes, list[Any]], now: Now, begun: bool) -> None:
    """The client has left: the application's iterator is closed, and the votes come down."""
    served, seen = streaming
    answer = ask(served, "/v1/chat", HTTP_X_POWER_MODE="balanced")
    assert now()[0] == 1
    if begun:
        next(answer.response)
    answer.response.close()
    assert now() == (0, "balanced", State.LOWERED)
    assert seen == ([UP["balanced"], "closed"] if begun else [])


def test_a_server_that_drops_a_stream(bench: Bench, streaming: tuple[WsgiVotes, list[Any]], now: Now) -> None:
    """It never calls ``close``: the votes come down with the garbage collector."""
    served, _ = streaming
    answer = ask(served, "/v1/chat", HTTP_X_POWER_MODE="balanced")
    next(answer.response)
    del answer
    gc.collect()
    bench.time.advance_us(1)
    assert now() == (0, "balanced", State.LOWERED)


@pytest.mark.parametrize("late", [False, True])
def test_an_application_that_fails(bench: Bench, policy: ModePolicy, now: Now, late: bool) -> None:
    """Before it returns, or in its iterator: the error is passed on, and the votes come down."""

    def app(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        def parts() -> Iterator[bytes]:
            yield b"0"
            raise KeyError

        if late:
            return parts()
        raise KeyError

    served = WsgiVotes(app, bench.controller, policy)
    with pytest.raises(KeyError):
        list(ask(served, "/v1/chat", HTTP_X_POWER_MODE="balanced").response)
    assert now() == (0, "balanced", State.LOWERED)


def test_an_application_that_returns_no_iterable(bench: Bench, policy: ModePolicy, now: Now) -> None:
    """The votes come down, even if the server keeps the error."""
    served = WsgiVotes(lambda _environ, _start: None, bench.controller, policy)  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError) as kept:
        ask(served, "/v1/chat", HTTP_X_POWER_MODE="balanced")
    assert "iterable" in str(kept.value)
    assert now() == (0, "balanced", State.LOWERED)


def test_a_file_goes_to_the_server_unchanged(bench: Bench, policy: ModePolicy, now: Now) -> None:
    """So the server may send it by ``sendfile``."""

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        return environ["wsgi.file_wrapper"](io.BytesIO(b"file"))

    served = WsgiVotes(app, bench.controller, policy)
    assert isinstance(ask(served, "/v1/file").response, wsgiref.util.FileWrapper)
    assert now()[0] == 0


def test_the_error_of_a_started_response_is_passed_on(bench: Bench, policy: ModePolicy) -> None:
    """``start_response`` gets the third argument only if the application gives it, and its result is returned."""
    calls: list[tuple[Any, ...]] = []

    def start(*arguments: Any) -> str:
        calls.append(arguments)
        return "write"

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        assert start_response("200 OK", []) == "write"
        start_response("500 Wrong", [], "info")
        return []

    served = WsgiVotes(app, bench.controller, policy)
    served({"REQUEST_METHOD": "GET", "PATH_INFO": "/v1/x"}, start)
    assert [(call[0], *call[2:]) for call in calls] == [("200 OK",), ("500 Wrong", "info")]


def test_a_controller_is_made_at_the_first_request(bench: Bench, app: App, policy: ModePolicy) -> None:
    """A process that imports the application and then forks its workers has no controller."""
    made: list[VoteController] = []

    def make() -> VoteController:
        made.append(bench.controller)
        return bench.controller

    served = WsgiVotes(app, make, policy)
    assert made == []
    for _ in range(2):
        ask(served, "/v1/chat")
    assert len(made) == 1
    assert app.seen == [UP["burst"], UP["burst"]]
