"""Renewing backends: the simulated HTP with a plain link, the recorder, and the backend without votes."""

from __future__ import annotations

import pytest
from support.helpers import hvx, native_dcvs, native_scalar
from support.inside import is_restart_unnoticed

from htppower.backends import Call, NoVotes, RecordingBackend, SimulatedHtp, TimedHtp, Timing
from htppower.errors import BackendUnavailable, Unavailable, VoteRejected
from htppower.testing import VirtualTime
from htppower.votes.vote_set import VoteSet

AT_REST = SimulatedHtp(75).effective()


def voted() -> tuple[SimulatedHtp, int]:
    """Return a simulated HTP with one ID that votes on everything."""
    htp = SimulatedHtp(75)
    made = htp.create_power_config_id(0, 0)
    settings = [native_scalar(f"{name}_TIME", 50) for name in ("RPC_POLLING", "ADAPTIVE_POLLING")]
    assert htp.native_set(made, [native_dcvs(made), native_scalar("RPC_CONTROL_LATENCY", 100), *settings]) == 0
    return htp, made


def test_a_renewal_takes_every_id_and_setting_back() -> None:
    """Old IDs are gone, nothing is in force, and new IDs have other numbers."""
    htp, made = voted()
    htp.renew()
    assert (htp.power_config_ids, htp.effective()) == ((), AT_REST)
    with pytest.raises(VoteRejected, match="13001"):
        htp.set_power_config(made, VoteSet(hvx()))
    assert htp.create_power_config_id(0, 0) == made + 1


def test_a_restart_is_not_told_after_a_renewal() -> None:
    """A restart before the renewal is not reported on the new link."""
    htp, _ = voted()
    htp.restart_subsystem()
    htp.renew()
    assert htp.native_create(0, 0) == (0, 2)
    assert is_restart_unnoticed(htp) is False


def test_a_dead_subsystem_can_not_be_renewed() -> None:
    """While every call answers 1011, a renewal fails with 14001, and no call succeeds before a renewal does."""
    htp, made = voted()
    htp.restart_subsystem(fatal=True)
    assert htp.native_set(made, []) == 1011
    for _ in range(2):
        with pytest.raises(BackendUnavailable) as caught:
            htp.renew()
        assert (caught.value.reason, caught.value.code) == (Unavailable.DEVICE_CREATE_FAILED, 14001)
        assert caught.value.hint
    htp.restart_subsystem()
    assert (htp.native_create(0, 0)[0], htp.native_set(made, []), htp.native_destroy(made)) == (14000,) * 3
    assert htp.power_config_ids == ()
    htp.renew()
    assert htp.native_create(0, 0) == (0, 2)


@pytest.mark.parametrize("link", ["plain", "device"])
def test_a_renewal_can_be_told_to_fail(link: str) -> None:
    """``fail_next`` makes any number of renewals fail with any code; the first one removes the IDs."""
    htp = SimulatedHtp(75, link=link)  # type: ignore[arg-type]
    made = htp.create_power_config_id(0, 0)
    htp.fail_next(1002, "renew", times=2)
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match="1002 QNN_COMMON_ERROR_MEM_ALLOC") as caught:
            htp.renew()
        assert caught.value.code == 1002
        assert htp.native_set(made, []) == 14000
    htp.renew()
    assert htp.native_create(0, 0)[0] == 0


def test_a_renewal_takes_time_only_if_it_is_asked_to() -> None:
    """``delay_calls`` delays renewals only by their name; a delay of every call leaves them out."""
    slept: list[float] = []
    htp = SimulatedHtp(75, sleep=slept.append)
    htp.delay_calls(1000)
    htp.renew()
    htp.delay_calls(500_000, "renew")
    htp.renew()
    assert slept == [0.5]


def test_a_renewal_of_a_timed_htp_ends_what_the_votes_drew() -> None:
    """Energy before the renewal is counted with the votes in force then."""
    time = VirtualTime()
    htp = TimedHtp(Timing(raised_idle_w=2.0, released_idle_w=0.5), clock=time, sleep=time.sleep)
    htp.set_power_config(htp.create_power_config_id(0, 0), VoteSet(hvx()))
    time.advance_us(1_000_000)
    htp.renew()
    time.advance_us(1_000_000)
    assert htp.energy_j == pytest.approx(2.5)


def test_no_votes_keeps_its_ids() -> None:
    """A backend without a device has nothing to renew, so its IDs stay usable."""
    backend = NoVotes()
    made = backend.create_power_config_id(0, 0)
    backend.renew()
    backend.set_power_config(made, VoteSet(hvx()))
    assert backend.create_power_config_id(0, 0) == made + 1


def test_a_renewal_is_passed_on_and_recorded() -> None:
    """A renewal is recorded with its time, and without an ID, a core or votes, also after a failed create."""
    time, simulated = VirtualTime(5), SimulatedHtp(75)
    recorder = RecordingBackend(simulated, time=time)
    simulated.fail_next(13005, "createPowerConfigId")
    with pytest.raises(VoteRejected):
        recorder.create_power_config_id(0, 0)
    recorder.create_power_config_id(0, 0)
    time.advance_us(10)
    recorder.renew()
    assert recorder.calls[-1] == Call(15, "renew", None, (), 0, None, None)
    assert simulated.power_config_ids == ()


@pytest.mark.parametrize(("code", "recorded"), [(1002, 1002), (None, 14001)])
def test_a_renewal_that_fails_is_recorded_and_raised(
    monkeypatch: pytest.MonkeyPatch, code: int | None, recorded: int
) -> None:
    """The error is raised unchanged; its code is recorded, or 14001 if it has none."""
    simulated = SimulatedHtp(75)
    recorder = RecordingBackend(simulated, time=VirtualTime(5))
    error = BackendUnavailable(Unavailable.DEVICE_CREATE_FAILED, "gone", code=code)

    def fail() -> None:
        raise error

    monkeypatch.setattr(simulated, "renew", fail)
    with pytest.raises(BackendUnavailable) as caught:
        recorder.renew()
    assert caught.value is error
    assert recorder.calls == (Call(5, "renew", None, (), recorded),)


def test_a_renewal_leaves_nothing_behind() -> None:
    """IDs and polling from before a renewal count as gone, even if it failed; later ones count again."""
    simulated = SimulatedHtp(75)
    recorder = RecordingBackend(simulated)
    for _ in range(2):
        recorder.set_power_config(recorder.create_power_config_id(0, 0), VoteSet(hvx(), rpc_polling_time_us=9999))
        recorder.renew()
    recorder.assert_nothing_left()
    recorder.create_power_config_id(0, 0)
    with pytest.raises(AssertionError, match="left behind"):
        recorder.assert_nothing_left()
    simulated.fail_next(14002, "renew")
    with pytest.raises(BackendUnavailable):
        recorder.renew()
    recorder.assert_nothing_left()
