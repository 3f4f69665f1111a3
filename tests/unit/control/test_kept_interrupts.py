"""Ctrl-C that a host keeps, as a prompt keeps the last one: what its frames refer to keeps no phase running."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from rig import Rig

from htppower import State
from htppower.control.core.gate import Gate
from htppower.control.phases import tickets

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session

SECOND_US = 1_000_000
PHASES = ("init", "inference", "ainference", "deinit")
# What gives a token back as a phase ends, and as it does not begin.
ENDS = {"init": "end_preparation", "inference": "must_lower", "ainference": "end", "deinit": "end_preparation"}
DROPS = {"init": "drop_preparation", "inference": "drop", "ainference": "drop", "deinit": "drop_preparation"}


def _run(session: Session, phase: str, action: Callable[[], object]) -> None:
    """Run an action in a phase."""

    async def infer() -> None:
        async with session.ainference():
            action()

    if phase == "ainference":
        asyncio.run(infer())
    else:
        with getattr(session, phase)():
            action()


def _interrupt(patched: pytest.MonkeyPatch, name: str) -> None:
    """Have Ctrl-C come as a function of the gate is called next."""

    def interrupted(*_: Any) -> None:
        patched.undo()
        raise KeyboardInterrupt

    patched.setattr(Gate, name, interrupted)


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_that_is_interrupted_at_its_end_ends(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    """Before its token is given back: the session is lowered, whoever keeps the exception."""
    rig = Rig()
    session = rig.controller.session("burst")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt) as kept:
        _run(session, phase, lambda: _interrupt(patched, ENDS[phase]))
    rig.time.advance_us(2 * SECOND_US)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    assert kept.value is not None
    rig.controller.close()


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_that_is_interrupted_twice_at_its_begin_does_not_begin(
    monkeypatch: pytest.MonkeyPatch, phase: str
) -> None:
    """In its raise, and as its token is taken back: the session is lowered, whoever keeps the exceptions."""
    rig = Rig()
    session = rig.controller.session("burst")
    rig.backend.next_raises(KeyboardInterrupt())
    with monkeypatch.context() as patched:
        _interrupt(patched, DROPS[phase])
        with pytest.raises(KeyboardInterrupt) as kept:
            _run(session, phase, lambda: pytest.fail("the phase began"))
    rig.time.advance_us(2 * SECOND_US)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    assert kept.value is not None
    rig.controller.close()


@pytest.mark.parametrize("name", ["_show", "call_at"])
def test_a_ticket_that_is_interrupted_before_anyone_has_it_ends(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Its inference has begun: the session is lowered, whoever keeps the exception."""
    rig = Rig()
    session = rig.controller.session("burst")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(tickets if name == "_show" else rig.time, name, interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            session.begin(timeout_us=10 * SECOND_US)
    rig.time.advance_us(2 * SECOND_US)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    assert rig.controller.status().sessions[0].tickets == ()
    assert kept.value is not None
    rig.controller.close()


@pytest.mark.parametrize("phase", ["inference", "ainference"])
def test_a_phase_that_is_interrupted_as_it_is_timed_does_not_begin(monkeypatch: pytest.MonkeyPatch, phase: str) -> None:
    """It has its token by then: the session is lowered, whoever keeps the exception."""
    rig = Rig()
    session = rig.controller.session("burst")
    _run(session, phase, lambda: None)
    session.expect(every_us=100 * SECOND_US)

    def interrupted() -> int:
        patched.undo()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(rig.time, "now_ns", interrupted)
        with pytest.raises(KeyboardInterrupt) as kept:
            _run(session, phase, lambda: pytest.fail("the phase began"))
    rig.time.advance_us(2 * SECOND_US)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    assert kept.value is not None
    rig.controller.close()
