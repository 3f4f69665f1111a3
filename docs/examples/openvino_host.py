"""OpenVINO: requests begin here and end in a callback, on a thread of OpenVINO.

How a host calls it::

with session.init():
    model = openvino.compile_model("model.xml", "CPU")
run_all(model, session, frames, print)
"""

from __future__ import annotations

import contextlib
import functools
import queue
import weakref
from typing import TYPE_CHECKING, Any

import openvino

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower import Session


def run_all(
    model: openvino.CompiledModel, votes: Session, inputs: Iterable[Any], tell: Callable[[Any], object]
) -> None:
    """Run a model on every input, some at a time, and pass each first output to ``tell``; a run is an inference."""

    def ended(request: openvino.InferRequest, ticket: Any) -> None:
        ticket.end()
        output = request.get_output_tensor().data.copy()
        # If ``tell`` catches and keeps an exception, the exception holds this frame, which holds the request.
        del request
        tell(output)

    # A frame holds its function, but not this object.
    callback = functools.partial(ended)
    requests = openvino.AsyncInferQueue(model)
    requests.set_callback(callback)
    for each in inputs:
        ticket = votes.begin()
        try:
            requests.start_async(each, ticket)
        except BaseException:
            ticket.end()
            raise
    requests.wait_all()
    # A thread of OpenVINO may free the callback, for which it takes the interpreter's lock. If this thread frees the
    # model before that, it holds the lock and waits for the other thread: for ever, with OpenVINO 2026.4.1.
    freed: queue.SimpleQueue[object] = queue.SimpleQueue()
    _watch = weakref.ref(callback, freed.put)
    del requests, callback
    with contextlib.suppress(queue.Empty):
        freed.get(timeout=10)
