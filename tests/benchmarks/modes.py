"""The cost of a mode within a sustain time: an inference, and a request of ASGI and of WSGI applications."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING, Any

from figures import Figure
from hot_path import quickest, time_inferences
from support.web import JSON, Exchange, ask

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.hosts.web import AsgiVotes, ModePolicy, WsgiVotes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

BODY = json.dumps({"power_mode": "burst", "prompt": "x" * 4000}).encode()
POLICY = ModePolicy(allowed=("burst", "balanced", "power_saver"), routes={"/v1/*": None})


async def _asgi(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body"})


def _wsgi(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [])
    return []


def _time_asgi(app: Any, rounds: int, path: str, headers: Mapping[str, str]) -> float:
    """Return the seconds of a request."""

    async def ask_often() -> float:
        exchanges = [Exchange.of(path, BODY, headers=headers) for _ in range(rounds)]
        start = time.perf_counter()
        for exchange in exchanges:
            await app(exchange.scope, exchange.receive, exchange.send)
        return (time.perf_counter() - start) / rounds

    return asyncio.run(ask_often())


def _time_wsgi(app: Any, rounds: int) -> float:
    """Return the seconds of a request with a header."""
    start = time.perf_counter()
    for _ in range(rounds):
        ask(app, "/v1/x", HTTP_X_POWER_MODE="burst")
    return (time.perf_counter() - start) / rounds


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the figures."""
    rounds, pairs = 500, 20 if smoke else 200
    with VoteController(SimulatedHtp(arch=75), handle_sigterm=False) as controller:
        plain, session = controller.session("burst"), controller.session("burst")
        modes = session.modes(["burst", "balanced"])
        time_inferences(plain, 1)
        time_inferences(modes, 1)
        ours, other, ratio = quickest(
            lambda: time_inferences(modes, rounds), lambda: time_inferences(plain, rounds), pairs
        )
        yield Figure(
            "inference in a mode / without", ratio, 8, "x", f"{ours * 1e6:.2f} us against {other * 1e6:.2f} us"
        )
        asgi, wsgi = AsgiVotes(_asgi, controller, POLICY), WsgiVotes(_wsgi, controller, POLICY)
        header = {**JSON, "x-power-mode": "burst"}
        timed: dict[str, tuple[Callable[[], float], Callable[[], float]]] = {
            f"request under ASGI, {what}": (
                lambda path=path, headers=headers: _time_asgi(asgi, rounds, path, headers),  # type: ignore[misc]
                lambda path=path, headers=headers: _time_asgi(_asgi, rounds, path, headers),  # type: ignore[misc]
            )
            for what, path, headers in (
                ("by header", "/v1/x", header),
                ("by a field in 4 KiB", "/v1/x", JSON),
                ("without votes", "/health", JSON),
            )
        }
        timed["request under WSGI, by header"] = lambda: _time_wsgi(wsgi, rounds), lambda: _time_wsgi(_wsgi, rounds)
        for what, (with_votes, without) in timed.items():
            ours, other, _ = quickest(with_votes, without, pairs)
            yield Figure(f"{what}: added time", (ours - other) * 1e6, None, "us", f"{other * 1e6:.2f} us without")
