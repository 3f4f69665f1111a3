"""What gives itself up on leaving a ``with`` block, where Ctrl-C comes as it does."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from rig import Rig

import htppower
from htppower import SessionClosed, State

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

SECOND_US = 1_000_000
PACKAGE = str(Path(htppower.__file__).parent)

# What is made, and whether it was given up.
MADE: dict[str, Callable[[Rig, Path], Any]] = {
    "session": lambda rig, _folder: rig.controller.session("burst"),
    "hold": lambda rig, _folder: rig.controller.session("burst").hold("balanced", reason="a", timeout_us=9 * SECOND_US),
    "cap": lambda rig, _folder: rig.controller.cap("balanced", reason="a test"),
    "status file": lambda rig, folder: rig.controller.serve_status(folder / "status.json"),
    "recording": lambda rig, folder: rig.controller.record(folder / "trace.jsonl"),
}
GIVEN_UP: dict[str, Callable[[Any], bool]] = {
    "session": lambda session: session.state is State.DESTROYED,
    "hold": lambda hold: not hold.active,
    "cap": lambda cap: not cap.active,
    "status file": lambda file: file.closed,
    "recording": lambda recording: recording.closed,
}


@pytest.mark.parametrize("kind", MADE)
def test_ctrl_c_on_leaving_a_block_is_made_up_for_before_another_can_come(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is given up soon; and no function in Python, which a second Ctrl-C may hit, runs before that is said."""
    rig = Rig()
    made = MADE[kind](rig, tmp_path)
    called: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            called.append(frame.f_code.co_name)

    def interrupted(*_made: object, **_how: object) -> None:
        patched.undo()
        sys.setprofile(note)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(type(made), "_leave", interrupted)
        try:
            with pytest.raises(KeyboardInterrupt):
                made.__exit__(None, None, None)
        finally:
            sys.setprofile(None)
    assert called == []
    assert not GIVEN_UP[kind](made)
    rig.time.advance_us(SECOND_US)
    assert GIVEN_UP[kind](made)
    rig.controller.close()


@pytest.mark.parametrize("kind", ["controller", *MADE])
def test_an_exit_stack_enters_and_leaves_it(kind: str, tmp_path: Path) -> None:
    """It asks the class for what enters, as ``with`` does not."""
    rig = Rig()
    made = rig.controller if kind == "controller" else MADE[kind](rig, tmp_path)
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(made) is made
        with made as entered:
            assert entered is made
    if kind == "controller":
        with pytest.raises(SessionClosed):
            made.session("burst")
    else:
        assert GIVEN_UP[kind](made)
    rig.controller.close()
