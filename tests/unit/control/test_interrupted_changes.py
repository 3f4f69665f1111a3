"""Ctrl-C in a change of the profile, and in the begin and the end of a hold or a cap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from bench import BURST_SUSTAIN_US
from interrupting import interrupted_once
from rig import Rig

from htppower import State
from htppower.control.claims import holds
from htppower.control.core.gate import Gate
from htppower.control.core.sustain_timer import SustainTimer

if TYPE_CHECKING:
    from collections.abc import Callable

SECOND_US = 1_000_000


@pytest.mark.parametrize("part", [SustainTimer, Gate])
def test_ctrl_c_in_the_begin_of_a_hold_leaves_the_times_of_the_own_profile(
    monkeypatch: pytest.MonkeyPatch, part: type[SustainTimer | Gate]
) -> None:
    """However far the change to the hold's profile had come: the sustain of the next inference is that of the own."""
    rig = Rig()
    session = rig.controller.session("burst")
    follow: Callable[..., None] = part.follow

    def interrupted(*changing: Any, **ends: bool) -> None:
        patched.undo()
        follow(*changing, **ends)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(part, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.hold("high_performance", reason="a test")
    with session.inference():
        pass
    rig.time.advance_us(BURST_SUSTAIN_US - 1)
    assert session.state is State.RAISED
    rig.time.advance_us(1)
    assert session.state is State.LOWERED
    rig.controller.close()


@pytest.mark.parametrize("verb", ["hold", "cap", "use"])
@pytest.mark.parametrize("after", [False, True])
def test_ctrl_c_in_a_change_of_profile_leaves_no_votes_up(
    monkeypatch: pytest.MonkeyPatch, verb: str, after: bool
) -> None:
    """A session in its sustain window, whose alarm was taken back when the interrupt came, is lowered soon."""
    rig = Rig()
    session = rig.controller.session("burst")
    with session.inference():
        pass
    follow = Gate.follow

    def interrupted(gate: Gate, *plan: Any, **ends: Any) -> None:
        patched.undo()
        if after:
            follow(gate, *plan, **ends)
        raise KeyboardInterrupt

    changes: dict[str, Callable[[], object]] = {
        "hold": lambda: session.hold("balanced", reason="a test", timeout_us=SECOND_US),
        "cap": lambda: rig.controller.cap("balanced", reason="a test"),
        "use": lambda: session.use("balanced"),
    }
    with monkeypatch.context() as patched:
        patched.setattr(Gate, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            changes[verb]()
    rig.time.advance_us(2 * SECOND_US)
    assert session.state is State.LOWERED
    assert rig.time.alarms == 0
    rig.controller.close()


@pytest.mark.parametrize("verb", ["hold", "cap"])
def test_ctrl_c_before_a_hold_or_a_cap_is_given_up_ends_it_soon(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    """What was asked for is done, though the caller does not ask again."""
    rig = Rig()
    session = rig.controller.session("burst")
    hold = session.hold("balanced", reason="a test", timeout_us=10 * SECOND_US)
    cap = rig.controller.cap("balanced", reason="a test")
    with monkeypatch.context() as patched:
        patched.setattr(holds, "in_closed_generator", interrupted_once(patched))
        with pytest.raises(KeyboardInterrupt):
            (hold.release if verb == "hold" else cap.lift)()
    rig.time.advance_us(SECOND_US)
    assert (hold.active, cap.active) == (verb != "hold", verb != "cap")
    rig.controller.close()


def test_ctrl_c_in_a_change_of_profile_leaves_the_times_of_the_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """However far the change had come: the sustain of the next inference is that of the profile that is used."""
    rig = Rig()
    session = rig.controller.session("high_performance")
    with monkeypatch.context() as patched:
        patched.setattr(SustainTimer, "follow", interrupted_once(patched))
        with pytest.raises(KeyboardInterrupt):
            session.use("burst")
    with session.inference():
        assert session.profile.name == "burst"
    rig.time.advance_us(BURST_SUSTAIN_US - 1)
    assert session.state is State.RAISED
    rig.time.advance_us(1)
    assert session.state is State.LOWERED
    rig.controller.close()


def test_ctrl_c_in_the_end_of_a_cap_or_a_hold_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Soon after, also where its handle is dropped then, with which neither ends: the hold has a timeout."""
    rig = Rig()
    session = rig.controller.session("burst")
    ends = (
        session.hold("balanced", reason="a test", timeout_us=1000 * SECOND_US).release,
        rig.controller.cap("balanced", reason="a test").lift,
    )

    def interrupted() -> bool:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(holds, "in_closed_generator", interrupted)
        for end in ends:
            with pytest.raises(KeyboardInterrupt):
                end()
    rig.time.advance_us(1)
    assert rig.controller.caps == ()
    assert session.profile.name == "burst"
    rig.controller.close()
