"""The options that make ONNX Runtime's QNN execution provider vote by itself, and their refusal.

If both the provider and the controller vote on the HTP, the higher vote is in force, and the provider's vote is never
lowered.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from htppower.errors import HtpPowerError
from htppower.hosts.provider_settings import CONTROL_LATENCY, PERFORMANCE_MODE, RUN_LATENCY, RUN_MODE, RUN_MODE_AFTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from onnxruntime import RunOptions, SessionOptions

# Each option that can make the provider vote, with the value that does not. Source: the log of onnxruntime-qnn 2.7.0.
# Votes that a run option causes stay after the run. The dynamic option "default", set after
# another value, ends the process.
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
    """An option was refused: it would make the QNN execution provider vote in addition to the controller.

    Attributes:
        options: the refused options with their values.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = dict(options)
        given = ", ".join(f"{name}={value}" for name, value in options.items())
        super().__init__(
            f"the QNN execution provider would vote by itself because of {given}: omit that, and give the htppower"
            " session the profile with these votes"
        )


def refuse_votes(options: Mapping[str, Any]) -> None:
    """Raise an error if provider options, run options or dynamic options would make the provider vote.

    Raises:
        ProviderVotes: at least one option does.
    """
    given = {name: str(value) for name, value in options.items() if name in _SILENT}
    voting = {name: value for name, value in given.items() if value.lower() != _SILENT[name]}
    if voting:
        raise ProviderVotes(voting)


def refuse_votes_of_run(options: RunOptions) -> None:
    """Raise an error if run options would make the provider vote.

    Raises:
        ProviderVotes: at least one option does.
    """
    refuse_votes(dict(_entries(options.get_run_config_entry, _OF_RUNS)))


def refuse_votes_of_session(options: SessionOptions) -> None:
    """Raise an error if session options would make the provider vote.

    Raises:
        ProviderVotes: at least one option does.
    """
    refuse_votes(dict(_entries(options.get_session_config_entry, _OF_SESSIONS)))


def _entries(get: Any, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for name in names:
        try:
            yield name, get(name)
        except RuntimeError:  # ONNX Runtime raises it for a missing entry
            continue
