"""A WSGI application: each worker process has its own controller, made when the module is imported."""

import time
from collections.abc import Callable, Iterable
from typing import Any

import htppower

controller = htppower.VoteController()
session = controller.session("burst", owner="detector")


def app(environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
    """Run one inference."""
    with session.inference():
        time.sleep(float(environ.get("QUERY_STRING") or 0.01))  # run the graph
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"done"]
