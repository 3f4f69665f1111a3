"""The options by which ONNX Runtime's QNN execution provider casts votes by itself, and their refusal.

With the provider and the controller both voting on the HTP, the higher vote wins, and the provider's is never lowered.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.errors import HtpPowerError
from htppower.runtimes.onnxruntime import CONTROL_LATENCY, PERFORMANCE_MODE, RUN_LATENCY, RUN_MODE, RUN_MODE_AFTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnxruntime import RunOptions, SessionOptions

# Each option that casts votes, with the value under which it casts none. Source: the log of onnxruntime-qnn 2.7.0. A
# vote of a run stays after the run. "default" as dynamic option, after any other value, ends the process.
_SILENT: Mapping[str, str] = MappingProxyType(
    {
        PERFORMANCE_MODE: "default",
        CONTROL_LATENCY: "0",
        "ep.qnnexecutionprovider.htp_performance_mode": "default",
        "ep.qnnexecutionprovider.rpc_control_latency": "0",
        RUN_MODE: "default",
        RUN_MODE_AFTER: "default",
        RUN_LATENCY: "0",
        "ep.dynamic.qnn_htp_performance_mode": "default",
    }
)
_OF_SESSIONS = tuple(name for name in _SILENT if name.startswith("ep.qnnexecutionprovider."))
_OF_RUNS = tuple(name for name in _SILENT if name.startswith("qnn."))


class ProviderVotes(HtpPowerError, ValueError):  # noqa: N818 - reads as what it is
    """An option would make the QNN execution provider cast votes beside the controller's.

    Attributes:
        options: the options that would, with their values.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)
        given = ", ".join(f"{name}={value}" for name, value in options.items())
        super().__init__(
            f"the QNN execution provider would cast votes of its own by {given}: leave that out, and give the htppower"
            " session the profile that has these votes"
        )


def refuse_votes(options: Mapping[str, Any]) -> None:
    """Refuse options of the provider, of a run, or dynamic ones, that make the provider vote.

    Raises:
        ProviderVotes: one of them does.
    """
    given = {name: str(value) for name, value in options.items() if name in _SILENT}
    voting = {name: value for name, value in given.items() if value.lower() != _SILENT[name]}
    if voting:
        raise ProviderVotes(voting)


def refuse_votes_of_run(options: RunOptions) -> None:
    """Refuse run options that make the provider vote.

    Raises:
        ProviderVotes: one of them does.
    """
    refuse_votes(dict(_entries(options.get_run_config_entry, _OF_RUNS)))


def refuse_votes_of_session(options: SessionOptions) -> None:
    """Refuse session options that make the provider vote.

    Raises:
        ProviderVotes: one of them does.
    """
    refuse_votes(dict(_entries(options.get_session_config_entry, _OF_SESSIONS)))


def _entries(get: Any, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, get(name)
        except RuntimeError:  # ONNX Runtime's way to say that there is none
            continue
