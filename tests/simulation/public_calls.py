"""Calls of the public API by the host: the specification is told of each, and what it raises is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.situation import Operation
    from simulation.specification import Specification


class PublicCalls:
    """Makes calls of the public API.

    Args:
        specification: is told of each.
        raises: whether the controller has ``on_error="raise"``.
    """

    def __init__(self, specification: Specification, *, raises: bool) -> None:
        self._specification = specification
        self._scheduler = specification.situation.scheduler
        self._raises = raises

    def call(
        self, kind: str, client: Client | None, call: Callable[[], object], interrupt: int = 0
    ) -> BaseException | None:
        """Call the public API; return what it raised, which must be something that it may raise."""
        specification, task = self._specification, self._scheduler.current
        operation = specification.begins(kind, client)
        task.interrupt_in = interrupt
        error: BaseException | None = None
        try:
            call()
        except (KeyboardInterrupt, htppower.VoteRejected, htppower.SessionClosed) as raised:
            error = raised.with_traceback(None)
        finally:
            task.interrupt_in = 0
        self._check_error(operation, error)
        specification.ends(operation, error)
        return error

    def _check_error(self, operation: Operation, error: BaseException | None) -> None:
        if isinstance(error, htppower.SessionClosed):
            client = operation.client
            if client is None or not client.closing:
                self._specification.situation.fail("SessionClosed is raised on what was closed", operation.kind)
        elif isinstance(error, htppower.VoteRejected) and not self._raises and operation.kind != "open":
            self._specification.situation.fail("a vote that fails raises nothing", f"{operation.kind}: {error!r}")
