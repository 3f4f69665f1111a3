"""The settings of the process: one value for each, out of the wishes of all sessions."""

from __future__ import annotations

import pytest
from helpers import hmx, hvx
from hypothesis import given
from hypothesis import strategies as st
from wishes import LOUD, NOTHING, OTHER_VOTES, QUIET, asking, cast, empty

from htppower.control.core.process_settings import ProcessSettings, merged
from htppower.control.core.shared_backend import SharedBackend
from htppower.votes.native import Option
from htppower.votes.options import PROCESS_WIDE
from htppower.votes.vote_set import VoteSet

Wanted = tuple[int | None, int | None, int | None]

WISHES = st.none() | st.builds(
    VoteSet,
    dcvs_v3=st.sampled_from([None, hvx()]),
    rpc_control_latency_us=st.sampled_from([None, 0, 50, 100, 200]),
    rpc_polling_time_us=st.sampled_from([None, 0, 1, 5000, 9999]),
    adaptive_polling_time_us=st.sampled_from([None, 0, 1000, 3000]),
)
SESSIONS = 3


def naive(wishes: list[VoteSet | None]) -> Wanted:
    """Return the settings as the rule has them, from scratch."""
    raised = [wish for wish in wishes if wish is not None]
    latencies = [us for wish in raised if (us := wish.rpc_control_latency_us) is not None]
    polling = [us for wish in raised if (us := wish.rpc_polling_time_us) is not None]
    adaptive = [us for wish in raised if (us := wish.adaptive_polling_time_us) is not None]
    return (
        min([us for us in latencies if us > 0] or latencies, default=None),
        max(polling, default=None),
        max(adaptive, default=None),
    )


def test_without_wishes_nothing_is_voted() -> None:
    """No session, and sessions that wish for nothing, leave every process-wide setting unset."""
    assert empty().difference() == NOTHING
    assert asking(NOTHING, OTHER_VOTES).difference() == NOTHING


@pytest.mark.parametrize(("first", "second", "largest"), [(0, 9999, 9999), (9999, 0, 9999), (1, 2, 2), (0, 0, 0)])
def test_the_largest_polling_times_win(first: int, second: int, largest: int) -> None:
    """Of several polling times, and of several adaptive ones, the largest is voted."""
    polling = asking(VoteSet(rpc_polling_time_us=first), VoteSet(rpc_polling_time_us=second))
    assert polling.difference() == VoteSet(rpc_polling_time_us=largest)
    adaptive = asking(VoteSet(adaptive_polling_time_us=first), VoteSet(adaptive_polling_time_us=second))
    assert adaptive.difference() == VoteSet(adaptive_polling_time_us=largest)


@pytest.mark.parametrize(
    ("latencies", "smallest"), [([100, 50], 50), ([0, 200], 200), ([200, 0, 100], 100), ([0, 0], 0), ([0], 0)]
)
def test_the_smallest_latency_above_0_wins(latencies: list[int], smallest: int) -> None:
    """Of several control latencies the smallest is voted, and 0 is no wish beside another."""
    settings = asking(*(VoteSet(rpc_control_latency_us=latency) for latency in latencies))
    assert settings.difference() == VoteSet(rpc_control_latency_us=smallest)


def test_a_wish_is_taken_out_again() -> None:
    """A wish counts until it is replaced or withdrawn; of two equal ones the other stays; the last is taken back."""
    settings = asking(LOUD, LOUD)
    assert cast(settings) == LOUD
    settings.ask(1, QUIET)
    assert cast(settings) == NOTHING
    settings.ask(2, None)
    assert cast(settings) == QUIET
    settings.ask(2, LOUD)
    assert cast(settings) == LOUD
    settings.ask(1, None)
    settings.ask(2, None)
    assert cast(settings) == QUIET
    assert settings.difference() == NOTHING


def test_asking_twice_counts_once() -> None:
    """A session that asks again, for the same or for an equal value, has one wish; withdrawing twice is fine."""
    wish = VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100)
    settings = asking(wish)
    settings.ask(1, wish)
    settings.ask(1, VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    settings.ask(1, None)
    settings.ask(1, None)
    settings.ask(2, None)
    assert settings.difference() == NOTHING


def test_a_session_gives_up_what_it_asks_for_no_longer() -> None:
    """Votes that leave a setting unset withdraw the session's wish for it."""
    settings = asking(VoteSet(rpc_polling_time_us=9999, adaptive_polling_time_us=1000))
    settings.ask(1, VoteSet(adaptive_polling_time_us=1000))
    assert settings.difference() == VoteSet(adaptive_polling_time_us=1000)


def test_a_call_on_an_id_carries_its_own_votes_and_the_settings() -> None:
    """A session's other votes stay as they are, and its own wishes give way to the process's settings."""
    settings = asking(VoteSet(rpc_polling_time_us=9999), VoteSet(rpc_control_latency_us=100))
    assert merged(OTHER_VOTES, settings.difference()) == VoteSet(
        dcvs_v3=hvx(),
        hmx_v2=hmx(),
        rpc_control_latency_us=100,
        rpc_polling_time_us=9999,
        hmx_timeout_us=5000,
        ddr_perf_mode=True,
    )
    assert merged(VoteSet(rpc_polling_time_us=1, ddr_perf_mode=True), settings.difference()) == VoteSet(
        rpc_polling_time_us=9999, rpc_control_latency_us=100, ddr_perf_mode=True
    )


def test_holders_are_the_sessions_that_ask_for_a_value() -> None:
    """Who asks for a value is told in the order of numbers, by value and by setting, and as it changes."""
    settings = empty()
    for number, wish in ((3, LOUD), (1, LOUD), (2, QUIET)):
        settings.ask(number, wish)
    assert settings.holders(Option.RPC_POLLING_TIME, 9999) == (1, 3)
    assert settings.holders(Option.RPC_POLLING_TIME, 0) == (2,)
    assert settings.holders(Option.RPC_POLLING_TIME, 5000) == ()
    assert settings.holders(Option.ADAPTIVE_POLLING_TIME, 9999) == ()
    settings.ask(3, QUIET)
    settings.ask(1, None)
    assert settings.holders(Option.RPC_POLLING_TIME, 9999) == ()
    assert settings.holders(Option.RPC_POLLING_TIME, 0) == (2, 3)


def test_what_another_controller_lacks_is_not_sent_for_it() -> None:
    """A wish for a setting that was refused to its controller counts for none; a wish of one's own is tried."""
    shared, missing = SharedBackend(), {Option.RPC_POLLING_TIME}
    lacking, other = ProcessSettings(missing, shared), ProcessSettings((), shared)
    lacking.ask(1, VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    assert other.difference() == VoteSet(rpc_control_latency_us=100)
    other.ask(1, QUIET)
    assert other.difference() == VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=0)
    assert lacking.difference() == VoteSet(rpc_control_latency_us=100)


@given(st.lists(st.tuples(st.integers(1, SESSIONS), WISHES, st.sampled_from(["sent", "failed", "lost"])), max_size=30))
def test_the_settings_equal_those_worked_out_from_scratch(changes: list[tuple[int, VoteSet | None, str]]) -> None:
    """After any wishes, failures and restarts, a call that succeeds brings what the wishes in force come to."""
    settings = empty()
    wishes: dict[int, VoteSet | None] = {}
    voted: set[Option] = set()
    for number, wish, end in changes:
        settings.ask(number, wish)
        wishes[number] = wish
        votes = settings.difference()
        voted |= set(votes.options)
        since = settings.sending(votes)
        if end == "failed":
            continue
        if end == "lost":
            settings.forget()
        settings.sent(votes, since)
        if end == "sent":
            latency, polling, adaptive = naive(list(wishes.values()))
            assert not settings.difference()
            known = settings.now.known
            # What was never voted needs no taking back.
            assert known.rpc_polling_time_us == (polling or 0 if Option.RPC_POLLING_TIME in voted else None)
            assert known.adaptive_polling_time_us == (adaptive or 0 if Option.ADAPTIVE_POLLING_TIME in voted else None)
            # Nothing takes a latency back, and 0 does not either (rule RPC-5).
            if latency:
                assert known.rpc_control_latency_us == latency
    assert voted <= PROCESS_WIDE


def test_a_wish_that_an_interrupt_left_to_nobody_asks_for_nothing() -> None:
    """An exception that comes between the two steps of taking out the last who asks leaves no setting up."""
    settings = empty()
    settings.ask(1, LOUD)
    ((_, numbers),) = settings._wishes.items()
    numbers.clear()
    settings.shared.changes += 1
    assert settings.difference() == NOTHING
    settings.ask(2, None)
    assert settings._wishes == {}
