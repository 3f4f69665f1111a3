"""Calls of the public API by the host: the specification is told of each, and what it raises is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import htppower

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulation.demand import Client
    from simulation.specification import Specification


class PublicCalls:
    """Makes calls of the public API.

    Args:
        specification: is told of each.
        raises: whether the controller has ``on_error="raise"``.
    """

    def __init__(self, specification: Specification, *, raises: bool) -> None:
        self._specification = specification
        self._raises = raises

    def call(self, kind: str, client: Client | None, call: Callable[[], object]) -> BaseException | None:
        """Call the public API; return what it raised, which must be something that it may raise."""
        specification = self._specification
        operation = specification.begins(kind, client)
        error: BaseException | None = None
        try:
            call()
        except (htppower.VoteRejected, htppower.SessionClosed, htppower.CloseTimedOut) as raised:
            error = raised.with_traceback(None)
        closing = client is None or client.closing
        if isinstance(error, htppower.SessionClosed) and not closing:
            specification.situation.fail("SessionClosed is raised on what was closed", kind)
        elif isinstance(error, htppower.VoteRejected) and not self._raises and kind != "open":
            specification.situation.fail("a vote that fails raises nothing", f"{kind}: {error!r}")
        specification.ends(operation, error)
        return error
