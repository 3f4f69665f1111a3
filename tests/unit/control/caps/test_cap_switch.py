"""A cap that follows the device, as it is made and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hanging import on_a_thread
from rig import Rig

from htppower.control.caps.cap_switch import CapSwitch

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest


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
