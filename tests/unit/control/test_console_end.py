"""The end of a process by a console of Windows: which events close the controllers."""

from __future__ import annotations

import pytest

from htppower.control.console_end import ConsoleEnd


@pytest.mark.parametrize(("event", "closes"), [(0, False), (1, True), (2, True), (5, False), (6, True)])
def test_only_the_ends_of_the_process_close_the_controllers(event: int, closes: bool) -> None:
    """Ctrl-Break, a closed window and a shutdown close them; Ctrl-C and a logoff do not. The next handler is asked."""
    closed: list[int] = []
    answer = ConsoleEnd(lambda: closed.append(event)).handle(event)
    assert (answer, bool(closed)) == (0, closes)
