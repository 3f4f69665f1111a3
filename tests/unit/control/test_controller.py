"""The controller: several sessions and cores, process-wide settings, degradation, strict mode, status, closing."""

from __future__ import annotations

import attrs
import pytest
from support.bench import BURST_SUSTAIN_US, MAX_CORNER, SVS, Bench, options, voting

from htppower import (
    BackendUnavailable,
    SessionClosed,
    State,
    Unavailable,
    VoteController,
    VoteRejected,
    load_profile,
)
from htppower.backends import Description, RecordingBackend, SimulatedHtp
from htppower.events import ReleaseFailed
from htppower.testing import VirtualTime
from htppower.votes.native_codes import FAILED, INVALID_INPUT


def test_a_session_votes_on_each_of_its_cores() -> None:
    """Two cores have two IDs and two calls; the settings of the process follow in one call."""
    bench = Bench.make(SimulatedHtp(arch=75, cores=2))
    session = bench.controller.session("burst", core_ids=(0, 1))
    with session.inference():
        assert [bench.effective(core).core_target for core in (0, 1)] == [MAX_CORNER, MAX_CORNER]
        own, settings = ["DCVS_V3", "HMX_V2"], ["RPC_CONTROL_LATENCY", "RPC_POLLING_TIME"]
        sent = [(call.power_config_id, options(call)) for call in bench.sets]
        assert sent == [(1, own), (2, own), (1, settings)]
    bench.controller.close()
    bench.recorder.assert_nothing_left()


def test_a_core_that_does_not_exist_leaves_nothing_behind() -> None:
    """A session on an unknown core raises 13001 and destroys the ID that it created on another core."""
    bench = Bench.make()
    with pytest.raises(VoteRejected) as caught:
        bench.controller.session("burst", core_ids=(0, 5))
    assert caught.value.code == INVALID_INPUT
    bench.recorder.assert_calls(["createPowerConfigId", "createPowerConfigId", "destroyPowerConfigId"])
    assert bench.controller.status().sessions == ()
    bench.controller.close()


@pytest.mark.parametrize("cores", [(), (0, 0)])
def test_cores_are_named_once(bench: Bench, cores: tuple[int, ...]) -> None:
    """An empty list of cores, or a core listed twice, is refused."""
    with pytest.raises(ValueError, match="core_ids"):
        bench.controller.session("burst", core_ids=cores)


def test_the_largest_polling_and_the_smallest_latency_win(bench: Bench) -> None:
    """The settings sent are the aggregate over the raised sessions."""
    a = bench.controller.session(voting(rpc_polling_time_us=500, rpc_control_latency_us=300))
    b = bench.controller.session(voting(rpc_polling_time_us=2000, rpc_control_latency_us=0))
    with a.inference():
        assert bench.effective().rpc_polling_time_us == 500
        with b.inference():
            assert bench.effective().rpc_polling_time_us == 2000
            assert bench.effective().rpc_control_latency_us == 300
        bench.time.advance_us(BURST_SUSTAIN_US)
        assert bench.effective().rpc_polling_time_us == 500


def test_the_last_session_to_lower_gives_polling_back(bench: Bench) -> None:
    """The last session that wishes for polling and is lowered turns it off, in whatever order they are lowered."""
    sessions = [bench.controller.session("high_performance") for _ in range(3)]
    phases = [session.inference() for session in sessions]
    for phase in phases:
        phase.__enter__()
    for left, phase in enumerate(phases[1:] + phases[:1]):
        assert bench.effective().rpc_polling_time_us == 9999, left
        phase.__exit__(None, None, None)
    assert bench.effective().rpc_polling_time_us == 0


def test_a_power_state_that_polls_is_given_back_on_close(bench: Bench) -> None:
    """Closing a lowered session resets the settings of its power state, before it destroys the id."""
    burst = load_profile("burst")
    assert burst.relax is not None
    polling = attrs.evolve(burst.relax.to, votes=attrs.evolve(burst.relax.to.votes, rpc_polling_time_us=50))
    session = bench.controller.session(attrs.evolve(burst, relax=attrs.evolve(burst.relax, to=polling)))
    bench.infer(session)
    bench.time.advance_us(BURST_SUSTAIN_US)
    assert bench.effective().rpc_polling_time_us == 50
    bench.recorder.clear()
    session.close()
    bench.recorder.assert_calls(["setPowerConfig", "destroyPowerConfigId"])
    assert options(bench.sets[-1]) == ["RPC_POLLING_TIME"]


def test_status_says_what_is_in_force_and_for_whom(bench: Bench) -> None:
    """Status names backend, sessions with owner, state and votes, and the process-wide settings."""
    session = bench.controller.session("burst", owner="camera")
    with session.inference():
        status = bench.controller.status()
    (line,) = status.sessions
    assert (line.owner, line.profile, line.state, line.in_flight) == ("camera", "burst", State.RAISED, 1)
    assert line.votes[1].dcvs_v3 == load_profile("burst").votes.dcvs_v3
    assert status.process.rpc_polling_time_us == 9999
    assert status.backend.name == "simulated"
    assert not status.backend.hardware


def test_a_destroy_that_fails_is_told_with_its_id(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A failed destroy is an event and an ERROR record with the power config ID, and closing continues."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(FAILED, function="destroyPowerConfigId")
    session.close()
    failed = [event for event in bench.events if isinstance(event, ReleaseFailed)]
    assert [event.power_config_id for event in failed] == [1]
    assert any(record.levelname == "ERROR" and "power_config_id=1" in record.message for record in caplog.records)
    assert session.state is State.DESTROYED
    assert bench.controller.status().orphans == (1,)


def test_a_destroy_that_fails_is_tried_again(bench: Bench) -> None:
    """If a destroy fails, the votes of the id are at least lowered, and the back-off destroys the id."""
    session = bench.controller.session("burst")
    bench.infer(session)
    bench.simulated.fail_next(FAILED, function="destroyPowerConfigId", times=2)
    session.close()
    assert bench.effective().core_target == SVS
    bench.time.advance_us(1_000_000)
    assert bench.controller.status().orphans == (1,)
    bench.time.advance_us(2_000_000)
    assert bench.controller.status().orphans == ()
    assert bench.simulated.power_config_ids == ()


def test_closing_the_controller_closes_every_session(bench: Bench) -> None:
    """Closing the controller lowers and destroys every session, and opens none later; closing twice has no effect."""
    sessions = [bench.controller.session("burst") for _ in range(3)]
    for session in sessions:
        bench.infer(session)
    bench.controller.close()
    bench.controller.close()
    assert {session.state for session in sessions} == {State.DESTROYED}
    bench.recorder.assert_nothing_left()
    with pytest.raises(SessionClosed):
        bench.controller.session("burst")


def test_closed_sessions_leave_nothing_in_the_ledger(bench: Bench) -> None:
    """The ledger forgets closed sessions, so a host can open and close sessions for days."""
    for _ in range(20):
        with bench.controller.session("burst") as session:
            bench.infer(session)
        assert session.power_config_ids == {}
    assert bench.controller.status().sessions == ()
    assert bench.time.alarms == 0


def test_a_subscriber_that_raises_is_logged_and_the_others_are_told(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    """An exception of a subscriber disturbs neither the votes nor other subscribers."""

    def broken(_event: object) -> None:
        raise RuntimeError("mine")

    unsubscribe = bench.controller.subscribe(broken)
    later: list[object] = []
    bench.controller.subscribe(later.append)
    session = bench.controller.session("burst")
    assert [type(event).__name__ for event in later] == ["CallMade", "SessionOpened"]
    assert caplog.text.count("the subscriber") == 2
    unsubscribe()
    caplog.clear()
    bench.infer(session)
    assert caplog.text == ""


@pytest.mark.parametrize(("name", "reason"), [("qnn", Unavailable.NOT_FOUND), ("gpu", Unavailable.NO_SUCH_BACKEND)])
def test_a_named_backend_that_can_not_be_used_is_an_error(
    name: str, reason: Unavailable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A named backend never falls back to another."""
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", "/nowhere/libQnnHtp.so")
    with pytest.raises(BackendUnavailable) as caught:
        VoteController(backend=name)
    assert caught.value.reason is reason


@pytest.mark.parametrize(
    ("path", "hardware", "warns"),
    [("/lib/libQnnHtp.so", False, True), ("/lib/libQnnHtp.so", True, False), ("", False, False)],
)
def test_a_library_without_a_hexagon_is_said(
    caplog: pytest.LogCaptureFixture, path: str, hardware: bool, warns: bool
) -> None:
    """A controller on the vendor's library for x86-64 logs a warning, and one on the simulated HTP does not."""

    class OfALibrary(SimulatedHtp):
        def describe(self) -> Description:
            return attrs.evolve(super().describe(), path=path, library=path, hardware=hardware)

    VoteController(OfALibrary(), handle_sigterm=False).close()
    assert caplog.text.count("votes change no clock: /lib/libQnnHtp.so answers them without a Hexagon") == warns
    assert len(caplog.records) == warns


def test_a_backend_of_the_users_own_stays_open() -> None:
    """The controller closes only a backend that it made."""
    closed: list[bool] = []

    class Watched(RecordingBackend):
        def close(self) -> None:
            closed.append(True)

    VoteController(Watched(SimulatedHtp()), handle_sigterm=False).close()
    assert closed == []


def test_a_wrong_on_error_is_refused() -> None:
    """Only ``continue`` and ``raise`` are accepted."""
    with pytest.raises(ValueError, match="on_error"):
        VoteController("simulated", on_error="ignore")  # type: ignore[arg-type]


def test_its_repr_is_short_and_safe() -> None:
    """The repr has the controller, its backend and its number of sessions, in one line, even if half made."""

    class Odd(SimulatedHtp):
        def describe(self) -> Description:
            return attrs.evolve(super().describe(), name="a\n\x1b[31m" + "x" * 1000)

    with VoteController(SimulatedHtp(), handle_sigterm=False) as controller:
        assert repr(controller) == "<VoteController 1 on simulated, 0 sessions>"
        session = controller.session("burst")
        assert repr(controller) == "<VoteController 1 on simulated, 1 session>"
        session.close()
    assert repr(controller) == "<VoteController 1 on simulated, 0 sessions, closed>"
    assert repr(VoteController.__new__(VoteController)) == "<VoteController, not made yet>"
    with VoteController(Odd(), handle_sigterm=False) as odd:
        assert (repr(odd).isprintable(), len(repr(odd)) < 100) == (True, True)


@pytest.mark.parametrize("kind", [int, type("Model", (), {"__call__": lambda _self: None})])
def test_a_class_is_not_taken_for_a_function(bench: Bench, kind: type) -> None:
    """``votes`` refuses a class: decorated as a function, it would break ``isinstance``."""
    with pytest.raises(TypeError, match=r"is a class.*: put votes on its methods"):
        bench.controller.session("burst").votes(kind)


class GivesZero(SimulatedHtp):
    """A backend whose IDs are all 0."""

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Return 0."""
        super().create_power_config_id(device_id, core_id)
        return 0


def test_an_id_0_is_a_create_that_failed() -> None:
    """If the library returns id 0, the session reports a failed create, and no vote is sent."""
    recorder = RecordingBackend(GivesZero(arch=75), time=VirtualTime())
    with VoteController(backend=recorder, on_error="raise", time=VirtualTime()) as controller:
        with pytest.raises(VoteRejected) as raised, controller.session("burst") as session, session.inference():
            pass
        assert raised.value.code == INVALID_INPUT
        assert raised.value.function == "createPowerConfigId"
    assert {call.function for call in recorder.calls} == {"createPowerConfigId"}
