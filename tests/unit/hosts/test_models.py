"""Models are loaded within INIT, on the available provider, and released within DE-INIT."""

from __future__ import annotations

import sys
import weakref
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from support.bench import Bench
from support.onnxsessions import CPU, Held, doubling, ort

from htppower import SessionClosed, State
from htppower.hosts.onnxruntime import ProviderUnavailable, ProviderVotes, VotingSession, load_model
from htppower.votes.native_codes import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable


def test_a_model_is_released_within_deinit(bench: Bench) -> None:
    """The votes are up during the release, and down after it; then a run is refused. Closing twice is fine."""
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
    """If the votes are closed, or fail with on_error="raise", the model is still released."""
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
    """``set_providers`` raises the votes around it; options that vote are refused in both calls."""
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


def built_in(monkeypatch: pytest.MonkeyPatch, session: Callable[..., Any]) -> None:
    """Install an ONNX Runtime with the provider built in, which makes this session."""
    fake: Any = SimpleNamespace(
        SessionOptions=ort.SessionOptions,
        get_available_providers=lambda: ["QNNExecutionProvider", *CPU],
        InferenceSession=session,
    )
    monkeypatch.setitem(sys.modules, "onnxruntime", fake)


def test_a_provider_that_is_built_in(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider gets its options and the mode without votes, no fallback to the CPU, and is made within INIT."""
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
    """If ONNX Runtime leaves the provider out, the model is not silently run on the CPU."""
    votes = bench.controller.session("balanced")
    built_in(monkeypatch, lambda *_, **__: SimpleNamespace(get_providers=lambda: CPU))
    with pytest.raises(ProviderUnavailable, match="without its QNN execution provider"):
        load_model("a.onnx", votes)
    assert votes.state is State.LOWERED


def test_no_provider_at_all(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package, the error says what to install, and the votes come down."""
    monkeypatch.setitem(sys.modules, "onnxruntime_qnn", None)
    votes = bench.controller.session("balanced")
    with pytest.raises(ProviderUnavailable, match="pip install onnxruntime-qnn"):
        load_model(doubling(), votes)
    assert votes.state is State.LOWERED


SPINNING = ("session.intra_op.allow_spinning", "session.inter_op.allow_spinning")


def spinning(settings: Any) -> list[str | None]:
    """Return the entries of session options that decide whether threads spin; None is the default, to spin."""
    entries: list[str | None] = []
    for name in SPINNING:
        try:
            entries.append(settings.get_session_config_entry(name))
        except RuntimeError:
            entries.append(None)
    return entries


@pytest.mark.parametrize("given", [True, False])
def test_the_threads_of_a_session_do_not_spin(bench: Bench, monkeypatch: pytest.MonkeyPatch, given: bool) -> None:
    """By default ONNX Runtime's threads sleep while they wait; the argument, or an entry of the options, is kept."""
    votes = bench.controller.session("balanced")
    made: list[Any] = []

    def session(_model: Any, settings: Any, **_named: Any) -> Held:
        made.append(spinning(settings))
        return Held(votes)

    built_in(monkeypatch, session)
    load_model("a.onnx", votes, session_options=ort.SessionOptions() if given else None)
    load_model("a.onnx", votes, session_options=ort.SessionOptions() if given else None, allow_spinning=True)
    own = ort.SessionOptions()
    own.add_session_config_entry(SPINNING[0], "1")
    load_model("a.onnx", votes, session_options=own)
    assert made == [["0", "0"], [None, None], ["1", "0"]]
