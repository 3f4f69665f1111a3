"""Requests that choose their modes, under real servers on the stand-in library: streamed, aborted, and stopped."""

from __future__ import annotations

import json
import random
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.live import LONGEST_S, until

if TYPE_CHECKING:
    from pathlib import Path

    from support.servers import Server, Start

pytestmark = pytest.mark.needs("signals")

CHAT = "/v1/chat/completions"
BURST, BALANCED, LOWERED = 160, 112, 64
# Longer than any test, and than the time that a server waits for its requests.
ENDLESS = json.dumps({"max_tokens": 100_000})

_WSGI = """
import json, time, htppower
from htppower.hosts.web import ModePolicy, WsgiVotes

def generate(environ, start_response):
    tokens = json.load(environ["wsgi.input"])["max_tokens"]
    start_response("200 OK", [("Content-Type", "text/plain")])
    for number in range(tokens):
        yield b"token\\n"
        time.sleep(0.05)
        environ["htppower"].use("decode")

policy = ModePolicy("burst", allowed=("burst", "balanced"), others={"decode": "balanced"})
app = WsgiVotes(generate, htppower.VoteController, policy)
"""
UVICORN = ("-m", "uvicorn", "chat_app:app", "--uds", "SOCKET", "--timeout-graceful-shutdown", "1")
GUNICORN = ("-m", "gunicorn", "--bind", "unix:SOCKET", "modes_app:app")
SERVERS = pytest.mark.parametrize(
    "command",
    [
        pytest.param(UVICORN, id="uvicorn"),
        pytest.param(GUNICORN, id="gunicorn"),
        pytest.param((*GUNICORN, "--threads", "4"), id="gunicorn with threads"),
    ],
)


@pytest.fixture(autouse=True)
def _wsgi_app(tmp_path: Path) -> None:
    """Write the application for gunicorn."""
    (tmp_path / "modes_app.py").write_text(_WSGI, encoding="utf-8")


def is_down(server: Server) -> bool:
    """Return whether the votes have been raised and are lowered."""
    return server.targets[-1:] == [LOWERED]


@SERVERS
def test_a_streamed_answer_has_two_modes(start: Start, command: tuple[str, ...]) -> None:
    """The prompt has burst, decoding balanced, and after the last token the votes come down."""
    server = start(*command)
    _, response = server.ask(CHAT, json.dumps({"max_tokens": 4}))
    assert (response.status, response.headers["x-power-mode"]) == (200, "burst")
    assert response.headers["x-power-mode-reason"] == "service"
    assert len(response.read().split()) >= 4
    until(lambda: is_down(server))
    assert server.targets == [BURST, BALANCED, LOWERED]
    server.end()
    server.assert_freed(1)


@SERVERS
@pytest.mark.parametrize("by", ["header", "JSON field"])
def test_a_request_chooses_its_mode(start: Start, command: tuple[str, ...], by: str) -> None:
    """A mode that is not allowed gets an error that names those that are."""
    server = start(*command)
    headers = {"X-Power-Mode": "balanced"} if by == "header" else {}
    body: dict[str, Any] = {"max_tokens": 1} if by == "header" else {"max_tokens": 1, "power_mode": "balanced"}
    _, response = server.ask(CHAT, json.dumps(body), headers)
    assert (response.status, response.headers["x-power-mode-reason"]) == (200, by)
    response.read()
    until(lambda: is_down(server))
    assert server.targets == [BALANCED, LOWERED]

    _, response = server.ask(CHAT, json.dumps({"power_mode": "decode"}))
    assert response.status == 400
    assert "burst, balanced" in json.loads(response.read())["error"]["message"]
    server.end()
    server.assert_freed(1)


@SERVERS
def test_a_client_that_leaves_its_stream(start: Start, command: tuple[str, ...]) -> None:
    """The votes come down, though the answer is far from its end."""
    server = start(*command)
    connection, response = server.ask(CHAT, ENDLESS)
    assert response.readline()
    until(lambda: server.targets == [BURST, BALANCED])
    response.close()
    connection.close()
    until(lambda: is_down(server))
    assert server.targets == [BURST, BALANCED, LOWERED]
    server.end()
    server.assert_freed(1)


def test_sigterm_without_a_lifespan(start: Start) -> None:
    """The controller is made at the first request, and closed when the server raises the signal again."""
    server = start(*UVICORN, "--lifespan", "off")
    _, response = server.ask(CHAT, ENDLESS)
    assert response.readline()
    until(lambda: server.targets == [BURST, BALANCED])
    server.end()
    assert is_down(server)
    server.assert_freed(1)


@SERVERS
def test_sigterm_within_a_stream(start: Start, command: tuple[str, ...]) -> None:
    """Uvicorn stops waiting for the answer, gunicorn waits for its end; in both cases nothing is left up."""
    server = start(*command)
    _, response = server.ask(CHAT, ENDLESS if command == UVICORN else json.dumps({"max_tokens": 30}))
    assert response.readline()
    until(lambda: server.targets == [BURST, BALANCED])
    server.end()
    assert is_down(server)
    server.assert_freed(1)


def test_workers_of_a_parent_that_has_imported_the_application(start: Start) -> None:
    """With ``--preload`` each worker makes its own controller at its first request."""
    server = start(*GUNICORN, "--preload", "--workers", "2")
    until(server.listens)
    asked = [server.ask(CHAT, json.dumps({"max_tokens": 20})) for _ in range(2)]
    for _, response in asked:
        assert response.status == 200
        response.read()
    server.end()
    workers = sum(line.function == "deviceCreate" for line in server.standin.trace)
    assert workers in (1, 2)
    assert server.targets.count(LOWERED) == workers
    server.assert_freed(workers)


@pytest.mark.parametrize(
    "command", [pytest.param(UVICORN, id="uvicorn"), pytest.param((*GUNICORN, "--threads", "8"), id="gunicorn")]
)
def test_many_requests_of_which_some_are_aborted(start: Start, command: tuple[str, ...]) -> None:
    """Eight clients ask in all modes, and leave at random; at the end nothing is up, and the server still answers."""
    server = start(*command)
    until(server.listens)

    def ask_often(seed: int) -> None:
        choices = random.Random(seed)
        for _ in range(10):
            mode = choices.choice(["burst", "balanced", None])
            body = {"max_tokens": choices.randrange(1, 4), **({} if mode is None else {"power_mode": mode})}
            connection, response = server.ask(CHAT, json.dumps(body))
            assert response.status == 200
            if choices.random() < 0.5:
                response.read()
            response.close()
            connection.close()

    clients = [threading.Thread(target=ask_often, args=(seed,)) for seed in range(8)]
    for client in clients:
        client.start()
    for client in clients:
        client.join(LONGEST_S)
    until(lambda: is_down(server))
    _, response = server.ask(CHAT, json.dumps({"max_tokens": 1}), {"x-power-mode": "balanced"})
    response.read()
    until(lambda: is_down(server))
    assert set(server.targets) == {BURST, BALANCED, LOWERED}
    server.end()
    server.assert_freed(1)
