"""A pace of a session: its inferences, and how it goes together with holds, caps, ``use`` and the end of a session."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest
from support.paced import PacedHost

from htppower import PhaseMisuse, SessionClosed, State, VoteController, VoteRejected
from htppower.backends import SimulatedHtp
from htppower.control.claims.claims import Claims
from htppower.events import Cause, ProfileChanged
from htppower.testing import VirtualTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PERIOD_US = 33_334
# At 1 % so many inferences show that a lower profile is enough; every 74 inferences one is looked for.
ENOUGH = 370


@pytest.fixture
def host() -> Iterator[PacedHost]:
    """Yield a host with a pace of 30 a second."""
    made = PacedHost()
    yield made
    made.controller.close()


def test_inferences_begin_a_period_apart(host: PacedHost) -> None:
    """An inference that is asked for early waits for its slot; 30 of them take a second, without drift."""
    begins_us = []
    for _ in range(31):
        with host.pace.inference():
            begins_us.append(host.time.now_us)
            host.time.advance_us(5000)
    assert begins_us[1] == PERIOD_US
    assert begins_us[30] == 1_000_000
    assert host.pace.status.recent_per_s == pytest.approx(30, rel=1e-4)


def test_the_lowest_profile_that_is_enough_is_used(host: PacedHost) -> None:
    """8 ms at burst are 18 ms under low_power_saver, which is less than a period of 33 ms."""
    host.infer(8, ENOUGH)
    assert host.session.profile.name == "low_power_saver"
    assert host.pace.profile == host.session.profile
    assert host.session.own_profile.name == "burst"
    host.infer(8, 30)
    assert host.pace.status.misses == 0


def test_a_heavier_load_raises_the_profile_during_the_inference(host: PacedHost) -> None:
    """After four misses the session uses a faster profile, and the next inference meets its deadline."""
    host.infer(8, ENOUGH + 40)
    host.infer(20, 4)
    assert host.session.profile.name == "power_saver"
    host.infer(20, 20)
    assert host.pace.status.misses == 4


def test_a_change_is_told_as_for_use_with_the_reason_of_the_pace(host: PacedHost) -> None:
    """Subscribers see the change of the profile, and the status shows why the session uses it."""
    host.infer(8, ENOUGH)
    told = host.changes[-1]
    assert isinstance(told, ProfileChanged)
    assert (told.before, told.profile, told.cause) == ("burst", "low_power_saver", Cause.PROFILE_CHANGED)
    assert told.reason == "30 a second: the lowest profile that keeps it"
    decided = host.controller.status().sessions[0].decided_by
    assert decided is not None
    assert (decided.kind, decided.profile.name, decided.reason) == ("pace", "low_power_saver", told.reason)


def test_the_status_counts_inferences_and_misses(host: PacedHost) -> None:
    """The controller's status has the same value as the pace."""
    host.infer(8, 10)
    host.infer(40, 2)
    status = host.pace.status
    assert (status.per_s, status.miss_rate, status.profile, status.keeps) == (30, 0.01, "burst", True)
    assert (status.inferences, status.misses, status.recent_misses, status.changes) == (12, 2, 2, 0)
    assert host.controller.status().sessions[0].pace == status


def test_a_pace_that_can_t_keep_its_rate_says_so(host: PacedHost, caplog: pytest.LogCaptureFixture) -> None:
    """The session stays with its own profile; one WARNING is logged, and the status has the reason."""
    host.infer(40, 50)
    assert (host.pace.status.keeps, host.names()) == (False, [])
    warned = [record for record in caplog.records if "no profile of the pace keeps it" in record.getMessage()]
    assert len(warned) == 1
    assert "30 a second: no profile of the pace keeps it" in repr(host.pace)
    decided = host.controller.status().sessions[0].decided_by
    assert decided is not None
    assert decided.reason == "30 a second: no profile of the pace keeps it"


def test_the_end_of_a_pace_gives_the_session_its_own_profile_back(host: PacedHost) -> None:
    """Closing twice has no effect, and later inferences of the pace are refused."""
    host.infer(8, ENOUGH)
    inference = host.pace.inference()
    host.pace.close()
    host.pace.close()
    assert host.session.profile.name == "burst"
    assert host.controller.status().sessions[0].decided_by is None
    assert host.controller.status().sessions[0].pace is None
    with pytest.raises(PhaseMisuse, match="this pace is closed"), inference:
        pass
    with host.session.pace(fps=10) as again, again.inference():
        assert host.session.in_flight == 1


def test_a_dropped_pace_ends(host: PacedHost) -> None:
    """No inference can run by it any more, so the session gets its own profile back."""
    host.infer(8, ENOUGH)
    del host.pace
    gc.collect()
    host.time.advance_us(0)
    assert host.session.profile.name == "burst"


def test_a_pace_keeps_its_session_open(host: PacedHost) -> None:
    """A host may keep the pace alone; without it the session is closed."""
    del host.session
    gc.collect()
    host.time.advance_us(0)
    with host.pace.inference():
        assert host.controller.status().sessions[0].in_flight == 1
    del host.pace
    gc.collect()
    host.time.advance_us(0)
    assert host.controller.status().sessions == ()


def test_an_inference_inside_a_paced_one_costs_no_call(host: PacedHost) -> None:
    """A host may wrap code that runs its own inferences on the session."""
    with host.pace.inference():
        calls = host.controller.status().sessions[0].calls_sent
        with host.session.inference():
            host.time.advance_us(5000)
    assert host.controller.status().sessions[0].calls_sent == calls
    assert host.pace.status.inferences == 1


def test_an_interrupt_before_the_change_is_healed_by_the_next_inference(
    host: PacedHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The choice was made, but an exception came before the session could follow."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    host.infer(8, ENOUGH - 1)
    monkeypatch.setattr(Claims, "move_pace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        host.infer(8)
    assert (host.session.profile.name, host.pace.profile.name) == ("burst", "low_power_saver")
    monkeypatch.undo()
    host.infer(8)
    assert host.session.profile.name == "low_power_saver"


def test_an_interrupt_at_the_begin_ends_the_inference(host: PacedHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host may keep the inference; it has not begun."""
    host.infer(8)
    inference, begins = host.pace.inference(), iter((40_000_000, 40_000_000))

    def now_ns() -> int:
        try:
            return next(begins)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr(host.time, "now_ns", now_ns)
    with pytest.raises(KeyboardInterrupt):
        inference.__enter__()
    monkeypatch.undo()
    assert host.session.in_flight == 0
    with inference:
        assert host.session.in_flight == 1


@pytest.mark.parametrize("coroutine", [False, True])
def test_an_interrupt_at_the_end_ends_the_inference(
    host: PacedHost, monkeypatch: pytest.MonkeyPatch, coroutine: bool
) -> None:
    """The host may keep the inference; it has ended, and is not counted."""
    inference: Any = host.pace.ainference() if coroutine else host.pace.inference()

    def now_ns() -> int:
        monkeypatch.undo()
        raise KeyboardInterrupt

    def run() -> None:
        with inference:
            monkeypatch.setattr(host.time, "now_ns", now_ns)

    async def arun() -> None:
        async with inference:
            monkeypatch.setattr(host.time, "now_ns", now_ns)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(arun()) if coroutine else run()
    assert host.session.in_flight == 0
    assert host.pace.status.inferences == 0


def test_a_thread_that_wakes_up_late_misses_its_deadline(host: PacedHost, monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline is a period after the slot, whenever the inference has begun."""
    exactly = host.time.wait_until
    host.infer(25)
    monkeypatch.setattr(host.time, "wait_until", lambda at_us: exactly(at_us + 9000))
    host.infer(25)
    assert host.pace.status.misses == 1


def test_a_session_has_one_pace(host: PacedHost) -> None:
    """A second one is refused; the first is not changed."""
    with pytest.raises(ValueError, match="session 1 has a pace already"):
        host.session.pace(fps=10)
    host.infer(8)
    assert host.pace.status.inferences == 1


def test_use_changes_the_profile_for_the_time_after_the_pace(host: PacedHost) -> None:
    """While the pace chooses, ``use`` sets only the session's own profile."""
    host.infer(8, ENOUGH)
    host.session.use("balanced")
    assert host.session.profile.name == "low_power_saver"
    host.pace.close()
    assert host.session.profile.name == "balanced"


def test_a_hold_has_priority_and_shows_nothing_about_the_choice(host: PacedHost) -> None:
    """While a hold decides, deadlines are counted, but the pace does not change its choice."""
    host.infer(8, ENOUGH)
    with host.session.hold("burst", reason="preview"):
        assert host.session.profile.name == "burst"
        host.infer(40, 20)
    assert host.pace.status.misses == 20
    assert host.session.profile.name == "low_power_saver"
    host.infer(8, 5)
    assert (host.pace.status.changes, host.pace.status.keeps) == (1, True)


def test_a_cap_has_priority(host: PacedHost) -> None:
    """A choice above the cap is replaced by the cap's profile; a choice below it is used."""
    cap = host.controller.cap("balanced", reason="hot")
    assert host.session.profile.name == "balanced"
    cap.lift()
    host.infer(8, ENOUGH)
    cap = host.controller.cap("balanced", reason="hot")
    assert host.session.profile.name == "low_power_saver"
    cap.lift()


def test_under_a_cap_the_choice_is_made_up_to_it(host: PacedHost) -> None:
    """The pace comes down, goes up no further than the cap, and beyond it once the cap is lifted."""
    cap = host.controller.cap("balanced", reason="hot")
    host.infer(8, 2)
    assert host.pace.profile.name == "balanced"
    assert "30 a second: the highest profile up to the cap" in repr(host.pace)
    host.infer(8, ENOUGH)
    assert (host.session.profile.name, host.pace.status.changes) == ("low_power_saver", 1)
    host.infer(32, 50)
    assert (host.session.profile.name, host.pace.status.keeps) == ("balanced", False)
    assert "30 a second: no profile up to the cap keeps it" in repr(host.pace)
    cap.lift()
    host.infer(32, 50)
    assert (host.session.profile.name, host.pace.status.keeps) == ("high_performance", True)


def test_under_a_cap_below_all_profiles_nothing_is_chosen(host: PacedHost) -> None:
    """Then the cap decides, and the pace goes on with its choice afterwards."""
    with host.controller.cap("extreme_power_saver", reason="hot"):
        host.infer(8, 2 * ENOUGH)
        assert host.session.profile.name == "extreme_power_saver"
    assert (host.session.profile.name, host.pace.status.changes) == ("burst", 0)


def test_the_choice_is_made_among_named_profiles(host: PacedHost) -> None:
    """The highest of them is used first, whatever the session's own profile is."""
    host.pace.close()
    with host.session.pace(fps=30, profiles=["power_saver", "balanced"]) as host.pace:
        assert host.session.profile.name == "balanced"
        host.infer(8, ENOUGH)
        assert host.session.profile.name == "power_saver"


def test_votes_are_low_between_the_slots(host: PacedHost) -> None:
    """A profile without a sustain time is lowered at once, and raised again with the next slot."""
    states = []
    host.infer(8, ENOUGH + 1)
    for _ in range(2):
        states.append(host.session.state)
        with host.pace.inference():
            states.append(host.session.state)
    assert states == [State.LOWERED, State.RAISED] * 2


def test_alarms_run_while_an_inference_waits_for_its_slot() -> None:
    """At 2 a second the sustain time of burst ends between two inferences."""
    host = PacedHost(fps=2)
    host.infer(8, 3)
    assert [host.time.now_us, host.session.state] == [1_008_000, State.RAISED]
    assert host.controller.status().sessions[0].cold_starts.count == 3
    host.controller.close()


def test_an_inference_that_raises_an_error_is_not_counted(host: PacedHost) -> None:
    """It has ended, but says nothing about how long inferences take."""
    with pytest.raises(RuntimeError), host.pace.inference():
        raise RuntimeError
    assert host.session.in_flight == 0
    assert host.pace.status.inferences == 0


@pytest.mark.parametrize("begins", [True, False])
def test_inferences_that_fail_keep_the_rate(begins: bool) -> None:
    """A host that tries again at once waits for the next slot, however many blocks or begins in a row have failed."""
    clock, simulated = VirtualTime(), SimulatedHtp(arch=75)
    controller = VoteController(simulated, time=clock, on_error="raise", handle_sigterm=False)
    pace = controller.session("balanced").pace(fps=20)
    failed_ms = []
    for _ in range(5):
        if not begins:
            simulated.fail_next(1008, function="setPowerConfig")
        with pytest.raises((RuntimeError, VoteRejected)), pace.inference():
            raise RuntimeError
        failed_ms.append(clock.now_us // 1000)
        clock.advance_us(1000)
    assert failed_ms == [0, 50, 100, 150, 200]
    assert pace.status.inferences == 0
    controller.close()


def test_misuse_of_an_inference_is_refused(host: PacedHost) -> None:
    """The errors are those of an inference of a session."""
    inference = host.pace.inference()
    with inference, pytest.raises(PhaseMisuse, match="is being run"):
        inference.__enter__()
    with pytest.raises(PhaseMisuse, match="does not run"):
        inference.__exit__(None, None, None)
    assert host.pace.status.inferences == 1
    with inference:
        assert host.session.in_flight == 1


def test_a_closed_session_runs_no_paced_inference(host: PacedHost) -> None:
    """The pace ends with its session."""
    host.infer(8)
    host.session.close()
    with pytest.raises(SessionClosed), host.pace.inference():
        pass
    host.pace.close()
    with pytest.raises(SessionClosed):
        host.session.pace(fps=30)


def test_without_waiting_an_inference_begins_at_once(host: PacedHost) -> None:
    """The host states when inferences begin; each has a period from then on."""
    host.pace.close()
    with host.session.pace(fps=30, wait=False) as host.pace:
        host.infer(8, 3)
        assert host.time.now_us == 24_000
        host.infer(40)
        assert host.pace.status.misses == 1


def test_coroutines_wait_for_their_slots(host: PacedHost) -> None:
    """The coroutine is suspended until its slot; the loop runs on."""

    async def infer() -> int:
        async with host.pace.ainference():
            begun_us = host.time.now_us
            host.time.advance_us(5000)
            return begun_us

    async def scenario() -> list[int]:
        first = await infer()
        second = asyncio.ensure_future(infer())
        await asyncio.sleep(0)
        assert not second.done()
        host.time.advance_us(40_000)
        return [first, await second]

    assert asyncio.run(scenario()) == [0, 45_000]
    assert (host.pace.status.inferences, host.pace.status.misses) == (2, 0)


def test_a_cancelled_coroutine_has_not_begun(host: PacedHost) -> None:
    """It is cancelled while it waits for its slot."""

    async def scenario() -> None:
        async with host.pace.ainference():
            pass
        waiting = asyncio.ensure_future(host.pace.ainference().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(scenario())
    assert host.session.in_flight == 0
    assert host.pace.status.inferences == 1


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({}, TypeError, "state one rate"),
        ({"fps": 30, "tokens_per_second": 20}, TypeError, "state one rate"),
        ({"fps": "30"}, TypeError, "fps is '30'"),
        ({"fps": 0}, ValueError, "fps is 0: inferences per second, from 0.01 to 10000"),
        ({"tokens_per_second": float("nan")}, ValueError, "tokens_per_second is nan"),
        ({"fps": 30, "miss_rate": 0}, ValueError, "miss_rate is 0: a share of the deadlines, from 0.001 to 0.5"),
        ({"fps": 30, "miss_rate": None}, TypeError, "miss_rate is None"),
        ({"fps": 30, "profiles": []}, ValueError, "profiles is empty"),
        ({"fps": 30, "profiles": "burst"}, TypeError, "profiles is 'burst'"),
        ({"fps": 30, "profiles": ["system_settings"]}, ValueError, "system_settings sends no votes"),
        ({"fps": 30, "profiles": ["bursty"]}, ValueError, "bursty"),
        ({"fps": 30, "device": "no_such_device"}, ValueError, "no_such_device"),
    ],
)
def test_wrong_arguments_are_refused(
    host: PacedHost, options: dict[str, Any], error: type[Exception], said: str
) -> None:
    """The message says which argument is wrong, and what is right."""
    host.pace.close()
    with pytest.raises(error, match=said):
        host.session.pace(**options)
    assert host.controller.status().sessions[0].pace is None


def test_a_time_that_can_t_wait_is_refused_unless_the_pace_does_not_wait() -> None:
    """A clock of the host's own may have only the functions that every controller needs."""

    class OwnTime(VirtualTime):
        wait_until = None  # type: ignore[assignment]

    controller = VoteController(SimulatedHtp(arch=75), time=OwnTime(), handle_sigterm=False)
    session = controller.session("burst")
    with pytest.raises(TypeError, match=r"no wait_until\(\): one that can wait, or pace\(wait=False\)"):
        session.pace(fps=30)
    with session.pace(fps=30, wait=False) as pace, pace.inference():
        assert session.in_flight == 1
    controller.close()


def test_a_session_without_votes_has_no_pace() -> None:
    """Its profile sends no votes, so no clock can be chosen."""
    controller = VoteController(SimulatedHtp(arch=75), handle_sigterm=False)
    session = controller.session("system_settings")
    with pytest.raises(ValueError, match="system_settings sends no votes"):
        session.pace(fps=30)
    controller.close()


def test_a_failed_change_is_raised_by_the_pace_that_makes_it() -> None:
    """With ``on_error="raise"``, a pace whose first profile can't be voted has not begun."""
    simulated = SimulatedHtp(arch=75)
    controller = VoteController(simulated, on_error="raise", handle_sigterm=False)
    session = controller.session("burst")
    with session.inference():
        simulated.fail_next(1008, function="setPowerConfig")
        with pytest.raises(VoteRejected):
            session.pace(fps=30, profiles=["balanced"])
        assert (session.profile.name, session.state) == ("burst", State.RAISED)
        assert controller.status().sessions[0].pace is None
        with session.pace(fps=30, profiles=["balanced"]):
            assert session.profile.name == "balanced"
    controller.flush_events()
    controller.close()


def test_in_real_time_the_rate_is_kept() -> None:
    """50 inferences at 100 a second, from two threads in turn, take about half a second."""
    controller = VoteController(SimulatedHtp(arch=75), handle_sigterm=False)
    pace = controller.session("burst").pace(fps=100)
    begun = time.monotonic()

    def run() -> None:
        for _ in range(25):
            with pace.inference():
                pass

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.45 <= time.monotonic() - begun <= 2
    assert pace.status.inferences == 50
    controller.close()


def test_threads_with_holds_and_caps_leave_nothing_up() -> None:
    """Three threads infer by the pace while another changes what decides the profile; at the end all is lowered."""
    controller = VoteController(SimulatedHtp(arch=75), handle_sigterm=False)
    session = controller.session("high_performance")
    failures: list[BaseException] = []

    def run(action: Callable[[], object]) -> None:
        try:
            for _ in range(150):
                action()
        except BaseException as error:  # noqa: BLE001 - the test shows it
            failures.append(error)

    def infer() -> None:
        with pace.inference():
            pass

    def decide() -> None:
        with session.hold("burst", reason="a test"), controller.cap("balanced", reason="a test"):
            session.use("low_balanced")

    pace = session.pace(fps=2000, miss_rate=0.5, profiles=["power_saver", "balanced", "high_performance"])
    threads = [threading.Thread(target=run, args=(action,)) for action in (infer, infer, infer, decide)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (pace.status.inferences, session.in_flight) == (450, 0)
    pace.close()
    assert controller.flush_events()
    assert (session.profile.name, session.state) == ("low_balanced", State.LOWERED)
    controller.close()
