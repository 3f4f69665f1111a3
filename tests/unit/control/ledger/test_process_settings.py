"""The settings of the process: one value each, from the wishes of all sessions."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.helpers import hmx, hvx

from htppower.control.ledger.ledger import NOTHING
from htppower.control.ledger.process_settings import ProcessSettings
from htppower.control.plans.plans import Missing
from htppower.events import Degradation
from htppower.votes.native import Option
from htppower.votes.options import PROCESS_WIDE
from htppower.votes.vote_set import VoteSet

OTHER_VOTES = VoteSet(hvx(), hmx(), hmx_timeout_us=5000, ddr_perf_mode=True)
LOUD, QUIET = VoteSet(rpc_polling_time_us=9999), VoteSet(rpc_polling_time_us=0)

Wanted = tuple[int | None, int | None, int | None]

WISHES = st.none() | st.builds(
    VoteSet,
    dcvs_v3=st.sampled_from([None, hvx()]),
    rpc_control_latency_us=st.sampled_from([None, 0, 50, 100, 200]),
    rpc_polling_time_us=st.sampled_from([None, 0, 1, 5000, 9999]),
    adaptive_polling_time_us=st.sampled_from([None, 0, 1000, 3000]),
)
SESSIONS = 3


@attrs.define(eq=False)
class Asking:
    """The part of a session that the process settings use."""

    wish: VoteSet = NOTHING


class Settings(ProcessSettings):
    """Settings, and sessions numbered from 1."""

    def __init__(self, *wishes: VoteSet) -> None:
        self.missing = Missing()
        super().__init__(self.missing)
        self.sessions = [Asking() for _ in range(max(SESSIONS, len(wishes)))]
        for number, wish in enumerate(wishes, 1):
            self.wish(number, wish)

    def wish(self, number: int, wish: VoteSet | None) -> None:
        """Record the wish of a session."""
        self.ask(self.sessions[number - 1], wish)  # type: ignore[arg-type]

    def asking(self, option: Option, value: int) -> list[int]:
        """Return the numbers of the sessions that wish for a value."""
        return sorted(self.sessions.index(each) + 1 for each in self.holders(option, value))  # type: ignore[arg-type]

    def cast(self) -> VoteSet:
        """Record a successful call with the difference, and return that difference."""
        votes = self.difference()
        self.sending(votes)
        self.sent(votes)
        return votes


def naive(wishes: list[VoteSet | None]) -> Wanted:
    """Compute the settings from all wishes by the rule."""
    raised = [wish for wish in wishes if wish is not None]
    latencies = [us for wish in raised if (us := wish.rpc_control_latency_us) is not None]
    polling = [us for wish in raised if (us := wish.rpc_polling_time_us) is not None]
    adaptive = [us for wish in raised if (us := wish.adaptive_polling_time_us) is not None]
    return (
        min([us for us in latencies if us > 0] or latencies, default=None),
        max(polling, default=None),
        max(adaptive, default=None),
    )


def test_without_wishes_nothing_is_sent() -> None:
    """Without sessions, and with sessions that have no wish, every setting is unset."""
    assert Settings().difference() == NOTHING
    assert Settings(NOTHING, OTHER_VOTES).difference() == NOTHING


@pytest.mark.parametrize(("first", "second", "largest"), [(0, 9999, 9999), (9999, 0, 9999), (1, 2, 2), (0, 0, 0)])
def test_the_largest_polling_times_win(first: int, second: int, largest: int) -> None:
    """The largest polling time and the largest adaptive polling time are sent."""
    polling = Settings(VoteSet(rpc_polling_time_us=first), VoteSet(rpc_polling_time_us=second))
    assert polling.difference() == VoteSet(rpc_polling_time_us=largest)
    adaptive = Settings(VoteSet(adaptive_polling_time_us=first), VoteSet(adaptive_polling_time_us=second))
    assert adaptive.difference() == VoteSet(adaptive_polling_time_us=largest)


@pytest.mark.parametrize(
    ("latencies", "smallest"), [([100, 50], 50), ([0, 200], 200), ([200, 0, 100], 100), ([0, 0], 0), ([0], 0)]
)
def test_the_smallest_latency_above_0_wins(latencies: list[int], smallest: int) -> None:
    """The smallest control latency above 0 is sent; 0 is sent only if every wish is 0."""
    settings = Settings(*(VoteSet(rpc_control_latency_us=latency) for latency in latencies))
    assert settings.difference() == VoteSet(rpc_control_latency_us=smallest)


def test_a_wish_is_taken_out_again() -> None:
    """A wish counts until it is replaced or removed; after the last removal the setting is reset."""
    settings = Settings(LOUD, LOUD)
    assert settings.cast() == LOUD
    settings.wish(1, QUIET)
    assert settings.cast() == NOTHING
    settings.wish(2, None)
    assert settings.cast() == QUIET
    settings.wish(2, LOUD)
    assert settings.cast() == LOUD
    settings.wish(1, None)
    settings.wish(2, None)
    assert settings.cast() == QUIET
    assert settings.difference() == NOTHING


def test_asking_twice_counts_once() -> None:
    """A session that wishes twice has one wish; removing it twice has no effect."""
    wish = VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100)
    settings = Settings(wish)
    settings.wish(1, wish)
    settings.wish(1, VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    settings.wish(1, None)
    settings.wish(1, None)
    settings.wish(2, None)
    assert settings.difference() == NOTHING


def test_a_session_gives_up_what_it_asks_for_no_longer() -> None:
    """If the new votes of a session leave a setting unset, its wish for that setting ends."""
    settings = Settings(VoteSet(rpc_polling_time_us=9999, adaptive_polling_time_us=1000))
    settings.wish(1, VoteSet(adaptive_polling_time_us=1000))
    assert settings.difference() == VoteSet(adaptive_polling_time_us=1000)


def test_holders_are_the_sessions_that_ask_for_a_value() -> None:
    """The holders of a value are the sessions that wish for it now."""
    settings = Settings(LOUD, QUIET, LOUD)
    assert settings.asking(Option.RPC_POLLING_TIME, 9999) == [1, 3]
    assert settings.asking(Option.RPC_POLLING_TIME, 0) == [2]
    assert settings.asking(Option.RPC_POLLING_TIME, 5000) == []
    assert settings.asking(Option.ADAPTIVE_POLLING_TIME, 9999) == []
    settings.wish(3, QUIET)
    settings.wish(1, None)
    assert settings.asking(Option.RPC_POLLING_TIME, 9999) == []
    assert settings.asking(Option.RPC_POLLING_TIME, 0) == [2, 3]


def test_while_a_call_is_under_way_nothing_is_known() -> None:
    """Until a call returns, its settings are in doubt; after a failure they are sent again or reset."""
    settings = Settings(LOUD)
    settings.sending(LOUD)
    assert (settings.now.known, settings.difference()) == (NOTHING, LOUD)
    settings.wish(1, None)
    assert settings.difference() == QUIET
    settings.wish(1, LOUD)
    settings.sent(LOUD)
    assert (settings.now.known, settings.difference()) == (LOUD, NOTHING)


def test_a_latency_of_0_takes_no_other_back() -> None:
    """After a latency, 0 is not sent: it would change nothing (rule RPC-5)."""
    settings = Settings(VoteSet(rpc_control_latency_us=100))
    settings.cast()
    settings.wish(1, VoteSet(rpc_control_latency_us=0))
    assert settings.difference() == NOTHING
    assert settings.now.known == VoteSet(rpc_control_latency_us=100)


def test_what_is_forgotten_is_sent_again_or_taken_back() -> None:
    """After INIT every setting is in doubt and may be in force, so it is reset, except a latency, which can't be."""
    wish = VoteSet(rpc_control_latency_us=100, rpc_polling_time_us=9999, adaptive_polling_time_us=1000)
    settings = Settings(wish)
    settings.cast()
    settings.forget()
    assert (settings.now.known, settings.difference()) == (NOTHING, wish)
    settings.wish(1, None)
    assert settings.cast() == VoteSet(rpc_polling_time_us=0, adaptive_polling_time_us=0)


def test_what_is_lost_with_the_link_is_never_taken_back() -> None:
    """After a loss the wishes are sent again; a setting without a wish is not in force."""
    settings = Settings(LOUD)
    settings.cast()
    settings.lose()
    assert settings.difference() == LOUD
    settings.wish(1, None)
    assert settings.difference() == NOTHING


def test_a_refused_setting_is_neither_sent_nor_taken_back_until_the_link_is_renewed() -> None:
    """No session sends a refused setting until the device is created again, and then it is tried once more."""
    settings = Settings(VoteSet(rpc_polling_time_us=9999, rpc_control_latency_us=100))
    settings.sending(settings.difference())
    settings.missing.add(Degradation("RPC-7", "refused", Option.RPC_POLLING_TIME), refused=True)
    settings.refused(Option.RPC_POLLING_TIME)
    assert settings.cast() == VoteSet(rpc_control_latency_us=100)
    settings.wish(2, LOUD)
    assert settings.difference() == NOTHING
    settings.wish(1, None)
    assert settings.difference() == NOTHING
    settings.renew()
    assert settings.difference() == LOUD


def test_a_setting_that_the_platform_lacks_is_left_out_for_good() -> None:
    """A new device does not bring back a setting that the platform lacks."""
    settings = Settings(LOUD)
    settings.missing.add(Degradation("RPC-4", "absent", Option.RPC_POLLING_TIME))
    settings.renew()
    assert settings.difference() == NOTHING


def test_the_votes_of_an_id_are_not_taken_in() -> None:
    """The process settings ignore the votes of an id in a call; the ledger of that id has them."""
    settings = Settings(OTHER_VOTES)
    settings.sending(OTHER_VOTES)
    settings.sent(OTHER_VOTES)
    assert settings.now.known == NOTHING
    assert not settings.now.accepted


@given(st.lists(st.tuples(st.integers(1, SESSIONS), WISHES, st.sampled_from(["sent", "failed", "lost"])), max_size=30))
def test_the_settings_equal_those_worked_out_from_scratch(changes: list[tuple[int, VoteSet | None, str]]) -> None:
    """After any wishes, failures and losses, a successful call leaves the values that the wishes give."""
    settings = Settings()
    wishes: dict[int, VoteSet | None] = {}
    voted: set[Option] = set()
    for number, wish, end in changes:
        settings.wish(number, wish)
        wishes[number] = wish
        votes = settings.difference()
        voted |= set(votes.options)
        settings.sending(votes)
        if end == "lost":
            settings.lose()
            voted = set()
        if end != "sent":
            continue
        settings.sent(votes)
        latency, polling, adaptive = naive(list(wishes.values()))
        assert not settings.difference()
        known = settings.now.known
        # A setting that was never voted is not reset.
        assert known.rpc_polling_time_us == (polling or 0 if Option.RPC_POLLING_TIME in voted else None)
        assert known.adaptive_polling_time_us == (adaptive or 0 if Option.ADAPTIVE_POLLING_TIME in voted else None)
        # A latency can't be reset, not even by 0 (rule RPC-5).
        if latency:
            assert known.rpc_control_latency_us == latency
    assert voted <= PROCESS_WIDE
