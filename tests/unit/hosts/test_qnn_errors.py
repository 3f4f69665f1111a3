"""Runs that fail because the DSP has restarted: which errors show it, and that the controller learns it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.bench import MAX_CORNER, Bench
from support.onnxsessions import Held, X, on_cpu, ort

from htppower import State
from htppower.events import LinkState
from htppower.hosts.onnxruntime import VotingSession
from htppower.hosts.qnn_errors import link_lost_code

if TYPE_CHECKING:
    from collections.abc import Callable

NODE = "Non-zero status code returned while running QNN_1007_2 node. Name:'QNNExecutionProvider_QNN_1011_2_2' "
# Messages of ONNX Runtime 1.18 and later, and of the provider's package, after a restart with recovery.
RESTARTED = (
    f"[ONNXRuntimeError] : 8 : ENGINE_ERROR : {NODE}Status Message: NPU crashed. SSR detected. Caused QNN graph "
)
RESTARTED += "execute error. Error code: 1007"
DEAD = f"[ONNXRuntimeError] : 1 : FAIL : {NODE}Status Message: QNN graph execute error. Error code: 1011"
RESET = f"[ONNXRuntimeError] : 15 : DEVICE_RESET : {NODE}Status Message: "
CAPI = ort.capi.onnxruntime_pybind11_state


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (RESTARTED, 1007),
        (DEAD, 1011),
        (f"Error in execution: {DEAD} at location sequential_executor.cc:1007 ExecuteKernel", 1011),
        ("QNN graph execute error. Error: QNN_COMMON_ERROR_SYSTEM_COMMUNICATION: the link, Code: 1007", 1007),
        ("QNN graph execute error. Error: QNN_COMMON_ERROR_SYSTEM_COMMUNICATION: the link was rebuilt", 1007),
        ("QNN graph execute error. Error: QNN_COMMON_ERROR_SYSTEM_COMMUNICATION_FATAL: it was not", 1011),
        ("QNN graph execute error. Unknown error. QNN error handle: 1007", 1007),
        ("QNN graphExecute failed with 0x3ef", 1007),
        ("QnnGraph_execute returned 0x00000003F3", 1011),
        (f"QNN graph execute error. Error code: {(7 << 32) + 1007}", 1007),
        # Messages of onnxruntime-qnn 2.7.0, which tries to load the model's context again if it is in a file.
        (f"{RESET}NPU crashed. SSR detected. Recovery not supported (no context binary). Error code: 1007", 1007),
        (f"{RESET}NPU crashed again after SSR recovery.", 1007),
        (f"{RESET}SSR recovery: graphRetrieve failed for graph: detector_6001", 1007),
        ("contextCreateFromBinary failed. Error: Unknown error. QNN error handle: 5001", 1007),
        ("contextCreateFromBinary failed. Error: Unknown error. QNN error handle: 1011", 1011),
    ],
)
def test_a_lost_link_is_read_from_the_message(message: str, code: int) -> None:
    """The code, decimal or hexadecimal, counts with or without the vendor's name, and so does the name alone."""
    assert link_lost_code(message) == code


@pytest.mark.parametrize(
    "message",
    [
        "",
        f"{NODE}Status Message: QNN graph execute error. Error code: 6001 at location qnn_model.cc:1007 ExecuteGraph",
        f"{NODE}Status Message: QNN graph execute error. Error code: 1100",
        f"Name:'error 1007' {NODE}Status Message: QNN graph execute error. Error code: 6001",
        "QNN graph execute error. Error code: 10070",
        "QNN graph execute error. Error code: 0x1007",
        "QNN graph execute error. Error code: -1",
        "QNN graph execute error.",
        "QNN graph execute error. Error: QNN_COMMON_ERROR_SYSTEM: of the platform",
        "Failed to finalize QNN graph. Error code: 1007",
        "CUDA graph execute error. Error code: 1007",
        "Got invalid dimensions for input: x index: 0 Got: 1007 Expected: 1011",
        "Name:'NPU crashed' Status Message: Failed to finalize QNN graph. Error code: 6001",
        "setPowerConfig on power config id 1 returned 1007 QNN_COMMON_ERROR_SYSTEM_COMMUNICATION",
    ],
)
def test_no_other_error_is_taken_for_one(message: str) -> None:
    """Other codes, other calls, and numbers in other places do not count."""
    assert link_lost_code(message) is None


class Failing:
    """Replaces a session of ONNX Runtime; every run calls an action and fails."""

    def __init__(self, error: Exception, meanwhile: Callable[[], object] = lambda: None) -> None:
        self._error = error
        self._meanwhile = meanwhile

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Return no provider."""
        return {}

    def disable_fallback(self) -> None:
        """Do nothing."""

    def _fail(self, *_arguments: Any) -> None:
        self._meanwhile()
        raise self._error

    run = run_with_ort_values = run_with_iobinding = run_with_ortvaluevector = _fail


RUNS: dict[str, Callable[[Any], Any]] = {
    "run": lambda model: model.run(None, {}),
    "run_with_ort_values": lambda model: model.run_with_ort_values(None, {}),
    "run_with_iobinding": lambda model: model.run_with_iobinding(None),
    "run_with_ortvaluevector": lambda model: model.run_with_ortvaluevector(None, [], [], [], [], []),
}


@pytest.mark.parametrize("kind", [CAPI.EngineError, CAPI.EPFail, RuntimeError])
@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_fails_with_a_restart_has_every_session_voted_again(
    bench: Bench, name: str, kind: type[Exception]
) -> None:
    """The other sessions are voted again before the run's own error is raised."""
    votes, other = bench.controller.session("burst"), bench.controller.session("burst")
    error = kind(RESTARTED)
    model = VotingSession(Failing(error, bench.simulated.restart_subsystem), votes)
    with other.inference():
        with pytest.raises(kind) as caught:
            RUNS[name](model)
        assert caught.value is error
        assert (error.__context__, str(error)) == (None, RESTARTED)
        assert (other.state, bench.effective().core_target) == (State.RAISED, MAX_CORNER)


def test_an_async_run_that_fails_with_a_restart_has_every_session_voted_again(bench: Bench) -> None:
    """The sessions are voted again before the user's callback gets the error."""
    votes, other = bench.controller.session("burst"), bench.controller.session("burst")
    held, told = Held(votes), []
    VotingSession(held, votes).run_async(None, {}, lambda *given: told.append((given, bench.effective())), None)
    with other.inference():
        bench.simulated.restart_subsystem()
        held.callbacks[0](None, None, RESTARTED)
    (given, effective) = told[0]
    assert (given, effective.core_target, votes.state) == ((None, None, RESTARTED), MAX_CORNER, State.RAISED)


def test_a_dsp_that_is_gone_has_its_device_made_anew(bench: Bench) -> None:
    """After 1011 the votes are cast on a new ID once the device can be renewed, with back-off until then."""
    votes = bench.controller.session("burst")
    model = VotingSession(Failing(CAPI.Fail(DEAD)), votes)
    bench.simulated.fail_next(1011, "renew")
    with pytest.raises(CAPI.Fail):
        model.run(None, {})
    assert (votes.state, bench.controller.status().link) == (State.UNKNOWN, LinkState.DEAD)
    before = votes.power_config_ids
    bench.time.advance_us(1_000_000)
    assert (votes.state, bench.controller.status().link) == (State.LOWERED, LinkState.WELL)
    assert votes.power_config_ids != before


def test_another_error_leaves_the_votes_as_they_are(bench: Bench) -> None:
    """After another error no call is made."""
    votes = bench.controller.session("burst")
    model = VotingSession(Failing(CAPI.Fail("QNN graph execute error. Error code: 6001")), votes)
    with pytest.raises(CAPI.Fail):
        model.run(None, {})
    assert (votes.state, len(bench.sets)) == (State.RAISED, 2)


class Broken:
    """Replaces the inner object of an ``InferenceSession``, on a provider that fails."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def run(self, *_arguments: Any) -> Any:
        """Fail as the package's provider does."""
        raise CAPI.EPFail(DEAD)


def test_a_run_that_fails_is_not_made_on_the_cpu_in_its_place(bench: Bench) -> None:
    """By default ONNX Runtime would run it on the CPU, and hide the lost link."""
    votes = bench.controller.session("burst")
    session = on_cpu()
    session._sess = Broken(session._sess)  # noqa: SLF001 - what ONNX Runtime falls back from has no public name
    with pytest.raises(CAPI.EPFail):
        VotingSession(session, votes).run(None, {"x": X})
    assert [call.function for call in bench.recorder.calls].count("createPowerConfigId") == 2
