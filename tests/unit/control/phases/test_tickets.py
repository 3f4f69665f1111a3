"""Tickets: the begin and the end of an inference in different places."""

from __future__ import annotations

import gc
import json
import logging
from typing import TYPE_CHECKING

import pytest
from support.bench import BURST_SUSTAIN_US, Bench
from support.hanging import join, started
from support.inside import record_of

from htppower import SessionClosed, State, VoteRejected

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.control.status.controller_status import OpenTicket

SECOND_US = 1_000_000


def shown(bench: Bench) -> tuple[OpenTicket, ...]:
    """Return the tickets in the status of the one session."""
    (session,) = bench.controller.status().sessions
    return session.tickets


def test_a_ticket_is_one_inference(bench: Bench) -> None:
    """A ticket begins when the votes are up; the sustain time counts from its end."""
    session = bench.controller.session("burst")
    ticket = session.begin()
    assert (session.state, session.in_flight, ticket.active) == (State.RAISED, 1, True)
    bench.time.advance_us(SECOND_US)
    assert session.state is State.RAISED
    ticket.end()
    assert (session.in_flight, ticket.active) == (0, False)
    bench.time.advance_us(BURST_SUSTAIN_US - 1)
    assert session.state is State.RAISED
    bench.time.advance_us(1)
    assert session.state is State.LOWERED


def test_an_end_counts_once_from_whatever_threads(bench: Bench) -> None:
    """A second end, also from another thread, ends no other inference."""
    session = bench.controller.session("balanced")
    other, ticket = session.begin(), session.begin()
    join(*started(*[ticket.end] * 4))
    ticket.end()
    assert (session.in_flight, session.state, other.active) == (1, State.RAISED, True)
    other.end()
    assert (session.in_flight, session.state) == (0, State.LOWERED)


@pytest.mark.parametrize("how", ["dropped", "in a cycle"])
def test_a_ticket_that_is_collected_has_ended(bench: Bench, how: str) -> None:
    """A garbage-collected ticket ends its inference and leaves the status."""
    session = bench.controller.session("balanced")
    kept: list[object] = [session.begin(timeout_us=SECOND_US)]
    if how == "in a cycle":
        kept.append(kept)
    del kept
    gc.collect()
    assert shown(bench) == ()
    assert not record_of(session).tickets
    bench.time.advance_us(0)
    assert (session.in_flight, session.state) == (0, State.LOWERED)
    bench.time.advance_us(SECOND_US)
    assert session.in_flight == 0


def test_a_timeout_ends_it_and_is_told(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """The timeout ends the ticket exactly at its deadline, with a warning; a later end changes nothing."""
    session = bench.controller.session("balanced", owner="camera")
    other, ticket = session.begin(), session.begin(timeout_us=SECOND_US)
    bench.time.advance_us(SECOND_US - 1)
    assert (session.in_flight, ticket.active) == (2, True)
    with caplog.at_level(logging.WARNING, "htppower"):
        bench.time.advance_us(1)
    assert (session.in_flight, ticket.active, other.active) == (1, False, True)
    assert "'camera'" in caplog.text
    assert "not ended within its timeout, and is now, after 1000000 us" in caplog.text
    ticket.end()
    assert (session.in_flight, session.state) == (1, State.RAISED)
    other.end()
    assert session.state is State.LOWERED


def test_an_end_takes_its_timeout_back(bench: Bench) -> None:
    """Ending a ticket in time cancels the alarm of its timeout."""
    session = bench.controller.session("balanced")
    session.begin(timeout_us=SECOND_US).end()
    assert bench.time.alarms == 0


def test_status_shows_the_tickets_that_have_not_ended(bench: Bench) -> None:
    """Status shows each open ticket with its begin and its deadline, the oldest first."""
    session = bench.controller.session("burst")
    first = session.begin()
    bench.time.advance_us(5)
    with session.inference():
        second = session.begin(timeout_us=10)
        assert [(each.since_us, each.until_us) for each in shown(bench)] == [(0, None), (5, 15)]
    first.end()
    assert [each.since_us for each in shown(bench)] == [5]
    bench.time.advance_us(10)
    assert shown(bench) == ()
    assert not second.active


def test_the_status_file_has_them_too(bench: Bench, tmp_path: Path) -> None:
    """The status file shows the same tickets."""
    session = bench.controller.session("burst")
    path = tmp_path / "status.json"
    bench.time.advance_us(7)
    ticket = session.begin(timeout_us=SECOND_US)
    with bench.controller.serve_status(path):
        (told,) = json.loads(path.read_text(encoding="utf-8"))["sessions"]
    assert told["tickets"] == [{"since_us": 7, "until_us": 7 + SECOND_US}]
    ticket.end()


def test_a_begin_that_fails_begins_nothing() -> None:
    """A failed raise, a closed session or a wrong timeout leaves no inference in flight."""
    bench = Bench.make(on_error="raise")
    session = bench.controller.session("balanced")
    with pytest.raises(ValueError, match="timeout_us is 0"):
        session.begin(timeout_us=0)
    bench.simulated.fail_next(13006)
    with pytest.raises(VoteRejected):
        session.begin()
    assert (session.in_flight, shown(bench)) == (0, ())
    ticket = session.begin()
    bench.simulated.fail_next(13006)
    with pytest.raises(VoteRejected):
        ticket.end()
    assert (session.in_flight, ticket.active) == (0, False)
    session.close()
    with pytest.raises(SessionClosed):
        session.begin()
    bench.controller.close()


def test_a_session_may_be_closed_before_its_tickets_end(bench: Bench) -> None:
    """Closing lowers and destroys; a ticket that ends later changes nothing."""
    session = bench.controller.session("burst")
    ticket = session.begin(timeout_us=SECOND_US)
    session.close()
    assert session.state is State.DESTROYED
    ticket.end()
    bench.time.advance_us(SECOND_US)
    assert session.state is State.DESTROYED
