"""A cap that follows the device, as it is made and closed: Ctrl-C, and a controller that closes it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest
from hanging import on_a_thread
from rig import Rig

from htppower.control.caps.cap_switch import CapSwitch
from htppower.control.companions import Companions

if TYPE_CHECKING:
    from collections.abc import Callable


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_closing_again_lifts_the_cap_where_ctrl_c_came_first() -> None:
    """It is left to no other: the handle of the cap is the switch's own."""
    rig = Rig()
    interrupts = [_interrupt]
    switch = CapSwitch(rig.controller, "balanced", "a test", lambda: interrupts.pop()() if interrupts else None)
    switch.set("a test")
    with pytest.raises(KeyboardInterrupt):
        switch.close()
    switch.close()
    assert rig.controller.caps == ()
    rig.controller.close()


def test_a_time_limit_of_the_host_is_passed_on_as_companions_close() -> None:
    """It is no failure of theirs; closing again tells the rest."""

    def too_late(number: int, frame: object) -> None:
        raise TimeoutError("the host's own limit")

    told: list[int] = []
    companions = Companions()
    before = signal.signal(signal.SIGINT, too_late)
    try:
        ends = companions.add(lambda: signal.raise_signal(signal.SIGINT), _interrupt)
        companions.add(lambda: told.append(1), _interrupt)
        with pytest.raises(TimeoutError, match="own limit"):
            companions.close()
    finally:
        signal.signal(signal.SIGINT, before)
    ends()
    companions.close()
    assert told == [1]


def test_a_cap_that_its_host_has_lifted_is_set_again() -> None:
    """The handles of ``VoteController.caps`` lift any cap; what set this one knows, and asks again."""
    rig = Rig()
    switch = CapSwitch(rig.controller, "balanced", "a test", lambda: None)
    switch.set("a test")
    for cap in rig.controller.caps:
        cap.lift()
    assert switch.cap is None
    switch.set("asked again")
    assert [each.reason for each in rig.controller.caps] == ["asked again"]
    switch.close()
    assert rig.controller.caps == ()
    rig.controller.close()


def test_a_controller_that_is_closed_as_the_switch_is_made_closes_it(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may close it between any two steps of that; nothing fails, and no cap is set."""
    rig = Rig()
    companions = rig.controller._companions
    add = companions.add

    def close_meanwhile(closed: Callable[[], object], disowned: Callable[[], object]) -> Callable[[], None]:
        ends = add(closed, disowned)
        on_a_thread(rig.controller.close)()
        return ends

    monkeypatch.setattr(companions, "add", close_meanwhile)
    switch = CapSwitch(rig.controller, "balanced", "a test", lambda: None)
    switch.set("a test")
    assert (switch.closed, switch.cap, caplog.messages) == (True, None, [])
