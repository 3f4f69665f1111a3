"""Two controllers on one backend: what acts on the process is settled over both, while they run and as they close."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from bench import Bench, voting
from hanging import HangingHtp, on_a_thread
from second_controller import polling_us, second_on, settings_sent

from htppower import State, VoteController
from htppower.testing import VirtualTime
from htppower.votes.native import Option
from htppower.votes.native_codes import FAILED, UNSUPPORTED

if TYPE_CHECKING:
    from htppower import Session
    from htppower.backends import SimulatedHtp

SECOND_US = 1_000_000


@pytest.mark.parametrize("end", ["lowered", "session closed", "controller closed"])
def test_polling_survives_the_end_of_one(bench: Bench, other: VoteController, end: str) -> None:
    """Polling stays up while a session of either controller wants it, and is taken back by the last that did."""
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    with theirs.inference():
        with mine.inference():
            pass
        if end == "lowered":
            bench.time.advance_us(SECOND_US)
        elif end == "session closed":
            mine.close()
        else:
            bench.controller.close()
        assert polling_us(bench) == 9999
    bench.time.advance_us(SECOND_US)
    assert polling_us(bench) == 0
    assert [sent for _, sent in settings_sent(bench)] == [9999, 0]


def test_the_largest_polling_and_the_smallest_latency_of_both_are_in_force(bench: Bench, other: VoteController) -> None:
    """One value is sent out of the wishes of both controllers, and again when one of them goes."""
    patient = voting(rpc_polling_time_us=5000, rpc_control_latency_us=50)
    mine, theirs = bench.controller.session("burst"), other.session(patient)
    with mine.inference():
        with theirs.inference():
            assert (polling_us(bench), bench.effective().rpc_control_latency_us) == (9999, 50)
            mine.use("balanced")
            assert polling_us(bench) == 5000
        mine.use("burst")
        bench.time.advance_us(SECOND_US)
        assert (polling_us(bench), bench.effective().rpc_control_latency_us) == (9999, 100)
    assert bench.controller.status().process == other.status().process


def test_what_the_other_has_in_force_is_not_sent_again(bench: Bench, other: VoteController) -> None:
    """A raise of one finds the settings that the other has cast in force."""
    mine, theirs = bench.controller.session("burst"), other.session("burst")
    with mine.inference():
        assert len(settings_sent(bench)) == 1
        with theirs.inference():
            assert len(settings_sent(bench)) == 1


@pytest.mark.parametrize("fails", [False, True])
def test_what_a_closed_controller_could_not_take_back_another_does(bench: Bench, *, fails: bool) -> None:
    """Closing one settles what remains; where its call fails it is closed all the same, and the other sees to it."""
    other = second_on(bench)
    mine, theirs = bench.controller.session(voting(rpc_polling_time_us=5000)), other.session("burst")
    with mine.inference():
        with theirs.inference():
            pass
        if fails:
            bench.simulated.fail_next(FAILED, times=10)
        other.close()
        assert (other.status().sharing, bench.controller.status().sharing) == (0, 0)
        bench.simulated.clear_faults()
        assert polling_us(bench) == (9999 if fails else 5000)
        bench.time.advance_us(2 * SECOND_US)
        assert polling_us(bench) == 5000
    assert theirs.state is State.DESTROYED


def test_one_that_is_closed_with_something_left_goes_on_trying_and_takes_over(bench: Bench) -> None:
    """An id of it could not be destroyed: its back-off destroys that, and sees to what another leaves when closed."""
    other = second_on(bench)
    theirs, mine = other.session("burst"), bench.controller.session("burst")
    bench.simulated.fail_next(FAILED, "destroyPowerConfigId", times=2)
    other.close()
    assert (theirs.state, len(other.status().orphans), other._ended) == (State.DESTROYED, 1, False)
    with mine.inference():
        pass
    bench.simulated.fail_next(FAILED, times=10)
    bench.controller.close()
    bench.simulated.clear_faults()
    assert (polling_us(bench), bench.controller._ended) == (9999, True)
    bench.time.advance_us(2 * SECOND_US)
    assert (polling_us(bench), other._ended) == (0, True)
    bench.recorder.assert_nothing_left()


def test_closing_again_takes_back_nothing_of_the_other(bench: Bench) -> None:
    """A close that is interrupted in its end is made again, as at exit: what is in force by then is the other's."""
    other = second_on(bench)
    with other.session("burst").inference():
        pass

    def interrupt() -> None:
        unfollow()
        raise KeyboardInterrupt

    unfollow = other._companions.add(interrupt, interrupt)
    with bench.controller.session("burst").inference():
        with pytest.raises(KeyboardInterrupt):
            other.close()
        made = len(bench.recorder.calls)
        other.close()
        assert (other._ended, polling_us(bench), len(bench.recorder.calls)) == (True, 9999, made)


def test_who_is_left_alone_while_it_closes_sees_to_the_settings(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another may be closed, and leave settings that it could not take back, while the last one closes."""
    other = second_on(bench)
    with other.session("burst").inference():
        pass
    recovery = bench.controller._recovery
    stop = recovery.stop

    def stop_later() -> None:
        monkeypatch.undo()
        bench.simulated.fail_next(FAILED, times=10)
        on_a_thread(other.close)()
        bench.simulated.clear_faults()
        assert polling_us(bench) == 9999
        stop()

    monkeypatch.setattr(recovery, "stop", stop_later)
    bench.controller.close()
    assert (polling_us(bench), bench.controller._ended, other._ended) == (0, True, True)


def test_what_the_platform_lacks_keeps_no_controller_open(bench: Bench) -> None:
    """An option that was refused to one is not asked for by its name through the other, which can be closed."""
    other = second_on(bench)
    mine = bench.controller.session("burst")
    bench.simulated.fail_next(UNSUPPORTED)
    # One by one: DCVS_V3, HMX_V2, the latency, polling.
    bench.simulated.fail_next(UNSUPPORTED, nth=5)
    with mine.inference():
        pass
    assert Option.RPC_POLLING_TIME in {lost.option for lost in mine.degradations}
    bench.simulated.clear_faults()
    before = len(bench.recorder.calls)
    other.close()
    assert len(bench.recorder.calls) == before
    assert bench.controller.status().sharing == 0


@pytest.mark.parametrize("wants", [True, False])
def test_a_raise_waits_for_the_settings_that_the_other_controller_casts(*, wants: bool) -> None:
    """As among the sessions of one: who asks for such a setting waits for that call, and looks again; others do not."""
    htp = HangingHtp()
    first, second = (VoteController(htp, time=VirtualTime(), heartbeat_us=0) for _ in range(2))
    mine, theirs = first.session("burst"), second.session(voting(rpc_polling_time_us=9998 if wants else None))
    if not wants:
        theirs.use(voting(rpc_polling_time_us=None, rpc_control_latency_us=None))
    seen: list[int] = []
    hang = htp.hang_next("setPowerConfig", mine.power_config_ids[0])
    raising = threading.Thread(target=_infer, args=(mine, htp, []))
    raising.start()
    assert hang.begun.wait(30)
    other = threading.Thread(target=_infer, args=(theirs, htp, seen))
    other.start()
    if wants:
        other.join(0.1)
        assert seen == []
    else:
        other.join(30)
        assert seen == [0]
    hang.let_go.set()
    raising.join(30)
    other.join(30)
    assert seen == ([9999] if wants else [0])
    second.close()
    first.close()
    assert htp.effective().rpc_polling_time_us == 0


def test_closing_waits_for_no_call_of_the_other() -> None:
    """A controller is closed while the other's call on the settings hangs, which looks again when it returns."""
    htp = HangingHtp()
    first, second = (VoteController(htp, time=VirtualTime(), heartbeat_us=0) for _ in range(2))
    mine, theirs = first.session(voting(rpc_polling_time_us=5000)), second.session("burst")
    ended = threading.Event()
    with theirs.inference():
        hang = htp.hang_next("setPowerConfig", mine.power_config_ids[0])
        raising = threading.Thread(target=_raise_until, args=(mine, ended))
        mine.use(voting(rpc_polling_time_us=5000, rpc_control_latency_us=50))
        raising.start()
        assert hang.begun.wait(30)
    closing = threading.Thread(target=second.close)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
    hang.let_go.set()
    ended.set()
    raising.join(30)
    assert htp.effective().rpc_polling_time_us == 5000
    first.close()
    assert htp.effective().rpc_polling_time_us == 0


def _raise_until(session: Session, ended: threading.Event) -> None:
    with session.inference():
        ended.wait(30)


def _infer(session: Session, htp: SimulatedHtp, seen: list[int]) -> None:
    with session.inference():
        seen.append(htp.effective().rpc_polling_time_us)
