"""The recorder: every native call with its time and result, and assertions that explain a failure."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from support.helpers import hmx, hvx

from htppower.backends import Call, RecordingBackend, SimulatedHtp
from htppower.errors import VoteRejected
from htppower.testing import VirtualTime
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from collections.abc import Callable

VOTES = VoteSet(hvx(), rpc_polling_time_us=9999)


@pytest.fixture
def time() -> VirtualTime:
    """Return a virtual time that starts at 5 us."""
    return VirtualTime(5)


@pytest.fixture
def simulated() -> SimulatedHtp:
    """Return a simulated V75 with two devices of two cores, whose first id is 7."""
    return SimulatedHtp(arch=75, devices=2, cores=2, first_id=7)


@pytest.fixture
def recorder(simulated: SimulatedHtp, time: VirtualTime) -> RecordingBackend:
    """Return a recorder over the simulated HTP in virtual time."""
    return RecordingBackend(simulated, time=time)


def test_each_call_is_kept_with_all_that_it_carried(recorder: RecordingBackend, time: VirtualTime) -> None:
    """Create, set and destroy are kept in order with time, id, native list, code, device and core."""
    made = recorder.create_power_config_id(1, 0)
    time.advance_us(10)
    recorder.set_power_config(made, VOTES)
    time.advance_us(20)
    recorder.destroy_power_config_id(made)
    assert made == 7
    assert recorder.calls == (
        Call(5, "createPowerConfigId", 7, (), 0, 1, 0),
        Call(15, "setPowerConfig", 7, VOTES.native(7), 0, 1, 0),
        Call(35, "destroyPowerConfigId", 7, (), 0, 1, 0),
    )


def test_a_call_is_dated_when_it_begins(simulated: SimulatedHtp, time: VirtualTime) -> None:
    """The recorded time of a call is its begin, however long the backend takes."""
    simulated = SimulatedHtp(arch=75, sleep=time.sleep)
    simulated.delay_calls(1000)
    recorder = RecordingBackend(simulated, time=time)
    recorder.set_power_config(recorder.create_power_config_id(0, 0), VOTES)
    assert [call.time_us for call in recorder.calls] == [5, 1005]


def test_without_a_time_the_monotonic_clock_dates_the_calls(simulated: SimulatedHtp) -> None:
    """Without a time, the recorder uses a clock that never goes back."""
    recorder = RecordingBackend(simulated)
    for _ in range(10):
        recorder.create_power_config_id(0, 0)
    times = [call.time_us for call in recorder.calls]
    assert times == sorted(times)
    assert times[0] > 0


def test_the_votes_reach_the_inner_backend(recorder: RecordingBackend, simulated: SimulatedHtp) -> None:
    """Recorded votes are in force in the inner backend, and destroyed IDs are gone there."""
    made = recorder.create_power_config_id(0, 1)
    recorder.set_power_config(made, VOTES)
    assert simulated.effective(0, 1).core_target == 128
    recorder.destroy_power_config_id(made)
    assert simulated.power_config_ids == ()


@pytest.mark.parametrize("function", ["createPowerConfigId", "setPowerConfig", "destroyPowerConfigId"])
def test_a_failing_call_is_recorded_and_raised(
    recorder: RecordingBackend, simulated: SimulatedHtp, function: str
) -> None:
    """A failed call is recorded with its code, and its error is raised unchanged."""
    made = recorder.create_power_config_id(0, 0)
    simulated.fail_next(1007, function)
    actions: dict[str, Callable[[], object]] = {
        "createPowerConfigId": lambda: recorder.create_power_config_id(1, 1),
        "setPowerConfig": lambda: recorder.set_power_config(made, VOTES),
        "destroyPowerConfigId": lambda: recorder.destroy_power_config_id(made),
    }
    with pytest.raises(VoteRejected) as caught:
        actions[function]()
    (call,) = recorder.calls_since(1)
    assert (call.function, call.code, caught.value.code, caught.value.function) == (function, 1007, 1007, function)
    assert call.power_config_id == (None if function == "createPowerConfigId" else made)
    assert (call.device_id, call.core_id) == ((1, 1) if function == "createPowerConfigId" else (0, 0))
    assert call.configs == (VOTES.native(made) if function == "setPowerConfig" else ())
    assert caught.value.votes == (VOTES if function == "setPowerConfig" else None)


def test_an_id_that_was_not_created_here_has_no_core(recorder: RecordingBackend, simulated: SimulatedHtp) -> None:
    """If the recorder did not see the ID's creation, its device and core are None."""
    made = simulated.create_power_config_id(0, 0)
    recorder.set_power_config(made, VOTES)
    assert recorder.calls == (Call(5, "setPowerConfig", made, VOTES.native(made), 0, None, None),)


def test_each_id_keeps_its_own_core(recorder: RecordingBackend) -> None:
    """Calls on several ids are kept with the device and core of each."""
    places = [(0, 0), (0, 1), (1, 0), (1, 1)]
    made = [recorder.create_power_config_id(*place) for place in places]
    for power_config_id in reversed(made):
        recorder.set_power_config(power_config_id, VOTES)
    assert [(call.device_id, call.core_id) for call in recorder.calls_since(4)] == places[::-1]


def test_a_calls_config_is_found_by_its_option(recorder: RecordingBackend) -> None:
    """The vote on an option is found by its native name, with native field names; without a vote it is None."""
    made = recorder.create_power_config_id(0, 0)
    recorder.set_power_config(made, VoteSet(hvx(), hmx()))
    call = recorder.calls[-1]
    found = call.config("HMX_V2")
    assert found is call.configs[1]
    assert found.fields["hmxVoltageCornerTarget"] == 640
    assert call.config("RPC_POLLING_TIME") is None
    assert recorder.calls[0].config("DCVS_V3") is None


def test_calls_since_and_clear(recorder: RecordingBackend) -> None:
    """Calls after a count can be read, earlier results do not change, and ``clear`` forgets the calls."""
    made = recorder.create_power_config_id(0, 0)
    earlier = recorder.calls
    recorder.set_power_config(made, VOTES)
    assert [call.function for call in recorder.calls_since(1)] == ["setPowerConfig"]
    assert recorder.calls_since(0) == recorder.calls
    assert recorder.calls_since(2) == recorder.calls_since(9) == ()
    assert len(earlier) == 1
    recorder.clear()
    recorder.assert_calls([])
    recorder.destroy_power_config_id(made)
    assert recorder.calls == (Call(5, "destroyPowerConfigId", made, (), 0, 0, 0),)


def test_assert_calls(recorder: RecordingBackend) -> None:
    """``assert_calls`` passes if the functions are in this order; if not, it shows both lists."""
    recorder.assert_calls([])
    recorder.set_power_config(recorder.create_power_config_id(0, 0), VOTES)
    recorder.assert_calls(["createPowerConfigId", "setPowerConfig"])
    recorder.assert_calls(("createPowerConfigId", "setPowerConfig"))
    for wrong in (["setPowerConfig", "createPowerConfigId"], ["createPowerConfigId"], []):
        with pytest.raises(AssertionError) as caught:
            recorder.assert_calls(wrong)
        message = str(caught.value)
        assert message.startswith("native calls are")
        assert "['createPowerConfigId', 'setPowerConfig']" in message
        assert str(wrong) in message


@pytest.mark.parametrize(
    "fail",
    [
        lambda recorder: recorder.assert_calls(["setPowerConfig"]),
        lambda recorder: recorder.assert_calls_and_times([(0, "setPowerConfig")]),
        lambda recorder: recorder.assert_nothing_left(),
    ],
)
def test_a_failed_assertion_is_shown_where_the_test_makes_it(
    recorder: RecordingBackend, fail: Callable[[RecordingBackend], None]
) -> None:
    """The last line that pytest shows is in the test, not in the recorder."""
    recorder.create_power_config_id(0, 0)
    with pytest.raises(AssertionError) as caught:
        fail(recorder)
    assert str(caught.traceback.filter(caught)[-1].path) == __file__


def test_assert_calls_and_times(recorder: RecordingBackend, time: VirtualTime) -> None:
    """``assert_calls_and_times`` passes if functions and times are in this order; if not, it shows both lists."""
    recorder.assert_calls_and_times([])
    made = recorder.create_power_config_id(0, 0)
    time.advance_us(300_000)
    recorder.set_power_config(made, VOTES)
    recorder.assert_calls_and_times([(5, "createPowerConfigId"), (300_005, "setPowerConfig")])
    with pytest.raises(AssertionError) as caught:
        recorder.assert_calls_and_times([(5, "createPowerConfigId"), (300_004, "setPowerConfig")])
    assert "(300005, 'setPowerConfig')" in str(caught.value)
    assert "(300004, 'setPowerConfig')" in str(caught.value)


def test_assert_nothing_left(recorder: RecordingBackend) -> None:
    """``assert_nothing_left`` passes if no ID and no polling is left; if not, it names both."""
    recorder.assert_nothing_left()
    first, second = recorder.create_power_config_id(0, 0), recorder.create_power_config_id(0, 1)
    recorder.set_power_config(first, VOTES)
    recorder.destroy_power_config_id(first)
    with pytest.raises(AssertionError, match=r"left behind: power config ids \['8'\], polling 9999 us"):
        recorder.assert_nothing_left()
    recorder.set_power_config(second, VoteSet(rpc_polling_time_us=0))
    with pytest.raises(AssertionError, match=r"\['8'\], polling 0 us"):
        recorder.assert_nothing_left()
    recorder.destroy_power_config_id(second)
    recorder.assert_nothing_left()


def test_what_failed_does_not_count_as_given_back(recorder: RecordingBackend, simulated: SimulatedHtp) -> None:
    """An ID whose destroy failed counts as left, and so does polling whose reset failed; a failed create does not."""
    simulated.fail_next(13005, "createPowerConfigId")
    with pytest.raises(VoteRejected):
        recorder.create_power_config_id(0, 0)
    recorder.assert_nothing_left()
    made = recorder.create_power_config_id(0, 0)
    recorder.set_power_config(made, VOTES)
    simulated.fail_next(13006)
    simulated.fail_next(13006, "destroyPowerConfigId")
    with pytest.raises(VoteRejected):
        recorder.set_power_config(made, VoteSet(rpc_polling_time_us=0))
    with pytest.raises(VoteRejected):
        recorder.destroy_power_config_id(made)
    with pytest.raises(AssertionError, match=f"ids .'{made}'., polling 9999 us"):
        recorder.assert_nothing_left()


def test_describe_and_close_are_the_inner_backends(recorder: RecordingBackend, simulated: SimulatedHtp) -> None:
    """The recorder describes and closes the inner backend; its calls stay, and closing is not a call."""
    recorder.create_power_config_id(0, 0)
    assert recorder.describe() == simulated.describe()
    assert not recorder.describe().hardware
    assert recorder.inner is simulated
    recorder.close()
    recorder.close()
    assert simulated.power_config_ids == ()
    recorder.assert_calls(["createPowerConfigId"])


def test_calls_from_many_threads_are_all_kept(recorder: RecordingBackend) -> None:
    """No call of 8 threads is lost, each ID's calls are in order, and all can be read at any time."""
    turn = threading.Lock()

    def rounds(_: int) -> None:
        for _ in range(50):
            with turn:
                made = recorder.create_power_config_id(0, 0)
            with turn:
                recorder.set_power_config(made, VOTES)
            with turn:
                recorder.destroy_power_config_id(made)
            assert len(recorder.calls_since(0)) >= 3

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(rounds, range(8)))
    by_id: dict[int | None, list[str]] = {}
    for call in recorder.calls:
        by_id.setdefault(call.power_config_id, []).append(call.function)
    assert len(recorder.calls) == 8 * 50 * 3
    assert set(map(tuple, by_id.values())) == {("createPowerConfigId", "setPowerConfig", "destroyPowerConfigId")}
