"""The simulated HTP that takes time and draws power, by the votes in force only."""

from __future__ import annotations

import pytest

from htppower.backends import TimedHtp, Timing
from htppower.control.controller import VoteController
from htppower.profiles.loading import load_profile
from htppower.testing import VirtualTime
from htppower.votes.vote_set import VoteSet

TIMING = Timing(
    raise_call_us=2000,
    lower_call_us=700,
    inference_us=5000,
    after_raise_us=900,
    after_idle_us={40: 30, 1000: 400},
    asleep_after_us=100_000,
    polling_saves_us=120,
    speeds={112: 0.5},
    active_w=2.0,
    raised_idle_w=0.3,
    relaxed_idle_w=0.02,
    released_idle_w=0.005,
)


class Bench:
    """A timed HTP with a session in virtual time."""

    def __init__(self, profile: str = "burst", timing: Timing = TIMING) -> None:
        self.time = VirtualTime()
        self.htp = TimedHtp(timing, clock=self.time, sleep=self.time.sleep)
        self.controller = VoteController(self.htp, time=self.time, heartbeat_us=0, handle_sigterm=False)
        self.session = self.controller.session(profile)

    def took_us(self) -> int:
        """Return how long an inference takes now."""
        begun_us = self.time.now_us
        self.htp.infer()
        return self.time.now_us - begun_us


def test_a_call_that_raises_the_clock_takes_its_time_and_every_other_call_the_other_time() -> None:
    """A raise takes 2 ms; lowering, the same vote again, and a call without clocks take 0.7 ms each."""
    time, balanced = VirtualTime(), load_profile("balanced")
    htp = TimedHtp(TIMING, clock=time, sleep=time.sleep)
    made = htp.create_power_config_id(0, 0)
    assert balanced.relax is not None
    taken_us = []
    for votes in (balanced.votes, balanced.votes, balanced.relax.to.votes, VoteSet(rpc_polling_time_us=0)):
        begun_us = time.now_us
        htp.set_power_config(made, votes)
        taken_us.append(time.now_us - begun_us)
    assert taken_us == [2000, 700, 700, 700]


def test_the_first_inference_after_a_raise_is_late_and_the_next_is_not() -> None:
    """The first is late by 0.9 ms; polling for 9999 us saves 120 us of each."""
    bench = Bench()
    with bench.session.inference():
        assert [bench.took_us(), bench.took_us(), bench.took_us()] == [5780, 4880, 4880]


@pytest.mark.parametrize(("profile", "warm_us", "late_us"), [("burst", 4880, 30), ("balanced", 10_000, 400)])
def test_an_inference_after_idle_is_late_by_the_sleep_latency(profile: str, warm_us: int, late_us: int) -> None:
    """Once the DSP sleeps, by the sleep latency in force; balanced is half as fast and does not poll."""
    bench = Bench(profile)
    with bench.session.inference():
        bench.htp.infer()
        assert bench.took_us() == warm_us
        bench.time.advance_us(99_999)
        assert bench.took_us() == warm_us
        bench.time.advance_us(100_000)
        assert bench.took_us() == warm_us + late_us


def test_power_and_energy_follow_what_runs_and_what_is_voted() -> None:
    """Energy is the sum over released, raised, working, raised and relaxed times, each with its power."""
    bench = Bench()
    bench.time.advance_us(1_000_000)
    drawn = [bench.htp.energy_j]
    assert bench.htp.power_w == 0.005
    with bench.session.inference():
        assert bench.htp.power_w == 0.3
        bench.time.advance_us(1_000_000)
        raised_us = bench.time.now_us - 1_000_000
        bench.htp.infer()
        drawn.append(bench.htp.energy_j)
        ended_us = bench.time.now_us
    bench.time.advance_us(400_000)
    assert bench.htp.power_w == 0.02
    bench.session.close()
    assert bench.htp.power_w == 0.005
    drawn.append(bench.htp.energy_j)
    raised_j = 0.3 * raised_us / 1e6 + 2.0 * 5780 / 1e6
    assert drawn[0] == pytest.approx(0.005)
    assert drawn[1] - drawn[0] == pytest.approx(raised_j)
    # The sustain time of 300 ms, then lowering calls until the end.
    relaxed_us = bench.time.now_us - ended_us - 300_000
    lowered_j = 0.3 * 0.3 + 0.02 * relaxed_us / 1e6
    assert drawn[2] - drawn[1] == pytest.approx(lowered_j, rel=0.01)


def test_jitter_is_added_to_calls_and_inferences() -> None:
    """Each value from the jitter function is added in turn; no time gets below 0."""
    jitter = iter([5, -7, 11, -10_000])
    bench = Bench("balanced", Timing(raise_call_us=100, inference_us=1000, jitter_us=lambda: next(jitter)))
    ticket = bench.session.begin()
    assert bench.time.now_us == 105
    assert [bench.took_us(), bench.took_us(), bench.took_us()] == [993, 1011, 0]
    ticket.end()


def test_a_restart_ends_what_the_votes_drew() -> None:
    """After the restart the votes are gone, and so is the power of the raised votes."""
    bench = Bench()
    with bench.session.inference():
        bench.time.advance_us(1_000_000)
        drawn_j = bench.htp.energy_j
        bench.htp.restart_subsystem()
        assert bench.htp.power_w == 0.005
        bench.time.advance_us(1_000_000)
        assert bench.htp.energy_j - drawn_j == pytest.approx(0.005, rel=0.5)
    assert load_profile("burst").votes
