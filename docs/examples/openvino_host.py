"""OpenVINO: requests that begin here and end in a callback, on a thread of OpenVINO's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import openvino

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower import Session


def run_all(
    model: openvino.CompiledModel, votes: Session, inputs: Iterable[Any], tell: Callable[[Any], object]
) -> None:
    """Run a model on every input, some at a time, and tell the first output of each; each is an inference."""

    def ended(request: openvino.InferRequest, ticket: Any) -> None:
        ticket.end()
        tell(request.get_output_tensor().data.copy())

    queue = openvino.AsyncInferQueue(model)
    queue.set_callback(ended)
    for each in inputs:
        ticket = votes.begin()
        try:
            queue.start_async(each, ticket)
        except BaseException:
            ticket.end()
            raise
    queue.wait_all()
