"""ONNX Runtime as a host: every way to run a model votes, on a CPU session and on one that is held by hand."""

from __future__ import annotations

import copy
import gc
import inspect
import subprocess
import sys
import threading
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from bench import Bench

from htppower import SessionClosed, State
from htppower.codes import FAILED
from htppower.hosts.onnxruntime import ProviderUnavailable, ProviderVotes, VotingSession, load_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower import Session

np: Any = pytest.importorskip("numpy")
onnx: Any = pytest.importorskip("onnx")
ort: Any = pytest.importorskip("onnxruntime")

CPU = ["CPUExecutionProvider"]
X = np.arange(6, dtype=np.float32).reshape(2, 3)
WAIT_S = 30


@pytest.fixture(scope="module")
def serialized() -> bytes:
    """Return a model that doubles."""
    helper, value = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "x"], ["y"])],
        "double",
        [helper.make_tensor_value_info("x", value, [2, 3])],
        [helper.make_tensor_value_info("y", value, [2, 3])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    made: bytes = model.SerializeToString()
    return made


def on_cpu(serialized: bytes, threads: int = 2) -> Any:
    """Return a session of ONNX Runtime on the CPU; a run of ``run_async`` needs two threads."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(serialized, options, providers=CPU)


class Watched:
    """A session of ONNX Runtime that notes the state of the votes whenever it is asked to run."""

    def __init__(self, session: Any, votes: Session) -> None:
        self._inner = session
        self._watched = votes
        self.seen: list[tuple[str, State]] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("run"):
            self.seen.append((name, self._watched.state))
        return getattr(self._inner, name)


class Held:
    """Stands for a session of ONNX Runtime: what is submitted to it waits until it is told to call back."""

    def __init__(self, votes: Session, refusal: Exception | None = None) -> None:
        self.votes = votes
        self.refusal = refusal
        self.states: list[State] = []
        self.callbacks: list[Callable[[Any, Any, str], object]] = []

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """Return no provider."""
        return {}

    def run_async(self, names: Any, feed: Any, callback: Any, user_data: Any, run_options: Any = None) -> None:
        """Take a run."""
        self.states.append(self.votes.state)
        self.callbacks.append(callback)
        if self.refusal is not None:
            raise self.refusal

    def get_providers(self) -> list[str]:
        """Return the provider."""
        return ["QNNExecutionProvider"]

    def set_providers(self, providers: Any, provider_options: Any) -> None:
        """Note the state."""
        self.states.append(self.votes.state)


class Answer:
    """A callback that keeps what it was called with."""

    def __init__(self, gate: threading.Event | None = None) -> None:
        self.come = threading.Event()
        self.results: Any = None
        self.error = ""
        self._gate = gate

    def __call__(self, results: Any, user_data: Any, error: str) -> None:
        """Keep what is given, when the gate is open."""
        assert self._gate is None or self._gate.wait(WAIT_S)
        self.results, self.error = results, error
        self.come.set()


def by_run(model: Any) -> Any:
    """Return the output."""
    return model.run(None, {"x": X})[0]


def by_ort_values(model: Any) -> Any:
    """Return the output."""
    return model.run_with_ort_values(["y"], {"x": ort.OrtValue.ortvalue_from_numpy(X)})[0].numpy()


def by_iobinding(model: Any) -> Any:
    """Return the output, by a binding that the model makes."""
    return bound(model, model.io_binding())


def by_own_iobinding(model: Any) -> Any:
    """Return the output, by a binding that is made on the model."""
    return bound(model, ort.IOBinding(model))


def bound(model: Any, binding: Any) -> Any:
    """Return the output by a binding."""
    binding.bind_cpu_input("x", X)
    binding.bind_output("y")
    model.run_with_iobinding(binding)
    return binding.copy_outputs_to_cpu()[0]


def by_vector(model: Any) -> Any:
    """Return the output by vectors of ONNX Runtime's own values."""
    capi = ort.capi.onnxruntime_pybind11_state
    feeds, fetches = capi.OrtValueVector(), capi.OrtValueVector()
    feeds.push_back(ort.OrtValue.ortvalue_from_numpy(X)._ortvalue)
    device = ort.OrtDevice.make("cpu", 0)._get_c_device()
    model.run_with_ortvaluevector(ort.RunOptions(), ["x"], feeds, ["y"], fetches, [device])
    return ort.OrtValue(fetches[0]).numpy()


def by_async(model: Any) -> Any:
    """Return the output, when the callback has come."""
    answer = Answer()
    model.run_async(None, {"x": X}, answer, None)
    assert answer.come.wait(WAIT_S)
    return answer.results[0]


@pytest.mark.parametrize("run", [by_run, by_ort_values, by_iobinding, by_own_iobinding, by_vector, by_async])
def test_every_way_to_run_votes(bench: Bench, serialized: bytes, run: Callable[[Any], Any]) -> None:
    """The votes are up when ONNX Runtime is called, and down when it is done; the output is that of the model."""
    votes = bench.controller.session("balanced")
    watched = Watched(on_cpu(serialized), votes)
    model: Any = VotingSession(watched, votes)
    assert np.array_equal(run(model), X + X)
    assert [state for _, state in watched.seen] == [State.RAISED]
    assert (votes.state, votes.in_flight, len(bench.sets)) == (State.LOWERED, 0, 2)


@pytest.mark.parametrize(
    "name",
    [
        "run",
        "run_async",
        "run_with_iobinding",
        "run_with_ort_values",
        "run_with_ortvaluevector",
        "set_ep_dynamic_options",
        "set_providers",
    ],
)
def test_a_method_is_called_as_that_of_onnx_runtime(name: str) -> None:
    """Names, order and defaults of the parameters are those of the installed ONNX Runtime."""
    ours, theirs = (inspect.signature(getattr(kind, name)) for kind in (VotingSession, ort.InferenceSession))
    assert [(each.name, each.default) for each in ours.parameters.values()] == [
        (each.name, each.default) for each in theirs.parameters.values()
    ]


def test_what_runs_nothing_is_passed_through(bench: Bench, serialized: bytes) -> None:
    """Metadata, providers and session options are those of the session, and cost no vote."""
    session = on_cpu(serialized)
    model: Any = VotingSession(session, bench.controller.session("burst"))
    assert [each.name for each in model.get_inputs()] == ["x"]
    assert model.get_providers() == CPU
    assert model.get_session_options() is session.get_session_options()
    assert bench.sets == []
    with pytest.raises(AttributeError, match="nothing"):
        _ = model.nothing


def test_a_run_that_fails_is_lowered_and_its_error_passed_on(bench: Bench, serialized: bytes) -> None:
    """ONNX Runtime's own error ends the inference."""
    votes = bench.controller.session("balanced")
    model = VotingSession(on_cpu(serialized), votes)
    with pytest.raises(Exception, match="Got invalid dimensions"):
        model.run(None, {"x": X[:1]})
    assert (votes.state, votes.in_flight) == (State.LOWERED, 0)


def test_runs_inside_the_sustain_time_cost_no_call(bench: Bench, serialized: bytes) -> None:
    """Runs of every kind under burst cost one raise; the sustain timer lowers."""
    votes = bench.controller.session("burst")
    model = VotingSession(on_cpu(serialized), votes)
    for run in (by_run, by_async, by_iobinding, by_async):
        run(model)
    assert (votes.state, len(bench.sets)) == (State.RAISED, 1)
    bench.time.advance_us(300_000)
    assert (votes.state, len(bench.sets)) == (State.LOWERED, 2)


def test_an_async_run_is_in_flight_until_the_callback(bench: Bench) -> None:
    """The votes are up before the run is submitted; the inference is over when the user's callback is called."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    called: list[Any] = []
    for number in range(2):
        model.run_async(None, {}, lambda *given: called.append((*given, votes.in_flight)), number)
    assert held.states == [State.RAISED] * 2
    assert (votes.in_flight, votes.state) == (2, State.RAISED)
    held.callbacks[1]("results", 1, "")
    held.callbacks[0](None, 0, "failed")
    assert called == [("results", 1, "", 1), (None, 0, "failed", 0)]
    assert votes.state is State.LOWERED


def test_an_async_run_whose_callback_raises_is_ended(bench: Bench) -> None:
    """The error of the user's callback goes where it went without htppower, and nothing stays in flight."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    VotingSession(held, votes).run_async(None, {}, lambda *_: 1 // 0, None)
    with pytest.raises(ZeroDivisionError):
        held.callbacks[0](None, None, "")
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)


def test_an_async_run_that_is_refused_is_ended_once(bench: Bench) -> None:
    """A refusal is passed on and ends the inference; a callback all the same does not end another's."""
    votes = bench.controller.session("balanced")
    held = Held(votes, refusal=RuntimeError("no threads"))
    called: list[Any] = []
    model = VotingSession(held, votes)
    with pytest.raises(RuntimeError, match="no threads"):
        model.run_async(None, {}, lambda *given: called.append(given), None)
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)
    with votes.inference():
        held.callbacks[0](None, None, "")
        assert votes.in_flight == 1
    assert called == [(None, None, "")]


def test_the_errors_of_onnx_runtime_end_an_async_run(bench: Bench, serialized: bytes) -> None:
    """ONNX Runtime's refusal of a run, and its word of a failed one, leave nothing in flight."""
    votes = bench.controller.session("balanced")
    with pytest.raises(Exception, match="at least one thread"):
        by_async(VotingSession(on_cpu(serialized, threads=1), votes))
    assert votes.in_flight == 0
    answer = Answer()
    VotingSession(on_cpu(serialized), votes).run_async(["nothing"], {"x": X}, answer, None)
    assert answer.come.wait(WAIT_S)
    assert "nothing" in answer.error
    assert (votes.in_flight, votes.state) == (0, State.LOWERED)


def test_a_model_that_is_dropped_with_an_async_run_pending(bench: Bench, serialized: bytes) -> None:
    """The callback comes, and nothing stays in flight."""
    votes = bench.controller.session("balanced")
    dropped = threading.Event()
    answer = Answer(dropped)
    model: Any = VotingSession(on_cpu(serialized), votes)
    held: Any = VotingSession(Held(votes), votes)
    model.run_async(None, {"x": X}, answer, None)
    held.run_async(None, {}, lambda *_: None, None)
    callback = held._session.callbacks[0]
    del model, held
    gc.collect()
    dropped.set()
    assert answer.come.wait(WAIT_S)
    assert votes.in_flight == 1
    callback(None, None, "")
    assert votes.in_flight == 0


def test_a_lowering_that_fails_in_the_callback_is_not_raised_there() -> None:
    """With on_error="raise" the user's callback has its results all the same, and the session tells of the failure."""
    bench = Bench.make(on_error="raise")
    votes = bench.controller.session("balanced")
    held = Held(votes)
    called: list[Any] = []
    VotingSession(held, votes).run_async(None, {}, lambda *given: called.append(given), 7)
    bench.simulated.fail_next(FAILED, function="setPowerConfig")
    held.callbacks[0]("results", 7, "")
    assert called == [("results", 7, "")]
    assert votes.in_flight == 0
    assert votes.error is not None
    bench.controller.close()


def test_a_vote_that_fails_keeps_an_async_run_from_being_submitted() -> None:
    """With on_error="raise" nothing is submitted, and nothing is in flight."""
    bench = Bench.make(on_error="raise")
    votes = bench.controller.session("balanced")
    held = Held(votes)
    bench.simulated.fail_next(FAILED, function="setPowerConfig")
    with pytest.raises(Exception, match="FAILED"):
        VotingSession(held, votes).run_async(None, {}, print, None)
    assert held.callbacks == []
    assert votes.in_flight == 0
    bench.controller.close()


def test_close_waits_for_async_runs(bench: Bench) -> None:
    """A model is released only when its last callback has come."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    model.run_async(None, {}, lambda *_: None, None)
    closing = threading.Thread(target=model.close)
    closing.start()
    closing.join(0.05)
    assert closing.is_alive()
    held.callbacks[0](None, None, "")
    closing.join(WAIT_S)
    assert not closing.is_alive()
    assert [str(getattr(event, "cause", "")) for event in bench.events][-2:] == ["DE-INIT began", "DE-INIT ended"]


def test_a_model_is_released_within_deinit(bench: Bench) -> None:
    """The votes are up while it is released; then they come down, and a run is refused. Closing twice is fine."""
    votes = bench.controller.session("balanced")
    released: list[State] = []
    held = Held(votes)
    weakref.finalize(held, lambda: released.append(votes.state))
    with VotingSession(held, votes) as model:
        del held
        assert released == []
    assert released == [State.RAISED]
    assert votes.state is State.LOWERED
    model.close()
    assert "closed" in repr(model)
    with pytest.raises(SessionClosed, match="load the model again"):
        model.run(None, {})


@pytest.mark.parametrize("how", ["closed", "failed"])
def test_a_model_is_released_whatever_becomes_of_the_votes(how: str) -> None:
    """Where the votes are closed, or fail with on_error="raise", the model is released all the same."""
    bench = Bench.make(on_error="raise")
    votes = bench.controller.session("balanced")
    held = Held(votes)
    alive = weakref.ref(held)
    model = VotingSession(held, votes)
    del held
    if how == "closed":
        votes.close()
        model.close()
    else:
        bench.simulated.fail_next(FAILED, function="setPowerConfig")
        with pytest.raises(Exception, match="FAILED"):
            model.close()
    assert alive() is None
    bench.controller.close()


def test_a_session_is_made_anew_within_init(bench: Bench) -> None:
    """set_providers raises the votes around it; options that vote are refused in either place."""
    votes = bench.controller.session("balanced")
    held = Held(votes)
    model = VotingSession(held, votes)
    model.set_providers(["CPUExecutionProvider"])
    assert held.states == [State.RAISED]
    assert votes.state is State.LOWERED
    voting = {"htp_performance_mode": "burst"}
    with pytest.raises(ProviderVotes):
        model.set_providers([("QNNExecutionProvider", voting)])
    with pytest.raises(ProviderVotes):
        model.set_providers(["QNNExecutionProvider"], [voting])
    assert len(held.states) == 1


@pytest.mark.parametrize(
    ("name", "value", "silent"),
    [
        ("qnn.htp_perf_mode", "burst", "default"),
        ("qnn.htp_perf_mode_post_run", "power_saver", "default"),
        ("qnn.rpc_control_latency", "100", "0"),
    ],
)
def test_run_options_that_vote_are_refused(bench: Bench, serialized: bytes, name: str, value: str, silent: str) -> None:
    """They are named, with what to do; nothing runs and nothing is voted. The value without a vote is let through."""
    model = VotingSession(on_cpu(serialized), bench.controller.session("balanced"))
    options = ort.RunOptions()
    options.add_run_config_entry(name, value)
    with pytest.raises(ProviderVotes, match=f"{name}={value}: leave that out") as error:
        model.run(None, {"x": X}, options)
    assert error.value.options == {name: value}
    assert bench.sets == []
    with pytest.raises(ProviderVotes):
        model.run(None, {"x": X}, options)
    options.add_run_config_entry(name, silent)
    model.run(None, {"x": X}, options)
    assert len(bench.sets) == 2


def test_run_options_are_looked_at_once(bench: Bench, serialized: bytes) -> None:
    """A look is dear, so that the same options cost it once; others are looked at, too."""
    looks: list[str] = []

    class Options(ort.RunOptions):  # type: ignore[misc]
        def get_run_config_entry(self, name: str) -> str:
            looks.append(name)
            return str(super().get_run_config_entry(name))

    model = VotingSession(on_cpu(serialized), bench.controller.session("burst"))
    options = Options()
    for _ in range(3):
        model.run(None, {"x": X}, options)
    assert sorted(looks) == ["qnn.htp_perf_mode", "qnn.htp_perf_mode_post_run", "qnn.rpc_control_latency"]
    model.run(None, {"x": X}, Options())
    assert len(looks) == 6


def test_dynamic_options_that_vote_are_refused(bench: Bench) -> None:
    """The mode of the provider can't be changed behind the controller's back."""
    votes = bench.controller.session("balanced")
    model = VotingSession(Held(votes), votes)
    with pytest.raises(ProviderVotes, match="qnn_htp_performance_mode=burst"):
        model.set_ep_dynamic_options({"ep.dynamic.qnn_htp_performance_mode": "burst"})


def test_a_session_whose_provider_votes_is_refused(bench: Bench, serialized: bytes) -> None:
    """One that was made elsewhere with a mode of the provider is not wrapped."""
    session = SimpleNamespace(
        get_provider_options=lambda: {"QNNExecutionProvider": {"htp_performance_mode": "burst", "backend_path": "x"}}
    )
    with pytest.raises(ProviderVotes, match="htp_performance_mode=burst"):
        VotingSession(session, bench.controller.session("balanced"))


@pytest.mark.parametrize(
    "options", [{"htp_performance_mode": "balanced"}, {"htp_performance_mode": "brust"}, {"rpc_control_latency": "100"}]
)
def test_provider_options_that_vote_are_refused(bench: Bench, serialized: bytes, options: dict[str, str]) -> None:
    """As options of the provider, and as the session options that ONNX Runtime makes of them. INIT does not begin."""
    votes = bench.controller.session("balanced")
    with pytest.raises(ProviderVotes):
        load_model(serialized, votes, provider_options=options)
    settings = ort.SessionOptions()
    for name, value in options.items():
        settings.add_session_config_entry(f"ep.qnnexecutionprovider.{name}", value)
    with pytest.raises(ProviderVotes):
        load_model(serialized, votes, session_options=settings)
    assert bench.sets == []


def built_in(monkeypatch: pytest.MonkeyPatch, session: Callable[..., Any]) -> None:
    """Let an ONNX Runtime be installed that has the provider built in, and makes this session."""
    fake: Any = SimpleNamespace(
        SessionOptions=object,
        get_available_providers=lambda: ["QNNExecutionProvider", *CPU],
        InferenceSession=session,
    )
    monkeypatch.setitem(sys.modules, "onnxruntime", fake)


def test_a_provider_that_is_built_in(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named with its options, silent, without the fallback to the CPU, and within INIT."""
    votes = bench.controller.session("balanced")
    made: list[Any] = []

    def session(*given: Any, **named: Any) -> Held:
        made.append((given[0], named, votes.state))
        return Held(votes)

    built_in(monkeypatch, session)
    load_model("a.onnx", votes, provider_options={"backend_type": "htp"})
    options = {"htp_performance_mode": "default", "backend_type": "htp"}
    named = {"providers": [("QNNExecutionProvider", options)], "enable_fallback": False}
    assert made == [("a.onnx", named, State.RAISED)]
    assert votes.state is State.LOWERED


def test_a_session_without_the_provider_is_an_error(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where ONNX Runtime leaves the provider out, the model is not run on the CPU in silence."""
    votes = bench.controller.session("balanced")
    built_in(monkeypatch, lambda *_, **__: SimpleNamespace(get_providers=lambda: CPU))
    with pytest.raises(ProviderUnavailable, match="without its QNN execution provider"):
        load_model("a.onnx", votes)
    assert votes.state is State.LOWERED


def test_no_provider_at_all(bench: Bench, serialized: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, the error says what to install, and the votes come down."""
    monkeypatch.setitem(sys.modules, "onnxruntime_qnn", None)
    votes = bench.controller.session("balanced")
    with pytest.raises(ProviderUnavailable, match="pip install onnxruntime-qnn"):
        load_model(serialized, votes)
    assert votes.state is State.LOWERED


def test_a_copy_is_usable(bench: Bench, serialized: bytes) -> None:
    """A shallow copy votes as the model does."""
    votes = bench.controller.session("balanced")
    model = copy.copy(VotingSession(on_cpu(serialized), votes))
    assert np.array_equal(by_run(model), X + X)
    assert len(bench.sets) == 2


def test_onnx_runtime_is_imported_only_where_it_is_used() -> None:
    """The module can be imported, and a profile turned into options, without ONNX Runtime."""
    code = (
        "import sys; sys.modules['onnxruntime'] = sys.modules['onnxruntime_qnn'] = None;"
        "from htppower.hosts.onnxruntime import provider_options;"
        "print(provider_options('burst').options['htp_performance_mode'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "burst\n"
