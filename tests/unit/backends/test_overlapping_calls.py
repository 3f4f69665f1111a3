"""The simulated HTP refuses and counts overlapping native calls, since they would spoil a device's link."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

import pytest
from support.helpers import hvx

from htppower.backends import SimulatedHtp, TimedHtp, Timing
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VOTES = VoteSet(hvx())
LONGEST_S = 10
CALLS: dict[str, Callable[[SimulatedHtp, int], object]] = {
    "createPowerConfigId": lambda htp, _: htp.create_power_config_id(0, 0),
    "setPowerConfig": lambda htp, made: htp.set_power_config(made, VOTES),
    "destroyPowerConfigId": lambda htp, made: htp.destroy_power_config_id(made),
    "renew": lambda htp, _: htp.renew(),
}


class Sleeper:
    """A sleep that lasts until the test ends it."""

    def __init__(self) -> None:
        self.sleeps = threading.Event()
        self.goes_on = threading.Event()

    def __call__(self, _duration_s: float) -> None:
        """Sleep."""
        self.sleeps.set()
        assert self.goes_on.wait(LONGEST_S)


@contextlib.contextmanager
def under_way(sleeper: Sleeper, call: Callable[[], object]) -> Iterator[None]:
    """Make a call on another thread, and let it sleep while the block runs."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:  # noqa: BLE001 - shown by the assertion below
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert sleeper.sleeps.wait(LONGEST_S)
        yield
    finally:
        sleeper.goes_on.set()
        thread.join(LONGEST_S)
    assert failures == []


@pytest.mark.parametrize("link", ["plain", "device"])
@pytest.mark.parametrize("second", CALLS)
@pytest.mark.parametrize("first", CALLS)
def test_a_call_beside_another_is_refused_and_counted(link: str, first: str, second: str) -> None:
    """During a delayed call no other thread may call: the error names both functions, and the first call continues."""
    sleeper = Sleeper()
    htp = SimulatedHtp(75, link=link, sleep=sleeper)  # type: ignore[arg-type]
    made = htp.create_power_config_id(0, 0)
    htp.delay_calls(1000, first)
    with (
        under_way(sleeper, lambda: CALLS[first](htp, made)),
        pytest.raises(RuntimeError, match=f"{second} began while {first} of another thread was under way"),
    ):
        CALLS[second](htp, made)
    assert htp.overlaps == 1
    htp.delay_calls(0, first)
    CALLS[second](htp, htp.create_power_config_id(0, 0))
    assert htp.overlaps == 1


def test_a_refused_call_does_nothing() -> None:
    """An overlapping call creates no ID, sends no vote and uses up no planned failure."""
    sleeper = Sleeper()
    htp = SimulatedHtp(75, sleep=sleeper)
    made = htp.create_power_config_id(0, 0)
    htp.delay_calls(1000, "createPowerConfigId")
    htp.fail_next(13006)
    with under_way(sleeper, lambda: htp.create_power_config_id(0, 0)):
        for _ in range(3):
            with pytest.raises(RuntimeError):
                htp.set_power_config(made, VOTES)
    assert (htp.overlaps, htp.native_set(made, []), htp.native_set(made, [])) == (3, 13006, 0)


def test_a_rebuild_is_part_of_its_call() -> None:
    """A call during the rebuild of the device's link is refused; the clocks can be read then."""
    sleeper = Sleeper()
    htp = SimulatedHtp(75, link="device", sleep=sleeper)
    made = htp.create_power_config_id(0, 0)
    htp.restart_subsystem(rebuild_us=160_000)
    with under_way(sleeper, lambda: htp.native_set(made, VOTES.native(made))):
        assert htp.effective().core_target == 16
        with pytest.raises(RuntimeError):
            htp.set_power_config(made, VOTES)
    assert htp.overlaps == 1


def test_reading_beside_a_call_is_no_overlap() -> None:
    """During a delayed call, clocks and IDs can be read, and failures can be planned."""
    sleeper = Sleeper()
    htp = SimulatedHtp(75, sleep=sleeper)
    htp.delay_calls(1000)
    with under_way(sleeper, lambda: htp.create_power_config_id(0, 0)):
        htp.fail_next(13006)
        htp.clear_faults()
        htp.delay_calls(0)
        assert (htp.effective().core_target, htp.power_config_ids, htp.describe().name) == (16, (), "simulated")
    assert (htp.overlaps, htp.power_config_ids) == (0, (1,))


def test_a_call_within_a_call_of_the_same_thread_is_no_overlap() -> None:
    """A signal handler that calls while its own thread's call is delayed is not counted."""
    within: list[int] = []
    htp = SimulatedHtp(75, sleep=lambda _: within.append(htp.create_power_config_id(0, 0)))
    made = htp.create_power_config_id(0, 0)
    htp.delay_calls(1000, "setPowerConfig")
    htp.set_power_config(made, VOTES)
    assert (within, htp.overlaps) == ([2], 0)


def test_calls_of_threads_in_turn_are_no_overlap() -> None:
    """Each call may come from another thread once the last call has ended, also with an error."""
    htp = SimulatedHtp(75)
    for _ in range(8):
        thread = threading.Thread(target=lambda: htp.native_set(htp.native_create(0, 7)[1], []))
        thread.start()
        thread.join(LONGEST_S)
    assert (htp.overlaps, htp.native_create(0, 0)) == (0, (0, 9))


def test_a_call_that_is_interrupted_has_ended() -> None:
    """An exception during the delay ends the call: another thread may call."""

    def interrupt(_duration_s: float) -> None:
        raise KeyboardInterrupt

    htp = SimulatedHtp(75, sleep=interrupt)
    made = htp.create_power_config_id(0, 0)
    htp.delay_calls(1000, "setPowerConfig")
    with pytest.raises(KeyboardInterrupt):
        htp.set_power_config(made, VOTES)
    thread = threading.Thread(target=lambda: htp.create_power_config_id(0, 0))
    thread.start()
    thread.join(LONGEST_S)
    assert (htp.overlaps, htp.power_config_ids) == (0, (1, 2))


@pytest.mark.parametrize("delayed", [False, True])
@pytest.mark.parametrize("second", CALLS)
def test_the_time_of_a_timed_call_is_part_of_it(second: str, delayed: bool) -> None:
    """A call of a timed HTP lasts for its delay plus its own time; any other call in that time is refused at once."""
    sleeper = Sleeper()
    htp = TimedHtp(Timing() if delayed else Timing(raise_call_us=2000), sleep=sleeper)
    htp.delay_calls(1000 if delayed else 0, "setPowerConfig")
    made = htp.create_power_config_id(0, 0)
    with under_way(sleeper, lambda: htp.set_power_config(made, VOTES)), pytest.raises(RuntimeError):
        CALLS[second](htp, made)
    assert htp.overlaps == 1
