"""Options that let the provider vote, too, are refused wherever they are given."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from support.onnxsessions import Held, X, doubling, on_cpu, ort

from htppower.hosts.onnxruntime import ProviderVotes, VotingSession, load_model

if TYPE_CHECKING:
    from support.bench import Bench


@pytest.mark.parametrize(
    ("name", "value", "silent"),
    [
        ("qnn.htp_perf_mode", "burst", "default"),
        ("qnn.htp_perf_mode_post_run", "power_saver", "default"),
        ("qnn.rpc_control_latency", "100", "0"),
    ],
)
def test_run_options_that_vote_are_refused(bench: Bench, name: str, value: str, silent: str) -> None:
    """The error names the options and what to do, and nothing runs; the value without a vote is allowed."""
    model = VotingSession(on_cpu(), bench.controller.session("balanced"))
    options = ort.RunOptions()
    options.add_run_config_entry(name, value)
    with pytest.raises(ProviderVotes, match=f"{name}={value}: omit that") as error:
        model.run(None, {"x": X}, options)
    assert error.value.options == {name: value}
    assert bench.sets == []
    with pytest.raises(ProviderVotes):
        model.run(None, {"x": X}, options)
    options.add_run_config_entry(name, silent)
    model.run(None, {"x": X}, options)
    assert len(bench.sets) == 3


def test_run_options_are_looked_at_once(bench: Bench) -> None:
    """Checking options is slow, so the same object is checked once; other objects are checked, too."""
    looks: list[str] = []

    class Options(ort.RunOptions):  # type: ignore[misc]
        def get_run_config_entry(self, name: str) -> str:
            looks.append(name)
            return str(super().get_run_config_entry(name))

    model = VotingSession(on_cpu(), bench.controller.session("burst"))
    options = Options()
    for _ in range(3):
        model.run(None, {"x": X}, options)
    assert sorted(looks) == ["qnn.htp_perf_mode", "qnn.htp_perf_mode_post_run", "qnn.rpc_control_latency"]
    model.run(None, {"x": X}, Options())
    assert len(looks) == 6


def test_dynamic_options_that_vote_are_refused(bench: Bench) -> None:
    """The provider's mode can't be changed without the controller."""
    votes = bench.controller.session("balanced")
    model = VotingSession(Held(votes), votes)
    with pytest.raises(ProviderVotes, match="qnn_htp_performance_mode=burst"):
        model.set_ep_dynamic_options({"ep.dynamic.qnn_htp_performance_mode": "burst"})


def test_a_session_whose_provider_votes_is_refused(bench: Bench) -> None:
    """A session made with a mode of the provider is not wrapped."""
    session = SimpleNamespace(
        get_provider_options=lambda: {"QNNExecutionProvider": {"htp_performance_mode": "burst", "backend_path": "x"}}
    )
    with pytest.raises(ProviderVotes, match="htp_performance_mode=burst"):
        VotingSession(session, bench.controller.session("balanced"))


@pytest.mark.parametrize(
    "options", [{"htp_performance_mode": "balanced"}, {"htp_performance_mode": "brust"}, {"rpc_control_latency": "100"}]
)
def test_provider_options_that_vote_are_refused(bench: Bench, options: dict[str, str]) -> None:
    """They are refused as provider options and as session options; INIT does not begin."""
    votes = bench.controller.session("balanced")
    with pytest.raises(ProviderVotes):
        load_model(doubling(), votes, provider_options=options)
    settings = ort.SessionOptions()
    for name, value in options.items():
        settings.add_session_config_entry(f"ep.qnnexecutionprovider.{name}", value)
    with pytest.raises(ProviderVotes):
        load_model(doubling(), votes, session_options=settings)
    assert bench.sets == []
