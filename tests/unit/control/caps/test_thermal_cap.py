"""The thermal cap: its two limits, its period, and its end."""

from __future__ import annotations

import itertools
import math
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bench import MAX_CORNER, Bench
from support.examples import examples
from support.thermal_zones import Tree

from htppower import ProfileError, SessionClosed, ThermalCap
from htppower.control.caps.thermal_cap import SHORTEST_PERIOD_US
from htppower.events import CapLifted, CapSet, Event

if TYPE_CHECKING:
    from collections.abc import Callable

PERIOD_US = 1_000_000


def test_it_caps_above_and_lifts_below_and_keeps_between(bench: Bench, tree: Tree) -> None:
    """The cap is set above the upper limit and lifted below the lower limit; at a limit nothing changes."""
    session = bench.controller.session("burst")
    with session.inference(), tree.cap(bench):
        for text, name in (
            ("70000", "burst"),
            ("70001", "balanced"),
            ("60000", "balanced"),
            ("69000", "balanced"),
            ("59999", "burst"),
            ("65000", "burst"),
        ):
            tree.zone(0, "cpu-0-0", text)
            bench.time.advance_us(PERIOD_US)
            assert session.profile.name == name, text
        assert bench.effective().core_target == MAX_CORNER


def test_it_looks_when_it_is_made_and_then_once_a_period(bench: Bench, tree: Tree) -> None:
    """A device that is already hot is capped at once. Later changes are noticed only once in a period."""
    with tree.cap(bench, period_us=500_000):
        tree.zone(0, "cpu-0-0", "90000")
        bench.time.advance_us(499_999)
        assert bench.controller.caps == ()
        bench.time.advance_us(1)
        assert len(bench.controller.caps) == 1
        assert bench.time.alarms == 1


def test_another_profile_and_a_profile_that_is_below_it(bench: Bench, tree: Tree) -> None:
    """The cap uses the given profile; a session with a lower profile keeps its own."""
    tree.zone(0, "cpu-0-0", "90000")
    high, low = bench.controller.session("burst"), bench.controller.session("extreme_power_saver")
    with tree.cap(bench, profile="power_saver"):
        assert (high.profile.name, low.profile.name) == ("power_saver", "extreme_power_saver")


@pytest.mark.parametrize(
    "options",
    [
        {"below_c": 70},
        {"below_c": 71},
        {"above_c": math.nan},
        {"above_c": math.inf},
        {"period_us": SHORTEST_PERIOD_US - 1},
        {"zones": ()},
    ],
    ids=str,
)
def test_what_it_refuses(bench: Bench, tree: Tree, options: dict[str, Any]) -> None:
    """If an argument is refused, no cap is set and no alarm is armed."""
    tree.zone(0, "cpu-0-0", "90000")
    with pytest.raises(ValueError, match=r"below_c|period_us|no thermal zone"):
        tree.cap(bench, **options)
    assert (bench.controller.caps, bench.time.alarms) == ((), 0)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"above_c": "70"}, "above_c is '70': a number of degrees Celsius"),
        ({"below_c": None}, "below_c is None: a number of degrees Celsius"),
        ({"period_us": 1.5e6}, "period_us is 1500000.0: a whole number of us"),
        ({"zones": None}, r"zones is None: a name such as 'cpu-\*', or a list of names"),
        ({"zones": ("cpu-*", 5)}, r"zones is \('cpu-\*', 5\): a name such as 'cpu-\*', or a list of names"),
        ({"root": None}, "root is None: the path of a folder, such as '/sys/class/thermal'"),
        ({"controller": None}, r"controller is None, which has no cap\(\): a VoteController"),
    ],
    ids=str,
)
def test_an_argument_of_another_type_is_named(bench: Bench, tree: Tree, options: dict[str, Any], said: str) -> None:
    """The error names the argument and the type it needs; no alarm is armed."""
    given = {"controller": bench.controller, "above_c": 70, "below_c": 60, "root": tree.root, **options}
    with pytest.raises(TypeError, match=f"^{said}$"):
        ThermalCap(**given)
    assert bench.time.alarms == 0


def test_a_profile_that_can_not_be_used_is_told_at_once(bench: Bench, tree: Tree) -> None:
    """A wrong profile raises ProfileError when the cap is made, not when the device gets hot."""
    with pytest.raises(ProfileError):
        tree.cap(bench, profile="balancd")


def test_closing_lifts_and_looks_no_more(bench: Bench, tree: Tree) -> None:
    """Closing lifts the cap and cancels its alarm; closing twice has no effect."""
    tree.zone(0, "cpu-0-0", "90000")
    session = bench.controller.session("burst")
    thermal = tree.cap(bench)
    assert session.profile.name == "balanced"
    thermal.close()
    thermal.close()
    assert (session.profile.name, bench.time.alarms) == ("burst", 0)
    bench.time.advance_us(5 * PERIOD_US)
    assert bench.controller.caps == ()


def test_it_ends_with_its_controller(bench: Bench, tree: Tree) -> None:
    """Closing the controller closes the thermal cap after the sessions, so lifting the cap raises no votes."""
    tree.zone(0, "cpu-0-0", "90000")
    session = bench.controller.session("burst")
    thermal = tree.cap(bench)
    with session.inference():
        bench.recorder.clear()
        bench.controller.close()
    assert [call.function for call in bench.recorder.calls] == ["setPowerConfig", "destroyPowerConfigId"]
    assert (bench.time.alarms, thermal.cap, thermal.status().capped) == (0, None, False)
    thermal.close()
    with pytest.raises(SessionClosed):
        tree.cap(bench)


def test_a_subscriber_may_close_it_as_it_caps(bench: Bench, tree: Tree) -> None:
    """A subscriber may close the thermal cap while the cap is being set; no cap is left behind."""
    thermal = tree.cap(bench)
    bench.controller.subscribe(lambda _: thermal.close(), (CapSet,))
    tree.zone(0, "cpu-0-0", "90000")
    bench.time.advance_us(PERIOD_US)
    assert (bench.controller.caps, thermal.cap, bench.time.alarms) == ((), None, 0)


@examples(20)
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(("30000", "59999", "60000", "65000", "70000", "70001", "90000", "?")),
            st.sampled_from((0, 1, 50_000, 99_999, 100_000, 100_001, 350_000)),
        ),
        max_size=25,
    )
)
def test_whatever_the_temperatures_it_obeys_hysteresis_and_its_period(steps: list[tuple[str, int]]) -> None:
    """Each reading sets or lifts the cap by the two limits; two changes are at least a period apart."""
    bench, changes = Bench.make(), list[Event]()
    bench.controller.subscribe(changes.append, (CapSet, CapLifted))
    with tempfile.TemporaryDirectory() as folder, bench.controller:
        tree = Tree(Path(folder))
        tree.zone(0, "cpu", "40000")
        tree.cap(bench, period_us=100_000)
        capped, next_us = False, 100_000
        for text, duration_us in steps:
            tree.zone(0, "cpu", text)
            bench.time.advance_us(duration_us)
            while next_us <= bench.time.now_us:
                next_us += 100_000
                if text != "?":
                    capped = int(text) > 70_000 or (capped and int(text) >= 60_000)
            assert bool(bench.controller.caps) is capped
        times_us = [change.time_us for change in changes]
    assert all(later - earlier >= 100_000 for earlier, later in itertools.pairwise(times_us))
    assert [type(change) for change in changes] == ([CapSet, CapLifted] * len(changes))[: len(changes)]


def test_a_slow_look_does_not_bring_changes_closer(bench: Bench, tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next reading begins a period after the end of the last one, even if that reading was slow."""
    real = Path.read_bytes

    def slow(path: Path) -> bytes:
        bench.time.sleep(0.4)
        return real(path)

    changes: list[Event] = []
    bench.controller.subscribe(changes.append, (CapSet, CapLifted))
    monkeypatch.setattr(Path, "read_bytes", slow)
    with tree.cap(bench):
        tree.zone(0, "cpu-0-0", "90000")
        bench.time.advance_us(2 * PERIOD_US)
        monkeypatch.undo()
        tree.zone(0, "cpu-0-0", "30000")
        bench.time.advance_us(2 * PERIOD_US)
    assert len(changes) == 2
    assert changes[1].time_us - changes[0].time_us >= PERIOD_US


def test_a_number_that_no_float_holds_is_no_temperature(bench: Bench, tree: Tree) -> None:
    """A zone whose number fits no float is logged once, and the other zones still count."""
    tree.zone(0, "cpu-0-0", "40000")
    with tree.cap(bench) as cap:
        tree.zone(1, "cpu-0-1", "9" * 400)
        bench.time.advance_us(PERIOD_US)
        tree.zone(0, "cpu-0-0", "90000")
        bench.time.advance_us(PERIOD_US)
        assert cap.cap is not None


@pytest.mark.parametrize("failing", [1, 2, 3, 4])
def test_it_goes_on_looking_where_alarms_can_not_be_armed(
    bench: Bench, tree: Tree, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    """If no alarm can be armed, the cap's own thread waits for the next reading."""
    call_at, rests = bench.time.call_at, list[float]()
    left = [RuntimeError("can't start new thread")] * failing

    def failing_at(deadline_us: int, action: Callable[[], None]) -> Any:
        if left:
            raise left.pop()
        return call_at(deadline_us, action)

    tree.zone(0, "cpu-0-0", "40000")
    with tree.cap(bench) as cap:
        monkeypatch.setattr(bench.time, "call_at", failing_at)
        monkeypatch.setattr("time.sleep", rests.append)
        bench.time.advance_us(PERIOD_US)
        tree.zone(0, "cpu-0-0", "90000")
        bench.time.advance_us(PERIOD_US)
        assert cap.cap is not None
        assert rests == [PERIOD_US / 1_000_000] * (failing // 2)
