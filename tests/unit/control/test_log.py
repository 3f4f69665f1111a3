"""The log has one line for each event, with stable keys, at a level that shows whether it needs attention."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import attrs
from support.bench import explicit_hmx, voting

from htppower import VoteController, events
from htppower.backends import SimulatedHtp
from htppower.control.log import line
from htppower.testing import VirtualTime
from htppower.votes.corners import ExpandedCorner
from htppower.votes.native_codes import FAILED, SYSTEM_COMMUNICATION

if TYPE_CHECKING:
    import pytest
    from support.bench import Bench


def test_a_transition_is_one_line_with_stable_keys(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The line is exactly as documented, and the record has the event."""
    caplog.set_level(logging.DEBUG, "htppower")
    session = bench.controller.session("burst", owner="camera")
    bench.infer(session)
    bench.time.advance_us(300_000)
    lowered = [record for record in caplog.records if record.getMessage().startswith("Transition")][-1]
    assert lowered.getMessage() == (
        "Transition order=9 time_us=301000 session=1 owner=camera profile=burst trigger=lower source=RAISED "
        'dest=LOWERED cause="sustain expired" lasted_us=301000 late_us=0'
    )
    event = lowered.__dict__["htppower"]
    assert isinstance(event, events.Transition)
    assert event.order == 9


def test_an_owner_can_not_break_the_line(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Line breaks, quotes and control characters are escaped."""
    caplog.set_level(logging.DEBUG, "htppower")
    bench.controller.session("burst", owner='a\nb "c"\x1b[0m\u2028')
    (text,) = [record.getMessage() for record in caplog.records]
    assert 'owner="a\\nb \\"c\\"\\u001b[0m\\u2028"' in text
    assert text.isprintable()


def test_a_value_may_be_of_any_script_and_empty() -> None:
    """Readable characters stay as they are; an empty value shows as empty quotes."""
    opened = events.SessionOpened(order=1, time_us=0, session=1, owner="", profile="burst", power_config_ids=())
    assert ' owner="" ' in line(opened)
    assert " owner=カメラ " in line(attrs.evolve(opened, owner="カメラ"))
    assert ' owner="カ メ" ' in line(attrs.evolve(opened, owner="カ メ"))


def _levels(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    return [(record.levelname, record.getMessage().split()[0]) for record in caplog.records]


def test_the_usual_is_not_logged_above_debug(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Sessions, transitions, saves and changes of profile are not logged at INFO."""
    caplog.set_level(logging.INFO, "htppower")
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.infer(session)
    session.use("balanced")
    bench.time.advance_us(300_000)
    session.close()
    assert caplog.records == []


def test_an_inference_writes_nothing_at_info(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The libraries that htppower uses log nothing at INFO, either."""
    caplog.set_level(logging.INFO)
    session = bench.controller.session("balanced")
    bench.infer(session)
    assert caplog.records == []


def test_holds_caps_and_recoveries_are_info(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """Holds, caps and recoveries are INFO; the failed raise before a recovery is a WARNING."""
    caplog.set_level(logging.INFO, "htppower")
    session = bench.controller.session("balanced")
    session.hold("burst", reason="capture").release()
    bench.controller.cap("power_saver", reason="heat").lift()
    bench.simulated.fail_next(FAILED)
    bench.infer(session)
    bench.infer(session)
    assert _levels(caplog) == [
        ("INFO", "HoldBegan"),
        ("INFO", "HoldEnded"),
        ("INFO", "CapSet"),
        ("INFO", "CapLifted"),
        ("WARNING", "Transition"),
        ("INFO", "Recovered"),
    ]


def test_a_loss_that_another_session_told_of_is_a_warning(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A lost link is a WARNING, and so is each session that loses its votes; the recovery is INFO."""
    first, second = bench.controller.session("burst"), bench.controller.session("burst")
    with first.inference(), second.inference():
        caplog.set_level(logging.WARNING, "htppower")
        bench.simulated.fail_next(SYSTEM_COMMUNICATION)
        first.use("balanced")
    lost = [record.__dict__["htppower"].session for record in caplog.records]
    assert sorted(lost) == [0, 1, 2]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_a_lowering_that_failed_is_an_error(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The votes may still be up, so this is an ERROR."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(FAILED)
    bench.time.advance_us(300_000)
    assert _levels(caplog) == [("ERROR", "Transition")]


def test_a_degradation_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The WARNING has the missing vote with its rule, quoted as one value."""
    with VoteController(SimulatedHtp(arch=68), time=VirtualTime(), handle_sigterm=False) as controller:
        controller.session(voting(hmx_v2=explicit_hmx(ExpandedCorner.TUR)))
    texts = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert texts
    assert all('degradation="Degradation(rule=' in text for text in texts)
