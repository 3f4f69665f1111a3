"""A cap that is set and lifted by the device's temperature: how it is made and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.hanging import on_a_thread
from support.inside import companions_of

from htppower import ThermalCap

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest
    from support.bench import Bench
    from support.thermal_zones import Tree

PERIOD_US = 1_000_000


def test_a_cap_that_its_host_has_lifted_is_set_again(bench: Bench, tree: Tree) -> None:
    """If the host lifts the cap through ``VoteController.caps``, the next reading of a hot device sets it again."""
    tree.zone(0, "cpu-0-0", "90000")
    with tree.cap(bench) as thermal:
        for cap in bench.controller.caps:
            cap.lift()
        assert (thermal.cap, bench.controller.caps) == (None, ())
        bench.time.advance_us(PERIOD_US)
        assert [each.reason for each in bench.controller.caps] == ["cpu-0-0 at 90.0 C, above 70 C"]
    assert bench.controller.caps == ()


def test_a_controller_that_is_closed_as_a_cap_is_made_closes_it(
    bench: Bench, tree: Tree, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If another thread closes the controller while the cap is made, nothing fails, and no cap is set."""
    tree.zone(0, "cpu-0-0", "90000")
    companions = companions_of(bench.controller)
    add = companions.add

    def close_meanwhile(closed: Callable[[], object], disowned: Callable[[], object]) -> Callable[[], None]:
        ends = add(closed, disowned)
        on_a_thread(bench.controller.close)()
        return ends

    monkeypatch.setattr(companions, "add", close_meanwhile)
    thermal = ThermalCap(bench.controller, above_c=70, below_c=60, root=tree.root)
    bench.time.advance_us(PERIOD_US)
    assert (thermal.cap, bench.time.alarms, caplog.messages) == (None, 0, [])
