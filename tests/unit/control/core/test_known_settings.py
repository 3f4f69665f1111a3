"""What is known of the settings of the process: during and after calls, after failures, restarts and refusals."""

from __future__ import annotations

import pytest
from wishes import LOUD, NOTHING, OTHER_VOTES, QUIET, asking, cast, empty

from htppower.votes.native import Option
from htppower.votes.vote_set import VoteSet


def test_a_wish_that_nobody_has_any_more_was_never_sent() -> None:
    """What is asked for and withdrawn before a call costs none."""
    settings = asking(LOUD)
    settings.ask(1, None)
    assert settings.difference() == NOTHING


def test_while_a_call_is_under_way_nothing_is_known() -> None:
    """Between sending and its return a setting is unknown, and still differs for whoever looks."""
    settings = asking(LOUD)
    since = settings.sending(LOUD)
    assert settings.now.known == NOTHING
    assert settings.difference() == LOUD
    settings.sent(LOUD, since)
    assert settings.now.known == LOUD
    assert settings.difference() == NOTHING


def test_a_failed_call_is_sent_again() -> None:
    """What a call carried that did not return 0 is unknown: it is sent again, or taken back."""
    settings = asking(LOUD)
    settings.sending(settings.difference())
    assert settings.difference() == LOUD
    settings.ask(1, None)
    assert settings.difference() == QUIET


@pytest.mark.parametrize("moment", ["before", "during"])
def test_forget_makes_every_setting_unknown(moment: str) -> None:
    """After a restart everything is sent again; a call that was under way meanwhile makes nothing known."""
    settings = asking(VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    votes = settings.difference()
    since = settings.sending(votes)
    if moment == "during":
        settings.forget()
        settings.sent(votes, since)
    else:
        settings.sent(votes, since)
        settings.forget()
    assert settings.now.known == NOTHING
    assert settings.difference() == votes


def test_forget_during_a_call_that_repeats_what_is_known_makes_it_unknown() -> None:
    """A restart counts also where forgetting leaves what is known as it was: nothing of the call is known."""
    settings = asking(LOUD)
    since = settings.sending(LOUD)
    assert settings.now.known == NOTHING
    settings.forget()
    settings.sent(LOUD, since)
    assert settings.now.known == NOTHING


def test_a_latency_of_0_takes_no_other_back() -> None:
    """Where a latency was voted before, 0 is not sent: it would change nothing (rule RPC-5)."""
    settings = asking(VoteSet(rpc_control_latency_us=100))
    cast(settings)
    settings.ask(1, VoteSet(rpc_control_latency_us=0))
    assert settings.difference() == NOTHING
    assert settings.now.known == VoteSet(rpc_control_latency_us=100)


def test_what_is_taken_back_after_a_restart() -> None:
    """What was in force before a restart, and is wanted no longer, is taken back; a latency can't be."""
    settings = asking(VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=9999, adaptive_polling_time_us=1000))
    cast(settings)
    settings.forget()
    settings.ask(1, None)
    assert cast(settings) == VoteSet(rpc_polling_time_us=0, adaptive_polling_time_us=0)


def test_a_refused_setting_is_neither_sent_nor_taken_back() -> None:
    """Of a setting that the platform lacks nothing is in force; it is left out, also when it is asked for again."""
    missing: set[Option] = set()
    settings = empty(missing)
    settings.ask(1, VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    assert settings.difference() == VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100)
    settings.sending(settings.difference())
    missing.add(Option.RPC_POLLING_TIME)
    settings.refused(Option.RPC_POLLING_TIME)
    assert settings.difference() == VoteSet(rpc_control_latency_us=100)
    assert settings.now.doubtful == VoteSet(rpc_control_latency_us=100)
    settings.ask(2, LOUD)
    settings.ask(1, None)
    assert settings.difference() == NOTHING


def test_the_settings_of_an_id_are_no_business_of_the_process() -> None:
    """A call's other votes are not taken in."""
    settings = asking(OTHER_VOTES)
    settings.sent(OTHER_VOTES, settings.sending(OTHER_VOTES))
    assert settings.now.known == NOTHING
    assert not settings.now.accepted
