"""A FastAPI application: each worker process has its own controller, which lives as long as the application."""

import contextlib
import time
from collections.abc import AsyncIterator

from fastapi import FastAPI, Request

import htppower


@contextlib.asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Make the controller when the server starts, and close it when it shuts down."""
    with app.state.make_controller() as controller:
        app.state.session = controller.session("burst", owner="detector")
        yield


app = FastAPI(lifespan=lifespan)
app.state.make_controller = htppower.VoteController  # a test puts a simulated one here


@app.get("/detect")
def detect(request: Request, seconds: float = 0.01) -> str:
    """Run one inference; FastAPI calls a plain function on a thread of a pool."""
    with request.app.state.session.inference():
        time.sleep(seconds)  # run the graph
    return "done"
