"""Objects that are closed on leaving a ``with`` block."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench

import htppower
from htppower import SessionClosed, State

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND_US = 1_000_000
PACKAGE = str(Path(htppower.__file__).parent)

# How each object is made, and how to see that it was closed.
MADE: dict[str, Callable[[Bench, Path], Any]] = {
    "session": lambda bench, _folder: bench.controller.session("burst"),
    "hold": lambda bench, _folder: bench.controller.session("burst").hold(
        "balanced", reason="a", timeout_us=9 * SECOND_US
    ),
    "cap": lambda bench, _folder: bench.controller.cap("balanced", reason="a test"),
    "status file": lambda bench, folder: bench.controller.serve_status(folder / "status.json"),
    "recording": lambda bench, folder: bench.controller.record(folder / "trace.jsonl"),
}
GIVEN_UP: dict[str, Callable[[Any], bool]] = {
    "session": lambda session: session.state is State.DESTROYED,
    "hold": lambda hold: not hold.active,
    "cap": lambda cap: not cap.active,
    "status file": lambda file: file.closed,
    "recording": lambda recording: recording.closed,
}


@pytest.mark.parametrize("kind", ["controller", *MADE])
def test_an_exit_stack_enters_and_leaves_it(kind: str, tmp_path: Path) -> None:
    """``ExitStack`` looks the methods up on the class, so they must be there."""
    bench = Bench.make()
    made = bench.controller if kind == "controller" else MADE[kind](bench, tmp_path)
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(made) is made
        with made as entered:
            assert entered is made
    if kind == "controller":
        with pytest.raises(SessionClosed):
            made.session("burst")
    else:
        assert GIVEN_UP[kind](made)
    bench.controller.close()
