"""The settings of the process: one value for each process-wide setting, out of the wishes of all sessions."""

from __future__ import annotations

import pytest
from helpers import hmx, hvx
from hypothesis import given
from hypothesis import strategies as st

from htppower.control.process_settings import ProcessSettings
from htppower.votes.vote_set import VoteSet

NOTHING = VoteSet()
OTHER_VOTES = VoteSet(hvx(), hmx(), hmx_timeout_us=5000, ddr_perf_mode=True)
Settings = tuple[int | None, int | None, int | None]

WISHES = st.none() | st.builds(
    VoteSet,
    dcvs_v3=st.sampled_from([None, hvx()]),
    rpc_control_latency_us=st.sampled_from([None, 0, 50, 100, 200]),
    rpc_polling_time_us=st.sampled_from([None, 0, 1, 5000, 9999]),
    adaptive_polling_time_us=st.sampled_from([None, 0, 1000, 3000]),
)
SESSIONS = 3


def settings(settled: ProcessSettings) -> Settings:
    """Return latency, polling and adaptive polling as they are settled."""
    votes = settled.arbitrate(NOTHING)
    return votes.rpc_control_latency_us, votes.rpc_polling_time_us, votes.adaptive_polling_time_us


def wishing(*wishes: VoteSet) -> ProcessSettings:
    """Return settings with these sessions' wishes."""
    settled = ProcessSettings()
    for wish in wishes:
        settled.replace(None, wish)
    return settled


def naive(wishes: list[VoteSet | None]) -> Settings:
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
    assert settings(ProcessSettings()) == (None, None, None)
    assert settings(wishing(NOTHING, OTHER_VOTES)) == (None, None, None)


@pytest.mark.parametrize(("first", "second", "largest"), [(0, 9999, 9999), (9999, 0, 9999), (1, 2, 2), (0, 0, 0)])
def test_the_largest_polling_times_win(first: int, second: int, largest: int) -> None:
    """Of several polling times, and of several adaptive ones, the largest is voted."""
    assert settings(wishing(VoteSet(rpc_polling_time_us=first), VoteSet(rpc_polling_time_us=second)))[1] == largest
    adaptive = wishing(VoteSet(adaptive_polling_time_us=first), VoteSet(adaptive_polling_time_us=second))
    assert settings(adaptive) == (None, None, largest)


@pytest.mark.parametrize(
    ("latencies", "smallest"), [([100, 50], 50), ([0, 200], 200), ([200, 0, 100], 100), ([0, 0], 0), ([0], 0)]
)
def test_the_smallest_latency_above_0_wins(latencies: list[int], smallest: int) -> None:
    """Of several control latencies the smallest is voted, and 0 is no wish beside another."""
    wishes = [VoteSet(rpc_control_latency_us=latency) for latency in latencies]
    assert settings(wishing(*wishes)) == (smallest, None, None)


def test_a_wish_is_taken_out_again() -> None:
    """A wish counts until it is replaced or withdrawn; of two equal ones the other stays."""
    loud, quiet = VoteSet(rpc_polling_time_us=9999), VoteSet(rpc_polling_time_us=0)
    settled = wishing(loud, loud)
    settled.replace(loud, quiet)
    assert settings(settled)[1] == 9999
    settled.replace(loud, None)
    assert settings(settled)[1] == 0
    settled.replace(quiet, None)
    assert settings(settled)[1] is None


def test_replacing_a_wish_by_itself_changes_nothing() -> None:
    """A wish that is put in its own place, the same or an equal one, counts once."""
    wish = VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100)
    settled = wishing(wish)
    settled.replace(wish, wish)
    settled.replace(wish, VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    settled.replace(wish, None)
    assert settings(settled) == (None, None, None)


def test_settling_keeps_what_is_not_process_wide() -> None:
    """A session's other votes stay as they are, and its own wishes give way to the process's settings."""
    settled = wishing(VoteSet(rpc_polling_time_us=9999), VoteSet(rpc_control_latency_us=100))
    assert settled.arbitrate(OTHER_VOTES) == VoteSet(
        dcvs_v3=hvx(),
        hmx_v2=hmx(),
        rpc_control_latency_us=100,
        rpc_polling_time_us=9999,
        hmx_timeout_us=5000,
        ddr_perf_mode=True,
    )
    assert settled.arbitrate(VoteSet(rpc_polling_time_us=1, adaptive_polling_time_us=1)) == VoteSet(
        rpc_polling_time_us=9999, rpc_control_latency_us=100
    )


@given(st.lists(st.tuples(st.integers(0, SESSIONS - 1), WISHES), max_size=30))
def test_the_settings_equal_those_worked_out_from_scratch(changes: list[tuple[int, VoteSet | None]]) -> None:
    """After any sequence of wishes the settings are those that the wishes in force give by themselves."""
    settled = ProcessSettings()
    wishes: list[VoteSet | None] = [None] * SESSIONS
    for session, wish in changes:
        settled.replace(wishes[session], wish)
        wishes[session] = wish
        assert settings(settled) == naive(wishes)
